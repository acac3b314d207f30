/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives of short vectors while more is on its way to a peer than may go there unasked, so that even the
 * shortest message is over no sooner than somebody receives it.
 *     full sends BYTES COUNT    so many messages, which the neighbour receives after the collectives
 *     full edges BYTES COUNT    nothing but neighbourhood collectives, over so many edges to each of two neighbours
 */
#include "test/conform/check.h"

#include <string.h>

enum { SHORT = 4000, ROUNDS = 4 }; /* the third call of the same goes another way */

static int rank, size;

static void *zeroed(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    CHECK(memory != NULL);
    return memory;
}

/* ---- with messages that are received later ---- */

static void check_blocks(const unsigned char *all, int bytes)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < bytes; i++)
            CHECK(all[r * bytes + i] == (unsigned char)(r + i));
}

static void reductions(void)
{
    int mine[500], sum[500], above = 0, below = size * (size - 1) / 2;
    for (int i = 0; i < 500; i++)
        mine[i] = rank + i;
    CHECK_OK(MPI_Allreduce(mine, sum, 500, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < 500; i++)
        CHECK(sum[i] == below + size * i);
    CHECK_OK(MPI_Reduce(mine, sum, 500, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD));
    CHECK(rank < size - 1 || sum[9] == below + size * 9);
    CHECK_OK(MPI_Scan(mine, sum, 500, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int r = 0; r <= rank; r++)
        above += r + 1;
    CHECK(sum[1] == above);
    for (int r = 0; r < size; r++)
        mine[r] = rank * size + r;
    CHECK_OK(MPI_Reduce_scatter_block(mine, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum[0] == below * size + size * rank);
}

static void movements(void)
{
    unsigned char *mine = zeroed(SHORT), *all = zeroed((size_t)size * SHORT),
                  *given = zeroed((size_t)size * SHORT);
    for (int i = 0; i < SHORT; i++) {
        mine[i] = (unsigned char)(rank + i);
        for (int r = 0; r < size; r++)
            given[r * SHORT + i] = mine[i];
    }
    CHECK_OK(MPI_Alltoall(given, SHORT, MPI_BYTE, all, SHORT, MPI_BYTE, MPI_COMM_WORLD));
    check_blocks(all, SHORT);
    memset(all, 0, (size_t)size * SHORT);
    CHECK_OK(MPI_Allgather(mine, SHORT, MPI_BYTE, all, SHORT, MPI_BYTE, MPI_COMM_WORLD));
    check_blocks(all, SHORT);
    CHECK_OK(MPI_Bcast(all, SHORT, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Gather(mine, SHORT, MPI_BYTE, all, SHORT, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (rank == 0)
        check_blocks(all, SHORT);
    CHECK_OK(MPI_Scatter(all, SHORT, MPI_BYTE, given, SHORT, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK(memcmp(given, mine, SHORT) == 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(mine);
    free(all);
    free(given);
}

static void with_sends(int bytes, int count)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    char *out = zeroed((size_t)bytes), *in = zeroed((size_t)bytes);
    MPI_Request *sends = zeroed((size_t)count * sizeof *sends);
    for (int i = 0; i < count; i++)
        CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &sends[i]));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        reductions();
        movements();
    }
    for (int i = 0; i < count; i++)
        CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitall(count, sends, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
    free(sends);
}

/* ---- many edges between two ranks ---- */

static void over_edges(int bytes, int count)
{
    int n = 2 * count;
    int *to = zeroed((size_t)n * sizeof *to), *from = zeroed((size_t)n * sizeof *from);
    unsigned char *out = zeroed((size_t)n * (size_t)bytes),
                  *in = zeroed((size_t)n * (size_t)bytes);
    MPI_Comm graph;
    for (int i = 0; i < n; i++) { /* the i-th edge to a neighbour is his i-th one from there */
        to[i] = (i % 2 ? rank + 1 : rank + size - 1) % size;
        from[i] = (i % 2 ? rank + size - 1 : rank + 1) % size;
        memset(out + (size_t)i * (size_t)bytes, rank + i, (size_t)bytes);
    }
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, from, MPI_UNWEIGHTED, n, to,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    for (int round = 0; round < ROUNDS; round++) {
        memset(in, 0, (size_t)n * (size_t)bytes);
        CHECK_OK(MPI_Neighbor_alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, graph));
        for (int i = 0; i < n; i++)
            CHECK(in[(size_t)i * (size_t)bytes] == (unsigned char)(from[i] + i));
        CHECK_OK(MPI_Neighbor_allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, graph));
        for (int i = 0; i < n; i++)
            CHECK(in[(size_t)i * (size_t)bytes] == (unsigned char)from[i]);
    }
    CHECK_OK(MPI_Comm_free(&graph));
    free(to);
    free(from);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 4);
    int bytes = atoi(argv[2]), count = atoi(argv[3]);
    if (strcmp(argv[1], "sends") == 0)
        with_sends(bytes, count);
    else
        over_edges(bytes, count);
    return check_done();
}
