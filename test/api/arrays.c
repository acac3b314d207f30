/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays of counts, displacements and types may go as soon as a call with a request returns.  The
 * standard promises less (MPI 5.0, 6.12: until the operation is over), but programs rely on it:
 * here each array is spoilt between the call and the start, for every collective with arrays.
 */
#include "check.h"

#include <stdlib.h>

static int size, rank;
static int *out, *in;
static int *counts, *displs, *bytes;
static MPI_Count *counts_c;
static MPI_Aint *displs_c, *bytes_c;
static MPI_Datatype *types;

/* Block i is number i, the last block first. */
static void prepare(void)
{
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        counts_c[i] = 1;
        displs[i] = size - 1 - i;
        displs_c[i] = displs[i];
        bytes[i] = displs[i] * (int)sizeof(int);
        bytes_c[i] = bytes[i];
        types[i] = MPI_INT;
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
}

static void spoil(void)
{
    for (int i = 0; i < size; i++) {
        counts[i] = 1 << 28;
        counts_c[i] = 1 << 28;
        displs[i] = bytes[i] = -(1 << 28);
        displs_c[i] = bytes_c[i] = -(1 << 28);
        types[i] = MPI_DATATYPE_NULL;
    }
}

/* What arrived, per block: from i, `mine` or number j of its numbers. */
static void check_blocks(const char *name, const int *wanted)
{
    for (int i = 0; i < size; i++)
        if (in[i] != wanted[i]) {
            printf("%s: block %d is %d instead of %d\n", name, i, in[i], wanted[i]);
            checks_failed++;
        }
}

static void finish(const char *name, MPI_Request *request, int persistent, const int *wanted)
{
    spoil();
    for (int i = 0; i <= persistent; i++) {
        if (persistent)
            CHECK(MPI_Start(request) == MPI_SUCCESS);
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        check_blocks(name, wanted);
        memset(in, 0xff, (size_t)size * sizeof *in);
    }
    if (persistent)
        CHECK(MPI_Request_free(request) == MPI_SUCCESS);
}

#define NAMED(name, wanted, ...)                                                               \
    prepare();                                                                                 \
    CHECK(MPI_I##name(__VA_ARGS__, &request) == MPI_SUCCESS);                                  \
    finish("MPI_I" #name, &request, 0, wanted);
#define PERSISTENT(name, wanted, ...)                                                          \
    prepare();                                                                                 \
    CHECK(MPI_##name(__VA_ARGS__, MPI_INFO_NULL, &request) == MPI_SUCCESS);                    \
    finish("MPI_" #name, &request, 1, wanted);

static void collectives(MPI_Comm comm)
{
    MPI_Request request;
    int gathered[size], exchanged[size], scattered[size], nothing[size], sum[size];
    for (int i = 0; i < size; i++) {
        int from = size - 1 - i; /* blocks lie the last first */
        gathered[i] = 100 * from;
        exchanged[i] = 100 * from + size - 1 - rank;
        scattered[i] = i ? -1 : size - 1 - rank;
        sum[i] = i ? -1 : 100 * size * (size - 1) / 2 + size * rank;
        nothing[i] = -1;
    }
    const int *at_root = rank == 0 ? gathered : nothing;
    NAMED(gatherv, at_root, out, 1, MPI_INT, in, counts, displs, MPI_INT, 0, comm)
    NAMED(gatherv_c, at_root, out, 1, MPI_INT, in, counts_c, displs_c, MPI_INT, 0, comm)
    PERSISTENT(Gatherv_init, at_root, out, 1, MPI_INT, in, counts, displs, MPI_INT, 0, comm)
    NAMED(scatterv, scattered, out, counts, displs, MPI_INT, in, 1, MPI_INT, 0, comm)
    PERSISTENT(Scatterv_init, scattered, out, counts, displs, MPI_INT, in, 1, MPI_INT, 0, comm)
    NAMED(allgatherv, gathered, out, 1, MPI_INT, in, counts, displs, MPI_INT, comm)
    PERSISTENT(Allgatherv_init, gathered, out, 1, MPI_INT, in, counts, displs, MPI_INT, comm)
    PERSISTENT(Allgatherv_init_c, gathered, out, 1, MPI_INT, in, counts_c, displs_c, MPI_INT,
               comm)
    NAMED(alltoallv, exchanged, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm)
    PERSISTENT(Alltoallv_init_c, exchanged, out, counts_c, displs_c, MPI_INT, in, counts_c,
               displs_c, MPI_INT, comm)
    NAMED(alltoallw, exchanged, out, counts, bytes, types, in, counts, bytes, types, comm)
    NAMED(alltoallw_c, exchanged, out, counts_c, bytes_c, types, in, counts_c, bytes_c, types,
          comm)
    PERSISTENT(Alltoallw_init, exchanged, out, counts, bytes, types, in, counts, bytes, types,
               comm)
    NAMED(reduce_scatter, sum, out, in, counts, MPI_INT, MPI_SUM, comm)
    PERSISTENT(Reduce_scatter_init, sum, out, in, counts, MPI_INT, MPI_SUM, comm)
}

/* A graph in which everybody is everybody's neighbour, and the same collectives on it. */
static void neighbourhoods(void)
{
    MPI_Comm graph;
    MPI_Request request;
    int everybody[size], gathered[size], exchanged[size];
    for (int i = 0; i < size; i++) {
        everybody[i] = i;
        gathered[i] = 100 * (size - 1 - i);
        exchanged[i] = gathered[i] + size - 1 - rank;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, everybody, MPI_UNWEIGHTED, size,
                                   everybody, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    NAMED(neighbor_allgatherv, gathered, out, 1, MPI_INT, in, counts, displs, MPI_INT, graph)
    PERSISTENT(Neighbor_allgatherv_init, gathered, out, 1, MPI_INT, in, counts, displs, MPI_INT,
               graph)
    PERSISTENT(Neighbor_alltoallv_init, exchanged, out, counts, displs, MPI_INT, in, counts,
               displs, MPI_INT, graph)
    NAMED(neighbor_alltoallw, exchanged, out, counts, bytes_c, types, in, counts, bytes_c,
          types, graph)
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t n = (size_t)size * 8;
    out = malloc(n), in = malloc(n);
    counts = malloc(n), displs = malloc(n), bytes = malloc(n);
    counts_c = malloc(n), displs_c = malloc(n), bytes_c = malloc(n);
    types = malloc((size_t)size * sizeof *types);
    collectives(MPI_COMM_WORLD);
    neighbourhoods();
    void *all[] = { out, in, counts, displs, bytes, counts_c, displs_c, bytes_c, types };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    MPI_Finalize();
    return checks_failed != 0;
}
