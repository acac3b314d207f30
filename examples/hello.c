/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hello - every rank says who and where it is, in rank order.
 *
 *     xmpicc hello.c -o hello && xmpirun -np 4 ./hello
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, length;
    char where[MPI_MAX_PROCESSOR_NAME], line[MPI_MAX_PROCESSOR_NAME + 64];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(where, &length);
    snprintf(line, sizeof(line), "rank %d of %d on %s", rank, size, where);

    if (rank != 0) {
        MPI_Send(line, sizeof(line), MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else {
        puts(line);
        for (int other = 1; other < size; other++) {
            MPI_Recv(line, sizeof(line), MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            puts(line);
        }
    }
    MPI_Finalize();
    return 0;
}
