/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests of every kind in one array: looked at, waited for as any, some and all, inactive, null.
 * Generalized requests among them, and what their functions return.  Buffers that the library
 * provides for a process, a communicator and a session, emptied by requests.
 */
#include "check.h"

enum { LONG = 1 << 16, KINDS = 9 };
enum { SEND, RECEIVE, BARRIER, PERSISTENT, PARTITIONED, BOTH, MATCHED, BUFFERED, OWN };

static int rank, size, left, right;
static int out[LONG], in[LONG], both_out[LONG], both_in[LONG], part_in[2], matched_in;
static MPI_Request requests[KINDS], part_send;

/* ---- generalized requests ---- */

static struct {
    int queries, frees, cancels, complete; /* calls; what cancel was told */
    int query_says, free_says, cancel_says;
} greq;

static int on_query(void *state, MPI_Status *status)
{
    greq.queries++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, greq.cancels > 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return greq.query_says;
}

static int on_free(void *state)
{
    (void)state;
    greq.frees++;
    return greq.free_says;
}

static int on_cancel(void *state, int complete)
{
    (void)state;
    greq.cancels++;
    greq.complete = complete;
    return greq.cancel_says;
}

static MPI_Request own(int *state)
{
    MPI_Request request;
    memset(&greq, 0, sizeof greq);
    CHECK_OK(MPI_Grequest_start(on_query, on_free, on_cancel, state, &request));
    return request;
}

/* query is called when the status is asked for, free once, after it. */
static void test_own(void)
{
    int state = 3, flag = 1, count, index, n, cancelled;
    MPI_Status status, statuses[2];
    MPI_Request request = own(&state), two[2];
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag && greq.queries == 0);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(flag && count == 3 && status.MPI_SOURCE == 5 && greq.queries == 1);
    CHECK(greq.frees == 0);
    CHECK_OK(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE));
    CHECK(index == 0 && request == MPI_REQUEST_NULL && greq.queries == 2 && greq.frees == 1);

    request = own(&state); /* cancelled by the program, which then completes it */
    CHECK_OK(MPI_Cancel(&request));
    CHECK(greq.cancels == 1 && !greq.complete);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(greq.cancels == 2 && greq.complete);
    CHECK_OK(MPI_Waitsome(1, &request, &n, &index, &status));
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(n == 1 && cancelled && greq.frees == 1);

    request = own(&state); /* what the functions return is what the call returns */
    greq.query_says = MPI_ERR_IO;
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_ERROR(MPI_Test(&request, &flag, &status), MPI_ERR_IO);
    CHECK(greq.frees == 1 && request == MPI_REQUEST_NULL);
    request = own(&state);
    greq.free_says = MPI_ERR_NAME;
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NAME);
    request = own(&state);
    greq.cancel_says = MPI_ERR_PORT;
    CHECK_ERROR(MPI_Cancel(&request), MPI_ERR_PORT);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_ERROR(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    two[0] = own(&state);
    two[1] = MPI_REQUEST_NULL;
    greq.query_says = MPI_ERR_IO;
    CHECK_OK(MPI_Grequest_complete(two[0]));
    CHECK_ERROR(MPI_Waitall(2, two, statuses), MPI_ERR_IN_STATUS);
    CHECK(statuses[0].MPI_ERROR == MPI_ERR_IO && statuses[1].MPI_ERROR == MPI_SUCCESS);
}

/* ---- all kinds ---- */

static void start_all(int *state)
{
    MPI_Message message;
    MPI_Isend(out, LONG, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[SEND]);
    MPI_Isend(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[BUFFERED]);
    MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&matched_in, 1, MPI_INT, &message, &requests[MATCHED]);
    MPI_Wait(&requests[BUFFERED], MPI_STATUS_IGNORE);
    MPI_Ibsend(&rank, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &requests[BUFFERED]);
    requests[OWN] = own(state);
    MPI_Start(&requests[PERSISTENT]);
    MPI_Start(&requests[PARTITIONED]);
    MPI_Start(&part_send);
    MPI_Isendrecv(both_out, LONG, MPI_INT, right, 2, both_in, LONG, MPI_INT, left, 2,
                  MPI_COMM_WORLD, &requests[BOTH]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[BARRIER]);
}

