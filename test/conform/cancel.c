/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Cancel: the wait for a cancelled send or receive ends whether or not the other side
 * exists; a cancelled message is never received, one that was matched arrives whole.
 */
#include "test/conform/check.h"

enum { LONG = 1 << 17, MANY = 60 };

static int rank, size, left, right;
static int out[LONG + MANY], in[LONG];

static int wait_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = -1;
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    return cancelled;
}

static void exchange(int mine, int *theirs, int tag)
{
    MPI_Request request;
    CHECK_OK(MPI_Isend(&mine, 1, MPI_INT, right, tag, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv(theirs, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Nobody receives this; a later message with the same tag is the one that is received. */
static void test_unmatched(int n, int synchronous)
{
    MPI_Request request;
    int theirs = -1;
    if (synchronous)
        CHECK_OK(MPI_Issend(out, n, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
    else
        CHECK_OK(MPI_Isend(out, n, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(wait_cancelled(&request) == 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* a receive before it may take it */
    exchange(rank, &theirs, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(theirs == left);
}

/* Many at once, some with the receiver and some still waiting for room: of every message one
 * side says that it was cancelled or the other one receives it. */
static void test_many(int n)
{
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = i;
        CHECK_OK(MPI_Isend(out + i, n, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = MANY - 1; i >= 0; i -= 2)
        CHECK_OK(MPI_Cancel(&requests[i]));
    int cancelled[MANY] = { 0 }, gone[MANY];
    for (int i = 1; i < MANY; i += 2)
        cancelled[i] = wait_cancelled(&requests[i]);
    for (int i = 0; i < MANY; i++)
        exchange(cancelled[i], &gone[i], 3);
    for (int i = 0; i < MANY; i++)
        if (!gone[i]) {
            CHECK_OK(MPI_Recv(in, n, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(in[0] == i);
        }
    for (int i = 0; i < MANY; i += 2)
        CHECK(wait_cancelled(&requests[i]) == 0);
}

/* To oneself: what MPI_Request_get_status says behind MPI_Cancel is the last word. */
static void test_self(int n)
{
    MPI_Request request;
    MPI_Status status;
    int done = 0, cancelled = 0;
    CHECK_OK(MPI_Issend(out, n, MPI_INT, 0, 6, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Probe(0, 6, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Request_get_status(request, &done, &status));
    if (done)
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    if (!cancelled)
        CHECK_OK(MPI_Recv(in, n, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(wait_cancelled(&request) == cancelled);
}

/* A message that a receive or a matched probe has taken is not cancelled any more. */
static void test_matched(int n)
{
    MPI_Request receive, send;
    MPI_Message message;
    int n_in = n;
    CHECK_OK(MPI_Irecv(in, n_in, MPI_INT, left, 4, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    out[0] = rank;
    CHECK_OK(MPI_Issend(out, n, MPI_INT, right, 4, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Cancel(&send));
    CHECK(wait_cancelled(&send) == 0 && wait_cancelled(&receive) == 0 && in[0] == left);
    CHECK_OK(MPI_Issend(out, n, MPI_INT, right, 5, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Cancel(&send));
    CHECK_OK(MPI_Imrecv(in, n_in, MPI_INT, &message, &receive));
    CHECK(wait_cancelled(&send) == 0 && wait_cancelled(&receive) == 0 && in[0] == left);
}

static void test_persistent(void)
{
    MPI_Request send;
    CHECK_OK(MPI_Ssend_init(out, LONG, MPI_INT, right, 6, MPI_COMM_WORLD, &send));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (i != 1) {
            CHECK_OK(MPI_Cancel(&send));
            CHECK_OK(MPI_Cancel(&send));
        } else {
            CHECK_OK(MPI_Recv(in, LONG, MPI_INT, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK(wait_cancelled(&send) == (i != 1));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Request_free(&send));
}

/* Receives, and a communicator whose members come late. */
static void test_others(void)
{
    MPI_Request request;
    MPI_Comm comm;
    CHECK_OK(MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(wait_cancelled(&request) == 1);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Isend(out, LONG, MPI_INT, right, 7, comm, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_free(&comm));
}

/* The receiver has freed the communicator; the sender's handle is gone, too. */
static void test_freed(int n, int synchronous)
{
    MPI_Request request;
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (synchronous)
        CHECK_OK(MPI_Issend(out, n, MPI_INT, right, 9, comm, &request));
    else
        CHECK_OK(MPI_Isend(out, n, MPI_INT, right, 9, comm, &request));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(wait_cancelled(&request) == 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    test_unmatched(LONG, 0);
    test_unmatched(LONG, 1);
    test_unmatched(1, 1);
    test_unmatched(0, 1);
    test_unmatched(9000, 1);
    test_many(1);
    test_many(5000);
    test_many(LONG);
    test_self(0);
    test_self(LONG);
    test_matched(LONG);
    test_matched(1);
    test_persistent();
    test_others();
    test_freed(1, 1);
    test_freed(LONG, 1);
    test_freed(LONG, 0);
    return check_done();
}
