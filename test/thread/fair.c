/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nobody starves: all threads make calls as fast as they can, some that return at once, some that
 * test, some that wait, until each has had its turns.  With more threads than CPUs that takes as
 * many slices of the scheduler as there are threads, and no more.
 */
#include "test/thread/threads.h"

#include <stdatomic.h>

enum { TURNS = 50, LEAST_MS = 200, MOST_MS = 30000 };

static MPI_Comm own[MOST_THREADS];
static atomic_int stop;
static atomic_long turns[MOST_THREADS];
static double worst[MOST_THREADS]; /* longest time from one turn to the next */

static void hammer(int me)
{
    int flag, n;
    MPI_Request request;
    if (me % 3 == 0) {
        CHECK_OK(MPI_Comm_size(own[me], &n));
    } else if (me % 3 == 1) {
        CHECK_OK(MPI_Irecv(&n, 1, MPI_INT, rank, 1, own[me], &request));
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&me, 1, MPI_INT, rank, 1, own[me]));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Sendrecv(&me, 1, MPI_INT, rank, 2, &n, 1, MPI_INT, rank, 2, own[me],
                              MPI_STATUS_IGNORE));
    }
}

static int all_had_turns(void)
{
    for (int i = 0; i < nthreads; i++)
        if (atomic_load(&turns[i]) < TURNS)
            return 0;
    return 1;
}

static void work(int me)
{
    double begin = seconds(), last = begin;
    while (!atomic_load(&stop)) {
        hammer(me);
        double now = seconds(), ms = 1e3 * (now - begin);
        worst[me] = now - last > worst[me] ? now - last : worst[me];
        last = now;
        atomic_fetch_add(&turns[me], 1);
        if ((ms > LEAST_MS && all_had_turns()) || ms > MOST_MS)
            atomic_store(&stop, 1);
    }
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    comms_make(own);
    threads_run(work);
    for (int i = 0; getenv("XMPI_TEST_VERBOSE") && i < nthreads; i++)
        printf("rank %d thread %d: %ld turns, at worst %.2f ms apart\n", rank, i,
               atomic_load(&turns[i]), 1e3 * worst[i]);
    CHECK(all_had_turns());
    comms_free(own);
    return check_done();
}
