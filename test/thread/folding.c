/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions by a function of the program, which runs in the middle of a round of progress and lets
 * other threads call meanwhile: these exchange messages with the same ranks, on communicators of their own,
 * and none of these may get lost or come twice.
 */
#include "test/thread/threads.h"

enum { FOLDS = 100, LENGTH = 40 };

static MPI_Comm own[MOST_THREADS];
static _Atomic int over; /* the reductions */

static void slow_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    nap_ms(1);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void fold(MPI_Comm comm)
{
    MPI_Op op;
    MPI_Op_create(slow_sum, 1, &op);
    for (int n = 0; n < FOLDS; n++) {
        int mine[LENGTH], all[LENGTH];
        MPI_Request request;
        for (int i = 0; i < LENGTH; i++)
            mine[i] = rank + n + i;
        if (n % 2) {
            CHECK_OK(MPI_Iallreduce(mine, all, LENGTH, MPI_INT, op, comm, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Allreduce(mine, all, LENGTH, MPI_INT, op, comm));
        }
        for (int i = 0; i < LENGTH; i++)
            CHECK(all[i] == size * (size - 1) / 2 + size * (n + i));
    }
    MPI_Op_free(&op);
}

/* Round the ring of ranks, until rank 0 says that it is over. */
static void circulate(int me)
{
    MPI_Comm comm = me % 2 ? MPI_COMM_WORLD : own[me];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int n = 0, last = 0; !last; n++) {
        int out[2] = { n, over }, in[2];
        if (rank == 0)
            CHECK_OK(MPI_Send(out, 2, MPI_INT, right, me, comm));
        CHECK_OK(MPI_Recv(in, 2, MPI_INT, left, me, comm, MPI_STATUS_IGNORE));
        CHECK(in[0] == n);
        last = rank == 0 ? out[1] : in[1];
        if (rank != 0)
            CHECK_OK(MPI_Send(in, 2, MPI_INT, right, me, comm));
    }
}

static void work(int me)
{
    if (me > 0) {
        circulate(me);
        return;
    }
    fold(own[0]);
    over = 1;
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    comms_make(own);
    threads_run(work);
    comms_free(own);
    return check_done();
}
