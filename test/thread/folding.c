/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions by a function of the program, which runs in the middle of a round of progress and lets
 * other threads call meanwhile.  The second argument says what they do:
 *
 *     circulate   exchange messages with the same ranks, and none of these may get lost or come twice
 *     look        look for messages, with so many calls besides that engines, if there are several, stay
 *                 apart: the packet that set the function off is still in its ring, and nobody may take
 *                 it again
 */
#include "test/thread/threads.h"

#include <stdbool.h>

enum { FOLDS = 40, LENGTH = 40, LOOKS = 6, MOST_NAPS = 20, BURST = 400 };

static MPI_Comm own[MOST_THREADS]; /* with 4 of them there is one for each engine */
static _Atomic int over;           /* the reductions */
static _Atomic int looks;          /* for messages that never come */
static bool all_look;

static void slow_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int before = looks;
    (void)type;
    for (int naps = 0; naps == 0 || (all_look && naps < MOST_NAPS && looks - before < LOOKS);
         naps++)
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
        if (n % 4) {
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
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int n = 0, last = 0; !last; n++) {
        MPI_Comm comm = own[(me + n) % nthreads];
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

static void write_oneself(MPI_Comm comm, int tag, int value)
{
    int in = -1;
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, rank, tag, comm, &request));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, rank, tag, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == value);
}

static void look(int me)
{
    MPI_Request never[MOST_THREADS];
    int nothing, here;
    for (int k = 0; k < nthreads; k++)
        CHECK_OK(MPI_Irecv(&nothing, 1, MPI_INT, rank, MOST_THREADS, own[k], &never[k]));
    for (int n = 0; !over; n++) {
        int k = (me + n) % nthreads;
        for (int i = 0; i < BURST; i++)
            write_oneself(own[k], me, n + i);
        CHECK_OK(MPI_Test(&never[k], &here, MPI_STATUS_IGNORE));
        CHECK(!here);
        looks++;
    }
    for (int k = 0; k < nthreads; k++) {
        CHECK_OK(MPI_Cancel(&never[k]));
        CHECK_OK(MPI_Wait(&never[k], MPI_STATUS_IGNORE));
    }
}

static void work(int me)
{
    if (me == 0) {
        fold(own[0]);
        over = 1;
    } else if (all_look) {
        look(me);
    } else {
        circulate(me);
    }
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    all_look = argc > 2 && strcmp(argv[2], "look") == 0;
    comms_make(own);
    threads_run(work);
    comms_free(own);
    return check_done();
}
