/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ends of requests that the standard rules out, and what a failed one says: collectives can be
 * neither cancelled nor freed while they are active (MPI 5.0, 6.12 and 6.13), nor partitioned
 * operations (4.2), those without a cancel say so, and the words of a failure are those of who found
 * it, whenever it was.
 */
#include "check.h"

static int rank, size, left, right;
static MPI_Comm blamed;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    blamed = *comm;
}

static void text_has(int code, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (!strstr(text, words))
        fprintf(stderr, "\"%s\" is not in: %s\n", words, text);
    CHECK(strstr(text, words));
}

static MPI_Comm solver(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "solver");
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    blamed = MPI_COMM_NULL;
    return comm;
}

static void refused(MPI_Request *request, MPI_Comm comm, const char *words)
{
    MPI_Request before = *request;
    char who[64];
    snprintf(who, sizeof who, "(rank %d of communicator \"solver\")", rank);
    int code = MPI_Cancel(request);
    CHECK_ERROR(code, MPI_ERR_REQUEST);
    text_has(code, words);
    text_has(code, "cannot be cancelled");
    text_has(code, who);
    CHECK(blamed == comm && *request == before);
    blamed = MPI_COMM_NULL;
    code = MPI_Request_free(request);
    CHECK_ERROR(code, MPI_ERR_REQUEST);
    text_has(code, words);
    text_has(code, "cannot be freed");
    CHECK(blamed == comm && *request == before);
}

