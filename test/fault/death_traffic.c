/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mixed traffic, in the midst of which one or two ranks die: at any instruction, by a timer.
 *
 * usage: death_traffic SEED [VICTIMS]      under xmpirun --keep-going
 *
 * All ranks do the same rounds in the same order, chosen by the seed: exchanges of all lengths,
 * receives from any source, collectives, new communicators.  Whatever succeeds is compared with what
 * it must be.  The first error must be MPIX_ERR_PROC_FAILED; then the rank leaves by MPI_Finalize,
 * which frees those who wait for it.  Survivors print `back RANK MILLISECONDS`, counted from the
 * first death; what is wrong is printed as `bad ...`, and ends with code 7.
 */
#include "mpix.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROOM = 2 << 20, LIMIT_MS = 2000, PATIENCE_S = 10 };

static int rank, size, round_number;
static char *out, *in;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void bad(const char *what, long a, long b)
{
    printf("bad %d: round %d: %s (%ld, %ld)\n", rank, round_number, what, a, b);
    fflush(stdout);
    _exit(7);
}

static size_t draw_bytes(void)
{
    static const size_t most[] = { 64, 4096, 70000, 300000, 2000000 };
    return 1 + draw(most[draw(5)]);
}

/* What rank `from` sends in this round, a byte. */
static char pattern(int from)
{
    return (char)(from * 7 + round_number * 3 + 1);
}

static void compare(const char *data, size_t bytes, int from)
{
    for (size_t i = 0; i < bytes; i += i + 64 < bytes ? 64 : 1)
        if (data[i] != pattern(from))
            bad("wrong data", (long)i, from);
}

/* ---- rounds ---- */

static int ring(void)
{
    int n = (int)draw_bytes(), right = (rank + 1) % size, left = (rank + size - 1) % size;
    memset(out, pattern(rank), (size_t)n);
    int rc = MPI_Sendrecv(out, n, MPI_BYTE, right, 1, in, n, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE);
    if (!rc)
        compare(in, (size_t)n, left);
    return rc;
}

static int from_any(void)
{
    int root = (int)draw((uint64_t)size), n = (int)draw_bytes(), rc = MPI_SUCCESS;
    MPI_Status status;
    memset(out, pattern(rank), (size_t)n);
    if (rank != root)
        return MPI_Send(out, n, MPI_BYTE, root, 10 + round_number, MPI_COMM_WORLD);
    for (int i = 1; i < size && !rc; i++) {
        rc = MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, 10 + round_number, MPI_COMM_WORLD,
                      &status);
        if (!rc)
            compare(in, (size_t)n, status.MPI_SOURCE);
    }
    return rc;
}

static int all_pairs(void)
{
    enum { MOST = 64 };
    MPI_Request request[2 * MOST];
    MPI_Status status[2 * MOST];
    size_t n = draw_bytes() / (size_t)size + 1;
    int requests = 0, late = MPI_SUCCESS;
    memset(out, pattern(rank), n);
    for (int i = 0; i < size; i++)
        MPI_Irecv(in + (size_t)i * n, (int)n, MPI_BYTE, i, 3, MPI_COMM_WORLD,
                  &request[requests++]);
    for (int i = 0; i < size && !late; i++) {
        late = MPI_Isend(out, (int)n, MPI_BYTE, i, 3, MPI_COMM_WORLD, &request[requests]);
        requests += !late;
    }
    if (late) { /* what was begun would wait for those who do not know yet */
        for (int i = 0; i < size; i++)
            MPI_Cancel(&request[i]);
        return late;
    }
    int rc = MPI_Waitall(requests, request, status);
    for (int i = 0; i < requests && rc; i++)
        if (status[i].MPI_ERROR)
            return status[i].MPI_ERROR;
    for (int i = 0; i < size; i++)
        compare(in + (size_t)i * n, n, i);
    return MPI_SUCCESS;
}

static int allreduce(void)
{
    int n = (int)(draw_bytes() / sizeof(int)) + 1;
    int *a = (int *)out, *b = (int *)in;
    for (int i = 0; i < n; i++)
        a[i] = rank + i;
    int rc = MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !rc; i++)
        if (b[i] != size * (size - 1) / 2 + size * i)
            bad("wrong sum", b[i], i);
    return rc;
}

