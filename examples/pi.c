/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pi - the integral of 4 / (1 + x^2) over [0, 1] by the midpoint rule, one strip in `size` each.
 *
 *     xmpirun -np 4 ./pi [strips]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    long strips = argc > 1 ? atol(argv[1]) : 10000000;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&strips, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    double mine = 0, pi;
    for (long i = rank; i < strips; i += size) {
        double x = ((double)i + 0.5) / (double)strips;
        mine += 4 / (1 + x * x);
    }
    mine /= (double)strips;
    MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi = %.12f, error %.1e, %ld strips on %d ranks\n", pi, fabs(pi - acos(-1.0)),
               strips, size);
    MPI_Finalize();
    return 0;
}
