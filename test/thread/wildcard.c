/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many receivers on one communicator.  Half of the threads of each rank send numbered messages to
 * all ranks; the others take whatever comes, with wildcard receives and matched probes.  Every
 * message is received once, whole, by whoever matched it.
 */
#include "test/thread/threads.h"

#include <stdatomic.h>

enum { MESSAGES = 120, TAGS = 5, STOP = 99, LONGEST = 4000 };

static MPI_Comm comm;
static atomic_int received, sum; /* by this rank */
static int receivers, senders;

static int length_of(int number)
{
    return number % 17 == 0 ? LONGEST : 1 + number % 40;
}

static void send_all(int me)
{
    static int data[MOST_THREADS][LONGEST];
    for (int number = me; number < MESSAGES; number += senders)
        for (int to = 0; to < size; to++) {
            int n = length_of(number);
            for (int i = 0; i < n; i++)
                data[me][i] = number;
            CHECK_OK(MPI_Send(data[me], n, MPI_INT, to, number % TAGS, comm));
        }
}

static void take_probed(int *data, MPI_Message *message, MPI_Status *status)
{
    int n;
    CHECK_OK(MPI_Get_count(status, MPI_INT, &n));
    CHECK(n >= 1 && n <= LONGEST);
    CHECK_OK(MPI_Mrecv(data, n, MPI_INT, message, status));
    CHECK(*message == MPI_MESSAGE_NULL);
}

/* One message, in one of four ways. */
static void take(int way, int *data, MPI_Status *status)
{
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    if (way == 0) {
        CHECK_OK(MPI_Recv(data, LONGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status));
    } else if (way == 1) {
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, status));
        take_probed(data, &message, status);
    } else if (way == 2) {
        while (!flag)
            CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, status));
        take_probed(data, &message, status);
    } else {
        CHECK_OK(
            MPI_Irecv(data, LONGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request));
        CHECK_OK(MPI_Wait(&request, status));
    }
}

static void receive_until_stopped(int me)
{
    static int data[MOST_THREADS][LONGEST];
    for (int round = me;; round++) {
        MPI_Status status;
        int n, *mine = data[me];
        take(round % 4, mine, &status);
        if (status.MPI_TAG == STOP)
            return;
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &n));
        CHECK(status.MPI_TAG == mine[0] % TAGS && n == length_of(mine[0]));
        for (int i = 0; i < n; i++)
            CHECK(mine[i] == mine[0]);
        atomic_fetch_add(&sum, mine[0]);
        atomic_fetch_add(&received, 1);
    }
}

static void stop_all(void)
{
    int nothing = 0;
    for (int i = 0; i < receivers; i++)
        CHECK_OK(MPI_Send(&nothing, 1, MPI_INT, rank, STOP, comm));
}

/* Receivers go on until all messages are here; then each gets a message that says so. */
static void work(int me)
{
    if (me < receivers) {
        receive_until_stopped(me);
        return;
    }
    send_all(me - receivers);
    if (me > receivers)
        return;
    while (atomic_load(&received) < MESSAGES * size)
        nap_ms(1);
    stop_all();
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    receivers = nthreads > 1 ? nthreads / 2 : 1;
    senders = nthreads - receivers;
    CHECK(senders >= 1);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    threads_run(work);
    CHECK(atomic_load(&received) == MESSAGES * size);
    CHECK(atomic_load(&sum) == size * MESSAGES * (MESSAGES - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    return check_done();
}
