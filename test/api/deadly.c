/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mistakes that end the job: deadly WHICH.  test/api.sh looks at the message and the exit code.
 */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    int value = 0, rank;
    MPI_Win win;
    if (strcmp(which, "early") == 0)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(which, "abort-handler") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    if (strcmp(which, "tag") == 0 || strcmp(which, "abort-handler") == 0)
        MPI_Send(&value, 1, MPI_INT, 0, -7, MPI_COMM_WORLD);
    if (strcmp(which, "unbuilt") == 0)
        MPI_Win_create(&value, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Finalize();
    if (strcmp(which, "late") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