static int bcast(void)
{
    int root = (int)draw((uint64_t)size), n = (int)draw_bytes();
    if (rank == root)
        memset(in, pattern(root), (size_t)n);
    int rc = MPI_Bcast(in, n, MPI_BYTE, root, MPI_COMM_WORLD);
    if (!rc)
        compare(in, (size_t)n, root);
    return rc;
}

static int alltoall(void)
{
    size_t n = draw_bytes() / (size_t)size + 1;
    memset(out, pattern(rank), n * (size_t)size);
    MPI_Request request;
    int rc =
        MPI_Ialltoall(out, (int)n, MPI_BYTE, in, (int)n, MPI_BYTE, MPI_COMM_WORLD, &request);
    if (!rc)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size && !rc; i++)
        compare(in + (size_t)i * n, n, i);
    return rc;
}

static int barrier(void)
{
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int duplicate(void)
{
    MPI_Comm made;
    int rc = MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (rc)
        return rc;
    rc = MPI_Barrier(made);
    MPI_Comm_free(&made);
    return rc;
}

static int split(void)
{
    MPI_Comm made;
    int rc = MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made), sum = 0, n = 0;
    if (rc)
        return rc;
    MPI_Comm_size(made, &n);
    rc = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, made);
    MPI_Comm_free(&made);
    return rc;
}

static int probed(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, n = (int)draw_bytes();
    MPI_Request request;
    MPI_Message message;
    memset(out, pattern(rank), (size_t)n);
    int rc = MPI_Isend(out, n, MPI_BYTE, right, 4, MPI_COMM_WORLD, &request);
    if (rc)
        return rc;
    rc = MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (!rc)
        rc = MPI_Mrecv(in, n, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    if (!rc)
        compare(in, (size_t)n, left);
    if (!rc)
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return rc;
}

/* So often that what they are is known, and they go a shorter way. */
static int again(void)
{
    enum { TIMES = 40 };
    int root = (int)draw((uint64_t)size), rc = MPI_SUCCESS;
    for (int i = 0; i < TIMES && !rc; i++) {
        int data = rank == root ? i : -1, sum = 0;
        rc = MPI_Bcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD);
        if (!rc && data != i)
            bad("wrong data again", data, i);
        if (!rc)
            rc = MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (!rc && sum != size * i)
            bad("wrong sum again", sum, i);
    }
    return rc;
}

static int (*const rounds[])(void) = { ring,  from_any, all_pairs, allreduce,
                                       bcast, alltoall, barrier,   duplicate,
                                       split, probed,   again };
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

/* ---- death ---- */

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void set_timer(long us)
{
    struct itimerval timer = { .it_value = { .tv_sec = us / 1000000,
                                             .tv_usec = us % 1000000 } };
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv)
{
    int victims = argc > 2 ? atoi(argv[2]) : 1, class = 0, rc = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = malloc(ROOM + 4096);
    in = malloc(ROOM + 4096);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long us = 2000 + (long)draw(150000);
    MPI_Barrier(MPI_COMM_WORLD); /* who needs the network opens it, which may take a while */
    for (int i = 0; i < victims; i++) { /* perhaps twice the same */
        int victim = (int)draw((uint64_t)size);
        long later = (long)draw(3) * 1000;
        if (victim == rank)
            set_timer(us + later);
    }
    double begin = MPI_Wtime();
    while (!rc && MPI_Wtime() - begin < PATIENCE_S) {
        rc = rounds[draw(ROUNDS)]();
        round_number++;
    }
    if (!rc)
        bad("no error", 0, 0);
    MPI_Error_class(rc, &class);
    if (class != MPIX_ERR_PROC_FAILED)
        bad("another error", rc, class);
    long given_up = (long)((MPI_Wtime() - begin) * 1e3) - us / 1000;
    MPI_Finalize();
    long ms = (long)((MPI_Wtime() - begin) * 1e3) - us / 1000;
    if (ms > LIMIT_MS)
        bad("too late, by milliseconds", ms, 0);
    printf("back %d %ld in %ld of %d\n", rank, ms, given_up, round_number);
    return 0;
}
