/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A packet of which one half is here: its sender has filled the kernel's buffers and computes, so what
 * the receiver finds ends in the middle of a packet, whose other half comes when the sender looks again.
 * Others fill the receive buffers several times meanwhile.  All that is received is what was sent.
 *     halves FILE [rounds]     needs XMPI_OFI_WINDOW=16M, or the first sender would ask before it sends
 */
#include "test/conform/check.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MOST = 60000,
    AHEAD = 40, /* messages of rank 1 */
    MEANWHILE = 60,
    KERNEL_BYTES = 64 << 10,
    FDS = 64,
    TAG = 1
};

static unsigned char data[AHEAD * MOST], wanted[MOST];

static int bytes_of(int round, int from, int i)
{
    return MOST / (from == 1 ? 1 : 2) - 1500 * (round % 8) - i % 7;
}

static void fill(unsigned char *p, int bytes, int round, int from, int i)
{
    int seed = round * 1000 + from * 331 + i;
    for (int b = 0; b < bytes; b++)
        p[b] = (unsigned char)(seed * 37 + b * 7 + (b >> 8));
}

/* The kernel shall keep little. */
static void connections_small(void)
{
    for (int fd = 3; fd < FDS; fd++) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        int bytes = KERNEL_BYTES;
        if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0 ||
            peer.ss_family != AF_INET)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
}

/* More than the kernel takes, and then away until the file is there. */
static void send_and_compute(int round, const char *file)
{
    MPI_Request requests[AHEAD];
    for (int i = 0; i < AHEAD; i++) {
        int bytes = bytes_of(round, 1, i);
        fill(data + (size_t)i * MOST, bytes, round, 1, i);
        CHECK_OK(MPI_Isend(data + (size_t)i * MOST, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
                           &requests[i]));
    }
    while (access(file, F_OK) != 0)
        usleep(1000);
    CHECK_OK(MPI_Waitall(AHEAD, requests, MPI_STATUSES_IGNORE));
}

static void send_meanwhile(int round, int rank)
{
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < MEANWHILE; i++) {
        int bytes = bytes_of(round, rank, i);
        fill(data, bytes, round, rank, i);
        CHECK_OK(MPI_Send(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    }
}

static void receive(int round, int from, int n)
{
    for (int i = 0; i < n; i++) {
        int bytes = bytes_of(round, from, i);
        CHECK_OK(MPI_Recv(data, MOST, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        fill(wanted, bytes, round, from, i);
        CHECK(memcmp(data, wanted, (size_t)bytes) == 0);
    }
}

/* Takes in what rank 1 got off, then all of the others, then the rest. */
static void receive_all(int round, int size, const char *file)
{
    int here;
    usleep(50000);
    for (int i = 0; i < 2000; i++)
        CHECK_OK(MPI_Iprobe(1, TAG + 1, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE));
    for (int to = 2; to < size; to++)
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, to, TAG, MPI_COMM_WORLD));
    for (int from = 2; from < size; from++)
        receive(round, from, MEANWHILE);
    fclose(fopen(file, "w"));
    receive(round, 1, AHEAD);
    remove(file);
}

/* Connections are made while both sides look. */
static void warm_up(int rank, int size)
{
    if (rank != 0)
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    for (int from = 1; rank == 0 && from < size; from++)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    connections_small();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = world_rank(), size = world_size();
    CHECK(argc > 1 && size > 2);
    warm_up(rank, size);
    for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 3); round++) {
        if (rank == 0)
            receive_all(round, size, argv[1]);
        else if (rank == 1)
            send_and_compute(round, argv[1]);
        else
            send_meanwhile(round, rank);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return check_done();
}
