/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is libfabric in this process, after messages?   maps yes|no
 */
#include "test/conform/check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = world_rank(), n = world_size(), got, there = 0;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n, 0, &got, 1, MPI_INT, (rank + n - 1) % n, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char line[1000];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        there |= strstr(line, "libfabric") != NULL;
    fclose(maps);
    CHECK(there == (argc > 1 && strcmp(argv[1], "yes") == 0));
    return check_done();
}
