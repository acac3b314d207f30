/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What survivors do on a communicator of which nobody has died, before they leave MPI: a collective that all of them
 * call succeeds, though the first ones have left when the last one comes; one that somebody does not call any more
 * ends for the others within a second, with MPIX_ERR_PROC_FAILED.
 *
 * usage: farewell MODE CALL BYTES     under xmpirun --keep-going -np 4 or more; the last rank dies
 *
 * MODE is all, all call; vain, the first one leaves instead while the others wait; gone, they come when it has left.
 * Survivors print `back RANK`; whatever is wrong is printed as `bad ...`, and ends with code 7.
 */
#include "mpix.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LATE_US = 400000, LIMIT_MS = 1000, TAG = 3 };

static int rank, size, bytes;
static char *in, *out;
static MPI_Comm living;

static void bad(const char *why)
{
    printf("bad %d: %s\n", rank, why);
    fflush(stdout);
    _exit(7);
}

static char part_of(int r)
{
    return (char)(r + 1);
}

/* `n` blocks, of these ranks from `first`. */
static int expect(int rc, const char *where, int first, int n)
{
    for (int i = 0; i < n && !rc; i++)
        for (int k = 0; k < bytes; k++)
            if (where[(size_t)i * (size_t)bytes + (size_t)k] != part_of(first + i))
                bad("wrong data");
    return rc;
}

/* ---- the calls: each returns what MPI returned ---- */

static int call_barrier(void)
{
    return MPI_Barrier(living);
}

static int call_bcast(void)
{
    return expect(MPI_Bcast(in, bytes, MPI_BYTE, 0, living), in, 0, 1);
}

static int call_scatter(void)
{
    for (int r = 0; r < size; r++)
        memset(out + (size_t)r * (size_t)bytes, part_of(r), (size_t)bytes);
    return expect(MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, living), in, rank,
                  1);
}

static int call_scan(void)
{
    return expect(MPI_Scan(in, out, bytes, MPI_CHAR, MPI_MAX, living), out, rank, 1);
}

static int call_reduce(void)
{
    int rc = MPI_Reduce(in, out, bytes, MPI_CHAR, MPI_MIN, size - 1, living);
    return expect(rc, out, 0, rank == size - 1);
}

static int call_gather(void)
{
    int rc = MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, size - 1, living);
    return expect(rc, out, 0, rank == size - 1 ? size : 0);
}

static int call_allgather(void)
{
    return expect(MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, living), out, 0,
                  size);
}

static int call_allreduce(void)
{
    return expect(MPI_Allreduce(in, out, bytes, MPI_CHAR, MPI_MAX, living), out, size - 1, 1);
}

/* Two at once, and the earlier one is not the latest. */
static int call_ibcast(void)
{
    MPI_Request requests[2];
    int rc = MPI_Ibcast(in, bytes, MPI_BYTE, 0, living, &requests[0]);
    if (!rc)
        rc = MPI_Ibarrier(living, &requests[1]);
    int one = rc ? rc : MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    int two = rc ? rc : MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    return one ? one : expect(two, in, 0, 1);
}

static int call_iallreduce(void)
{
    MPI_Request request;
    int rc = MPI_Iallreduce(in, out, bytes, MPI_CHAR, MPI_MAX, living, &request);
    return expect(rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE), out, size - 1, 1);
}

static int call_dup(void)
{
    MPI_Comm dup;
    int rc = MPI_Comm_dup(living, &dup);
    return rc ? rc : MPI_Comm_free(&dup);
}

static int call_split(void)
{
    MPI_Comm half;
    int rc = MPI_Comm_split(living, rank % 2, 0, &half);
    return rc ? rc : MPI_Comm_free(&half);
}

/* No collective: from the first one to the last. */
static int call_message(void)
{
    if (rank == 0)
        return MPI_Send(in, bytes, MPI_BYTE, size - 1, TAG, living);
    if (rank < size - 1)
        return MPI_SUCCESS;
    int rc = MPI_Recv(in, bytes, MPI_BYTE, 0, TAG, living, MPI_STATUS_IGNORE);
    return expect(rc, in, 0, 1);
}

static const struct {
    const char *name;
    int (*call)(void);
} calls[] = {
    { "barrier", call_barrier },
    { "bcast", call_bcast },
    { "scatter", call_scatter },
    { "scan", call_scan },
    { "reduce", call_reduce },
    { "gather", call_gather },
    { "allgather", call_allgather },
    { "allreduce", call_allreduce },
    { "ibcast", call_ibcast },
    { "iallreduce", call_iallreduce },
    { "dup", call_dup },
    { "split", call_split },
    { "message", call_message },
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- */

static void check_end(const char *mode, int rc, double began)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class, length;
    if (strcmp(mode, "all") == 0) {
        if (rc) {
            MPI_Error_string(rc, text, &length);
            bad(text);
        }
        return;
    }
    MPI_Error_class(rc, &class);
    if (class != MPIX_ERR_PROC_FAILED)
        bad(rc ? "another error" : "no error");
    if ((MPI_Wtime() - began) * 1e3 > LIMIT_MS)
        bad("the error comes late");
}

/* All but the one that dies, and all of these know that. */
static void survive(void)
{
    int all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, rank == all - 1, 0, &living);
    MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == all - 1)
        raise(SIGKILL);
    size = all - 1;
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        ;
    if (MPI_Barrier(living))
        bad("they cannot go on");
}

int main(int argc, char **argv)
{
    int chosen = CALLS;
    MPI_Init(&argc, &argv);
    for (int i = 0; argc > 3 && i < CALLS; i++)
        if (strcmp(calls[i].name, argv[2]) == 0)
            chosen = i;
    if (chosen == CALLS) {
        fprintf(stderr, "usage: farewell MODE CALL BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char *mode = argv[1];
    survive();
    bytes = atoi(argv[3]);
    in = malloc((size_t)bytes + 1);
    out = malloc((size_t)bytes * (size_t)size + 1);
    memset(in, part_of(rank), (size_t)bytes);
    bool leaves = strcmp(mode, "all") != 0 && rank == 0;
    if (strcmp(mode, "vain") == 0   ? leaves
        : strcmp(mode, "gone") == 0 ? !leaves
                                    : rank == size - 1)
        usleep(LATE_US);
    double began = MPI_Wtime();
    if (strcmp(mode, "vain") == 0)
        began += LATE_US / 1e6;
    if (!leaves)
        check_end(mode, calls[chosen].call(), began);
    if (!leaves &&
        strcmp(mode, "all") != 0) /* who gets the error first does not free the others */
        usleep(2 * LIMIT_MS * 1000);
    printf("back %d\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
