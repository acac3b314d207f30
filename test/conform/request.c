/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for one, any, all, some; testing; null and inactive requests; cancel; freed requests
 * and communicators; generalized requests; errors of several requests.
 */
#include "check.h"

static int rank, size, left, right;

static int is_empty(MPI_Status *status)
{
    int count, cancelled;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    int empty = status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG &&
                status->MPI_ERROR == MPI_SUCCESS && count == 0 && !cancelled;
    status->MPI_ERROR = MPI_ERR_OTHER; /* for the next one */
    return empty;
}

static void test_null(void)
{
    MPI_Request none[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status status, statuses[3];
    int flag, index, outcount, indices[3];
    for (int i = 0; i < 3; i++)
        status.MPI_ERROR = statuses[i].MPI_ERROR = MPI_ERR_OTHER;
    MPI_Wait(&none[0], &status);
    CHECK(is_empty(&status));
    MPI_Test(&none[0], &flag, &status);
    CHECK(flag && is_empty(&status));
    MPI_Waitany(3, none, &index, &status);
    CHECK(index == MPI_UNDEFINED && is_empty(&status));
    MPI_Testany(3, none, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED && is_empty(&status));
    MPI_Waitall(3, none, statuses);
    CHECK(is_empty(&statuses[0]) && is_empty(&statuses[2]));
    MPI_Testall(3, none, &flag, statuses);
    CHECK(flag && is_empty(&statuses[1]));
    MPI_Waitsome(3, none, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED);
    MPI_Testsome(3, none, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
    CHECK(flag && is_empty(&status));
}

enum { N = 20 };

static void post(int *in, MPI_Request *requests)
{
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    }
}

static void send_all(void)
{
    for (int i = N - 1; i >= 0; i--) {
        int value = rank * 100 + i;
        MPI_Send(&value, 1, MPI_INT, right, i, MPI_COMM_WORLD);
    }
}

static void test_any(void)
{
    int in[N], index;
    MPI_Request requests[N];
    MPI_Status status;
    post(in, requests);
    send_all();
    for (int i = 0; i < N; i++) {
        MPI_Waitany(N, requests, &index, &status);
        CHECK(index >= 0 && index < N && requests[index] == MPI_REQUEST_NULL);
        CHECK(in[index] == left * 100 + index && status.MPI_TAG == index);
    }
    MPI_Waitany(N, requests, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    post(in, requests);
    int flag = 0, found = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Testany(N, requests, &index, &flag, &status);
    CHECK(!flag && index == MPI_UNDEFINED);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all();
    while (found < N) {
        MPI_Testany(N, requests, &index, &flag, &status);
        if (flag) {
            CHECK(in[index] == left * 100 + index);
            found++;
        }
    }
}

static void test_all(void)
{
    int in[N], flag;
    MPI_Request requests[N];
    MPI_Status statuses[N];
    post(in, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Testall(N, requests, &flag, statuses);
    CHECK(!flag && requests[0] != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    send_all();
    do
        MPI_Testall(N, requests, &flag, statuses);
    while (!flag);
    for (int i = 0; i < N; i++)
        CHECK(in[i] == left * 100 + i && statuses[i].MPI_TAG == i);
    post(in, requests);
    send_all();
    MPI_Waitall(N, requests, statuses);
    for (int i = 0; i < N; i++)
        CHECK(in[i] == left * 100 + i && statuses[i].MPI_TAG == i);
}

static void test_some(void)
{
    int in[N], indices[N], outcount, found = 0;
    MPI_Request requests[N];
    MPI_Status statuses[N];
    post(in, requests);
    send_all();
    while (found < N) {
        MPI_Testsome(N, requests, &outcount, indices, statuses);
        for (int i = 0; i < outcount; i++)
            CHECK(in[indices[i]] == left * 100 + indices[i] &&
                  statuses[i].MPI_TAG == indices[i]);
        found += outcount;
    }
    CHECK(found == N);
}

static void test_get_status(void)
{
    int in = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, right, 50, MPI_COMM_WORLD);
    while (!flag)
        MPI_Request_get_status(request, &flag, &status);
    CHECK(request != MPI_REQUEST_NULL && status.MPI_SOURCE == left && in == left);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == left);
}

static void test_cancel(void)
{
    int in = -1, cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, left, 60, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 60, &in, 1, MPI_INT, left, 60, MPI_COMM_WORLD,
                 &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled && in == left);
}

/* Requests freed in flight, and a communicator freed under a pending receive. */
static void test_free(void)
{
    static int big[1 << 16];
    int in = -1;
    MPI_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Isend(big, 1 << 16, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    int *got = malloc(sizeof big);
    MPI_Recv(got, 1 << 16, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(got);
    MPI_Irecv(&in, 1, MPI_INT, left, 2, comm, &request);
    MPI_Send(&rank, 1, MPI_INT, right, 2, comm);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == left);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What fails at completion is the communicator's affair: its handler is called, while those of
 * MPI_COMM_WORLD and MPI_COMM_SELF would end the job. */
static MPI_Comm blamed;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    blamed = *comm;
}

static void test_error_handler(void)
{
    int out[4] = { 0 }, in[4];
    MPI_Request request, requests[2];
    MPI_Status statuses[2];
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Irecv(in, 1, MPI_INT, left, 0, comm, &request);
    MPI_Send(out, 4, MPI_INT, right, 0, comm);
    blamed = MPI_COMM_NULL;
    CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(blamed == comm && request == MPI_REQUEST_NULL);
    MPI_Irecv(in, 4, MPI_INT, left, 1, comm, &requests[0]);
    MPI_Irecv(in, 2, MPI_INT, left, 2, comm, &requests[1]);
    MPI_Send(out, 4, MPI_INT, right, 1, comm);
    MPI_Send(out, 4, MPI_INT, right, 2, comm);
    blamed = MPI_COMM_NULL;
    CHECK_ERROR(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(blamed == comm);
    CHECK_ERROR(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    MPI_Recv_init(in, 4, MPI_INT, left, 3, comm, &request);
    MPI_Start(&request);
    blamed = MPI_COMM_NULL;
    CHECK_ERROR(MPI_Start(&request), MPI_ERR_REQUEST); /* twice */
    CHECK(blamed == comm);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* ---- generalized requests ---- */

static int queries, frees, cancels;

static int query(void *state, MPI_Status *status)
{
    queries++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 17;
    status->MPI_TAG = 18;
    return MPI_SUCCESS;
}

static int free_state(void *state)
{
    *(int *)state = 0;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    CHECK(!complete);
    cancels++;
    return MPI_SUCCESS;
}

static void test_generalized(void)
{
    int state = 7, flag, count;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, free_state, cancel, &state, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag);
    MPI_Cancel(&request);
    CHECK(cancels == 1);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(request == MPI_REQUEST_NULL && count == 7);
    CHECK(status.MPI_SOURCE == 17 && status.MPI_TAG == 18);
    CHECK(queries >= 1 && frees == 1 && state == 0);
    state = 3;
    MPI_Grequest_start(query, free_state, cancel, &state, &request);
    MPI_Request copy = request;
    MPI_Request_free(&request);
    CHECK(frees == 1);
    MPI_Grequest_complete(copy);
    CHECK(frees == 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    test_null();
    test_any();
    test_all();
    test_some();
    test_get_status();
    test_cancel();
    test_free();
    test_error_handler();
    test_generalized();
    return check_done();
}
