/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process that nobody can connect to any more, and that loses all its connections; its own still reach
 * the others.  Long messages from it cannot be read then, and come as packets.   deaf seconds
 *     deaf seconds pause      it computes, and nobody can connect to it for so long: a firewall at work
 */
#define _GNU_SOURCE
#include "test/conform/check.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FDS = 64, BYTES = 1 << 20, MESSAGES = 20, DEAF = 1 };

static int listeners[FDS], nlisteners;

/* Shut down what listens, or what is connected.  How many. */
static int shut(int listening)
{
    int n = 0;
    for (int fd = 3; fd < FDS; fd++) {
        struct sockaddr_in here;
        socklen_t bytes = sizeof here, m = sizeof(int);
        int listens = 0;
        if (getsockname(fd, (struct sockaddr *)&here, &bytes) != 0 ||
            here.sin_family != AF_INET ||
            getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &m) != 0 ||
            listens != listening)
            continue;
        if (listening)
            listeners[nlisteners++] = fd;
        n += shutdown(fd, SHUT_RDWR) == 0;
    }
    return n;
}

static void be_deaf(int seconds)
{
    CHECK(shut(1) > 0);
    CHECK(shut(0) > 0);
    sleep((unsigned)seconds);
    for (int i = 0; seconds && i < nlisteners; i++)
        CHECK(listen(listeners[i], SOMAXCONN) == 0);
}

static void exchange(int rank, int size, unsigned char *out, unsigned char *in)
{
    for (int i = 0; i < MESSAGES; i++)
        for (int to = 0; to < size; to++) {
            if (to == DEAF)
                continue;
            memset(out, i + to, BYTES);
            memset(in, 0, BYTES);
            if (rank == DEAF)
                MPI_Sendrecv(out, BYTES, MPI_BYTE, to, i, in, BYTES, MPI_BYTE, to, i,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (rank == to)
                MPI_Sendrecv(out, BYTES, MPI_BYTE, DEAF, i, in, BYTES, MPI_BYTE, DEAF, i,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == DEAF || rank == to)
                CHECK(memcmp(in, out, BYTES) == 0);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = world_rank(), size = world_size();
    double most = argc > 1 ? atof(argv[1]) : 10;
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    exchange(rank, size, out, in);
    double begin = MPI_Wtime();
    if (rank == DEAF)
        be_deaf(argc > 2 ? atoi(argv[2]) : 0);
    exchange(rank, size, out, in);
    CHECK(MPI_Wtime() - begin < most);
    free(out);
    free(in);
    return check_done();
}
