/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions: each thread begins one of its own, whenever it likes, makes a communicator from it,
 * uses it and ends all; some while MPI_Init_thread is under way in the main thread.
 */
#include "test/thread/threads.h"

enum { ROUNDS = 5 };

static void work(int me)
{
    char tag[64];
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        int mine = 10 * me + round, sum, n;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        snprintf(tag, sizeof tag, "thread %d", me);
        CHECK_OK(
            MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Comm_size(comm, &n));
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == n * mine);
        CHECK_OK(MPI_Comm_disconnect(&comm));
        CHECK_OK(MPI_Session_finalize(&session));
    }
}

static void *run(void *unused)
{
    threads_run(work);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t others;
    int provided;
    nthreads = argc > 1 ? atoi(argv[1]) : 4;
    CHECK(pthread_create(&others, NULL, run, NULL) == 0);
    nap_ms(1);
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(pthread_join(others, NULL) == 0);
    return check_done();
}
