/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers beyond 2^31: every constructor of MPI 4 with counts, lengths and distances that no int
 * holds, described without memory; and messages to places that lie gigabytes apart, in address
 * space of which only the pages are there that somebody writes to.
 *
 * conform-device: a device has no such memory
 */
#include "check.h"

#include <stdint.h>
#include <sys/mman.h>

#define K ((MPI_Count)1024)
#define M (K * K)
#define G (K * K * K)

static int rank, size, left, right;

/* ---- types: what they are, what made them, and the same type made again ---- */

struct recipe {
    MPI_Count ni, na, nc, nd, counts[8];
    int combiner, integers[16];
    MPI_Aint addresses[4];
    MPI_Datatype types[4];
};

static struct recipe recipe_of(MPI_Datatype type)
{
    struct recipe r;
    CHECK_OK(MPI_Type_get_envelope_c(type, &r.ni, &r.na, &r.nc, &r.nd, &r.combiner));
    CHECK(r.ni <= 16 && r.na <= 4 && r.nc <= 8 && r.nd <= 4);
    CHECK_OK(MPI_Type_get_contents_c(type, r.ni, r.na, r.nc, r.nd, r.integers, r.addresses,
                                     r.counts, r.types));
    return r;
}

static MPI_Datatype made_again(const struct recipe *r)
{
    const MPI_Count *c = r->counts;
    const int *i = r->integers, *more = i + 3;
    MPI_Datatype old = r->types[0], t = MPI_DATATYPE_NULL;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        MPI_Type_contiguous_c(c[0], old, &t);
        break;
    case MPI_COMBINER_VECTOR:
        MPI_Type_vector_c(c[0], c[1], c[2], old, &t);
        break;
    case MPI_COMBINER_HVECTOR:
        MPI_Type_create_hvector_c(c[0], c[1], c[2], old, &t);
        break;
    case MPI_COMBINER_INDEXED:
        MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], old, &t);
        break;
    case MPI_COMBINER_HINDEXED:
        MPI_Type_create_hindexed_c(c[0], c + 1, c + 1 + c[0], old, &t);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, old, &t);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block_c(c[0], c[1], c + 2, old, &t);
        break;
    case MPI_COMBINER_STRUCT:
        MPI_Type_create_struct_c(c[0], c + 1, c + 1 + c[0], r->types, &t);
        break;
    case MPI_COMBINER_SUBARRAY:
        MPI_Type_create_subarray_c(i[0], c, c + i[0], c + 2 * i[0], i[1], old, &t);
        break;
    case MPI_COMBINER_DARRAY:
        MPI_Type_create_darray_c(i[0], i[1], i[2], c, more, more + i[2], more + 2 * i[2],
                                 more[3 * i[2]], old, &t);
        break;
    case MPI_COMBINER_RESIZED:
        MPI_Type_create_resized_c(old, c[0], c[1], &t);
        break;
    default:
        CHECK(!"a combiner with large counts");
    }
    return t;
}

struct shape {
    MPI_Count size, lb, extent, true_lb, true_extent;
};

static void has_shape(MPI_Datatype type, struct shape wanted)
{
    struct shape is;
    CHECK_OK(MPI_Type_size_c(type, &is.size));
    CHECK_OK(MPI_Type_get_extent_c(type, &is.lb, &is.extent));
    CHECK_OK(MPI_Type_get_true_extent_c(type, &is.true_lb, &is.true_extent));
    CHECK(memcmp(&is, &wanted, sizeof is) == 0);
}

/* An int cannot say it. */
static void small_forms(MPI_Datatype type, MPI_Count size)
{
    int bytes, packed, ni, na, nd, found, lost = size > INT32_MAX;
    CHECK_OK(MPI_Type_size(type, &bytes));
    CHECK(bytes == (lost ? MPI_UNDEFINED : size));
    CHECK_OK(MPI_Pack_size(1, type, MPI_COMM_WORLD, &packed));
    CHECK(lost ? packed == MPI_UNDEFINED : packed >= size);
    CHECK_ERROR(MPI_Type_get_envelope(type, &ni, &na, &nd, &found), MPI_ERR_TYPE);
}

/* What counts is the form of the constructor, not how large its counts are. */
static void small_counts_of_large_forms(void)
{
    MPI_Datatype t, inside;
    MPI_Aint addresses[2];
    int n, integers[3];
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &t);
    CHECK_ERROR(MPI_Type_get_envelope(t, &n, &n, &n, &n), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Type_get_contents(t, 3, 0, 1, integers, NULL, &inside), MPI_ERR_TYPE);
    MPI_Type_free(&t);
    MPI_Type_create_resized_c(MPI_INT, 0, 8, &t);
    CHECK_ERROR(MPI_Type_get_envelope(t, &n, &n, &n, &n), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Type_get_contents(t, 0, 2, 1, NULL, addresses, &inside), MPI_ERR_TYPE);
    MPI_Type_free(&t);
}

