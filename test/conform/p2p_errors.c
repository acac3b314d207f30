/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Send and MPI_Recv between calls with something wrong about them: each mistake is the error that it is, however
 * many calls were good before, and nothing was sent.  A message that is too long is an error of whoever receives it,
 * with a status that says whose it was.  Messages of no bytes, and of memory that does not begin at the buffer.
 */
#include "check.h"

enum { MOST = 4000, ROOM = 5, ELSEWHERE = 64, FAR_AWAY = -12345 };
static int rank, size, left, right;
static MPI_Comm comm;

/* By which name: MPI_X, MPI_X_c or PMPI_X. */
enum way { PLAIN, WIDE, PROFILED, WAYS };

struct given {
    void *buf;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

static int send_by(enum way way, const struct given *g)
{
    return way == PLAIN  ? MPI_Send(g->buf, g->count, g->type, g->peer, g->tag, g->comm)
           : way == WIDE ? MPI_Send_c(g->buf, g->count, g->type, g->peer, g->tag, g->comm)
                         : PMPI_Send(g->buf, g->count, g->type, g->peer, g->tag, g->comm);
}

static int recv_by(enum way way, const struct given *g, MPI_Status *status)
{
    return way == PLAIN ? MPI_Recv(g->buf, g->count, g->type, g->peer, g->tag, g->comm, status)
           : way == WIDE
               ? MPI_Recv_c(g->buf, g->count, g->type, g->peer, g->tag, g->comm, status)
               : PMPI_Recv(g->buf, g->count, g->type, g->peer, g->tag, g->comm, status);
}

/* Around the ring, which rank 0 begins, so that nobody needs room for what is sent but who is alone. */
static void pass_on(enum way way, const struct given *to, const struct given *from,
                    MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (size == 1)
        CHECK_OK(
            MPI_Isend(to->buf, to->count, to->type, to->peer, to->tag, to->comm, &request));
    else if (rank == 0)
        CHECK_OK(send_by(way, to));
    CHECK_OK(recv_by(way, from, status));
    if (rank > 0)
        CHECK_OK(send_by(way, to));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void good(int n)
{
    static unsigned char out[MOST], in[MOST];
    struct given to = { out, n, MPI_BYTE, right, n, comm };
    struct given from = { in, MOST, MPI_BYTE, left, n, comm };
    MPI_Status status;
    int count = -1;
    for (int i = 0; i < n; i++)
        out[i] = (unsigned char)(rank + i);
    memset(in, 0, sizeof in);
    pass_on(PLAIN, &to, &from, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == n && status.MPI_SOURCE == left && status.MPI_TAG == n);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == (unsigned char)(left + i));
    CHECK(in[n] == 0);
}

/* ---- mistakes ---- */

static void mistake(struct given bad, int class, int sends, int receives)
{
    MPI_Status status;
    for (enum way way = PLAIN; way < WAYS; way++) {
        good(8);
        if (sends)
            check_class(__FILE__, __LINE__, "MPI_Send", send_by(way, &bad), class);
        if (receives)
            check_class(__FILE__, __LINE__, "MPI_Recv", recv_by(way, &bad, &status), class);
    }
}

static void mistakes_of_data(struct given fine)
{
    struct given bad = fine;
    MPI_Datatype made;
    bad.count = -1;
    mistake(bad, MPI_ERR_COUNT, 1, 1);
    bad = fine;
    bad.buf = NULL;
    mistake(bad, MPI_ERR_BUFFER, 1, 1);
    bad = fine;
    bad.type = MPI_DATATYPE_NULL;
    mistake(bad, MPI_ERR_TYPE, 1, 1);
    MPI_Type_contiguous(2, MPI_INT, &made);
    bad.type = made; /* not committed */
    mistake(bad, MPI_ERR_TYPE, 1, 1);
    MPI_Type_free(&made);
    MPI_Type_contiguous(0, MPI_INT, &made);
    MPI_Type_commit(&made);
    bad.type = made;
    bad.count = -1; /* no bytes, but not so many elements */
    mistake(bad, MPI_ERR_COUNT, 1, 1);
    MPI_Type_free(&made);
}

static void mistakes_of_envelope(struct given fine)
{
    struct given bad = fine;
    bad.tag = -1;
    mistake(bad, MPI_ERR_TAG, 1, MPI_ANY_TAG != -1);
    bad.tag = FAR_AWAY;
    mistake(bad, MPI_ERR_TAG, 1, 1);
    bad.tag = MPI_ANY_TAG;
    mistake(bad, MPI_ERR_TAG, 1, 0);
    bad = fine;
    bad.peer = size;
    mistake(bad, MPI_ERR_RANK, 1, 1);
    bad.peer = FAR_AWAY;
    mistake(bad, MPI_ERR_RANK, 1, 1);
    bad.peer = MPI_ANY_SOURCE;
    mistake(bad, MPI_ERR_RANK, 1, 0);
}

static void test_mistakes(void)
{
    static int data[2];
    struct given fine = { data, 2, MPI_INT, right, 3, comm }, bad = fine;
    mistakes_of_data(fine);
    mistakes_of_envelope(fine);
    bad.comm = MPI_COMM_NULL;
    mistake(bad, MPI_ERR_COMM, 1, 1);
    MPI_Comm_dup(comm, &bad.comm);
    MPI_Comm gone = bad.comm;
    MPI_Comm_free(&bad.comm);
    bad.comm = gone;
    mistake(bad, MPI_ERR_COMM, 1, 1);
}

/* ---- what is longer than the room for it ---- */

static int handled;

static void handle(MPI_Comm *where, int *code, ...)
{
    (void)where;
    handled += *code != MPI_SUCCESS;
}

/* It is here already, or is waited for. */
static void too_long(enum way way, int n, int here, int any)
{
    static char out[MOST], in[MOST];
    MPI_Request request;
    MPI_Status status = { .MPI_SOURCE = -7, .MPI_TAG = -7, .MPI_ERROR = 77 };
    struct given g = { in,  ROOM, MPI_BYTE, any ? MPI_ANY_SOURCE : left, any ? MPI_ANY_TAG : n,
                       comm };
    memset(out, rank + 1, sizeof out);
    memset(in, 0, sizeof in);
    handled = 0;
    CHECK_OK(MPI_Isend(out, n, MPI_BYTE, right, n, comm, &request));
    if (here)
        MPI_Barrier(comm);
    check_class(__FILE__, __LINE__, "MPI_Recv", recv_by(way, &g, &status), MPI_ERR_TRUNCATE);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == n && status.MPI_ERROR == 77);
    for (int i = ROOM; i < MOST; i++)
        CHECK(in[i] == 0);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(handled == 1);
    MPI_Barrier(comm);
}

