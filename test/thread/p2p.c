/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every thread sends to the next rank and receives from the one before, in all modes and many
 * lengths, first on a communicator of its own, then all on one with a tag each.
 */
#include "test/thread/threads.h"

enum { ROUNDS = 4, LONGEST = 20000 };
static const int lengths[] = { 0, 1, 7, 100, 3000, LONGEST };
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
enum { SEND, SSEND, BSEND, ISEND, ISSEND, IBSEND, RSEND, SENDRECV, MODES };

static MPI_Comm own[MOST_THREADS], common;

static void fill(int *data, int n, int seed)
{
    for (int i = 0; i < n; i++)
        data[i] = seed + i;
}

static void verify(const int *data, int n, int seed)
{
    for (int i = 0; i < n; i++)
        CHECK(data[i] == seed + i);
}

/* Post the receive first, so that blocking modes end whatever the other side does. */
static void exchange(int mode, const int *out, int *in, int n, int tag, MPI_Comm comm)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status statuses[2];
    if (mode == SENDRECV) {
        CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, tag, in, n, MPI_INT, from, tag, comm,
                              &statuses[0]));
    } else {
        CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, tag, comm, &requests[0]));
        if (mode == SEND)
            CHECK_OK(MPI_Send(out, n, MPI_INT, to, tag, comm));
        else if (mode == SSEND)
            CHECK_OK(MPI_Ssend(out, n, MPI_INT, to, tag, comm));
        else if (mode == BSEND)
            CHECK_OK(MPI_Bsend(out, n, MPI_INT, to, tag, comm));
        else if (mode == ISEND)
            CHECK_OK(MPI_Isend(out, n, MPI_INT, to, tag, comm, &requests[1]));
        else if (mode == ISSEND)
            CHECK_OK(MPI_Issend(out, n, MPI_INT, to, tag, comm, &requests[1]));
        else
            CHECK_OK(MPI_Ibsend(out, n, MPI_INT, to, tag, comm, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, statuses));
    }
    int count;
    CHECK_OK(MPI_Get_count(&statuses[0], MPI_INT, &count));
    CHECK(count == n && statuses[0].MPI_SOURCE == from && statuses[0].MPI_TAG == tag);
}

/* The receiver says that its receive is posted. */
static void exchange_ready(const int *out, int *in, int n, int tag, MPI_Comm comm)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request receive;
    CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, tag, comm, &receive));
    CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_INT, from, tag + 1, NULL, 0, MPI_INT, to, tag + 1, comm,
                          MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Rsend(out, n, MPI_INT, to, tag, comm));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
}

static void work(int me)
{
    int *out = malloc(LONGEST * sizeof *out), *in = malloc(LONGEST * sizeof *in);
    int from = (rank + size - 1) % size;
    CHECK(out && in);
    for (int round = 0; round < ROUNDS; round++)
        for (int l = 0; l < LENGTHS; l++)
            for (int mode = 0; mode < MODES; mode++) {
                int n = lengths[l], seed = 1000 * me + 100 * round + mode;
                MPI_Comm comm = round % 2 ? common : own[me];
                fill(out, n, seed + 7 * rank);
                if (mode == RSEND)
                    exchange_ready(out, in, n, 2 * me, comm);
                else
                    exchange(mode, out, in, n, 2 * me, comm);
                verify(in, n, seed + 7 * from);
            }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    int room = nthreads * 4 * (LONGEST * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    CHECK(buffer);
    CHECK_OK(MPI_Buffer_attach(buffer, room));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &common));
    comms_make(own);
    threads_run(work);
    CHECK_OK(MPI_Buffer_detach(&buffer, &room));
    free(buffer);
    comms_free(own);
    CHECK_OK(MPI_Comm_free(&common));
    return check_done();
}
