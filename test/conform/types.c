/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes as a program sees them: sizes and extents of every constructor, what arrives when
 * they are sent, envelopes and contents, names, duplicates, packing, large counts, errors.
 */
#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static void check_shape(MPI_Datatype type, int size, MPI_Aint lb, MPI_Aint extent,
                        MPI_Aint true_lb, MPI_Aint true_extent)
{
    int bytes;
    MPI_Aint low, span;
    MPI_Type_size(type, &bytes);
    CHECK(bytes == size);
    MPI_Type_get_extent(type, &low, &span);
    CHECK(low == lb && span == extent);
    MPI_Type_get_true_extent(type, &low, &span);
    CHECK(low == true_lb && span == true_extent);
}

static void test_shapes(void)
{
    MPI_Datatype t, u;
    MPI_Type_contiguous(5, MPI_DOUBLE, &t);
    check_shape(t, 40, 0, 40, 0, 40);
    MPI_Type_vector(3, 2, 4, t, &u);
    check_shape(u, 240, 0, 400, 0, 400);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_vector(3, 1, -2, MPI_INT, &t);
    check_shape(t, 12, -16, 20, -16, 20);
    MPI_Type_free(&t);
    MPI_Type_create_hvector(2, 1, 7, MPI_CHAR, &t);
    check_shape(t, 2, 0, 8, 0, 8);
    MPI_Type_free(&t);
    int lengths[] = { 2, 0, 1 }, displs[] = { 4, 100, 1 };
    MPI_Type_indexed(3, lengths, displs, MPI_INT, &t);
    check_shape(t, 12, 4, 20, 4, 20);
    MPI_Type_free(&t);
    MPI_Type_create_indexed_block(2, 3, displs, MPI_SHORT, &t);
    check_shape(t, 12, 8, 198, 8, 198);
    MPI_Type_free(&t);
    MPI_Aint offsets[] = { 8, 0, 20 };
    MPI_Type_create_hindexed(3, lengths, offsets, MPI_INT, &t);
    check_shape(t, 12, 8, 16, 8, 16);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed_block(2, 1, offsets, MPI_INT, &t);
    check_shape(t, 8, 0, 12, 0, 12);
    MPI_Type_free(&t);
    MPI_Type_create_resized(MPI_INT, -4, 32, &t);
    check_shape(t, 4, -4, 32, 0, 4);
    MPI_Type_contiguous(3, t, &u);
    check_shape(u, 12, -4, 96, 0, 68);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_contiguous(0, MPI_INT, &t);
    check_shape(t, 0, 0, 0, 0, 0);
    MPI_Type_free(&t);
}

struct record {
    char tag;
    double values[3];
    int32_t count;
    short tail;
};

static MPI_Datatype record_type(void)
{
    int lengths[] = { 1, 3, 1, 1 };
    MPI_Aint offsets[] = { offsetof(struct record, tag), offsetof(struct record, values),
                           offsetof(struct record, count), offsetof(struct record, tail) };
    MPI_Datatype types[] = { MPI_CHAR, MPI_DOUBLE, MPI_INT32_T, MPI_SHORT }, type;
    MPI_Type_create_struct(4, lengths, offsets, types, &type);
    MPI_Type_commit(&type);
    return type;
}

/* An array of structs travels whole, and its padding stays at home. */
static void test_struct(void)
{
    enum { N = 50 };
    MPI_Datatype type = record_type();
    struct record out[N], in[N];
    int rank = world_rank(), size = world_size(), left = (rank - 1 + size) % size;
    check_shape(type, 31, 0, sizeof(struct record), 0, offsetof(struct record, tail) + 2);
    memset(out, 0x11, sizeof out);
    memset(in, 0x22, sizeof in);
    for (int i = 0; i < N; i++) {
        out[i].tag = (char)i;
        out[i].values[2] = rank + i;
        out[i].count = rank * i;
        out[i].tail = (short)-i;
    }
    MPI_Sendrecv(out, N, type, (rank + 1) % size, 0, in, N, type, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        CHECK(in[i].tag == (char)i && in[i].values[2] == left + i && in[i].count == left * i);
        CHECK(in[i].tail == -i && ((unsigned char *)&in[i])[1] == 0x22);
    }
    MPI_Type_free(&type);
}

