/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What only nonblocking collectives can do wrong: many at once on one communicator and on
 * several, completed in any order, mixed with messages and blocking collectives, types,
 * operations and communicators freed under them, Ibarrier as a barrier; and what those of little
 * data share with persistent ones, slots.
 */
#include "check.h"

#include <stdbool.h>
#include <unistd.h>

static int rank, size;

static void test_many(void)
{
    enum { N = 24, COUNT = 500 };
    static int out[N][COUNT], in[N][COUNT];
    MPI_Request requests[N];
    for (int k = 0; k < N; k++)
        for (int i = 0; i < COUNT; i++) {
            out[k][i] = rank + k + i;
            in[k][i] = k % 3 == 1 && rank == k % size ? rank + k + i : -1;
        }
    for (int k = 0; k < N; k++)
        switch (k % 3) {
        case 0:
            MPI_Iallreduce(out[k], in[k], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                           &requests[k]);
            break;
        case 1:
            MPI_Ibcast(in[k], COUNT, MPI_INT, k % size, MPI_COMM_WORLD, &requests[k]);
            break;
        default:
            MPI_Ibarrier(MPI_COMM_WORLD, &requests[k]);
        }
    int blocking = -1;
    MPI_Allreduce(&rank, &blocking, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(blocking == size - 1);
    for (int done = 0; done < N; done++) {
        int index;
        MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL);
    }
    for (int k = 0; k < N; k++)
        for (int i = 0; i < COUNT; i++)
            if (k % 3 == 0)
                CHECK(in[k][i] == size * (size - 1) / 2 + size * (k + i));
            else if (k % 3 == 1)
                CHECK(in[k][i] == k % size + k + i);
}

/* Little data, so that they go through shared slots where there are any: of all kinds, more than can
 * be under way at the same time, begun on two communicators and waited for in another order on each
 * rank. */
enum { SMALL = 60, KINDS = 10 };
static int small_out[SMALL][64], small_in[SMALL][64];

static void small_begin(int k, MPI_Comm on, MPI_Request *request)
{
    int root = k % size, *from = small_out[k], *to = small_in[k];
    for (int i = 0; i < size; i++) {
        from[i] = 1000 * k + 10 * rank + i;
        to[i] = k % KINDS == 0 && rank == root ? 7 * k : -1;
    }
    switch (k % KINDS) {
    case 0:
        MPI_Ibcast(to, 1, MPI_INT, root, on, request);
        break;
    case 1:
        MPI_Iallreduce(from, to, 1, MPI_INT, MPI_MAX, on, request);
        break;
    case 2:
        MPI_Ireduce(from, to, 1, MPI_INT, MPI_SUM, root, on, request);
        break;
    case 3:
        MPI_Igather(from, 1, MPI_INT, to, 1, MPI_INT, root, on, request);
        break;
    case 4:
        MPI_Iscatter(from, 1, MPI_INT, to, 1, MPI_INT, root, on, request);
        break;
    case 5:
        MPI_Iallgather(from, 1, MPI_INT, to, 1, MPI_INT, on, request);
        break;
    case 6:
        MPI_Ialltoall(from, 1, MPI_INT, to, 1, MPI_INT, on, request);
        break;
    case 7:
        MPI_Ireduce_scatter_block(from, to, 1, MPI_INT, MPI_MIN, on, request);
        break;
    case 8:
        MPI_Iscan(from, to, 1, MPI_INT, MPI_SUM, on, request);
        break;
    default:
        MPI_Ibarrier(on, request);
    }
}

/* What there is at `i` of the result; -1: it was left alone. */
static int small_result(int k, int i)
{
    int root = k % size, base = 1000 * k, all = size * (size - 1) / 2;
    bool is_root = rank == root;
    switch (k % KINDS) {
    case 0:
        return i == 0 || is_root ? 7 * k : -1;
    case 1:
        return i == 0 ? base + 10 * (size - 1) : -1;
    case 2:
        return i == 0 && is_root ? size * base + 10 * all : -1;
    case 3:
        return is_root ? base + 10 * i : -1;
    case 4:
        return i == 0 ? base + 10 * root + rank : -1;
    case 5:
        return base + 10 * i;
    case 6:
        return base + 10 * i + rank;
    case 7:
        return i == 0 ? base + rank : -1;
    case 8:
        return i == 0 ? (rank + 1) * base + 10 * (rank * (rank + 1) / 2) : -1;
    default:
        return -1;
    }
}