static void test_collectives(void)
{
    MPI_Comm comm = solver(), copy;
    int sum = 0;
    MPI_Request request;
    CHECK_OK(MPI_Iallreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    refused(&request, comm, "nonblocking collective");
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(sum == size * size);
    CHECK_OK(MPI_Ibarrier(comm, &request));
    refused(&request, comm, "nonblocking collective");
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    int flag = 0;
    CHECK_OK(MPI_Ibarrier(comm, &request));
    while (!flag)
        CHECK_OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request)); /* it is known to be over */
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Comm_idup(comm, &copy, &request));
    refused(&request, comm, "nonblocking collective");
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void test_persistent_collective(void)
{
    MPI_Comm comm = solver();
    int value = rank;
    MPI_Request request;
    CHECK_OK(MPI_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    refused(&request, comm, "active persistent collective");
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value == 0);
    CHECK_ERROR(MPI_Cancel(&request), MPI_ERR_REQUEST); /* inactive */
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* What has no cancel and is under way; what is over already does not mind. */
static void test_no_cancel(void)
{
    MPI_Comm comm = solver();
    static int out[1 << 16], in[1 << 16];
    MPI_Request request, part[2];
    CHECK_OK(MPI_Isendrecv(out, 1 << 16, MPI_INT, right, 1, in, 1 << 16, MPI_INT, left, 1, comm,
                           &request));
    int code = MPI_Cancel(&request);
    if (code) {
        CHECK_ERROR(code, MPI_ERR_REQUEST);
        text_has(code, "cannot be cancelled");
        CHECK(blamed == comm);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Psend_init(out, 1, 1, MPI_INT, right, 2, comm, MPI_INFO_NULL, &part[0]));
    CHECK_OK(MPI_Precv_init(in, 1, 1, MPI_INT, left, 2, comm, MPI_INFO_NULL, &part[1]));
    CHECK_OK(MPI_Startall(2, part));
    code = MPI_Cancel(&part[1]);
    CHECK_ERROR(code, MPI_ERR_REQUEST);
    text_has(code, "partitioned receive");
    for (int i = 0; i < 2; i++) { /* nor can they be given up (4.2) */
        MPI_Request before = part[i];
        blamed = MPI_COMM_NULL;
        code = MPI_Request_free(&part[i]);
        CHECK_ERROR(code, MPI_ERR_REQUEST);
        text_has(code, i == 0 ? "partitioned send" : "partitioned receive");
        CHECK(blamed == comm && part[i] == before);
    }
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Pready(0, part[0]));
    CHECK_OK(MPI_Waitall(2, part, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&part[0]));
    CHECK_OK(MPI_Request_free(&part[1]));
    CHECK_OK(MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
}

/* Requests of MPI_PROC_NULL have a communicator as well. */
static void test_nobody_is_blamed_rightly(void)
{
    MPI_Comm comm = solver();
    int value = 1;
    MPI_Request request;
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_ERROR(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK(blamed == comm);
    MPI_Comm keep = comm;
    CHECK_OK(MPI_Comm_free(&comm)); /* the request keeps it */
    blamed = MPI_COMM_NULL;
    CHECK_ERROR(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK(blamed == keep);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
}

/* Two failures are found before anybody asks for the first. */
static void test_words_of_failures(void)
{
    MPI_Comm comm = solver();
    char data[64] = "", a[5], b[7], c[9];
    int here = 0;
    MPI_Request requests[3];
    MPI_Irecv(a, 5, MPI_CHAR, left, 1, comm, &requests[0]);
    MPI_Irecv(b, 7, MPI_CHAR, left, 2, comm, &requests[1]);
    MPI_Isendrecv(data, 50, MPI_CHAR, right, 3, c, 9, MPI_CHAR, left, 3, comm, &requests[2]);
    MPI_Send(data, 60, MPI_CHAR, right, 1, comm);
    MPI_Send(data, 61, MPI_CHAR, right, 2, comm);
    MPI_Send(data, 1, MPI_CHAR, right, 4, comm);
    MPI_Recv(data, 1, MPI_CHAR, left, 4, comm, MPI_STATUS_IGNORE); /* all are here */
    while (!here)
        MPI_Request_get_status(requests[2], &here, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    int code = MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    CHECK_ERROR(code, MPI_ERR_TRUNCATE);
    text_has(code, "50 bytes");
    code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK_ERROR(code, MPI_ERR_TRUNCATE);
    text_has(code, "60 bytes");
    text_has(code, "holds 5");
    text_has(code, "MPI_Wait: ");
    code = MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK_ERROR(code, MPI_ERR_TRUNCATE);
    text_has(code, "61 bytes");
    text_has(code, "tag 2");
    MPI_Comm_free(&comm);
}

/* Of two failures in one call both are told. */
static void test_words_of_several(void)
{
    MPI_Comm comm = solver();
    char data[64] = "", in[2][8];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int all = 0; all < 2; all++) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(in[i], 8, MPI_CHAR, left, i, comm, &requests[i]);
        for (int i = 0; i < 2; i++)
            MPI_Send(data, 40 + i, MPI_CHAR, right, i, comm);
        int code = MPI_Waitall(2, requests, all ? statuses : MPI_STATUSES_IGNORE);
        CHECK_ERROR(code, MPI_ERR_IN_STATUS);
        text_has(code, "array_of_requests[0]");
        text_has(code, "40 bytes");
        text_has(code, "array_of_requests[1]");
        text_has(code, "41 bytes");
    }
    MPI_Comm_free(&comm);
}

/* Whatever ends first: the same request again is no other one. */
static void test_twice(void)
{
    MPI_Comm comm = solver();
    int in, out = rank, indices[3], n;
    MPI_Status statuses[3];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* its handler is asked */
    for (int way = 0; way < 6; way++) {
        MPI_Request requests[3], kept;
        MPI_Irecv(&in, 1, MPI_INT, left, 0, comm, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, right, 0, comm, &requests[1]);
        requests[2] = requests[0];
        if (way % 2) /* it is over when the call begins */
            MPI_Barrier(comm);
        kept = requests[0];
        int code = way < 4 ? MPI_Waitall(3, requests, way < 2 ? MPI_STATUSES_IGNORE : statuses)
                           : MPI_SUCCESS;
        while (way >= 4 && code == MPI_SUCCESS && requests[2] == kept)
            code = MPI_Waitsome(3, requests, &n, indices, statuses);
        CHECK_ERROR(code, MPI_ERR_REQUEST);
        text_has(code, "array_of_requests[2]");
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    test_collectives();
    test_persistent_collective();
    test_no_cancel();
    test_nobody_is_blamed_rightly();
    test_words_of_failures();
    test_words_of_several();
    test_twice();
    return check_done();
}
