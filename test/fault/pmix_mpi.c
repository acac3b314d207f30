/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program for pmix.sh.  First argument: the number of ranks it must find.  Then it passes
 * a number around; with a second argument rank 1 ends badly: `kill` or a code for MPI_Abort.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, from = -1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&from, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int good =
        argc > 1 && size == atoi(argv[1]) && from == left && sum == size * (size - 1) / 2;
    if (argc > 2 && rank == 1) {
        if (strcmp(argv[2], "kill") == 0)
            kill(getpid(), SIGKILL);
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    }
    if (argc > 2)
        MPI_Recv(&from, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    printf("%s\n", good ? "good" : "bad");
    return !good;
}
