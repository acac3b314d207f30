/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For trace.sh: each rank sends five messages to the next one, which takes them from anybody, in
 * the order of their tags the second time, one message that is long, and two by a persistent send.
 * Then a call that fails.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20 };
static char data[LONG], more[LONG];

int main(int argc, char **argv)
{
    MPI_Request request[6];
    int rank, size, sum = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        MPI_Isend(data, i * 100, MPI_CHAR, (rank + 1) % size, i % 2, MPI_COMM_WORLD,
                  &request[i]);
    MPI_Isend(data, LONG, MPI_CHAR, (rank + 1) % size, 9, MPI_COMM_WORLD, &request[5]);
    MPI_Recv(more, LONG, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++)
        MPI_Recv(more, LONG, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Recv(more, LONG, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
    MPI_Send_init(data, 40, MPI_CHAR, (rank + 1) % size, 4, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(more, 40, MPI_CHAR, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(data, 1, MPI_CHAR, size, 0, MPI_COMM_WORLD); /* there is no such rank */
    if (argc > 1 && strcmp(argv[1], "many") == 0)
        for (int i = 0; i < 20000; i++) /* more than a window */
            MPI_Sendrecv(data, 8, MPI_CHAR, (rank + 1) % size, 3, more, 8, MPI_CHAR,
                         (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (argc > 1 && strcmp(argv[1], "dies") == 0 && rank == 1) {
        sleep(1); /* what the other does ends meanwhile */
        abort();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