/* Nor how many there are. */
static void no_counts_of_large_forms(void)
{
    MPI_Datatype none[5];
    MPI_Type_create_struct_c(0, NULL, NULL, NULL, &none[0]);
    MPI_Type_indexed_c(0, NULL, NULL, MPI_INT, &none[1]);
    MPI_Type_create_hindexed_c(0, NULL, NULL, MPI_INT, &none[2]);
    MPI_Type_create_indexed_block_c(0, 3, NULL, MPI_INT, &none[3]);
    MPI_Type_create_hindexed_block_c(0, 3, NULL, MPI_INT, &none[4]);
    for (int i = 0; i < 5; i++) {
        MPI_Count ni, na, nc, nd;
        int n, found;
        CHECK_OK(MPI_Type_get_envelope_c(none[i], &ni, &na, &nc, &nd, &found));
        CHECK(ni == 0 && na == 0 && nc == (i < 3 ? 1 : 2) && nd == (i > 0));
        CHECK_ERROR(MPI_Type_get_envelope(none[i], &n, &n, &n, &n), MPI_ERR_TYPE);
        MPI_Type_free(&none[i]);
    }
}

static void is_type(MPI_Datatype type, int combiner, struct shape wanted)
{
    MPI_Count bytes;
    has_shape(type, wanted);
    CHECK_OK(MPI_Type_commit(&type));
    small_forms(type, wanted.size);
    CHECK_OK(MPI_Pack_size_c(3, type, MPI_COMM_WORLD, &bytes));
    CHECK(bytes >= 3 * wanted.size);
    struct recipe first = recipe_of(type);
    CHECK(first.combiner == combiner);
    MPI_Datatype again = made_again(&first);
    has_shape(again, wanted);
    struct recipe second = recipe_of(again);
    CHECK(first.nc == second.nc &&
          memcmp(first.counts, second.counts, (size_t)first.nc * sizeof *first.counts) == 0);
    MPI_Type_free(&again);
    MPI_Type_free(&type);
}

static void vectors(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous_c(3 * G, MPI_INT, &t);
    is_type(t, MPI_COMBINER_CONTIGUOUS, (struct shape){ 12 * G, 0, 12 * G, 0, 12 * G });
    MPI_Type_vector_c(2, 3 * G, 5 * G, MPI_CHAR, &t);
    is_type(t, MPI_COMBINER_VECTOR, (struct shape){ 6 * G, 0, 8 * G, 0, 8 * G });
    MPI_Type_vector_c(3 * G, 1, -2, MPI_SHORT, &t); /* the last one lies in front */
    is_type(t, MPI_COMBINER_VECTOR,
            (struct shape){ 6 * G, -12 * G + 4, 12 * G - 2, -12 * G + 4, 12 * G - 2 });
    MPI_Type_create_hvector_c(2, 1, 7 * G, MPI_INT, &t);
    is_type(t, MPI_COMBINER_HVECTOR, (struct shape){ 8, 0, 7 * G + 4, 0, 7 * G + 4 });
}

static void lists(void)
{
    MPI_Datatype t;
    MPI_Count lengths[] = { 3 * G, 1 }, at[] = { 4 * G, -5 * G };
    MPI_Type_indexed_c(2, lengths, at, MPI_SHORT, &t);
    is_type(t, MPI_COMBINER_INDEXED,
            (struct shape){ 6 * G + 2, -10 * G, 24 * G, -10 * G, 24 * G });
    MPI_Type_create_hindexed_c(2, lengths, at, MPI_CHAR, &t);
    is_type(t, MPI_COMBINER_HINDEXED,
            (struct shape){ 3 * G + 1, -5 * G, 12 * G, -5 * G, 12 * G });
    MPI_Type_create_indexed_block_c(2, 3 * G, at, MPI_CHAR, &t);
    is_type(t, MPI_COMBINER_INDEXED_BLOCK,
            (struct shape){ 6 * G, -5 * G, 12 * G, -5 * G, 12 * G });
    MPI_Type_create_hindexed_block_c(2, 3 * G, at, MPI_CHAR, &t);
    is_type(t, MPI_COMBINER_HINDEXED_BLOCK,
            (struct shape){ 6 * G, -5 * G, 12 * G, -5 * G, 12 * G });
    MPI_Type_create_struct_c(2, lengths, at, (MPI_Datatype[]){ MPI_BYTE, MPI_DOUBLE }, &t);
    is_type(t, MPI_COMBINER_STRUCT,
            (struct shape){ 3 * G + 8, -5 * G, 12 * G, -5 * G, 12 * G });
}

static void arrays(void)
{
    MPI_Datatype t;
    MPI_Count sizes[] = { 4, 6 * G }, part[] = { 2, 3 * G }, start[] = { 1, 2 * G };
    MPI_Type_create_subarray_c(2, sizes, part, start, MPI_ORDER_C, MPI_CHAR, &t);
    is_type(t, MPI_COMBINER_SUBARRAY, (struct shape){ 6 * G, 0, 24 * G, 8 * G, 9 * G });
    int block[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK }, grid[] = { 2, 2 };
    int usual[] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
    MPI_Type_create_darray_c(4, 3, 2, sizes, block, usual, grid, MPI_ORDER_C, MPI_CHAR, &t);
    is_type(t, MPI_COMBINER_DARRAY, (struct shape){ 6 * G, 0, 24 * G, 15 * G, 9 * G });
    MPI_Type_create_resized_c(MPI_INT, -3 * G, 8 * G, &t);
    is_type(t, MPI_COMBINER_RESIZED, (struct shape){ 4, -3 * G, 8 * G, 0, 4 });
}

