/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All ranks send to rank 0, which is busy elsewhere: what it keeps meanwhile is bounded, and all
 * of it comes, in order, though it is received from the end.
 */
#include "test/conform/check.h"

#include <unistd.h>

enum { N = 3000, MOST = 6000, BOUND_KB = 64 << 10 };

static long peak_kb(void)
{
    char line[200];
    long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kb);
    fclose(status);
    return kb;
}

static int bytes_of(int i)
{
    return i % 3 ? MOST : 8;
}

static void flood(int rank)
{
    char *data = malloc((size_t)N * MOST);
    MPI_Request *requests = malloc(N * sizeof *requests);
    for (int i = 0; i < N; i++) {
        memset(data + (size_t)i * MOST, i + rank, MOST);
        MPI_Isend(data + (size_t)i * MOST, bytes_of(i), MPI_CHAR, 0, i, MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(data);
}

static void drink(int n)
{
    char buffer[MOST];
    MPI_Status status;
    int flag, count;
    for (int i = 0; i < 300; i++) {
        usleep(1000);
        MPI_Iprobe(MPI_ANY_SOURCE, N + 1, MPI_COMM_WORLD, &flag, &status);
    }
    for (int from = 1; from < n; from++)
        for (int i = N - 1; i >= 0; i--) {
            MPI_Recv(buffer, MOST, MPI_CHAR, from, i, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_CHAR, &count);
            CHECK(count == bytes_of(i));
            CHECK(buffer[0] == (char)(i + from) && buffer[count - 1] == (char)(i + from));
        }
    CHECK(peak_kb() < BOUND_KB); /* the senders hold 12 MB each that they could send */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (world_rank())
        flood(world_rank());
    else
        drink(world_size());
    return check_done();
}
