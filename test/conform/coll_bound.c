/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives of more data than fits a slot that come again and again: their plans stay bound (coll/replay.c), or the
 * others' memory is reached (coll/attach.c).  Each time other buffers, now and then in place, roots in turns, other
 * collectives between them.
 *
 * conform-options: -x XMPI_COLL=allgather=ring:pieces=2,gather=linear,scatter=linear,alltoall=pairwise,allgatherv=bruck,gatherv=linear,scatterv=linear,alltoallv=pairwise,reduce_scatter_block=linear,allreduce=doubling:pieces=2
 */
#include "check.h"

#include <stdbool.h>

enum { CALLS = 24, SETS = 3 };

static int rank, size;
static int *sets[SETS][2]; /* of vectors of a block for each rank */

static int given(int r, int n, int i)
{
    return r * 1001 + n * 13 + i % 977;
}

static int sum_upto(int last, int n, int i)
{
    int sum = 0;
    for (int r = 0; r <= last; r++)
        sum += given(r, n, i);
    return sum;
}

static void fill(int *to, int r, int n, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = given(r, n, i);
}

static bool is(const int *at, int r, int n, int count)
{
    for (int i = 0; i < count; i++)
        if (at[i] != given(r, n, i))
            return false;
    return true;
}

static bool is_sum(const int *at, int last, int n, int count)
{
    for (int i = 0; i < count; i++)
        if (at[i] != sum_upto(last, n, i))
            return false;
    return true;
}

static void blocks(MPI_Comm comm, int n, int count)
{
    int *from = sets[n % SETS][0], *to = sets[n / 2 % SETS][1], root = n % size;
    fill(from, rank, n, count);
    if (rank != root)
        memset(to, -1, (size_t)count * sizeof *to);
    else
        fill(to, root, n, count);
    CHECK_OK(MPI_Bcast(to, count, MPI_INT, root, comm));
    CHECK(is(to, root, n, count));
    memset(to, -1, (size_t)(count * size) * sizeof *to);
    CHECK_OK(MPI_Gather(from, count, MPI_INT, to, count, MPI_INT, root, comm));
    for (int r = 0; r < size; r++)
        CHECK(rank == root ? is(to + r * count, r, n, count) : to[r * count] == -1);
    CHECK_OK(MPI_Allgather(from, count, MPI_INT, to, count, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(is(to + r * count, r, n, count));
    CHECK(is(from, rank, n, count));
}

static void others_blocks(MPI_Comm comm, int n, int count)
{
    int *from = sets[n % SETS][0], *to = sets[n / 2 % SETS][1], root = (n + 1) % size;
    for (int r = 0; r < size; r++)
        fill(from + r * count, rank, n + r, count);
    memset(to, -1, (size_t)(count * size) * sizeof *to);
    CHECK_OK(MPI_Scatter(from, count, MPI_INT, to, count, MPI_INT, root, comm));
    CHECK(is(to, root, n + rank, count));
    CHECK_OK(MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(is(to + r * count, r, n + rank, count));
}

static void sums(MPI_Comm comm, int n, int count)
{
    bool in_place = n % 5 == 3 || n % 5 == 4;
    int *from = sets[n % SETS][0], *to = sets[n / 2 % SETS][1], root = n % size;
    fill(from, rank, n, count);
    fill(to, rank, n, count);
    CHECK_OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : from, to, count, MPI_INT, MPI_SUM, comm));
    CHECK(is_sum(to, size - 1, n, count) && is(from, rank, n, count));
    fill(to, rank, n, count);
    CHECK_OK(MPI_Scan(in_place ? MPI_IN_PLACE : from, to, count, MPI_INT, MPI_SUM, comm));
    CHECK(is_sum(to, rank, n, count));
    fill(to, rank, n, count);
    CHECK_OK(MPI_Exscan(in_place ? MPI_IN_PLACE : from, to, count, MPI_INT, MPI_SUM, comm));
    CHECK(rank == 0 || is_sum(to, rank - 1, n, count));
    fill(to, rank, n, count);
    CHECK_OK(MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : from, to, count, MPI_INT,
                        MPI_SUM, root, comm));
    CHECK(rank == root ? is_sum(to, size - 1, n, count) : is(to, rank, n, count));
}

