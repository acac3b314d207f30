/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives in all threads at once, on a communicator each: blocking and nonblocking ones, short
 * and long; a user's operation that takes a mutex which another thread holds while it calls MPI;
 * a thread in a barrier does not keep the others from theirs.
 */
#include "test/thread/threads.h"

enum { ROUNDS = 20, LONG = 20000 };

static MPI_Comm own[MOST_THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void short_ones(int me, int round)
{
    MPI_Comm comm = own[me];
    long mine = 100 * rank + me + round, sum = -1, all[64];
    int root = round % size;
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm));
    CHECK(sum == 50L * size * (size - 1) + (long)size * (me + round));
    long told = rank == root ? mine : -1;
    CHECK_OK(MPI_Bcast(&told, 1, MPI_LONG, root, comm));
    CHECK(told == 100 * root + me + round);
    CHECK_OK(MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, comm));
    for (int i = 0; i < size; i++)
        CHECK(all[i] == 100 * i + me + round);
    CHECK_OK(MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_MAX, root, comm));
    CHECK(rank != root || sum == 100 * (size - 1) + me + round);
    CHECK_OK(MPI_Scan(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm));
    CHECK(sum == 50L * rank * (rank + 1) + (long)(rank + 1) * (me + round));
}

static void long_ones(int me)
{
    int *mine = malloc(LONG * sizeof *mine), *sum = malloc(LONG * sizeof *sum);
    MPI_Request requests[2];
    CHECK(mine && sum);
    for (int i = 0; i < LONG; i++)
        mine[i] = rank + me + i;
    CHECK_OK(MPI_Allreduce(mine, sum, LONG, MPI_INT, MPI_SUM, own[me]));
    for (int i = 0; i < LONG; i++)
        CHECK(sum[i] == size * (size - 1) / 2 + size * (me + i));
    CHECK_OK(MPI_Ibcast(mine, LONG, MPI_INT, size - 1, own[me], &requests[0]));
    CHECK_OK(MPI_Ibarrier(own[me], &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LONG; i++)
        CHECK(mine[i] == size - 1 + me + i);
    free(mine);
    free(sum);
}

static void work(int me)
{
    for (int round = 0; round < ROUNDS; round++)
        short_ones(me, round);
    long_ones(me);
}

/* ---- an operation that takes a mutex ---- */

static void add_locked(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    pthread_mutex_unlock(&mutex);
}

static void reduce_or_ask(int me)
{
    MPI_Op op;
    CHECK_OK(MPI_Op_create(add_locked, 1, &op));
    for (int round = 0; round < ROUNDS; round++) {
        int data[2000], sum[2000], n = round % 2 ? 2000 : 3, answer;
        MPI_Request request;
        for (int i = 0; i < n; i++)
            data[i] = rank + i;
        CHECK_OK(MPI_Allreduce(data, sum, n, MPI_INT, op, own[me]));
        for (int i = 0; i < n; i++)
            CHECK(sum[i] == size * (size - 1) / 2 + size * i);
        pthread_mutex_lock(&mutex);
        CHECK_OK(MPI_Comm_rank(own[me], &answer));
        pthread_mutex_unlock(&mutex);
        CHECK_OK(MPI_Iallreduce(data, sum, n, MPI_INT, op, own[me], &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum[n - 1] == size * (size - 1) / 2 + size * (n - 1));
    }
    CHECK_OK(MPI_Op_free(&op));
}

/* ---- a barrier that others are late for ---- */

static void late(int me)
{
    if (me == 0 && rank == size - 1)
        nap_ms(60);
    if (me == 0) {
        CHECK_OK(MPI_Barrier(own[0]));
        return;
    }
    for (int i = 0; i < 10; i++)
        short_ones(me, i);
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    CHECK(size <= 64);
    comms_make(own);
    threads_run(work);
    threads_run(reduce_or_ask);
    threads_run(late);
    comms_free(own);
    return check_done();
}
