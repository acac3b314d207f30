/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rule of streams: a producer that is late on its stream, an allreduce on a second one, a
 * consumer on a third, with an event between each two, and the host waits for nothing until all
 * rounds are in the streams.  Then the same without the first event, which must give what was there
 * before; else the first test would prove nothing.  usage: order [rounds [delay in us [lanes]]]
 */
#include "driver.h"

#include <sched.h>
#include <time.h>

enum { N = 1000, MOST_LANES = 16 };

/* Three streams that go on beside those of other lanes. */
static struct lane {
    int produced[N], reduced[N], wrong, round_produced, round_consumed;
    cuda_stream computing, communicating, consuming;
    cuda_event event;
    MPI_Comm comm;
} lanes[MOST_LANES];
static long delay_us = 1000;

static void produce(void *argument)
{
    struct lane *lane = argument;
    struct timespec delay = { delay_us / 1000000, delay_us % 1000000 * 1000 };
    nanosleep(&delay, NULL);
    int round = lane->round_produced++;
    for (int i = 0; i < N; i++)
        lane->produced[i] = round * 7 + i;
}

static void consume(void *argument)
{
    struct lane *lane = argument;
    int round = lane->round_consumed++, size = world_size();
    for (int i = 0; i < N; i++)
        lane->wrong += lane->reduced[i] != size * (round * 7 + i);
}

static void round_enqueue(struct lane *lane)
{
    CHECK(driver.launch(lane->computing, produce, lane) == 0);
    stream_after(&lane->event, lane->communicating, lane->computing);
    unsigned waits = driver.waits();
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(lane->produced), fake_device(lane->reduced), N,
                                    MPI_INT, MPI_SUM, lane->comm));
    CHECK(driver.waits() == waits);
    stream_after(&lane->event, lane->consuming, lane->communicating);
    CHECK(driver.launch(lane->consuming, consume, lane) == 0);
    stream_after(&lane->event, lane->computing,
                 lane->consuming); /* nothing is overwritten that is in use */
}

static void lane_open(struct lane *lane)
{
    lane->computing = stream_new();
    lane->communicating = stream_new();
    lane->consuming = stream_new();
    lane->comm = comm_with(lane->communicating);
}

static void test_late_producers(int rounds, int nlanes)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < nlanes; i++)
            round_enqueue(&lanes[i]);
    for (int i = 0; i < nlanes; i++) {
        CHECK(driver.stream_synchronize(lanes[i].consuming) == 0);
        CHECK(lanes[i].round_consumed == rounds && lanes[i].wrong == 0);
    }
}

static int gate;

static void produce_at_gate(void *argument)
{
    struct lane *lane = argument;
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        sched_yield();
    lane->produced[0] = 1;
}

static void test_without_an_event(struct lane *lane)
{
    lane->produced[0] = -1;
    CHECK(driver.launch(lane->computing, produce_at_gate, lane) == 0);
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(lane->produced), fake_device(lane->reduced), 1,
                                    MPI_INT, MPI_SUM, lane->comm));
    CHECK(driver.stream_synchronize(lane->communicating) == 0);
    CHECK(lane->reduced[0] == -world_size());
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    CHECK(driver.stream_synchronize(lane->computing) == 0);
}

/* Nothing starts before the stream comes to it, and the call is over long before. */
static void test_the_call_returns(struct lane *lane)
{
    gate = 0;
    CHECK(driver.launch(lane->communicating, produce_at_gate, lane) == 0);
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(lane->produced), fake_device(lane->reduced), 1,
                                    MPI_INT, MPI_SUM, lane->comm));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(lane->reduced[0] == -world_size());
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    CHECK(driver.stream_synchronize(lane->communicating) == 0);
    CHECK(lane->reduced[0] == world_size());
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50, nlanes = argc > 3 ? atoi(argv[3]) : 1;
    delay_us = argc > 2 ? atol(argv[2]) : delay_us;
    MPI_Init(&argc, &argv);
    driver_open();
    CHECK(nlanes > 0 && nlanes <= MOST_LANES);
    for (int i = 0; i < nlanes; i++)
        lane_open(&lanes[i]);
    test_late_producers(rounds, nlanes);
    test_without_an_event(&lanes[0]);
    test_the_call_returns(&lanes[0]);
    for (int i = 0; i < nlanes; i++)
        MPI_Comm_free(&lanes[i].comm);
    return check_done();
}