/* ---- statuses ---- */

static void statuses(void)
{
    MPI_Datatype pair;
    MPI_Status status = { 0 };
    MPI_Count many;
    int few;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_INT, 10 * G + 1));
    CHECK_OK(MPI_Get_elements_c(&status, pair, &many));
    CHECK(many == 10 * G + 1);
    CHECK_OK(MPI_Get_count_c(&status, pair, &many));
    CHECK(many == MPI_UNDEFINED); /* half a pair */
    CHECK_OK(MPI_Status_set_elements_c(&status, pair, 10 * G));
    CHECK_OK(MPI_Get_count_c(&status, pair, &many));
    CHECK(many == 5 * G); /* an element is an int */
    CHECK_OK(MPI_Get_elements(&status, pair, &few));
    CHECK(few == MPI_UNDEFINED);
    MPI_Type_free(&pair);
}

/* ---- messages ---- */

static char *space; /* FAR bytes for each rank */
enum { BYTES = 100 };
#define FAR (5 * G)

static char *place(int i)
{
    return space + i * FAR;
}

static void clear(void)
{
    for (int i = 0; i <= size; i++)
        memset(place(i), 0, BYTES);
}

static void fill(int i, int from, int to)
{
    for (int k = 0; k < BYTES; k++)
        place(i)[k] = (char)(from * 31 + to * 7 + k);
}

static int holds(int i, int from, int to)
{
    for (int k = 0; k < BYTES; k++)
        if (place(i)[k] != (char)(from * 31 + to * 7 + k))
            return 0;
    return 1;
}

static void far_pair(void)
{
    MPI_Datatype two;
    MPI_Status status;
    MPI_Count count, position = 3 * G;
    clear();
    fill(0, rank, 1);
    fill(1, rank, 2);
    MPI_Type_create_hvector_c(2, BYTES, FAR, MPI_CHAR, &two);
    MPI_Type_commit(&two);
    CHECK_OK(MPI_Sendrecv_replace_c(space, 1, two, right, 1, left, 1, MPI_COMM_WORLD, &status));
    CHECK(holds(0, left, 1) && holds(1, left, 2));
    CHECK_OK(MPI_Get_elements_c(&status, two, &count));
    CHECK(count == 2 * BYTES);
    char *packed = space + 2 * BYTES; /* and places in packed data that no int holds */
    CHECK_OK(MPI_Pack_c(space, 1, two, packed, 4 * G, &position, MPI_COMM_WORLD));
    CHECK(position == 3 * G + 2 * BYTES);
    clear();
    position = 3 * G;
    CHECK_OK(MPI_Unpack_c(packed, 4 * G, &position, space, 1, two, MPI_COMM_WORLD));
    CHECK(holds(0, left, 1) && holds(1, left, 2));
    MPI_Type_free(&two);
}

/* Blocks that lie gigabytes apart: by displacements, by the extent of a type. */
static void far_blocks(void)
{
    MPI_Count *counts = malloc(sizeof *counts * (size_t)size);
    MPI_Aint *displs = malloc(sizeof *displs * (size_t)size);
    MPI_Datatype block, spread;
    char own[BYTES];
    for (int i = 0; i < size; i++) {
        counts[i] = BYTES;
        displs[i] = i * FAR;
    }
    MPI_Type_contiguous(BYTES, MPI_CHAR, &block);
    MPI_Type_create_resized_c(block, 0, FAR, &spread);
    MPI_Type_commit(&spread);
    fill(0, rank, 9);
    memcpy(own, space, BYTES);
    clear();
    CHECK_OK(MPI_Allgatherv_c(own, BYTES, MPI_CHAR, space, counts, displs, MPI_CHAR,
                              MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        CHECK(holds(i, i, 9));
    clear();
    CHECK_OK(MPI_Allgather_c(own, BYTES, MPI_CHAR, space, 1, spread, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        CHECK(holds(i, i, 9));
    for (int i = 0; i < size; i++)
        fill(i, rank, i);
    CHECK_OK(MPI_Alltoallv_c(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, space, counts, displs,
                             MPI_CHAR, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        CHECK(holds(i, i, rank));
    MPI_Type_free(&spread);
    MPI_Type_free(&block);
    free(displs);
    free(counts);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    rank = world_rank();
    size = world_size();
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    small_counts_of_large_forms();
    no_counts_of_large_forms();
    vectors();
    lists();
    arrays();
    statuses();
    space = mmap(NULL, (size_t)((size + 1) * FAR), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int here = space != MAP_FAILED, everywhere;
    MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (everywhere) {
        far_pair();
        far_blocks();
    } else if (rank == 0)
        printf("skip: this machine gives no %d GiB of address space\n", (size + 1) * 5);
    return check_done();
}