/* Absolute addresses from MPI_BOTTOM. */
static void test_bottom(void)
{
    int a[3] = { 1, 2, 3 }, b = 4, in[4] = { 0 };
    MPI_Aint offsets[2];
    int lengths[] = { 3, 1 };
    MPI_Get_address(a, &offsets[0]);
    MPI_Get_address(&b, &offsets[1]);
    MPI_Datatype type;
    MPI_Type_create_hindexed(2, lengths, offsets, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(MPI_BOTTOM, 1, type, world_rank(), 0, in, 4, MPI_INT, world_rank(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1 && in[2] == 3 && in[3] == 4);
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    CHECK(MPI_Aint_diff(MPI_Aint_add(offsets[0], 8), offsets[0]) == 8);
}

/* A box of a 2-D array, sent as a box and received densely, then the other way round. */
static void test_subarray(void)
{
    enum { ROWS = 7, COLUMNS = 9, H = 3, W = 4 };
    int field[ROWS][COLUMNS], dense[H][W], back[ROWS][COLUMNS];
    int sizes[] = { ROWS, COLUMNS }, lengths[] = { H, W }, starts[] = { 2, 5 };
    MPI_Datatype box;
    MPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, MPI_INT, &box);
    MPI_Type_commit(&box);
    check_shape(box, H * W * 4, 0, ROWS * COLUMNS * 4, (2 * COLUMNS + 5) * 4,
                ((H - 1) * COLUMNS + W) * 4);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        field[i / COLUMNS][i % COLUMNS] = i;
    memset(back, 0, sizeof back);
    MPI_Sendrecv(field, 1, box, world_rank(), 0, dense, H * W, MPI_INT, world_rank(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(dense, H * W, MPI_INT, world_rank(), 0, back, 1, box, world_rank(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            int inside = r >= 2 && r < 2 + H && c >= 5 && c < 5 + W;
            CHECK(back[r][c] == (inside ? field[r][c] : 0));
            CHECK(!inside || dense[r - 2][c - 5] == field[r][c]);
        }
    MPI_Type_free(&box);
}

/* In a run where every constructor is MPI_X_c (test/large). */
static bool made_large(MPI_Datatype type)
{
    MPI_Count n, counts;
    int combiner;
    CHECK_OK(MPI_Type_get_envelope_c(type, &n, &n, &counts, &n, &combiner));
    return counts > 0;
}

static void test_envelope(void)
{
    MPI_Datatype t, types[1], inner;
    int ni, na, nd, combiner, integers[8];
    MPI_Aint addresses[2];
    MPI_Type_get_envelope(MPI_DOUBLE, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED && ni == 0 && na == 0 && nd == 0);
    MPI_Type_vector(3, 2, -5, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -8, 100, &t);
    MPI_Type_free(&inner);
    if (made_large(t)) {
        MPI_Type_free(&t);
        return;
    }
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_RESIZED && ni == 0 && na == 2 && nd == 1);
    MPI_Type_get_contents(t, 0, 2, 1, integers, addresses, types);
    CHECK(addresses[0] == -8 && addresses[1] == 100);
    MPI_Type_free(&t);
    MPI_Type_get_envelope(types[0], &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_VECTOR && ni == 3 && na == 0 && nd == 1);
    MPI_Datatype element[1];
    MPI_Type_get_contents(types[0], 3, 0, 1, integers, addresses, element);
    CHECK(integers[0] == 3 && integers[1] == 2 && integers[2] == -5 && element[0] == MPI_INT);
    MPI_Type_dup(types[0], &t);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_DUP && ni == 0 && na == 0 && nd == 1);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&t);
}

static void test_names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Datatype type;
    MPI_Type_get_name(MPI_DOUBLE_INT, name, &length);
    CHECK(strcmp(name, "MPI_DOUBLE_INT") == 0 && length == (int)strlen(name));
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 0 && name[0] == '\0');
    MPI_Type_set_name(type, "two ints");
    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, "two ints") == 0 && length == 8);
    MPI_Type_free(&type);
}

static void test_pack(void)
{
    char buffer[200];
    int position = 0, size, a = 7, back = 0, more[2] = { 8, 9 }, others[2] = { 0, 0 };
    double b = 2.5, c = 0;
    MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &size);
    CHECK(size >= 12);
    MPI_Pack(&a, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&b, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(more, 2, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    char arrived[200];
    int next = 0;
    MPI_Sendrecv(buffer, position, MPI_PACKED, world_rank(), 0, arrived, sizeof arrived,
                 MPI_PACKED, world_rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Unpack(arrived, position, &next, &back, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(arrived, position, &next, &c, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(arrived, position, &next, others, 2, MPI_INT, MPI_COMM_WORLD);
    CHECK(back == 7 && c == 2.5 && others[0] == 8 && others[1] == 9 && next == position);
}

static void test_elements(void)
{
    MPI_Datatype type = record_type();
    MPI_Status status;
    char bytes[31 + 1 + 16] = { 0 };
    int count, rank = world_rank();
    struct record in[2];
    MPI_Datatype prefix; /* one record, then its first three items once more */
    int lengths[] = { 31 + 1 + 16 };
    MPI_Aint offset[] = { 0 };
    MPI_Type_create_hindexed(1, lengths, offset, MPI_BYTE, &prefix);
    MPI_Type_commit(&prefix);
    MPI_Sendrecv(bytes, 1, prefix, rank, 0, in, 2, type, rank, 0, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, type, &count);
    CHECK(count == 6 + 3);
    MPI_Get_count(&status, type, &count);
    CHECK(count == MPI_UNDEFINED);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == 48);
    MPI_Type_free(&prefix);
    MPI_Type_free(&type);
}

static void test_errors(void)
{
    errors_return();
    MPI_Datatype t = MPI_DATATYPE_NULL;
    int lengths[] = { 1, -1 }, displs[] = { 0, 4 };
    MPI_Datatype types[] = { MPI_INT, MPI_DATATYPE_NULL };
    MPI_Aint offsets[] = { 0, 4 };
    CHECK_ERROR(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Type_indexed(2, lengths, displs, MPI_INT, &t), MPI_ERR_COUNT);
    lengths[1] = 1;
    CHECK_ERROR(MPI_Type_create_struct(2, lengths, offsets, types, &t), MPI_ERR_TYPE);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Type_contiguous(2, MPI_INT, &t);
    CHECK_ERROR(MPI_Send(lengths, 1, t, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE); /* not committed */
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);
    t = MPI_INT;
    CHECK_ERROR(MPI_Type_free(&t), MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_shapes();
    test_struct();
    test_bottom();
    test_subarray();
    test_envelope();
    test_names();
    test_pack();
    test_elements();
    test_errors();
    return check_done();
}
