/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking traffic: every thread keeps a window of receives and sends in flight and completes
 * them by Waitany, Waitsome, Testany, Testsome and Waitall in turn; then persistent requests,
 * partitioned sends that several threads make ready, and generalized requests that are completed
 * by another thread than the one that waits.
 */
#include "test/thread/threads.h"

enum { WINDOW = 8, ROUNDS = 25, PARTITIONS = 16 };

static MPI_Comm own[MOST_THREADS];

static void waitsome(int n, MPI_Request requests[])
{
    int count, indices[2 * WINDOW];
    do
        CHECK_OK(MPI_Waitsome(n, requests, &count, indices, MPI_STATUSES_IGNORE));
    while (count != MPI_UNDEFINED);
}

static void waitany(int n, MPI_Request requests[])
{
    int index;
    do
        CHECK_OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
    while (index != MPI_UNDEFINED);
}

static void testany(int n, MPI_Request requests[])
{
    int index, flag;
    do
        CHECK_OK(MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE));
    while (!flag || index != MPI_UNDEFINED);
}

static void testsome(int n, MPI_Request requests[])
{
    int count, indices[2 * WINDOW];
    do
        CHECK_OK(MPI_Testsome(n, requests, &count, indices, MPI_STATUSES_IGNORE));
    while (count != MPI_UNDEFINED);
}

static void complete(int way, int n, MPI_Request requests[])
{
    switch (way % 5) {
    case 0:
        waitany(n, requests);
        break;
    case 1:
        waitsome(n, requests);
        break;
    case 2:
        testany(n, requests);
        break;
    case 3:
        testsome(n, requests);
        break;
    default:
        CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    }
}

static void windows(int me)
{
    int to = (rank + 1 + me) % size, from = (rank + size - (1 + me) % size) % size;
    for (int round = 0; round < ROUNDS; round++) {
        long in[WINDOW], out[WINDOW];
        MPI_Request requests[2 * WINDOW];
        for (int i = 0; i < WINDOW; i++) {
            out[i] = 1000000L * rank + 1000 * me + 10 * round + i;
            in[i] = -1;
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_LONG, from, i, own[me], &requests[i]));
        }
        for (int i = WINDOW - 1; i >= 0; i--)
            CHECK_OK((i % 2 ? MPI_Isend : MPI_Issend)(&out[i], 1, MPI_LONG, to, i, own[me],
                                                      &requests[WINDOW + i]));
        complete(me + round, 2 * WINDOW, requests);
        for (int i = 0; i < WINDOW; i++)
            CHECK(in[i] == 1000000L * from + 1000 * me + 10 * round + i);
    }
}

static void persistent(int me)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int in = 0, out = 0;
    MPI_Request requests[2];
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, from, 1, own[me], &requests[0]));
    CHECK_OK(MPI_Ssend_init(&out, 1, MPI_INT, to, 1, own[me], &requests[1]));
    for (int round = 0; round < ROUNDS; round++) {
        out = 100 * rank + round + me;
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(in == 100 * from + round + me);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* ---- partitions: each thread makes some of them ready ---- */

static int parts_in[PARTITIONS], parts_out[PARTITIONS];
static MPI_Request part_requests[2];

static void make_ready(int me)
{
    for (int i = me; i < PARTITIONS; i += nthreads) {
        parts_out[i] = 100 * rank + i;
        CHECK_OK(MPI_Pready(i, part_requests[1]));
    }
    for (int i = me; i < PARTITIONS; i += nthreads) {
        int flag = 0;
        while (!flag)
            CHECK_OK(MPI_Parrived(part_requests[0], i, &flag));
        CHECK(parts_in[i] == 100 * ((rank + size - 1) % size) + i);
    }
}

static void partitions(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    CHECK_OK(MPI_Precv_init(parts_in, PARTITIONS, 1, MPI_INT, from, 5, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &part_requests[0]));
    CHECK_OK(MPI_Psend_init(parts_out, PARTITIONS, 1, MPI_INT, to, 5, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &part_requests[1]));
    for (int round = 0; round < 5; round++) {
        memset(parts_in, 0, sizeof parts_in);
        CHECK_OK(MPI_Startall(2, part_requests));
        threads_run(make_ready);
        CHECK_OK(MPI_Waitall(2, part_requests, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&part_requests[0]));
    CHECK_OK(MPI_Request_free(&part_requests[1]));
}

/* ---- generalized requests ---- */

static int query(void *state, MPI_Status *status)
{
    int flag; /* a function of the program may call MPI */
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, *(int *)state));
    CHECK_OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int release(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}
static int cancel(void *state, int complete_already)
{
    (void)state;
    (void)complete_already;
    return MPI_SUCCESS;
}

static void *complete_later(void *request)
{
    nap_ms(3);
    CHECK_OK(MPI_Grequest_complete(*(MPI_Request *)request));
    return NULL;
}

static void generalized(int me)
{
    for (int round = 0; round < 4; round++) {
        int state = me + round, count;
        MPI_Request request, copy;
        MPI_Status status;
        pthread_t helper;
        CHECK_OK(MPI_Grequest_start(query, release, cancel, &state, &request));
        copy = request;
        CHECK(pthread_create(&helper, NULL, complete_later, &copy) == 0);
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Get_elements(&status, MPI_INT, &count));
        CHECK(count == me + round && state == -1);
        CHECK(pthread_join(helper, NULL) == 0);
    }
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    comms_make(own);
    threads_run(windows);
    threads_run(persistent);
    threads_run(generalized);
    partitions();
    comms_free(own);
    return check_done();
}
