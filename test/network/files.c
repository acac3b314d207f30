/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process that may open no more files sends to one it has no connection to.   files
 */
#include "test/conform/check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int value = 0;
    MPI_Init(&argc, &argv);
    int rank = world_rank();
    CHECK(world_size() == 3);
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        struct rlimit limit = { 200, 200 };
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        while (open("/dev/null", O_RDONLY) >= 0)
            ;
        MPI_Ssend(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    }
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_done();
}