static void test_small(void)
{
    MPI_Request requests[SMALL];
    MPI_Comm comm[2] = { MPI_COMM_WORLD };
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    for (int k = 0; k < SMALL; k++) {
        small_begin(k, comm[k / 7 % 2], &requests[k]);
        if (k % 13 == rank % 13)
            usleep(100);
    }
    for (int k = 0; k < SMALL; k++)
        MPI_Wait(&requests[(k * 7 + rank) % SMALL], MPI_STATUS_IGNORE);
    for (int k = 0; k < SMALL; k++)
        for (int i = 0; i < size; i++)
            CHECK(small_in[k][i] == small_result(k, i));
    MPI_Comm_free(&comm[1]);
}

/* More persistent ones than there is room for slots, started in another order on each rank; then
 * their room is used again. */
static void test_persistent(void)
{
    enum { N = 150, ROUNDS = 3 };
    static int out[N], in[N];
    MPI_Request requests[N];
    for (int again = 0; again < 2; again++) {
        for (int k = 0; k < N; k++)
            if (k % 3)
                MPI_Allreduce_init(&out[k], &in[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                   MPI_INFO_NULL, &requests[k]);
            else
                MPI_Bcast_init(&in[k], 1, MPI_INT, k % size, MPI_COMM_WORLD, MPI_INFO_NULL,
                               &requests[k]);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < N; i++) {
                int k = (i * 7 + rank) % N;
                out[k] = rank + k + round;
                in[k] = k % 3 == 0 && rank == k % size ? k + round : -1;
                MPI_Start(&requests[k]);
            }
            MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
            for (int k = 0; k < N; k++)
                CHECK(in[k] ==
                      (k % 3 ? size * (size - 1) / 2 + size * (k + round) : k + round));
        }
        for (int k = 0; k < N; k++)
            MPI_Request_free(&requests[(k + rank) % N]);
    }
}

/* Started in different orders on two communicators. */
static void test_two_communicators(void)
{
    MPI_Comm comm[2];
    MPI_Request requests[2];
    int out = rank, in[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    for (int round = 0; round < 50; round++) {
        int first = (rank + round) % 2;
        for (int k = 0; k < 2; k++) {
            int c = k ? 1 - first : first;
            MPI_Iallreduce(&out, &in[c], 1, MPI_INT, c ? MPI_MAX : MPI_SUM, comm[c],
                           &requests[c]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(in[0] == size * (size - 1) / 2 && in[1] == size - 1);
    }
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
}

/* A message between start and end, tested for instead of waited for. */
static void test_overlap(void)
{
    int right = (rank + 1) % size, left = (rank - 1 + size) % size, flag = 0, got = -1;
    int *out = malloc(sizeof(int) * 100000), *in = malloc(sizeof(int) * 100000);
    for (int i = 0; i < 100000; i++)
        out[i] = rank;
    MPI_Request request;
    MPI_Iallreduce(out, in, 100000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == left);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(in[0] == size * (size - 1) / 2 && in[99999] == size * (size - 1) / 2);
    free(out);
    free(in);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 2 * *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Everything is freed right after the start. */
static void test_freed(void)
{
    for (int round = 0; round < 20; round++) {
        int n = round % 2 ? 3 : 20000;
        int *out = malloc(sizeof(int) * 2 * (size_t)n),
            *in = malloc(sizeof(int) * 2 * (size_t)n);
        for (int i = 0; i < 2 * n; i++)
            out[i] = rank + i;
        MPI_Comm comm;
        MPI_Datatype pair;
        MPI_Op op;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Op_create(add, 1, &op);
        MPI_Iallreduce(out, in, n, pair, op, comm, &request);
        MPI_Op_free(&op);
        MPI_Type_free(&pair);
        MPI_Comm_free(&comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in[0] == size * (size - 1) / 2);
        CHECK(in[2 * n - 1] == size * (size - 1) / 2 + size * (2 * n - 1));
        free(out);
        free(in);
    }
}

static void test_ibarrier(void)
{
    for (int late = 0; late < size && late < 4; late++) {
        MPI_Request request;
        if (rank == late)
            usleep(3000);
        double before = MPI_Wtime(), last;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        double after = MPI_Wtime();
        MPI_Allreduce(&before, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        CHECK(after >= last);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_many();
    test_small();
    test_persistent();
    test_two_communicators();
    test_overlap();
    test_freed();
    test_ibarrier();
    return check_done();
}
