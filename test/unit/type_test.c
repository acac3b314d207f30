/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes through their bodies: the table of predefined types, boxes and shares of arrays
 * against loops over coordinates, recipes, lifetimes, counting elements, packing.
 */
#include "runtime/fail.h"
#include "src/api/datatype.h"
#include "src/api/external.h"
#include "src/api/language.h"
#include "src/api/p2p.h"
#include "src/status.h"
#include "src/type.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct counts ints(const int *values)
{
    return (struct counts){ .narrow = values };
}

static void free_type(struct type *type)
{
    ck_assert_int_eq(xmpi_type_free(&type), MPI_SUCCESS);
    ck_assert_ptr_null(type);
}

/* ---- predefined ---- */

START_TEST(every_predefined_type_is_itself)
{
    int known = 0;
    for (uintptr_t bits = 0; bits < 4096; bits++) {
        struct type *type = type_of((MPI_Datatype)bits);
        if (!type)
            continue;
        known++;
        ck_assert_ptr_eq(type->handle, (MPI_Datatype)bits);
        ck_assert(strncmp(type->name, "MPI_", 4) == 0 || strncmp(type->name, "MPIX_", 5) == 0);
        ck_assert(type->predefined);
        ck_assert(type->committed == (type->layout != NULL));
        if (type->layout && (bits & 0x2c0) == 0x240) /* sized: the handle says how much */
            ck_assert_uint_eq(type->layout->size, 1u << (bits >> 3 & 7));
    }
    ck_assert_int_eq(known, 72); /* two of them our own */
    ck_assert_ptr_null(type_of(MPI_DATATYPE_NULL));
    ck_assert_ptr_null(type_of((MPI_Datatype)0x12345678));
}
END_TEST

