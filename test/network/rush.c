/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everybody has sent one rank a message before that rank looks: more than its receive buffers hold, and
 * less than fills them again.  Every message arrives all the same, and is what was sent.
 *     rush [rounds]
 */
#include "test/conform/check.h"

#include <string.h>
#include <unistd.h>

enum { BYTES = 32 << 10, TAG_WARM = 1, TAG_RUSH };

static unsigned char data[BYTES], wanted[BYTES];

static void fill(unsigned char *p, int seed)
{
    for (int i = 0; i < BYTES; i++)
        p[i] = (unsigned char)(seed * 37 + i * 7 + (i >> 8));
}

/* Connections are made while both sides look. */
static void warm_up(int root, int rank, int size)
{
    int nothing = 0;
    if (rank != root)
        CHECK_OK(MPI_Send(&nothing, 1, MPI_INT, root, TAG_WARM, MPI_COMM_WORLD));
    for (int i = 1; rank == root && i < size; i++)
        CHECK_OK(MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, TAG_WARM, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
}

static void rush(int round, int rank, int size)
{
    int root = round % size;
    warm_up(root, rank, size);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != root) {
        usleep(100000); /* until the root is out of the barrier, and does not look any more */
        fill(data, round * size + rank);
        CHECK_OK(MPI_Send(data, BYTES, MPI_BYTE, root, TAG_RUSH, MPI_COMM_WORLD));
        return;
    }
    usleep(500000);
    for (int from = 0; from < size; from++) {
        if (from == root)
            continue;
        CHECK_OK(
            MPI_Recv(data, BYTES, MPI_BYTE, from, TAG_RUSH, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        fill(wanted, round * size + from);
        CHECK(memcmp(data, wanted, BYTES) == 0);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 3); round++) {
        rush(round, rank, size);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return check_done();
}
