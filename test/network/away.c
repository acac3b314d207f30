/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 1 computes for a while, without a word to MPI; rank 0 has messages for it.   away SECONDS
 */
#include "test/conform/check.h"

#include <unistd.h>

enum { LONG = 1 << 20, SHORT = 100 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int other = !world_rank(), seen = 0;
    char *data = malloc(LONG);
    memset(data, 'a' + other, LONG);
    MPI_Sendrecv(&other, 1, MPI_INT, other, 0, &seen, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (world_rank() == 0) {
        MPI_Send(data, SHORT, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Send(data, LONG, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(data, SHORT, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[SHORT - 1] == 'b');
    } else {
        sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
        MPI_Recv(data, LONG, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[LONG - 1] == 'b');
        MPI_Recv(data, SHORT, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[SHORT - 1] == 'b');
        MPI_Send(data, SHORT, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    free(data);
    return check_done();
}
