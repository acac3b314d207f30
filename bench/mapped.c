/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages and collectives on two ranks: what mapped.py runs.  Plain MPI.
 *
 *     mapped ROW BYTES [SECONDS]     prints the median and the least of batches, in microseconds per
 *                                    message or collective
 *
 * The sender writes into its data before each message ("fresh"), or does not.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BATCHES = 4000, WINDOW = 8 };

static int me, n, bytes;
static double *in, *out; /* n blocks each */

static void pingpong(int fresh)
{
    for (int turn = 0; turn < 2; turn++)
        if (me == turn) {
            if (fresh)
                memset(out, turn + 1, (size_t)bytes);
            MPI_Send(out, bytes, MPI_BYTE, !me, 1, MPI_COMM_WORLD);
        } else if (me < 2) {
            MPI_Recv(in, bytes, MPI_BYTE, !me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
}

static void window(void)
{
    MPI_Request r[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        if (me == 0)
            MPI_Isend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Irecv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
    if (me == 0)
        MPI_Recv(in, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(out, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

/* Once; how many messages or collectives that is. */
static int perform(const char *row)
{
    if (strcmp(row, "pingpong") == 0 || strcmp(row, "fresh") == 0) {
        pingpong(*row == 'f');
        return 2;
    }
    if (strcmp(row, "bw") == 0) {
        window();
        return WINDOW;
    }
    if (strcmp(row, "allreduce") == 0)
        MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(row, "reduce") == 0)
        MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (strcmp(row, "allgather") == 0)
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (strcmp(row, "alltoall") == 0)
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (strcmp(row, "bcast") == 0)
        MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    return 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double times[MOST_BATCHES];
    const char *row = argc > 2 ? argv[1] : "";
    bytes = argc > 2 ? atoi(argv[2]) : 8;
    double seconds = argc > 3 ? atof(argv[3]) : 0.3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    in = malloc((size_t)bytes * (size_t)n);
    out = malloc((size_t)bytes * (size_t)n);
    memset(in, 0, (size_t)bytes * (size_t)n);
    memset(out, 0, (size_t)bytes * (size_t)n);
    int batches = 0, more = 1, batch = bytes > 1 << 20 ? 2 : 10;
    double begin = MPI_Wtime();
    while (more) {
        int count = 0;
        double t = MPI_Wtime();
        for (int i = 0; i < batch; i++)
            count += perform(row);
        double now = MPI_Wtime();
        if (now - begin > seconds / 2 &&
            batches < MOST_BATCHES) /* the first half is for learning */
            times[batches++] = (now - t) / count * 1e6;
        more = now - begin < seconds || batches < 3;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    qsort(times, (size_t)batches, sizeof times[0], ascending);
    if (me == 0)
        printf("%.3f %.3f\n", times[batches / 2], times[0]);
    MPI_Finalize();
    return 0;
}
