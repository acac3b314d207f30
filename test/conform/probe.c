/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probe and matched probe: what they say about a message, that they take nothing (or, matched,
 * everything) out of matching, MPI_PROC_NULL, wildcards.
 */
#include "check.h"

static int rank, size, left, right;

static void test_probe(int n)
{
    int *out = calloc((size_t)n + 1, sizeof(int)), *in = calloc((size_t)n + 1, sizeof(int));
    MPI_Request request;
    MPI_Status status;
    int count;
    out[0] = rank;
    MPI_Isend(out, n, MPI_INT, right, 10 + n % 7, MPI_COMM_WORLD, &request);
    for (int again = 0; again < 2; again++) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 10 + n % 7 && count == n);
    }
    MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    CHECK(n == 0 || in[0] == left);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

static void test_iprobe(void)
{
    int flag, value = -1;
    MPI_Status status;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(left, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, right, 78, MPI_COMM_WORLD, &request);
    do
        MPI_Iprobe(left, 78, MPI_COMM_WORLD, &flag, &status);
    while (!flag);
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 78);
    MPI_Recv(&value, 1, MPI_INT, left, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == left);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

/* A matched message is invisible to later receives; they get the next one. */
static void test_mprobe(int n, int nonblocking)
{
    int *out = calloc((size_t)n, 2 * sizeof(int)), *in = calloc((size_t)n, sizeof(int)), count;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;
    out[0] = rank;
    out[n] = rank + 1000;
    MPI_Isend(out, n, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out + n, n, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n && status.MPI_TAG == 5 && message != MPI_MESSAGE_NULL);
    MPI_Recv(in, n, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
    CHECK(in[0] == left + 1000);
    if (nonblocking) {
        MPI_Request receive;
        MPI_Imrecv(in, n, MPI_INT, &message, &receive);
        MPI_Wait(&receive, &status);
    } else {
        MPI_Mrecv(in, n, MPI_INT, &message, &status);
    }
    CHECK(message == MPI_MESSAGE_NULL && in[0] == left && status.MPI_SOURCE == left);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
}

static void test_improbe(void)
{
    int flag, value = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Improbe(left, 99, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(!flag);
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    for (int n = 0; n <= 300000; n = n * 4 + 1)
        test_probe(n);
    test_iprobe();
    for (int n = 1; n <= 300000; n *= 5) {
        test_mprobe(n, 0);
        test_mprobe(n, 1);
    }
    test_improbe();
    return check_done();
}
