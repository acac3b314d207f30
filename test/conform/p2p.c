/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends and receives: all modes and lengths around the ring, order, wildcards, MPI_PROC_NULL,
 * exchange, truncation, datatypes that are not contiguous.
 */
#include "check.h"

#include <string.h>

static int rank, size, left, right;

static void fill(unsigned char *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 7 + seed);
}

static int filled(const unsigned char *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        if (p[i] != (unsigned char)(i * 7 + seed))
            return 0;
    return 1;
}

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Even ranks send first, so blocking sends of any length must work. */
static void ring(send_function *send, int n)
{
    unsigned char *out = malloc((size_t)n + 1), *in = malloc((size_t)n + 1);
    MPI_Status status;
    int count;
    fill(out, n, rank);
    memset(in, 0xee, (size_t)n + 1);
    if (size == 1) {
        MPI_Request request;
        MPI_Irecv(in, n, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
        send(out, n, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
    } else if (rank % 2 == 0) {
        send(out, n, MPI_BYTE, right, 5, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_BYTE, left, 5, MPI_COMM_WORLD, &status);
    } else {
        MPI_Recv(in, n, MPI_BYTE, left, 5, MPI_COMM_WORLD, &status);
        send(out, n, MPI_BYTE, right, 5, MPI_COMM_WORLD);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == n && status.MPI_SOURCE == left && status.MPI_TAG == 5);
    CHECK(filled(in, n, left));
    CHECK(in[n] == 0xee);
    free(out);
    free(in);
}

/* The receive is there: iring waits for everybody's. */
static int rsend(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_Rsend(buf, n, type, dest, tag, comm);
}

static void iring(isend_function *isend, int n)
{
    unsigned char *out = malloc((size_t)n + 1), *in = malloc((size_t)n + 1);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    fill(out, n, rank);
    MPI_Irecv(in, n, MPI_BYTE, left, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD); /* ready sends need posted receives */
    isend(out, n, MPI_BYTE, right, 6, MPI_COMM_WORLD, &requests[1]);
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK(filled(in, n, left) && statuses[0].MPI_SOURCE == left);
    free(out);
    free(in);
}

static void test_lengths(void)
{
    static const int lengths[] = { 0,     1,     7,     8,      63,      64,
                                   65,    255,   1024,  4095,   8192,    16384,
                                   32769, 65536, 65537, 200000, 1 << 20, 3 << 20 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ring(MPI_Send, lengths[i]);
        ring(MPI_Ssend, lengths[i]);
        iring(MPI_Isend, lengths[i]);
        iring(MPI_Issend, lengths[i]);
        iring(MPI_Irsend, lengths[i]);
        iring(rsend, lengths[i]);
    }
}

/* Many messages of different lengths on two tags keep their order within each. */
static void test_order(void)
{
    enum { N = 200 };
    static int out[N][100], in[100];
    MPI_Request requests[2 * N];
    for (int i = 0; i < N; i++) {
        out[i][0] = i;
        MPI_Isend(out[i], 1 + i % 100, MPI_INT, right, i % 2, MPI_COMM_WORLD, &requests[i]);
    }
    for (int tag = 1; tag >= 0; tag--)
        for (int i = tag; i < N; i += 2) {
            MPI_Status status;
            int count;
            MPI_Recv(in, 100, MPI_INT, left, tag, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK(in[0] == i && count == 1 + i % 100);
        }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
}

/* Rank 0 takes whatever comes; every message comes once, in order per sender. */
static void test_wildcards(void)
{
    enum { N = 50 };
    if (rank == 0) {
        int *next = calloc((size_t)size, sizeof *next);
        for (int i = 0; i < N * (size - 1); i++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_TAG == 100 + value % 3);
            CHECK(value == next[status.MPI_SOURCE]++);
        }
        free(next);
    } else {
        for (int i = 0; i < N; i++)
            MPI_Send(&i, 1, MPI_INT, 0, 100 + i % 3, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_proc_null(void)
{
    int value = 42, count;
    MPI_Status status;
    MPI_Request request;
    CHECK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status) ==
          MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(value == 42 && count == 0);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK_OK(MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_exchange(void)
{
    for (int n = 1; n <= 1 << 18; n *= 8) {
        int *out = malloc(sizeof(int) * (size_t)n), *in = malloc(sizeof(int) * (size_t)n);
        MPI_Status status;
        for (int i = 0; i < n; i++)
            out[i] = rank * 1000 + i;
        MPI_Sendrecv(out, n, MPI_INT, right, 1, in, n, MPI_INT, left, 1, MPI_COMM_WORLD,
                     &status);
        CHECK(in[0] == left * 1000 && in[n - 1] == left * 1000 + n - 1);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 1);
        MPI_Sendrecv_replace(out, n, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status);
        CHECK(out[0] == left * 1000 && out[n - 1] == left * 1000 + n - 1);
        free(out);
        free(in);
    }
    /* The ends of a line have no neighbour on one side. */
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, value = -1;
    int down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&rank, 1, MPI_INT, up, 3, &value, 1, MPI_INT, down, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(value == rank - 1 || down == MPI_PROC_NULL);
}

static void test_truncation(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int n = 8; n <= 1 << 18; n <<= 5) {
        char *out = malloc((size_t)n), *in = malloc((size_t)n);
        memset(out, rank + 1, (size_t)n);
        memset(in, 0, (size_t)n);
        MPI_Request request;
        int class = 0, rc;
        MPI_Isend(out, n, MPI_CHAR, right, 9, comm, &request);
        rc = MPI_Recv(in, 5, MPI_CHAR, left, 9, comm, MPI_STATUS_IGNORE);
        MPI_Error_class(rc, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
        CHECK(in[5] == 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);

        MPI_Status statuses[2];
        MPI_Request both[2];
        MPI_Irecv(in, 5, MPI_CHAR, left, 9, comm, &both[0]);
        MPI_Isend(out, n, MPI_CHAR, right, 9, comm, &both[1]);
        rc = MPI_Waitall(2, both, statuses);
        MPI_Error_class(rc, &class);
        CHECK(class == MPI_ERR_IN_STATUS);
        MPI_Error_class(statuses[0].MPI_ERROR, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
        MPI_Wait(&both[1], MPI_STATUS_IGNORE); /* may have been left pending */
        free(out);
        free(in);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
}

/* Columns of a matrix to a dense row and back; short and long. */
static void test_datatypes(void)
{
    for (int n = 2; n <= 600; n = n * 3 + 1) {
        int *matrix = malloc(sizeof(int) * (size_t)n * (size_t)n);
        int *row = malloc(sizeof(int) * (size_t)n * (size_t)n);
        MPI_Datatype column, columns;
        MPI_Type_vector(n, 1, n, MPI_INT, &column);
        MPI_Type_create_resized(column, 0, sizeof(int), &columns);
        MPI_Type_commit(&columns);
        MPI_Type_free(&column);
        for (int i = 0; i < n * n; i++)
            matrix[i] = rank * 1000000 + i;
        MPI_Request request;
        MPI_Isend(matrix, n, columns, right, 4, MPI_COMM_WORLD, &request);
        MPI_Recv(row, n * n, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int good = 1;
        for (int i = 0; i < n * n; i++)
            good &= row[i] == left * 1000000 + i % n * n + i / n;
        CHECK(good);
        /* The type is freed while the receive is pending. */
        memset(matrix, 0, sizeof(int) * (size_t)n * (size_t)n);
        MPI_Irecv(matrix, n, columns, left, 4, MPI_COMM_WORLD, &request);
        MPI_Type_free(&columns);
        MPI_Send(row, n * n, MPI_INT, right, 4, MPI_COMM_WORLD); /* all receives are posted */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int origin = (left - 1 + size) % size;
        good = 1;
        for (int i = 0; i < n * n; i++)
            good &= matrix[i] == origin * 1000000 + i;
        CHECK(good);
        free(matrix);
        free(row);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    test_lengths();
    test_order();
    test_wildcards();
    test_proc_null();
    test_exchange();
    test_truncation();
    test_datatypes();
    return check_done();
}
