/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gatherv, scatterv, allgatherv, alltoallv, alltoallw in all forms: blocks of different lengths,
 * some empty, with gaps between them that must stay as they are.
 */
#include "check.h"
#include "forms.h"

#include <stdint.h>
#include <string.h>

static int rank, size;

static int value(int from, int to, int i)
{
    return from * 100003 + to * 1009 + i;
}

/* Length of the block from one to another: uneven, often zero. */
static int length(int from, int to, int scale)
{
    int n = (from * 5 + to * 3) % 7;
    return n < 2 ? 0 : n * scale;
}

struct blocks {
    int *counts, *displs, *data, total;
};

static struct blocks blocks_new(int incoming, int peer, int scale)
{
    struct blocks b = { calloc((size_t)size, sizeof(int)), calloc((size_t)size, sizeof(int)),
                        NULL, 0 };
    for (int i = 0; i < size; i++) {
        int to = peer < 0 ? 0 : peer;
        b.counts[i] = incoming ? length(i, to, scale) : length(to, i, scale);
        b.total += 2; /* a gap before every block */
        b.displs[i] = b.total;
        b.total += b.counts[i];
    }
    b.data = malloc(sizeof(int) * (size_t)(b.total + 1));
    memset(b.data, 0x5a, sizeof(int) * (size_t)(b.total + 1));
    return b;
}

static void blocks_free(struct blocks *b)
{
    free(b->counts);
    free(b->displs);
    free(b->data);
}

/* Every block holds what its sender had for `to`, every gap what it held before. */
static int blocks_good(const struct blocks *b, int to)
{
    int good = 1, at = 0;
    for (int i = 0; i < size; i++) {
        for (; at < b->displs[i]; at++)
            good &= b->data[at] == 0x5a5a5a5a;
        for (int k = 0; k < b->counts[i]; k++, at++)
            good &= b->data[at] == value(i, to, k);
    }
    return good;
}

static void blocks_fill(struct blocks *b, int from)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < b->counts[i]; k++)
            b->data[b->displs[i] + k] = value(from, i, k);
}

