/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions where other libraries stumble: opened before, during and after the world model, closed
 * in any order, by several threads at once, with communicators that outlive neither messages nor
 * one another, and groups of one session used after it was closed.
 */
#include "test/conform/check.h"

#if MPI_VERSION >= 4

#include <pthread.h>

static int rank, size;

static MPI_Session session_open(void)
{
    MPI_Session session;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    return session;
}

static void session_close(MPI_Session session)
{
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    CHECK(session == MPI_SESSION_NULL);
}

static MPI_Comm comm_of(MPI_Session session, const char *pset, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Group_from_session_pset(session, pset, &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
          MPI_SUCCESS);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS);
    return comm;
}

static void check_ring(MPI_Comm comm)
{
    int value = -1, me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    CHECK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &value, 1, MPI_INT, (me + n - 1) % n,
                       1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == (me + n - 1) % n);
    value = 1;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(value == n);
}

/* Opened and closed many times without anything in between, then with a communicator. */
static void test_again(void)
{
    for (int i = 0; i < 20; i++)
        session_close(session_open());
    for (int i = 0; i < 5; i++) {
        MPI_Session session = session_open();
        MPI_Comm comm = comm_of(session, "mpi://WORLD", "again");
        check_ring(comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        session_close(session);
    }
}

/* Eight at once, closed in another order than they were opened. */
static void test_several(void)
{
    enum { N = 8 };
    MPI_Session sessions[N];
    MPI_Comm comms[N];
    char tag[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(tag[i], sizeof tag[i], "library %d", i);
        sessions[i] = session_open();
        for (int j = 0; j < i; j++)
            CHECK(sessions[i] != sessions[j]);
        comms[i] = comm_of(sessions[i], i % 3 ? "mpi://WORLD" : "mpi://SELF", tag[i]);
    }
    for (int i = N - 1; i >= 0; i--)
        check_ring(comms[i]);
    for (int i = 0; i < N; i++) {
        int at = i * 5 % N;
        check_ring(comms[at]);
        CHECK(MPI_Comm_free(&comms[at]) == MPI_SUCCESS);
        session_close(sessions[at]);
    }
}

/* A session stays usable while others come and go beside it. */
static void test_beside(void)
{
    MPI_Session lasting = session_open();
    MPI_Comm comm = comm_of(lasting, "mpi://WORLD", "lasting");
    for (int i = 0; i < 5; i++) {
        MPI_Session passing = session_open();
        MPI_Comm other = comm_of(passing, "mpi://WORLD", "passing");
        check_ring(other);
        check_ring(comm);
        CHECK(MPI_Comm_free(&other) == MPI_SUCCESS);
        session_close(passing);
        check_ring(comm);
    }
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    session_close(lasting);
}

static void *use_session(void *data)
{
    for (int i = 0; i < 5; i++) {
        MPI_Session session = session_open();
        MPI_Comm comm = comm_of(session, "mpi://WORLD", data);
        check_ring(comm);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        session_close(session);
    }
    return NULL;
}

/* Libraries in threads of their own, which know nothing of each other. */
static void test_threads(void)
{
    static char tags[3][8] = { "first", "second", "third" };
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(!pthread_create(&threads[i], NULL, use_session, tags[(i + rank) % 3]));
    for (int i = 0; i < 3; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

/* Messages whose requests were freed arrive before the session is gone. */
static void test_pending(int count)
{
    int *out = malloc(sizeof(int) * (size_t)count), *in = malloc(sizeof(int) * (size_t)count);
    MPI_Session session = session_open();
    MPI_Comm comm = comm_of(session, "mpi://WORLD", "pending");
    MPI_Request request;
    for (int i = 0; i < count; i++)
        out[i] = rank + i;
    CHECK(MPI_Isend(out, count, MPI_INT, (rank + 1) % size, 0, comm, &request) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    CHECK(MPI_Recv(in, count, MPI_INT, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    CHECK(in[0] == (rank + size - 1) % size && in[count - 1] == in[0] + count - 1);
    CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS);
    session_close(session);
    free(in);
    free(out);
}

static int flag_of(int (*function)(int *))
{
    int flag = -1;
    CHECK(function(&flag) == MPI_SUCCESS);
    return flag;
}

/* The world model opens and closes while a session is open, and does not count as one. */
static void test_world(int argc, char **argv)
{
    MPI_Session session = session_open();
    MPI_Comm comm = comm_of(session, "mpi://WORLD", "around the world");
    CHECK(!flag_of(MPI_Initialized) && !flag_of(MPI_Finalized));
    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    CHECK(flag_of(MPI_Initialized) && !flag_of(MPI_Finalized));
    check_ring(MPI_COMM_WORLD);
    check_ring(comm);
    test_again();
    test_several();
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    CHECK(flag_of(MPI_Finalized));
    check_ring(comm);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    session_close(session);
}

int main(int argc, char **argv)
{
    test_again();
    test_several();
    test_beside();
    test_threads();
    test_pending(1);
    test_pending(1000000);
    test_world(argc, argv);
    test_again(); /* after MPI_Finalize */
    test_several();
    if (rank == 0)
        printf("ok\n");
    return 0;
}
#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return check_done();
}
#endif