static void test_too_long(void)
{
    static const int lengths[] = { ROOM + 1, 28, 29, 128, 129, 796, 797, 1096, 1097, MOST };
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(handle, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    for (int i = 0; i < 8; i++)
        for (int n = 0; n < 4; n++)
            for (enum way way = PLAIN; way < WAYS; way++) {
                good(ROOM);
                MPI_Barrier(
                    comm); /* what is waited for comes from the left, but nothing else */
                too_long(way, lengths[i], n % 2, n / 2);
            }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
}

/* ---- no bytes ---- */

static void nothing(void *out, void *in, int count, MPI_Datatype type)
{
    MPI_Status status;
    int n = -1, tag = count + 1;
    struct given to = { out, count, type, right, tag, comm };
    struct given from = { in, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm };
    MPI_Barrier(comm);
    for (enum way way = PLAIN; way < WAYS; way++) {
        pass_on(way, &to, &from, &status);
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n == 0 && status.MPI_SOURCE == left && status.MPI_TAG == tag);
    }
    MPI_Barrier(comm);
}

static void test_nothing(void)
{
    int out = 1, in = 2;
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    nothing(NULL, NULL, 0, MPI_INT);
    nothing(&out, &in, 0, MPI_DOUBLE);
    nothing(&out, &in, 3, empty);
    MPI_Type_free(&empty);
    CHECK(out == 1 && in == 2);
}

/* ---- memory that begins elsewhere ---- */

static void elsewhere(int n, int at)
{
    static unsigned char room[2][2 * ELSEWHERE + MOST];
    unsigned char *out = room[0] + ELSEWHERE, *in = room[1] + ELSEWHERE;
    MPI_Aint place = at;
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &n, &place, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(room[1], 0, sizeof room[1]);
    for (int i = 0; i < n; i++)
        out[at + i] = (unsigned char)(rank + i);
    struct given to = { out, 1, type, right, 1, comm }, from = { in, 1, type, left, 1, comm };
    pass_on(PLAIN, &to, &from, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(in[at + i] == (unsigned char)(left + i));
    CHECK(in[at - 1] == 0 && in[at + n] == 0);
    MPI_Type_free(&type);
}

static void test_elsewhere(void)
{
    for (int n = 1; n < 900; n += 1 + n / 3) {
        elsewhere(n, 24);
        elsewhere(n, -16);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    rank = world_rank();
    size = world_size();
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int n = 0; n < 900; n++)
        good(n);
    test_mistakes();
    test_too_long();
    test_nothing();
    test_elsewhere();
    MPI_Comm_free(&comm);
    return check_done();
}