static void test_gatherv(enum form form, int scale)
{
    for (int root = 0; root < size; root++) {
        struct blocks in = blocks_new(1, root, scale);
        int n = length(rank, root, scale), *mine = malloc(sizeof(int) * (size_t)(n + 1));
        for (int k = 0; k < n; k++)
            mine[k] = value(rank, root, k);
        int here = rank == root;
        CHECK(all_gatherv(form, mine, n, MPI_INT, here ? in.data : NULL,
                          here ? in.counts : NULL, here ? in.displs : NULL, MPI_INT, root,
                          MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(!here || blocks_good(&in, root));
        free(mine);
        blocks_free(&in);
    }
}

static void test_scatterv(enum form form, int scale)
{
    for (int root = 0; root < size; root++) {
        struct blocks out = blocks_new(0, root, scale);
        int n = length(root, rank, scale), *mine = calloc((size_t)n + 1, sizeof(int)), good = 1;
        blocks_fill(&out, root);
        int here = rank == root;
        CHECK(all_scatterv(form, here ? out.data : NULL, here ? out.counts : NULL,
                           here ? out.displs : NULL, MPI_INT, mine, n, MPI_INT, root,
                           MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int k = 0; k < n; k++)
            good &= mine[k] == value(root, rank, k);
        CHECK(good);
        free(mine);
        blocks_free(&out);
    }
}

static void test_allgatherv(enum form form, int scale)
{
    struct blocks in = blocks_new(1, 0, scale);
    int n = length(rank, 0, scale), *mine = malloc(sizeof(int) * (size_t)(n + 1));
    for (int k = 0; k < n; k++)
        mine[k] = value(rank, 0, k);
    CHECK(all_allgatherv(form, mine, n, MPI_INT, in.data, in.counts, in.displs, MPI_INT,
                         MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(blocks_good(&in, 0));
    free(mine);
    blocks_free(&in);
}

static void test_alltoallv(enum form form, int scale)
{
    struct blocks in = blocks_new(1, rank, scale), out = blocks_new(0, rank, scale);
    blocks_fill(&out, rank);
    CHECK(all_alltoallv(form, out.data, out.counts, out.displs, MPI_INT, in.data, in.counts,
                        in.displs, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(blocks_good(&in, rank));
    blocks_free(&in);
    blocks_free(&out);
}

/* Displacements in bytes; odd senders describe their blocks as bytes. */
static void test_alltoallw(enum form form, int scale)
{
    struct blocks in = blocks_new(1, rank, scale), out = blocks_new(0, rank, scale);
    MPI_Datatype *in_types = malloc(sizeof(MPI_Datatype) * (size_t)size);
    MPI_Datatype *out_types = malloc(sizeof(MPI_Datatype) * (size_t)size), whole;
    MPI_Type_contiguous(sizeof(int), MPI_BYTE, &whole);
    MPI_Type_commit(&whole);
    blocks_fill(&out, rank);
    int *in_bytes = malloc(sizeof(int) * (size_t)size);
    int *out_bytes = malloc(sizeof(int) * (size_t)size);
    for (int i = 0; i < size; i++) {
        in_bytes[i] = in.displs[i] * (int)sizeof(int);
        out_bytes[i] = out.displs[i] * (int)sizeof(int);
        in_types[i] = i % 2 ? whole : MPI_INT;
        out_types[i] = rank % 2 ? whole : MPI_INT;
    }
    CHECK(all_alltoallw(form, out.data, out.counts, out_bytes, out_types, in.data, in.counts,
                        in_bytes, in_types, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(blocks_good(&in, rank));
    MPI_Type_free(&whole);
    free(in_bytes);
    free(out_bytes);
    free(in_types);
    free(out_types);
    blocks_free(&in);
    blocks_free(&out);
}

#if MPI_VERSION >= 4
/* Blocks behind MPI_BOTTOM: displacements that are bytes are addresses. */
static void test_absolute(void)
{
    int *in = malloc(sizeof *in * (size_t)size), *out = malloc(sizeof *out * (size_t)size);
    int *everybody = malloc(sizeof *everybody * (size_t)size);
    MPI_Count *one = malloc(sizeof *one * (size_t)size);
    MPI_Aint *from = malloc(sizeof *from * (size_t)size),
             *to = malloc(sizeof *to * (size_t)size);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)size);
    MPI_Comm graph;
    for (int i = 0; i < size; i++) {
        out[i] = value(rank, i, 0);
        in[i] = -1;
        one[i] = 1;
        everybody[i] = i;
        MPI_Get_address(&out[i], &from[i]);
        MPI_Get_address(&in[i], &to[i]);
        types[i] = MPI_INT;
    }
    CHECK(MPI_Alltoallw_c(MPI_BOTTOM, one, from, types, MPI_BOTTOM, one, to, types,
                          MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < size; i++) {
        CHECK(in[i] == value(i, rank, 0));
        in[i] = -1;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, everybody, MPI_UNWEIGHTED, size,
                                   everybody, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    CHECK(MPI_Neighbor_alltoallw_c(MPI_BOTTOM, one, from, types, MPI_BOTTOM, one, to, types,
                                   graph) == MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        CHECK(in[i] == value(i, rank, 0));
    MPI_Comm_free(&graph);
    free(in), free(out), free(everybody), free(one), free(from), free(to), free(types);
}

/* Blocks without elements, whose displacements mean nothing: each rank keeps its one element to itself. */
static void test_nowhere(void)
{
    enum { MOST = 64 };
    static int in[MOST], out[MOST];
    MPI_Count counts[MOST], first[MOST];
    MPI_Aint displs[MOST], at[MOST];
    CHECK(size <= MOST);
    for (int i = 0; i < size; i++) {
        counts[i] = i == rank;
        displs[i] = i == rank ? 2 : (i % 2 ? 1 : -1) * (INT64_MAX / 3 + i);
        first[i] = i == 0;
        at[i] = i == 0 ? 3 : (i % 2 ? 1 : -1) * (INT64_MAX / 3 + i);
    }
    out[2] = value(rank, rank, 0);
    for (int again = 0; again < 5; again++) {
        CHECK(MPI_Alltoallv_c(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT,
                              MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(in[2] == out[2]);
        CHECK(MPI_Allgatherv_c(out + 2, rank == 0, MPI_INT, in, first, at, MPI_INT,
                               MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(in[3] == value(0, 0, 0));
        CHECK(MPI_Gatherv_c(out + 2, rank == 0, MPI_INT, in + 1, first, at, MPI_INT, size - 1,
                            MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(rank < size - 1 || in[4] == value(0, 0, 0));
        memset(in, 0, sizeof in);
    }
}

/* Elements without bytes, anywhere. */
static void test_nothing_anywhere(void)
{
    enum { MOST = 64 };
    MPI_Datatype empty, none;
    MPI_Request request;
    MPI_Count counts[MOST];
    MPI_Aint displs[MOST];
    CHECK(size <= MOST);
    for (int i = 0; i < size; i++) {
        counts[i] = 1 + i % 3;
        displs[i] = (i % 2 ? 1 : -1) * (INT64_MAX / 9 + i);
    }
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_create_resized(empty, 0, 8, &none);
    MPI_Type_commit(&none);
    CHECK(MPI_Iallgatherv_c(NULL, 0, MPI_INT, &rank, counts, displs, none, MPI_COMM_WORLD,
                            &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Type_free(&none);
    MPI_Type_free(&empty);
}
#else
static void test_nothing_anywhere(void)
{
}
static void test_absolute(void)
{
}
static void test_nowhere(void)
{
}
#endif

int main(int argc, char **argv)
{
    static const int scales[] = { 0, 1, 10, 300, 8000 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (enum form form = BLOCKING; form < FORMS; form++)
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            test_gatherv(form, scales[k]);
            test_scatterv(form, scales[k]);
            test_allgatherv(form, scales[k]);
            test_alltoallv(form, scales[k]);
            test_alltoallw(form, scales[k]);
        }
    test_absolute();
    test_nowhere();
    test_nothing_anywhere();
    return check_done();
}
