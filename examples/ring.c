/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ring - a token visits every rank; each adds its number.  Shows the time of a hop.
 *
 *     xmpirun -np 4 ./ring [rounds]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    long token = 0;
    double start = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        if (rank == 0) {
            MPI_Request sent;
            MPI_Isend(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &sent);
            long back;
            MPI_Recv(&back, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
            token = back;
        } else {
            MPI_Recv(&token, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
        }
    }
    double hop = (MPI_Wtime() - start) / rounds / size;
    int good = 1;
    if (rank == 0) {
        long expected = (long)rounds * size * (size - 1) / 2;
        good = token == expected;
        printf("%d rounds over %d ranks: token %ld (%s), %.2f us a hop\n", rounds, size, token,
               good ? "right" : "WRONG", hop * 1e6);
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