START_TEST(sizes_and_extents)
{
    static const struct {
        MPI_Datatype handle;
        int64_t size;
        MPI_Aint extent;
    } rows[] = {
        { MPI_INT, 4, 4 },          { MPI_DOUBLE, 8, 8 },
        { MPI_DOUBLE_INT, 12, 16 }, { MPI_SHORT_INT, 6, 8 },
        { MPI_LONG_INT, 12, 16 },   { MPI_2INT, 8, 8 },
        { MPI_FLOAT_INT, 8, 8 },    { MPI_LONG_DOUBLE_INT, 20, 32 },
        { MPI_PACKED, 1, 1 },       { MPI_C_DOUBLE_COMPLEX, 16, 16 },
        { MPI_COMPLEX16, 16, 16 },  { MPI_WCHAR, 4, 4 },
        { MPI_REAL2, 2, 2 },        { MPI_COMPLEX4, 4, 4 },
        { MPI_INTEGER16, 16, 16 },  { MPI_LOGICAL16, 16, 16 },
        { MPI_REAL16, 16, 16 },     { MPI_COMPLEX32, 32, 32 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t size;
        MPI_Aint lb, extent;
        struct type *type = type_of(rows[i].handle);
        ck_assert_int_eq(xmpi_type_size(type, &size), MPI_SUCCESS);
        ck_assert_int_eq(xmpi_type_get_extent(type, &lb, &extent), MPI_SUCCESS);
        ck_assert_int_eq(size, rows[i].size);
        ck_assert_int_eq(lb, 0);
        ck_assert_int_eq(extent, rows[i].extent);
    }
}
END_TEST

START_TEST(predefined_types_stay)
{
    struct type *byte = type_of(MPI_BYTE);
    ck_assert_int_eq(xmpi_type_free(&byte), MPI_ERR_TYPE);
}
END_TEST

START_TEST(match_size_finds)
{
    struct type *type;
    ck_assert_int_eq(xmpi_type_match_size(MPI_TYPECLASS_REAL, 8, &type), MPI_SUCCESS);
    ck_assert_ptr_eq(type->handle, MPI_REAL8);
    ck_assert_int_eq(xmpi_type_match_size(MPI_TYPECLASS_INTEGER, 2, &type), MPI_SUCCESS);
    ck_assert_ptr_eq(type->handle, MPI_INTEGER2);
    ck_assert_int_eq(xmpi_type_match_size(MPI_TYPECLASS_COMPLEX, 5, &type), MPI_ERR_ARG);
}
END_TEST

/* ---- arrays: the type must pick exactly the elements that loops pick, in order ---- */

enum { MOST_DIMS = 4, MOST_CELLS = 4096 };

struct box {
    int ndims, sizes[MOST_DIMS], lengths[MOST_DIMS], starts[MOST_DIMS];
    int order;
};

static int cells(const struct box *b)
{
    int n = 1;
    for (int d = 0; d < b->ndims; d++)
        n *= b->sizes[d];
    return n;
}

/* Coordinates of cell `index` of an array stored in the box's order. */
static void cell_coordinates(const struct box *b, int index, int *at)
{
    for (int i = 0; i < b->ndims; i++) {
        int d = b->order == MPI_ORDER_C ? b->ndims - 1 - i : i;
        at[d] = index % b->sizes[d];
        index /= b->sizes[d];
    }
}

/* Pack an array of its own cell numbers through the type. */
static int pack_cells(struct type *type, int n, int *packed)
{
    static int array[MOST_CELLS];
    for (int i = 0; i < n; i++)
        array[i] = i;
    struct buffer from = { array, 1, type->layout, HERE };
    buffer_pack(&from, 0, packed, buffer_bytes(&from));
    return (int)(buffer_bytes(&from) / sizeof(int));
}

static void check_box(const struct box *b)
{
    static int packed[MOST_CELLS];
    struct type *type;
    int rc = xmpi_type_create_subarray(b->ndims, ints(b->sizes), ints(b->lengths),
                                       ints(b->starts), b->order, type_of(MPI_INT), &type);
    ck_assert_int_eq(rc, MPI_SUCCESS);
    int n = cells(b), found = 0, at[MOST_DIMS];
    int picked = pack_cells(type, n, packed);
    for (int i = 0; i < n; i++) {
        cell_coordinates(b, i, at);
        bool inside = true;
        for (int d = 0; d < b->ndims; d++)
            inside &= at[d] >= b->starts[d] && at[d] < b->starts[d] + b->lengths[d];
        if (!inside)
            continue;
        ck_assert_int_lt(found, picked);
        ck_assert_int_eq(packed[found++], i);
    }
    ck_assert_int_eq(found, picked);
    ck_assert_int_eq(type->layout->lb, 0);
    ck_assert_int_eq(type->layout->extent, (ptrdiff_t)sizeof(int) * n);
    free_type(type);
}

START_TEST(subarray_is_a_box)
{
    unsigned state = 12345;
    for (int round = 0; round < 500; round++) {
        struct box b = { .order = round % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN };
        b.ndims = 1 + round % MOST_DIMS;
        for (int d = 0; d < b.ndims; d++) {
            state = state * 1103515245 + 12345;
            b.sizes[d] = 1 + (int)(state >> 16) % 7;
            b.lengths[d] = 1 + (int)(state >> 20) % b.sizes[d];
            b.starts[d] = (int)(state >> 24) % (b.sizes[d] - b.lengths[d] + 1);
        }
        check_box(&b);
    }
}
END_TEST

START_TEST(subarray_refuses)
{
    struct type *type, *element = type_of(MPI_INT);
    int sizes[] = { 4, 4 }, lengths[] = { 2, 5 }, starts[] = { 0, 0 };
    ck_assert_int_eq(xmpi_type_create_subarray(2, ints(sizes), ints(lengths), ints(starts),
                                               MPI_ORDER_C, element, &type),
                     MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(fail_text(), "array_of_subsizes[1]"));
    lengths[1] = 2;
    starts[0] = 3;
    ck_assert_int_eq(xmpi_type_create_subarray(2, ints(sizes), ints(lengths), ints(starts),
                                               MPI_ORDER_C, element, &type),
                     MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(fail_text(), "array_of_starts[0]"));
    starts[0] = 0;
    ck_assert_int_eq(xmpi_type_create_subarray(2, ints(sizes), ints(lengths), ints(starts), 7,
                                               element, &type),
                     MPI_ERR_ARG);
}
END_TEST

struct deal {
    struct box box;
    int distribs[MOST_DIMS], dargs[MOST_DIMS], psizes[MOST_DIMS], processes;
};

static int deal_owner(const struct deal *d, int dim, int at)
{
    int p = d->psizes[dim], darg = d->dargs[dim];
    if (d->distribs[dim] == MPI_DISTRIBUTE_NONE)
        return 0;
    if (d->distribs[dim] == MPI_DISTRIBUTE_BLOCK)
        return at / (darg == MPI_DISTRIBUTE_DFLT_DARG ? (d->box.sizes[dim] + p - 1) / p : darg);
    return at / (darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg) % p;
}

/* The rank in row-major order whatever the order of the array. */
static int deal_rank(const struct deal *d, const int *at)
{
    int rank = 0;
    for (int i = 0; i < d->box.ndims; i++)
        rank = rank * d->psizes[i] + deal_owner(d, i, at[i]);
    return rank;
}

static void check_share(const struct deal *d, int rank)
{
    static int packed[MOST_CELLS];
    struct type *type;
    int rc = xmpi_type_create_darray(d->processes, rank, d->box.ndims, ints(d->box.sizes),
                                     d->distribs, d->dargs, d->psizes, d->box.order,
                                     type_of(MPI_INT), &type);
    ck_assert_msg(rc == MPI_SUCCESS, "%s", fail_text());
    int n = cells(&d->box), found = 0, at[MOST_DIMS];
    int picked = pack_cells(type, n, packed);
    for (int i = 0; i < n; i++) {
        cell_coordinates(&d->box, i, at);
        if (deal_rank(d, at) != rank)
            continue;
        ck_assert_int_lt(found, picked);
        ck_assert_int_eq(packed[found++], i);
    }
    ck_assert_int_eq(found, picked);
    ck_assert_int_eq(type->layout->extent, (ptrdiff_t)sizeof(int) * n);
    free_type(type);
}

START_TEST(darray_deals_out)
{
    static const int kinds[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                 MPI_DISTRIBUTE_CYCLIC };
    unsigned state = 777;
    for (int round = 0; round < 300; round++) {
        struct deal d = { .processes = 1 };
        d.box.order = round % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        d.box.ndims = 1 + round % 3;
        for (int i = 0; i < d.box.ndims; i++) {
            state = state * 1103515245 + 12345;
            d.box.sizes[i] = 1 + (int)(state >> 16) % 11;
            d.distribs[i] = kinds[(state >> 20) % 3];
            d.psizes[i] = d.distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + (int)(state >> 24) % 3;
            d.dargs[i] = MPI_DISTRIBUTE_DFLT_DARG;
            if (d.distribs[i] == MPI_DISTRIBUTE_CYCLIC && state >> 31)
                d.dargs[i] = 1 + (int)(state >> 27) % 4;
            if (d.distribs[i] == MPI_DISTRIBUTE_BLOCK && state >> 31)
                d.dargs[i] = (d.box.sizes[i] - 1) / d.psizes[i] + 1 + (int)(state >> 27) % 3;
            d.processes *= d.psizes[i];
        }
        for (int rank = 0; rank < d.processes; rank++)
            check_share(&d, rank);
    }
}
END_TEST

/* ---- recipes ---- */

START_TEST(contents_tell_how_it_was_made)
{
    struct type *inner, *outer;
    int lengths[] = { 1, 2 };
    MPI_Aint offsets[] = { 0, 16 };
    ck_assert_int_eq(xmpi_type_vector(3, 2, 4, type_of(MPI_INT), false, &inner), MPI_SUCCESS);
    MPI_Datatype parts[] = { MPI_DOUBLE, inner->handle };
    ck_assert_int_eq(xmpi_type_create_struct(2, ints(lengths), offsets, parts, false, &outer),
                     MPI_SUCCESS);
    free_type(inner);
    int64_t ni, na, nd;
    MPI_Count nc;
    int combiner;
    xmpi_type_get_envelope(outer, &ni, &na, &nc, &nd, &combiner);
    ck_assert_int_eq(combiner, MPI_COMBINER_STRUCT);
    ck_assert(ni == 3 && na == 2 && nc == 0 && nd == 2);
    int integers[3];
    MPI_Aint addresses[2];
    MPI_Datatype types[2];
    ck_assert_int_eq(
        xmpi_type_get_contents(outer, 3, 2, 0, 1, false, integers, addresses, NULL, types),
        MPI_ERR_ARG);
    ck_assert_int_eq(
        xmpi_type_get_contents(outer, 3, 2, 0, 2, false, integers, addresses, NULL, types),
        MPI_SUCCESS);
    ck_assert(integers[0] == 2 && integers[1] == 1 && integers[2] == 2);
    ck_assert(addresses[0] == 0 && addresses[1] == 16);
    ck_assert_ptr_eq(types[0], MPI_DOUBLE);
    struct type *again = type_of(types[1]);
    free_type(outer); /* the inner type lives on by the reference we were given */
    xmpi_type_get_envelope(again, &ni, &na, &nc, &nd, &combiner);
    ck_assert_int_eq(combiner, MPI_COMBINER_VECTOR);
    ck_assert(ni == 3 && na == 0 && nd == 1);
    free_type(again);
    ck_assert_ptr_null(type_of(types[1]));
}
END_TEST

START_TEST(large_counts_have_a_place_of_their_own)
{
    struct type *type;
    int64_t count = (int64_t)1 << 33;
    ck_assert_int_eq(xmpi_type_contiguous(count, type_of(MPI_CHAR), true, &type), MPI_SUCCESS);
    int64_t ni, na, nd;
    MPI_Count nc, large[1];
    int combiner;
    ck_assert_int_eq(xmpi_type_get_envelope(type, &ni, &na, NULL, &nd, &combiner),
                     MPI_ERR_TYPE);
    ck_assert_int_eq(xmpi_type_get_envelope(type, &ni, &na, &nc, &nd, &combiner), MPI_SUCCESS);
    ck_assert(ni == 0 && na == 0 && nc == 1 && nd == 1);
    MPI_Datatype types[1];
    ck_assert_int_eq(xmpi_type_get_contents(type, 0, 0, 1, 1, true, NULL, NULL, large, types),
                     MPI_SUCCESS);
    ck_assert_int_eq(large[0], count);
    free_type(type);
    ck_assert_int_eq(xmpi_type_contiguous(INT64_MAX, type_of(MPI_DOUBLE), false, &type),
                     MPI_ERR_COUNT);
}
END_TEST

static void darray_wrong(int how, int own, int grid, const char *says)
{
    struct type *type;
    const int64_t ten[] = { 10 };
    ck_assert_int_eq(xmpi_type_create_darray(4, 0, 1, (struct counts){ .wide = ten }, &how,
                                             &own, &grid, MPI_ORDER_C, type_of(MPI_INT), &type),
                     MPI_ERR_ARG);
    ck_assert_msg(strstr(fail_text(), says) != NULL, "%s", fail_text());
}

START_TEST(a_wrong_distribution_is_named)
{
    const int own = MPI_DISTRIBUTE_DFLT_DARG;
    darray_wrong(MPI_DISTRIBUTE_NONE, own, 4,
                 "array_of_psizes[0] is 4, must be 1, as array_of_distribs[0] is "
                 "MPI_DISTRIBUTE_NONE");
    darray_wrong(-3, own, 4, "array_of_distribs[0] is -3, must be MPI_DISTRIBUTE_BLOCK, ");
    darray_wrong(MPI_DISTRIBUTE_CYCLIC, 0, 4,
                 "array_of_dargs[0] is 0, must be at least 1, or MPI_DISTRIBUTE_DFLT_DARG");
    darray_wrong(MPI_DISTRIBUTE_BLOCK, 2, 4,
                 "array_of_dargs[0] is 2: with MPI_DISTRIBUTE_BLOCK 4 processes do not cover "
                 "10 elements");
}
END_TEST

/* Whatever product does not fit into 63 bits. */
START_TEST(what_is_too_large_is_refused)
{
    enum { HALF = 62 };
    struct type *real = type_of(MPI_DOUBLE), *type;
    const int64_t big[] = { (int64_t)1 << HALF, 1 }, one[] = { 1, 1 }, none[] = { 0, 0 };
    const struct counts bigs = { .wide = big }, ones = { .wide = one },
                        zeros = { .wide = none };
    const int block = MPI_DISTRIBUTE_BLOCK, cyclic = MPI_DISTRIBUTE_CYCLIC, many = 1 << 30;
    const int own = MPI_DISTRIBUTE_DFLT_DARG;
    ck_assert_int_eq(xmpi_type_vector(2, 1, big[0], real, true, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_vector(2, 1, -big[0], real, true, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_create_hvector(4, 1, big[0], real, true, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_indexed(2, ones, bigs, real, false, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_indexed(2, bigs, ones, real, false, &type), MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_create_indexed_block(2, 1, bigs, real, false, &type),
                     MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_create_subarray(1, bigs, ones, zeros, MPI_ORDER_C, real, &type),
                     MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_type_create_darray(many, 0, 1, bigs, &block, &own, &many, MPI_ORDER_C,
                                             real, &type),
                     MPI_ERR_COUNT);
    /* A share that counts far beyond the array, and the processes behind it. */
    for (int rank = 0; rank < 2; rank++) {
        ck_assert_int_eq(xmpi_type_create_darray(many, rank, 1, ones, &cyclic, &many, &many,
                                                 MPI_ORDER_C, real, &type),
                         MPI_SUCCESS);
        ck_assert_uint_eq(type->layout->size, rank ? 0 : sizeof(double));
        ck_assert_int_eq(type->layout->extent, sizeof(double));
        free_type(type);
    }
}
END_TEST

START_TEST(a_freed_handle_is_no_type)
{
    struct type *type, *dup;
    ck_assert_int_eq(xmpi_type_contiguous(3, type_of(MPI_INT), false, &type), MPI_SUCCESS);
    ck_assert(!type->committed);
    xmpi_type_commit(type);
    ck_assert_int_eq(xmpi_type_dup(type, &dup), MPI_SUCCESS);
    ck_assert(dup->committed);
    MPI_Datatype handle = dup->handle;
    ck_assert_ptr_eq(type_of(handle), dup);
    free_type(dup);
    ck_assert_ptr_null(type_of(handle));
    free_type(type);
}
END_TEST

/* ---- statuses ---- */

START_TEST(elements_are_counted)
{
    struct type *mixed;
    int lengths[] = { 1, 1 };
    MPI_Aint offsets[] = { 0, 8 };
    MPI_Datatype parts[] = { MPI_INT, MPI_DOUBLE };
    xmpi_type_create_struct(2, ints(lengths), offsets, parts, false, &mixed);
    MPI_Status status;
    int64_t count;
    for (int n = 0; n < 10; n++) {
        ck_assert_int_eq(xmpi_status_set_elements(&status, mixed, n), MPI_SUCCESS);
        xmpi_get_elements(&status, mixed, &count);
        ck_assert_int_eq(count, n);
        xmpi_get_count(&status, mixed, &count);
        ck_assert_int_eq(count, n % 2 ? MPI_UNDEFINED : n / 2);
    }
    struct result result = { .source = 3, .tag = 4, .bytes = 6 };
    status_write(&status, &result);
    xmpi_get_elements(&status, mixed, &count);
    ck_assert_int_eq(count, MPI_UNDEFINED);
    xmpi_get_elements(&status, type_of(MPI_SHORT_INT), &count);
    ck_assert_int_eq(count, 2); /* a pair is two elements */
    ck_assert_int_eq(xmpi_status_set_elements(&status, mixed, INT64_MAX), MPI_ERR_COUNT);
    ck_assert_int_eq(xmpi_status_set_elements(&status, type_of(MPI_BYTE), INT64_MAX - 1), 0);
    free_type(mixed);
}
END_TEST

START_TEST(statuses_hold_large_counts)
{
    MPI_Status status = { .MPI_ERROR = 77 };
    struct result result = {
        .source = 1, .tag = 2, .bytes = (size_t)5 << 40, .cancelled = true
    };
    status_write(&status, &result);
    ck_assert_int_eq(status.MPI_ERROR, 77);
    struct result back = status_read(&status);
    ck_assert(back.source == 1 && back.tag == 2 && back.cancelled);
    ck_assert_uint_eq(back.bytes, (size_t)5 << 40);
    int64_t count;
    xmpi_get_count(&status, type_of(MPI_DOUBLE), &count);
    ck_assert_int_eq(count, (int64_t)5 << 37);
    status_write(MPI_STATUS_IGNORE, &result);
}
END_TEST

START_TEST(packing_moves_the_position)
{
    struct type *column;
    int matrix[4][5], back[4][5] = { { 0 } };
    for (int i = 0; i < 20; i++)
        matrix[i / 5][i % 5] = i;
    xmpi_type_vector(4, 1, 5, type_of(MPI_INT), false, &column);
    char packed[40];
    int64_t position = 0, size;
    xmpi_pack_size(1, column, NULL, &size);
    ck_assert_int_eq(size, 16);
    ck_assert_int_eq(xmpi_pack(&matrix[0][1], 1, column, packed, 40, &position, NULL), 0);
    ck_assert_int_eq(xmpi_pack(&matrix[0][3], 1, column, packed, 40, &position, NULL), 0);
    ck_assert_int_eq(position, 32);
    ck_assert_int_eq(xmpi_pack(matrix, 1, column, packed, 40, &position, NULL),
                     MPI_ERR_TRUNCATE);
    position = 16;
    ck_assert_int_eq(xmpi_unpack(packed, 40, &position, &back[0][0], 1, column, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(back[i][0], matrix[i][3]);
    free_type(column);
}
END_TEST

UNIT_MAIN("type", every_predefined_type_is_itself, sizes_and_extents, predefined_types_stay,
          match_size_finds, subarray_is_a_box, subarray_refuses, darray_deals_out,
          contents_tell_how_it_was_made, large_counts_have_a_place_of_their_own,
          a_wrong_distribution_is_named, what_is_too_large_is_refused,
          a_freed_handle_is_no_type, elements_are_counted, statuses_hold_large_counts,
          packing_moves_the_position)
