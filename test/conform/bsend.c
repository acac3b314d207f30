/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffered sends: many in flight, the buffer detached when they have left, no buffer and no room,
 * persistent and nonblocking forms, buffers of sessions and communicators and their ends, flushes beside sends.
 */
#include "check.h"

static int rank, size, left, right;

static void test_ring(int n, int messages)
{
    int bytes, attached, *in = malloc(sizeof(int) * (size_t)n),
                         *out = malloc(sizeof(int) * (size_t)n);
    MPI_Pack_size(n, MPI_INT, MPI_COMM_WORLD, &bytes);
    int room = messages * (bytes + MPI_BSEND_OVERHEAD);
    char *buffer = malloc((size_t)room), *back;
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < messages; i++) {
        for (int k = 0; k < n; k++)
            out[k] = rank * 1000 + i + k;
        MPI_Request request;
        if (i % 2) {
            MPI_Bsend(out, n, MPI_INT, right, 1, MPI_COMM_WORLD);
        } else {
            MPI_Ibsend(out, n, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        out[0] = out[n - 1] = -1; /* ours again */
    }
    for (int i = 0; i < messages; i++) {
        MPI_Recv(in, n, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == left * 1000 + i && in[n - 1] == left * 1000 + i + n - 1);
    }
    MPI_Buffer_detach(&back, &attached);
    CHECK(back == buffer && attached == room);
    free(buffer);
    free(in);
    free(out);
}

/* Detaching waits for the messages, and only for them. */
static void test_detach(void)
{
    enum { COUNT = 50000 };
    int room = COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD, attached;
    char *buffer = malloc((size_t)room), *back;
    int *data = calloc(COUNT, sizeof(int));
    data[COUNT - 1] = rank;
    MPI_Buffer_attach(buffer, room);
    MPI_Request request;
    int *in = calloc(COUNT, sizeof(int));
    MPI_Irecv(in, COUNT, MPI_INT, left, 2, MPI_COMM_WORLD, &request);
    MPI_Bsend(data, COUNT, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Buffer_detach(&back, &attached);
    free(buffer);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[COUNT - 1] == left);
    free(data);
    free(in);
}

static void test_errors(void)
{
    char small[1000], *back;
    int room, value[500] = { 0 };
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class;
    MPI_Error_class(MPI_Bsend(value, 1, MPI_INT, rank, 3, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Buffer_attach(small, sizeof small);
    MPI_Error_class(MPI_Bsend(value, 500, MPI_INT, rank, 3, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Error_class(MPI_Buffer_attach(small, sizeof small), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Buffer_detach(&back, &room);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void test_persistent(void)
{
    int out, in, room = 10 * ((int)sizeof(int) + MPI_BSEND_OVERHEAD);
    char *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    MPI_Request request;
    MPI_Bsend_init(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 30; round++) {
        out = rank + round;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        out = -1;
        MPI_Recv(&in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == left + round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
}

static void ring_of_one(MPI_Comm comm)
{
    int out = rank, in = -1;
    CHECK_OK(MPI_Bsend(&out, 1, MPI_INT, right, 5, comm));
    MPI_Recv(&in, 1, MPI_INT, left, 5, comm, MPI_STATUS_IGNORE);
    CHECK(in == left);
}

/* A session's buffer serves its communicators, however they came about, and no others; one of a
 * communicator goes before it. */
static void test_session(void)
{
    enum { ROOM = 100 * (MPI_BSEND_OVERHEAD + 64) };
    static char buffer[ROOM], other[ROOM];
    char tiny[1], *back;
    int value = 0, bytes;
    MPI_Session session;
    MPI_Group group, part;
    MPI_Comm comms[3];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_incl(group, 0, NULL, &part);
    MPI_Group_union(group, part, &part);
    MPI_Comm_create_from_group(part, "bsend", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[0]);
    MPI_Comm_dup(comms[0], &comms[1]);
    MPI_Comm_split(comms[1], 0, rank, &comms[2]);
    CHECK_ERROR(MPI_Bsend(&value, 1, MPI_INT, rank, 5, comms[0]), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Session_detach_buffer(session, &back, &bytes), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Session_attach_buffer(session, buffer, ROOM));
    CHECK_ERROR(MPI_Session_attach_buffer(session, other, ROOM), MPI_ERR_BUFFER);
    for (int i = 0; i < 3; i++)
        ring_of_one(comms[i]);
    errors_return();
    CHECK_ERROR(MPI_Bsend(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_attach_buffer(comms[1], tiny, sizeof tiny));
    CHECK_ERROR(MPI_Bsend(&value, 1, MPI_INT, rank, 5, comms[1]), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_detach_buffer(comms[1], &back, &bytes));
    CHECK(back == tiny && bytes == 1);
    ring_of_one(comms[1]);
    MPI_Request request;
    CHECK_OK(MPI_Session_flush_buffer(session));
    CHECK_OK(MPI_Session_iflush_buffer(session, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Session_detach_buffer(session, &back, &bytes));
    CHECK(back == buffer && bytes == ROOM);
    MPI_Session_attach_buffer(session, buffer, ROOM); /* left to MPI_Session_finalize */
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Group_free(&group);
    MPI_Group_free(&part);
    MPI_Session_finalize(&session);
}

/* A flush is over when what was in the buffer at its beginning has left: the message sent after it is
 * received after the flush only. */
static void test_flush(void)
{
    enum { COUNT = 1 << 18 };
    int *data = calloc(COUNT, sizeof(int)), *in = calloc(COUNT, sizeof(int)), bytes;
    void *back;
    MPI_Request first, flush[2];
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Irecv(in, COUNT, MPI_INT, left, 6, MPI_COMM_WORLD, &first);
    MPI_Bsend(data, COUNT, MPI_INT, right, 6, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_iflush(&flush[0]));
    data[COUNT - 1] = rank + 1;
    MPI_Bsend(data, COUNT, MPI_INT, right, 7, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_iflush(&flush[1]));
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Wait(&flush[0], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(in[COUNT - 1] == 0);
    MPI_Recv(in, COUNT, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[COUNT - 1] == left + 1);
    MPI_Wait(&flush[1], MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Buffer_flush());
    MPI_Buffer_detach(&back, &bytes);
    free(data);
    free(in);
}

/* Messages that leave in another order than they came make gaps, each of which is found again: with
 * the buffer full, whatever has left makes room for as much. */
static void test_gaps(void)
{
    enum { SLOTS = 8, BYTES = 100000, ROOM = SLOTS * (BYTES + MPI_BSEND_OVERHEAD) };
    char *buffer = malloc(ROOM), *data = calloc(BYTES, 1), *in = malloc(BYTES);
    void *back;
    int bytes;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_attach_buffer(comm, buffer, ROOM);
    for (int tag = 0; tag < SLOTS; tag++)
        CHECK_OK(MPI_Bsend(data, BYTES, MPI_CHAR, 0, tag, comm));
    for (int round = 0; round < 50; round++) {
        int tag = round * 5 % SLOTS; /* all in turn, not in the order of their addresses */
        data[BYTES - 1] = (char)round;
        MPI_Recv(in, BYTES, MPI_CHAR, 0, tag, comm, MPI_STATUS_IGNORE);
        CHECK(in[BYTES - 1] == (round < SLOTS ? 0 : (char)(round - SLOTS)));
        CHECK_OK(MPI_Bsend(data, BYTES, MPI_CHAR, 0, tag, comm));
    }
    for (int tag = 0; tag < SLOTS; tag++)
        MPI_Recv(in, BYTES, MPI_CHAR, 0, tag, comm, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == buffer && bytes == ROOM);
    MPI_Comm_free(&comm);
    free(buffer);
    free(data);
    free(in);
}

/* A communicator's buffer ends with it: with MPI_Comm_disconnect empty and ours again, with
 * MPI_Comm_free some time after the message has left, which the library alone knows. */
static void test_comm_ends(void)
{
    enum { COUNT = 100000, ROOM = COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD };
    static char stays[ROOM];
    char *buffer = malloc(ROOM);
    int *data = calloc(COUNT, sizeof(int)), *in = calloc(COUNT, sizeof(int));
    data[COUNT - 1] = rank + 1;
    for (int disconnect = 0; disconnect < 2; disconnect++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        CHECK_OK(MPI_Comm_attach_buffer(comm, disconnect ? buffer : stays, ROOM));
        CHECK_OK(MPI_Bsend(data, COUNT, MPI_INT, right, 8, comm));
        MPI_Irecv(in, COUNT, MPI_INT, left, 8, comm, &request);
        CHECK_OK(disconnect ? MPI_Comm_disconnect(&comm) : MPI_Comm_free(&comm));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in[COUNT - 1] == left + 1);
        in[COUNT - 1] = 0;
    }
    free(buffer);
    free(data);
    free(in);
}

/* With MPI_BUFFER_AUTOMATIC the size does not matter; that of a buffer must not be negative. */
static void test_sizes(void)
{
    char some[64];
    void *back;
    int bytes;
    MPI_Session session;
    errors_return();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1));
    CHECK_OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, -1));
    CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, -1));
    ring_of_one(MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    CHECK_OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &bytes));
    CHECK_OK(MPI_Session_detach_buffer(session, &back, &bytes));
    CHECK_ERROR(MPI_Buffer_attach(some, -1), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_attach_buffer(MPI_COMM_WORLD, some, -1), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Session_attach_buffer(session, some, -1), MPI_ERR_ARG);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    test_ring(1, 100);
    test_ring(1000, 20);
    test_ring(100000, 5);
    test_detach();
    test_errors();
    test_persistent();
    test_session();
    test_flush();
    test_gaps();
    test_comm_ends();
    test_sizes();
    return check_done();
}
