/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All ranks send to rank 0, which is busy elsewhere: what it keeps meanwhile is bounded by the window
 * of each sender and a record per message, and all of it comes, in order; from every other rank it
 * is received from the end.   flood WINDOW (as in XMPI_OFI_WINDOW, in KiB)
 */
#include "test/conform/check.h"

#include <unistd.h>

enum { N = 3000, MOST = 6000, RECORD = 256, BUFFERS_KB = 2 << 10 };

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

static void drink(int n, long window_kb)
{
    long before = peak_kb();
    char buffer[MOST];
    MPI_Status status;
    int flag, count;
    for (int i = 0; i < 300; i++) {
        usleep(1000);
        MPI_Iprobe(MPI_ANY_SOURCE, N + 1, MPI_COMM_WORLD, &flag, &status);
    }
    long bound = (n - 1) * (2 * window_kb + N * RECORD / 1024) + BUFFERS_KB;
    long peak = peak_kb() - before;
    printf("%ld KiB for %d senders, at most %ld\n", peak, n - 1, bound);
    CHECK(peak <= bound); /* the senders hold 12 MB each that they could send */
    for (int from = 1; from < n; from++)
        for (int k = 0; k < N; k++) {
            int i = from % 2 ? k : N - 1 - k;
            MPI_Recv(buffer, MOST, MPI_CHAR, from, from % 2 ? MPI_ANY_TAG : i, MPI_COMM_WORLD,
                     &status);
            MPI_Get_count(&status, MPI_CHAR, &count);
            CHECK(status.MPI_TAG == i && count == bytes_of(i));
            CHECK(buffer[0] == (char)(i + from) && buffer[count - 1] == (char)(i + from));
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (world_rank())
        flood(world_rank());
    else
        drink(world_size(), argc > 1 ? atol(argv[1]) : 1024);
    return check_done();
}
