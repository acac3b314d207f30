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

/* Both neighbours of a ring, and nobody looks how it ended; of every second int; on a communicator that was freed. */
static void test_silently(void)
{
    enum { WAYS = 3, ROUNDS = 10 };
    int out[2][4], in[2][4];
    MPI_Request requests[4];
    MPI_Datatype gaps;
    MPI_Comm comm;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(in[0], 1, gaps, left, 1, comm, &requests[0]);
    MPI_Recv_init(in[1], 1, gaps, right, 2, comm, &requests[1]);
    MPI_Send_init(out[0], 1, gaps, right, 1, comm, &requests[2]);
    MPI_Send_init(out[1], 1, gaps, left, 2, comm, &requests[3]);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
    for (int round = 0; round < WAYS * ROUNDS; round++) {
        for (int i = 0; i < 4; i++) {
            out[0][i] = 1000 * rank + 10 * round + i;
            out[1][i] = -out[0][i];
            in[0][i] = in[1][i] = 7;
        }
        MPI_Startall(4, requests);
        if (round % WAYS == 0)
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0, flag = 0; round % WAYS == 1 && i < 4; i++, flag = 0)
            while (!flag)
                MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        for (int i = 0; round % WAYS == 2 && i < 4; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < 4; i += 2) {
            CHECK(in[0][i] == 1000 * left + 10 * round + i && in[0][i + 1] == 7);
            CHECK(in[1][i] == -(1000 * right + 10 * round + i) && in[1][i + 1] == 7);
        }
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
}

/* Inactive ones among others: their statuses are empty, and they stay what they are. */
static void test_mixed(void)
{
    int out = rank, in = -1, other = 3;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Recv_init(&in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&other, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Request receive = requests[0], inactive = requests[1];
    requests[2] = MPI_REQUEST_NULL;
    MPI_Start(&requests[0]);
    MPI_Isend(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[3]);
    memset(statuses, 77, sizeof statuses);
    MPI_Waitall(4, requests, statuses);
    CHECK(in == left && statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 4);
    CHECK(requests[0] == receive && requests[1] == inactive);
    CHECK(requests[2] == MPI_REQUEST_NULL && requests[3] == MPI_REQUEST_NULL);
    for (int i = 1; i < 3; i++)
        CHECK(statuses[i].MPI_SOURCE == MPI_ANY_SOURCE && statuses[i].MPI_TAG == MPI_ANY_TAG &&
              statuses[i].MPI_ERROR == MPI_SUCCESS);
    MPI_Waitall(4, requests, statuses);
    CHECK(statuses[0].MPI_SOURCE == MPI_ANY_SOURCE && statuses[0].MPI_ERROR == MPI_SUCCESS);
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
    test_silently();
    test_mixed();
    test_free_active();
    return check_done();
}
