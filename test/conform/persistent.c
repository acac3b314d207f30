/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Persistent sends and receives: started many times, in all modes, mixed with MPI_PROC_NULL and
 * freed while inactive.
 */
#include "check.h"

static int rank, size, left, right;

typedef int init_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void test_rounds(init_function *init, int n)
{
    int *out = malloc(sizeof(int) * (size_t)n), *in = malloc(sizeof(int) * (size_t)n);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(in, n, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
    init(out, n, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Request receive = requests[0], send = requests[1];
    for (int round = 0; round < 20; round++) {
        out[0] = rank + round;
        out[n - 1] = rank + round;
        in[0] = in[n - 1] = -1;
        MPI_Start(&requests[0]);
        MPI_Barrier(MPI_COMM_WORLD); /* ready sends */
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, statuses);
        CHECK(requests[0] == receive && requests[1] == send);
        CHECK(in[0] == left + round && in[n - 1] == left + round);
        CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 3);
    }
    int flag, count;
    MPI_Test(&requests[0], &flag, &statuses[0]); /* inactive: an empty status */
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    CHECK(flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE && count == 0);
    CHECK(statuses[0].MPI_TAG == MPI_ANY_TAG);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    free(out);
    free(in);
}

static void test_startall(void)
{
    enum { N = 16 };
    int out[N], in[N], indices[N], outcount, done = 0;
    MPI_Request requests[2 * N];
    for (int i = 0; i < N; i++) {
        out[i] = rank * 100 + i;
        MPI_Send_init(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[N + i]);
    }
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++)
            in[i] = -1;
        MPI_Startall(2 * N, requests);
        for (done = 0; done < 2 * N; done += outcount) {
            int all[2 * N];
            MPI_Waitsome(2 * N, requests, &outcount, all, MPI_STATUSES_IGNORE);
            CHECK(outcount > 0);
        }
        MPI_Waitsome(2 * N, requests, &outcount, indices, MPI_STATUSES_IGNORE);
        CHECK(outcount == MPI_UNDEFINED);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == left * 100 + i);
    }
    for (int i = 0; i < 2 * N; i++)
        MPI_Request_free(&requests[i]);
}

static void test_proc_null(void)
{
    int value = 5;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], &status);
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL && value == 5);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Freed while a round is under way: it still arrives. */
static void test_free_active(void)
{
    int value = -1;
    MPI_Request send;
    MPI_Datatype pair;
    static int two[2];
    two[0] = rank;
    two[1] = rank + 1;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Send_init(two, 1, pair, right, 8, MPI_COMM_WORLD, &send);
    MPI_Type_free(&pair);
    MPI_Start(&send);
    MPI_Request_free(&send);
    int in[2] = { -1, -1 };
    MPI_Recv(in, 2, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == left && in[1] == left + 1);
    MPI_Sendrecv(&rank, 1, MPI_INT, left, 9, &value, 1, MPI_INT, right, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(value == right);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    for (int n = 1; n <= 200000; n *= 20) {
        test_rounds(MPI_Send_init, n);
        test_rounds(MPI_Ssend_init, n);
        test_rounds(MPI_Rsend_init, n);
    }
    test_startall();
    test_proc_null();
    test_free_active();
    return check_done();
}
