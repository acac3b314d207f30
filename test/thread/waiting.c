/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread waits, another one is needed: a receive from oneself that is blocked while another
 * thread sends; one that has long been asleep and is woken soon; threads that wait for nothing
 * while others exchange messages; probes; a receive that another thread cancels; and while all wait for long, no
 * CPU does anything.
 */
#include "test/thread/threads.h"

#include <sys/resource.h>

enum { EXCHANGES = 200, NAPS = 8 };

static MPI_Comm own[MOST_THREADS];
static double longest;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Pairs of threads: the even one sends, the odd one answers, all on this rank. */
static void ping_pong(int me)
{
    int partner = me ^ 1;
    if (partner >= nthreads)
        return;
    for (int i = 0; i < EXCHANGES; i++) {
        int data = i, n = i % 50 == 49 ? 30000 : 1;
        static int longer[MOST_THREADS][30000];
        int *buffer = n > 1 ? longer[me] : &data;
        MPI_Comm comm = own[me / 2];
        if (me % 2 == 0)
            CHECK_OK(MPI_Send(buffer, n, MPI_INT, rank, partner, comm));
        CHECK_OK(MPI_Recv(buffer, n, MPI_INT, rank, me, comm, MPI_STATUS_IGNORE));
        if (me % 2 == 1)
            CHECK_OK(MPI_Send(buffer, n, MPI_INT, rank, partner, comm));
        CHECK(n > 1 || data == i);
    }
}

/* The last thread sends a clock to all the others, which have been asleep for a while. */
static void wake_up(int me)
{
    for (int i = 0; i < NAPS; i++) {
        double sent, took;
        if (me == nthreads - 1) {
            nap_ms(30);
            for (int to = 0; to < me; to++) {
                sent = seconds();
                CHECK_OK(MPI_Send(&sent, 1, MPI_DOUBLE, rank, to, own[0]));
            }
            continue;
        }
        if (me % 3 == 0)
            CHECK_OK(MPI_Probe(rank, me, own[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&sent, 1, MPI_DOUBLE, rank, me, own[0], MPI_STATUS_IGNORE));
        took = seconds() - sent;
        pthread_mutex_lock(&mutex);
        longest = took > longest ? took : longest;
        pthread_mutex_unlock(&mutex);
    }
}

/* Thread 0 waits for a message from the neighbour that comes last of all: when the other threads, who
 * did its work while it slept on, have left MPI. */
static void sleeper_and_others(int me)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, token = 7;
    if (me == 0) {
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, from, 1000, own[0], MPI_STATUS_IGNORE));
        return;
    }
    nap_ms(20); /* let it fall asleep */
    for (int i = 0; i < EXCHANGES; i++) {
        int in = -1, out = i;
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, me, &in, 1, MPI_INT, from, me, own[me],
                              MPI_STATUS_IGNORE));
        CHECK(in == i);
    }
    if (me == nthreads - 1) {
        nap_ms(20);
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, to, 1000, own[0]));
    }
}

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* All threads but one, with flags or without, until the neighbour's last one has slept for a second. */
static double spent;
static void long_wait(int me)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, token = 8;
    if (me < nthreads - 1) {
        if (me % 3 == 2)
            CHECK_OK(MPI_Probe(from, me, own[me], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, from, me, own[me], MPI_STATUS_IGNORE));
        return;
    }
    double before = cpu_seconds();
    nap_ms(1000);
    spent = cpu_seconds() - before;
    for (int i = 0; i < me; i++)
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, to, i, own[i]));
}

static MPI_Request unwanted;
static void cancel(int me)
{
    int data, cancelled;
    MPI_Status status;
    if (me == 0) {
        CHECK_OK(MPI_Wait(&unwanted, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled);
    } else if (me == 1) {
        MPI_Request copy = unwanted;
        nap_ms(15);
        CHECK_OK(MPI_Cancel(&copy));
    }
    (void)data;
}

int main(int argc, char **argv)
{
    static int nothing;
    threads_begin(&argc, &argv);
    CHECK(nthreads >= 2);
    comms_make(own);
    threads_run(ping_pong);
    threads_run(wake_up);
    /* A wake-up takes some 50 us; one that is missed takes a timeout.  The machine may be busy. */
    CHECK(longest < 2.0);
    threads_run(sleeper_and_others);
    threads_run(long_wait);
    CHECK(spent < 0.3);
    CHECK_OK(MPI_Irecv(&nothing, 1, MPI_INT, rank, 77, own[0], &unwanted));
    threads_run(cancel);
    comms_free(own);
    if (getenv("XMPI_TEST_VERBOSE"))
        printf("longest wake-up %.3f ms, %.3f s of a second's wait\n", 1e3 * longest, spent);
    return check_done();
}
