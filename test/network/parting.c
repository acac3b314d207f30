/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 1 leaves MPI over connections that broke, so its last acks are lost, and that it leaves.  Nobody misses it: rank 0 waits
 * for a message of rank 2, from any source, for so long that it looks after rank 1.   parting SECONDS
 */
#define _GNU_SOURCE
#include "test/conform/check.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FDS = 64, FIRST = 0, LEAVES, LATE };

/* What is connected, both directions of it. */
static int shut(void)
{
    int n = 0;
    for (int fd = 3; fd < FDS; fd++) {
        struct sockaddr_in there;
        socklen_t bytes = sizeof there;
        if (getpeername(fd, (struct sockaddr *)&there, &bytes) == 0 &&
            there.sin_family == AF_INET)
            n += shutdown(fd, SHUT_RDWR) == 0;
    }
    return n;
}

static void greet(int other)
{
    int mine = world_rank(), theirs = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, other, 0, &theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(theirs == other);
}

int main(int argc, char **argv)
{
    int got = -1;
    MPI_Init(&argc, &argv);
    int rank = world_rank();
    if (rank == FIRST) {
        greet(LEAVES);
        greet(LATE);
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == LATE);
    } else {
        greet(FIRST);
    }
    if (rank == LEAVES) {
        CHECK(shut() > 0);
    }
    if (rank == LATE) {
        sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 6);
        MPI_Send(&rank, 1, MPI_INT, FIRST, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