static void sums_of_blocks(MPI_Comm comm, int n, int count)
{
    int *from = sets[n % SETS][0], *to = sets[n / 2 % SETS][1];
    bool in_place = n % 4 == 3;
    for (int r = 0; r < size; r++) {
        fill(from + r * count, rank, n + r, count);
        fill(to + r * count, rank, n + r, count);
    }
    CHECK_OK(MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : from, to, count, MPI_INT,
                                      MPI_SUM, comm));
    CHECK(is_sum(to, size - 1, n + rank, count));
}

/* Lists of blocks that lie elsewhere each time, as do the lists: of a rank's for all others, and of theirs for it. */
static int *counts, *displs, *mine, *places;

static void lists(int n, int count)
{
    static int memory[2][4][64];
    counts = memory[n % 2][0];
    displs = memory[n % 2][1];
    mine = memory[n % 2][2];
    places = memory[n % 2][3];
    for (int r = 0; r < size; r++) {
        counts[r] = count / 2 + r % 2;
        displs[r] = n % 3 == 0   ? r * count
                    : n % 3 == 1 ? (size - 1 - r) * count
                                 : r * (count - 7);
        mine[r] = count / 2 + rank % 2;
        places[r] = n % 2 ? r * count : (size - 1 - r) * count;
    }
}

static void listed(MPI_Comm comm, int n, int count)
{
    int *from = sets[n % SETS][0], *to = sets[n / 2 % SETS][1], root = n % size;
    lists(n, count);
    fill(from, rank, n, mine[0]);
    CHECK_OK(MPI_Allgatherv(from, mine[0], MPI_INT, to, counts, displs, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(is(to + displs[r], r, n, counts[r]));
    for (int r = 0; r < size; r++)
        fill(from + displs[r], rank, n + r, counts[r]);
    CHECK_OK(MPI_Alltoallv(from, counts, displs, MPI_INT, to, mine, places, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(is(to + places[r], r, n + rank, mine[r]));
    CHECK_OK(MPI_Scatterv(from, counts, displs, MPI_INT, to, mine[0], MPI_INT, root, comm));
    CHECK(is(to, root, n + rank, mine[0]));
    CHECK_OK(MPI_Gatherv(from + displs[root], counts[root], MPI_INT, to, mine, places, MPI_INT,
                         root, comm));
    for (int r = 0; r < size && rank == root; r++)
        CHECK(is(to + places[r], r, n + root, mine[r]));
}

/* What is said to be wrong stays right for those that come after it. */
static void mistakes(MPI_Comm comm, int n, int count)
{
    int *from = sets[n % SETS][0], *to = sets[n % SETS][1];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPI_Allreduce(from, NULL, count, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allgather(to + rank * count, count, MPI_INT, to, count, MPI_INT, comm),
                MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

static void all(MPI_Comm comm, int count)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int n = 0; n < CALLS; n++) {
        blocks(comm, n, count);
        others_blocks(comm, n, count);
        sums(comm, n, count);
        sums_of_blocks(comm, n, count);
        listed(comm, n, count);
        if (n % 8 == 5)
            mistakes(comm, n, count);
    }
}

/* Several lengths at once: of each something is kept. */
static void mixed(MPI_Comm comm)
{
    static const int lengths[] = { 700, 1500, 700, 5000, 1, 9000 };
    for (int n = 0; n < 2 * CALLS; n++)
        sums(comm, n, lengths[n % 6]);
    for (int n = 0; n < 2 * CALLS; n++)
        blocks(comm, n, lengths[n % 6]);
    for (int n = 0; n < 2 * CALLS; n++) /* short lists, long ones, short ones */
        listed(comm, n, n / 6 % 2 ? 9000 : 40);
}

int main(int argc, char **argv)
{
    enum { MOST = 40000 };
    static const int lengths[] = { 600, 2000, 3000, 9000, MOST };
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    for (int i = 0; i < SETS; i++)
        for (int j = 0; j < 2; j++)
            sets[i][j] = malloc((size_t)(MOST * size) * sizeof(int));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned));
    for (int i = 0; i < 5; i++)
        all(MPI_COMM_WORLD, lengths[i]);
    mixed(MPI_COMM_WORLD);
    all(turned, 2000);
    CHECK_OK(MPI_Comm_free(&turned));
    for (int i = 0; i < SETS; i++)
        for (int j = 0; j < 2; j++)
            free(sets[i][j]);
    return check_done();
}
