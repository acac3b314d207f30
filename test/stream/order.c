/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rule of streams: a producer that is late on its stream, an allreduce on a second one, a
 * consumer on a third, with an event between each two, and the host waits for nothing until all
 * rounds are in the streams.  Then the same without the first event, which must give what was there
 * before; else the first test would prove nothing.  usage: order [rounds [delay in us]]
 */
#include "driver.h"

#include <sched.h>
#include <time.h>

enum { N = 1000, MOST_ROUNDS = 1000 };

static int produced[N], reduced[N], wrong;
static long delay_us = 1000;
static cuda_stream computing, communicating, consuming;
static MPI_Comm comm;

static void produce(void *argument)
{
    int round = (int)(intptr_t)argument;
    struct timespec delay = { delay_us / 1000000, delay_us % 1000000 * 1000 };
    nanosleep(&delay, NULL);
    for (int i = 0; i < N; i++)
        produced[i] = round * 7 + i;
}

static void consume(void *argument)
{
    int round = (int)(intptr_t)argument, size = world_size();
    for (int i = 0; i < N; i++)
        wrong += reduced[i] != size * (round * 7 + i);
}

static void round_enqueue(int round)
{
    void *number = (void *)(intptr_t)round;
    CHECK(driver.launch(computing, produce, number) == 0);
    stream_after(communicating, computing);
    unsigned waits = driver.waits();
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(produced), fake_device(reduced), N, MPI_INT,
                                    MPI_SUM, comm));
    CHECK(driver.waits() == waits);
    stream_after(consuming, communicating);
    CHECK(driver.launch(consuming, consume, number) == 0);
    stream_after(computing, consuming); /* nothing is overwritten that is in use */
}

static void test_late_producers(int rounds)
{
    for (int round = 0; round < rounds; round++)
        round_enqueue(round);
    CHECK(driver.stream_synchronize(consuming) == 0);
    CHECK(wrong == 0);
}

static int gate;

static void produce_at_gate(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        sched_yield();
    produced[0] = 1;
}

static void test_without_an_event(void)
{
    produced[0] = -1;
    CHECK(driver.launch(computing, produce_at_gate, NULL) == 0);
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(produced), fake_device(reduced), 1, MPI_INT,
                                    MPI_SUM, comm));
    CHECK(driver.stream_synchronize(communicating) == 0);
    CHECK(reduced[0] == -world_size());
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    CHECK(driver.stream_synchronize(computing) == 0);
}

/* Nothing starts before the stream comes to it, and the call is over long before. */
static void test_the_call_returns(void)
{
    gate = 0;
    CHECK(driver.launch(communicating, produce_at_gate, NULL) == 0);
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(produced), fake_device(reduced), 1, MPI_INT,
                                    MPI_SUM, comm));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(reduced[0] == -world_size());
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    CHECK(driver.stream_synchronize(communicating) == 0);
    CHECK(reduced[0] == world_size());
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50;
    delay_us = argc > 2 ? atol(argv[2]) : delay_us;
    MPI_Init(&argc, &argv);
    driver_open();
    computing = stream_new();
    communicating = stream_new();
    consuming = stream_new();
    comm = comm_with(communicating);
    test_late_producers(rounds);
    test_without_an_event();
    test_the_call_returns();
    MPI_Comm_free(&comm);
    return check_done();
}
