/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the flight recorder costs: three loops of short calls, to be run in turns with a library that
 * does not record, made by `make CPPFLAGS=-DRECORD_NOTHING` in a build folder of its own.  One rank:
 * messages to oneself (two events) and an allreduce (one), where nothing hides the cost; two ranks:
 * half a ping-pong (two events) and an allreduce (one), where most of the time is the way of a line.
 *
 *     for turn in 1 2 3 4 5; do for lib in plain/.libs nothing/.libs; do for n in 1 2; do
 *         LD_LIBRARY_PATH=$lib xmpirun -np $n ./recorder; done; done; done
 *
 * The least of 80 rounds, in ns per turn of the loop.
 */
#include <mpi.h>

#include <stdio.h>

enum { ROUNDS = 80, TURNS = 5000 };

static int rank, size;
static char out[8], in[8];

static void to_oneself(void)
{
    MPI_Request request;
    MPI_Isend(out, 8, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
    MPI_Recv(in, 8, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ping_pong(void)
{
    if (rank == 0)
        MPI_Send(out, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(out, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    double one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static double least(void (*turn)(void))
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int i = 0; i < TURNS; i++)
            turn();
        double took = MPI_Wtime() - begin;
        best = took < best ? took : best;
    }
    return best / TURNS * 1e9;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double message = size == 1               ? least(to_oneself)
                     : rank < 2 && size == 2 ? least(ping_pong)
                                             : 0;
    double collective = least(allreduce);
    if (rank == 0)
        printf("%s %.1f, allreduce %.1f\n", size == 1 ? "to oneself" : "half a ping-pong",
               size == 1 ? message : message / 2, collective);
    MPI_Finalize();
    return 0;
}
