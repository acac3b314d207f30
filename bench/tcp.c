/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network between two processes, as a program sees it through MPI, or (-DRAW) through plain
 * TCP sockets over loopback that are polled without sleeping: the limit.  Both do exactly the same:
 *
 *     latency   half a round trip of 8 B, 1 KiB, 64 KiB
 *     stream    8 messages of 1 MiB under way at once, into 8 places; one byte back at the end
 *
 * Output: one line `latency BYTES us` or `stream BYTES MB/s` per measurement; the least of many
 * batches for latencies, since whatever else runs only adds, and the best batch for streams.
 *
 *     mpicc -O2 tcp.c -o net      cc -O2 -DRAW tcp.c -o raw      (bench/tcp.py does both)
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 20, BATCHES = 300, MIB = 1 << 20, WINDOW = 8, STREAMS = 40 };

static char *memory;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#ifdef RAW
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int wire;

static void move(char *data, size_t bytes, int out)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = out ? send(wire, data + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL)
                        : recv(wire, data + done, bytes - done, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            exit(1);
        done += n > 0 ? (size_t)n : 0;
    }
}
static void put(size_t bytes)
{
    move(memory, bytes, 1);
}
static void get(size_t bytes)
{
    move(memory, bytes, 0);
}

static void stream(int rank, size_t bytes)
{
    for (int i = 0; i < WINDOW; i++)
        move(memory + (size_t)i * bytes, bytes, rank == 0);
}

static int begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    struct sockaddr_in here = { .sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof here;
    int one = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(door, (struct sockaddr *)&here, length) || listen(door, 1) ||
        getsockname(door, (struct sockaddr *)&here, &length))
        exit(1);
    int rank = fork() == 0;
    cpu_set_t cpu; /* as launchers do */
    CPU_ZERO(&cpu);
    CPU_SET(rank, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    if (rank == 1) {
        wire = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(wire, (struct sockaddr *)&here, length))
            exit(1);
    } else {
        wire = accept(door, NULL, NULL);
    }
    setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return rank;
}
static void end(int rank)
{
    if (rank == 0)
        wait(NULL);
}

#else
#include <mpi.h>

static int other;

static void put(size_t bytes)
{
    MPI_Send(memory, (int)bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
}
static void get(size_t bytes)
{
    MPI_Recv(memory, (int)bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stream(int rank, size_t bytes)
{
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        if (rank == 0)
            MPI_Isend(memory + (size_t)i * bytes, (int)bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD,
                      &requests[i]);
        else
            MPI_Irecv(memory + (size_t)i * bytes, (int)bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD,
                      &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static int begin(int *argc, char ***argv)
{
    int rank;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = !rank;
    return rank;
}
static void end(int rank)
{
    (void)rank;
    MPI_Finalize();
}
#endif

static void latency(int rank, size_t bytes, int batches)
{
    double least = 1e30;
    for (int batch = 0; batch < batches; batch++) {
        double since = now_us();
        for (int i = 0; i < BATCH; i++) {
            if (rank == 0)
                put(bytes);
            get(bytes);
            if (rank == 1)
                put(bytes);
        }
        double took = (now_us() - since) / BATCH / 2;
        least = took < least ? took : least;
    }
    if (rank == 0)
        printf("latency %zu %.3f\n", bytes, least);
}

static void streams(int rank, size_t bytes)
{
    double least = 1e30;
    for (int batch = 0; batch < STREAMS; batch++) {
        double since = now_us();
        stream(rank, bytes);
        if (rank == 0)
            get(1);
        else
            put(1);
        double took = now_us() - since;
        least = took < least ? took : least;
    }
    if (rank == 0)
        printf("stream %zu %.0f\n", bytes, (double)(WINDOW * bytes) / least);
}

int main(int argc, char **argv)
{
    memory = malloc((size_t)WINDOW * MIB);
    memset(memory, 1, (size_t)WINDOW * MIB);
    int rank = begin(&argc, &argv);
    latency(rank, 8, BATCHES);
    latency(rank, 1024, BATCHES);
    latency(rank, 64 << 10, BATCHES / 4);
    latency(rank, MIB, BATCHES / 20);
    streams(rank, MIB);
    end(rank);
    return 0;
}
