/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators are made, used and freed in all threads at once, each from a parent of its own,
 * by dup, idup, split, split_type, create and cart; and by create_group with a tag each from one
 * parent.  None gets another's messages.
 */
#include "test/thread/threads.h"

enum { ROUNDS = 12 };

static MPI_Comm own[MOST_THREADS], shared;
static MPI_Group everybody;

/* The sum over ranks of what only threads of this number know. */
static void use(MPI_Comm comm, int me, int round)
{
    int mine = 1000 * me + round, sum = -1, n;
    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == n * mine);
}

static void use_and_free(MPI_Comm *comm, int me, int round)
{
    use(*comm, me, round);
    CHECK_OK(MPI_Comm_free(comm));
    CHECK(*comm == MPI_COMM_NULL);
}

static void work(int me)
{
    MPI_Comm dup, other;
    MPI_Request request;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Comm_dup(own[me], &dup));
        CHECK_OK(MPI_Comm_split(dup, rank % 2, -rank, &other));
        use_and_free(&other, me, round);
        CHECK_OK(MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &other));
        use_and_free(&other, me, round);
        CHECK_OK(MPI_Comm_create(dup, everybody, &other));
        use_and_free(&other, me, round);
        CHECK_OK(MPI_Comm_create_group(shared, everybody, me, &other));
        use_and_free(&other, me, round);
        CHECK_OK(MPI_Cart_create(dup, 1, &size, &(int){ 1 }, 0, &other));
        use_and_free(&other, me, round);
        CHECK_OK(MPI_Comm_idup(dup, &other, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        use_and_free(&dup, me, round);
        use_and_free(&other, me, round);
    }
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    comms_make(own);
    threads_run(work);
    comms_free(own);
    CHECK_OK(MPI_Comm_free(&shared));
    CHECK_OK(MPI_Group_free(&everybody));
    return check_done();
}
