/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a plan costs: MPI_Allreduce of 8 bytes on two ranks, beside a program that does by hand what the
 * plan "doubling" says: one send, one receive, one addition.  Batches of all kinds take turns, so
 * that whatever else the machine does hits all alike.
 *
 *     xmpicc -O2 -o allreduce bench/allreduce.c
 *     XMPI_COLL=allreduce=doubling xmpirun -np 2 ./allreduce      a plan: what the interpreter adds
 *     xmpirun -np 2 ./allreduce                                   shared slots
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 800, CALLS = 500, KINDS = 4 };

static double mine = 1, all;
static int other;
static MPI_Request persistent;

static void by_hand(void)
{
    double theirs;
    MPI_Send(&mine, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all = mine + theirs;
}

static void blocking(void)
{
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void nonblocking(void)
{
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void again(void)
{
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*call)(void);
} kinds[KINDS] = { { "send and receive", by_hand },
                   { "MPI_Allreduce", blocking },
                   { "MPI_Iallreduce, MPI_Wait", nonblocking },
                   { "MPI_Start, MPI_Wait", again } };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double batch(void (*call)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        call();
    return (MPI_Wtime() - begin) / CALLS * 1e9;
}

int main(int argc, char **argv)
{
    static double ns[KINDS][ROUNDS];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "allreduce: takes two ranks, not %d\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    other = 1 - rank;
    MPI_Allreduce_init(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &persistent);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < KINDS; k++)
            ns[k][round] = batch(kinds[k].call);
    for (int k = 0; k < KINDS && rank == 0; k++) {
        qsort(ns[k], ROUNDS, sizeof ns[k][0], compare);
        printf("%-26s least %4.0f ns, median %4.0f ns\n", kinds[k].name, ns[k][0],
               ns[k][ROUNDS / 2]);
    }
    MPI_Request_free(&persistent);
    MPI_Finalize();
    return 0;
}
