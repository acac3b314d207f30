/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 1 computes for a while, without a word to MPI; rank 0 has messages for it, and waits for a long one that
 * rank 1 has begun before.   away SECONDS
 */
#include "test/conform/check.h"

#include <unistd.h>

enum { LONG = 1 << 20, SHORT = 100 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int other = !world_rank();
    char *data = malloc(LONG), *begun = malloc(LONG);
    MPI_Request request;
    memset(data, 'a' + other, LONG);
    MPI_Sendrecv(data, LONG, MPI_CHAR, other, 0, begun, LONG, MPI_CHAR, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memset(begun, 'c' + other, LONG);
    if (world_rank() == 0) {
        MPI_Irecv(begun, LONG, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &request);
        MPI_Send(data, SHORT, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Send(data, LONG, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(data, SHORT, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[SHORT - 1] == 'a');
    } else {
        MPI_Isend(begun, LONG, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &request);
        sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
        MPI_Recv(data, LONG, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[LONG - 1] == 'b');
        MPI_Recv(data, SHORT, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[SHORT - 1] == 'b');
        memset(data, 'a', SHORT);
        MPI_Send(data, SHORT, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(begun[0] == 'c' && begun[LONG - 1] == 'c');
    free(data);
    free(begun);
    return check_done();
}