/* Nobody receives before all have looked; from here on everything completes. */
static void let_go(void)
{
    MPI_Irecv(in, LONG, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[RECEIVE]);
    MPI_Send(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Pready_range(0, 1, part_send);
    MPI_Wait(&part_send, MPI_STATUS_IGNORE);
    MPI_Grequest_complete(requests[OWN]);
}

static int persists(int kind)
{
    return kind == PERSISTENT || kind == PARTITIONED;
}

static void check_over(int kind)
{
    int flag = 0;
    MPI_Status status;
    CHECK(persists(kind) == (requests[kind] != MPI_REQUEST_NULL));
    CHECK_OK(MPI_Request_get_status(requests[kind], &flag, &status)); /* empty */
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Test(&requests[kind], &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
}

static void end_by_any(void)
{
    int index, seen[KINDS] = { 0 };
    MPI_Status status;
    for (int i = 0; i < KINDS; i++) {
        CHECK_OK(MPI_Waitany(KINDS, requests, &index, &status));
        CHECK(index >= 0 && index < KINDS && !seen[index]++);
        check_over(index);
    }
    CHECK_OK(MPI_Waitany(KINDS, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
}

static void end_by_some(void)
{
    int n, indices[KINDS], seen[KINDS] = { 0 };
    for (int left_over = KINDS; left_over > 0; left_over -= n) {
        CHECK_OK(MPI_Testsome(KINDS, requests, &n, indices, MPI_STATUSES_IGNORE));
        for (int i = 0; i < n; i++)
            CHECK(!seen[indices[i]]++);
    }
    CHECK_OK(MPI_Testsome(KINDS, requests, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == MPI_UNDEFINED);
}

/* Looked at until all are over; nothing ends by that. */
static void end_by_looking(void)
{
    int flag = 0, index, n, indices[KINDS];
    MPI_Status statuses[KINDS];
    while (!flag)
        CHECK_OK(MPI_Request_get_status_all(KINDS, requests, &flag, statuses));
    CHECK(requests[OWN] != MPI_REQUEST_NULL && statuses[OWN].MPI_SOURCE == 5);
    CHECK(statuses[RECEIVE].MPI_SOURCE == left && statuses[PERSISTENT].MPI_TAG == 3);
    CHECK_OK(MPI_Request_get_status_some(KINDS, requests, &n, indices, statuses));
    CHECK(n == KINDS && indices[KINDS - 1] == KINDS - 1);
    CHECK_OK(MPI_Request_get_status_any(KINDS, requests, &index, &flag, statuses));
    CHECK(flag && index == 0 && greq.frees == 0);
    CHECK_OK(MPI_Testall(KINDS, requests, &flag, statuses));
    CHECK(flag && greq.frees == 1 && statuses[MATCHED].MPI_SOURCE == left);
}

static void test_kinds(void (*end)(void))
{
    int state = 1, value = -1, flag = 1;
    for (int i = 0; i < LONG; i++) {
        out[i] = both_out[i] = rank + i;
        in[i] = both_in[i] = -1;
    }
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Recv_init(&value, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[PERSISTENT]);
    MPI_Psend_init(out, 2, 1, MPI_INT, right, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &part_send);
    MPI_Precv_init(part_in, 1, 2, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[PARTITIONED]);
    requests[RECEIVE] = MPI_REQUEST_NULL;
    start_all(&state);
    CHECK_OK(MPI_Request_get_status_all(KINDS, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag); /* the persistent receive and our own cannot be over */
    let_go();
    end();
    CHECK(value == left && matched_in == left && part_in[1] == left + 1);
    CHECK(in[LONG - 1] == left + LONG - 1 && both_in[LONG - 1] == left + LONG - 1);
    MPI_Request_free(&requests[PERSISTENT]);
    MPI_Request_free(&requests[PARTITIONED]);
    MPI_Request_free(&part_send);
    void *buffer;
    int bytes;
    MPI_Buffer_detach(&buffer, &bytes);
    CHECK(buffer == MPI_BUFFER_AUTOMATIC);
}

/* ---- buffers that the library provides ---- */

/* A long message is in the buffer until it is received; then the request is complete. */
static void fill_and_empty(MPI_Comm comm, int (*iflush)(void *whose, MPI_Request *),
                           void *whose)
{
    int flag = 1, *copy = malloc(LONG * sizeof *copy);
    MPI_Request request;
    for (int i = 0; i < LONG; i++)
        copy[i] = rank + i;
    CHECK_OK(MPI_Bsend(copy, LONG, MPI_INT, right, 7, comm));
    free(copy);
    CHECK_OK(iflush(whose, &request));
    MPI_Barrier(comm);
    MPI_Recv(in, LONG, MPI_INT, left, 7, comm, MPI_STATUS_IGNORE);
    CHECK(in[LONG - 1] == left + LONG - 1);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(iflush(whose, &request)); /* nothing in it */
    while (!MPI_Test(&request, &flag, MPI_STATUS_IGNORE) && !flag)
        continue;
}

static int flush_process(void *whose, MPI_Request *request)
{
    (void)whose;
    return MPI_Buffer_iflush(request);
}

static int flush_comm(void *whose, MPI_Request *request)
{
    return MPI_Comm_iflush_buffer(*(MPI_Comm *)whose, request);
}

static int flush_session(void *whose, MPI_Request *request)
{
    return MPI_Session_iflush_buffer(*(MPI_Session *)whose, request);
}

static void test_buffers(void)
{
    MPI_Comm comm;
    MPI_Session session;
    MPI_Group group;
    void *buffer;
    MPI_Count bytes = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 1000));
    fill_and_empty(comm, flush_process, NULL);
    CHECK_OK(MPI_Comm_attach_buffer_c(comm, MPI_BUFFER_AUTOMATIC, 0));
    fill_and_empty(comm, flush_comm, &comm);
    CHECK_OK(MPI_Comm_detach_buffer_c(comm, &buffer, &bytes));
    CHECK(buffer == MPI_BUFFER_AUTOMATIC && bytes == 0);
    CHECK_OK(MPI_Buffer_detach_c(&buffer, &bytes));
    CHECK(buffer == MPI_BUFFER_AUTOMATIC && bytes == 0);
    MPI_Comm_free(&comm);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    CHECK_OK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0));
    fill_and_empty(comm, flush_session, &session);
    CHECK_OK(MPI_Session_detach_buffer_c(session, &buffer, &bytes));
    CHECK(buffer == MPI_BUFFER_AUTOMATIC && bytes == 0);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    test_own();
    test_kinds(end_by_any);
    test_kinds(end_by_some);
    test_kinds(end_by_looking);
    test_buffers();
    return check_done();
}
