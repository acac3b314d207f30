/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections that break under mixed traffic.  A thread of every rank picks one of the process's TCP
 * connections at random and cuts it, in one of three ways, again and again:
 *
 *     reset       (with the right to do so) what lies in the buffers of either side is lost
 *     shut down   both directions, or one: what was sent arrives, and then the end
 *
 * Meanwhile each rank sends every other one a stream of messages: short, long, synchronous, in
 * pieces.  Each says which it is in the stream, and so do all its bytes; receives take whatever tag
 * comes, so a message lost, doubled or overtaken is seen at once.   cuts [cuts [seed]]
 */
#define _GNU_SOURCE
#include "test/conform/check.h"
#include "test/network/connection.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PER_ROUND = 12,
    MOST = 1 << 20,
    FDS = 64,
    KNOWN = 64,
    GAP = 40 /* messages */,
    MOST_RANKS = 16,
    LIMIT_S = 100
};

static const int lengths[] = { 8,    8,     16,    56,    100,    440, 3000,
                               8192, 20000, 65536, 65544, 200000, MOST };
static unsigned seed;
static _Atomic int wanted, made, resets; /* cuts; those that were resets */
static _Atomic unsigned received;        /* messages */
static atomic_bool over;

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 8) % below;
}

/* ---- the cutter ---- */

static int is_new(int fd)
{
    static ino_t known[KNOWN];
    static int n;
    struct stat socket;
    fstat(fd, &socket);
    for (int i = 0; i < KNOWN; i++)
        if (known[i] == socket.st_ino)
            return 0;
    known[n++ % KNOWN] = socket.st_ino;
    return 1;
}

static int cut(unsigned *state)
{
    struct inet_diag_sockid id;
    int fds[FDS], n = 0;
    for (int fd = 3; fd < FDS; fd++)
        if (connection_of(fd, &id))
            fds[n++] = fd;
    if (n == 0)
        return 0;
    int fd = fds[draw(state, (unsigned)n)], how = (int)draw(state, 4);
    if (!connection_of(fd, &id) || !is_new(fd))
        return 0;
    if (how < 2 && reset(&id)) {
        resets++;
        return 1;
    }
    return shutdown(fd, how == 3 ? SHUT_WR : SHUT_RDWR) == 0;
}

static void *cutter(void *nothing)
{
    unsigned state = seed * 977 + (unsigned)world_rank(), until = 0;
    while (!over && made < wanted) {
        usleep(200 + draw(&state, 2000));
        if ((int)(received - until) < 0 || !cut(&state))
            continue;
        made++;
        until = received + draw(&state, GAP);
    }
    return nothing;
}

/* ---- the traffic ---- */

static unsigned sending[MOST_RANKS], receiving[MOST_RANKS]; /* streams: the next number */
static unsigned *out[MOST_RANKS][PER_ROUND], *in;

/* The n-th message from one rank to another. */
static int length_of(int from, int to, unsigned n)
{
    unsigned state = seed + (unsigned)from * 131 + (unsigned)to * 17 + n * 7919;
    draw(&state, 2);
    return lengths[draw(&state, sizeof lengths / sizeof lengths[0])];
}

static void message_fill(unsigned *words, int bytes, unsigned n)
{
    for (int i = 0; i < bytes / 4; i++)
        words[i] = n * 2654435761u + (unsigned)i;
}

static int message_is(const unsigned *words, int bytes, unsigned n)
{
    for (int i = 0; i < bytes / 4; i++)
        if (words[i] != n * 2654435761u + (unsigned)i)
            return 0;
    return 1;
}

static void message_send(int rank, int to, int i, MPI_Request *request)
{
    unsigned n = sending[to]++;
    int bytes = length_of(rank, to, n), tag = (int)(n % 5);
    message_fill(out[to][i], bytes, n);
    if (n % 6 == 1)
        MPI_Issend(out[to][i], bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
    else
        MPI_Isend(out[to][i], bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
}

static void message_receive(int rank)
{
    MPI_Status status;
    int bytes;
    MPI_Recv(in, MOST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    int from = status.MPI_SOURCE;
    unsigned n = receiving[from]++;
    CHECK(status.MPI_TAG == (int)(n % 5));
    CHECK(bytes == length_of(from, rank, n));
    CHECK(message_is(in, bytes, n));
    received++;
}

/* False: all cuts are made, everywhere. */
static int round_of(int rank, int size)
{
    MPI_Request requests[MOST_RANKS * PER_ROUND];
    int n = 0, again, go_on = made < wanted;
    for (int i = 0; i < PER_ROUND; i++)
        for (int to = 0; to < size; to++)
            if (to != rank)
                message_send(rank, to, i, &requests[n++]);
    for (int i = 0; i < n; i++)
        message_receive(rank);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&go_on, &again, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return again;
}

static void memory_make(int size)
{
    in = malloc(MOST);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < PER_ROUND; i++)
            out[to][i] = malloc(MOST);
}

static void memory_free(int size)
{
    free(in);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < PER_ROUND; i++)
            free(out[to][i]);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    MPI_Init(&argc, &argv);
    int rank = world_rank(), size = world_size(), rounds = 0;
    seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    wanted = (argc > 1 ? atoi(argv[1]) : 100) / size + 1;
    memory_make(size);
    pthread_create(&thread, NULL, cutter, NULL);
    double begin = MPI_Wtime();
    while (round_of(rank, size) && MPI_Wtime() - begin < LIMIT_S)
        rounds++;
    over = 1;
    pthread_join(thread, NULL);
    int mine[2] = { made, resets }, total[2];
    MPI_Allreduce(mine, total, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        CHECK(receiving[from] == sending[from]); /* as many both ways */
    CHECK(total[0] >= wanted * size);
    if (rank == 0)
        printf("%d cuts, %d of them resets, in %d rounds, seed %u\n", total[0], total[1],
               rounds, seed);
    memory_free(size);
    return check_done();
}
