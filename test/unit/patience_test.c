/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages that no receive wants yet: how long they stay with their link, that this bounds memory, and that
 * nothing waits for ever for what is behind them.
 */
#include "mpi.h"
#include "pml/arrived.h"
#include "runtime/clock.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* ---- how long ---- */

static int rounds_until_allowed(void)
{
    int n = 0;
    patience_round(false, 0);
    while (patience_allows(false) == 0) {
        patience_round(true, 0);
        n++;
    }
    return n;
}

START_TEST(they_stay_while_something_else_moves)
{
    uint64_t begun = clock_ns();
    for (int i = 0; i < 1000; i++) {
        patience_round(true, 1);
        ck_assert(patience_allows(false) == 0 || clock_ns() - begun > 1000000);
    }
    int n = rounds_until_allowed();
    ck_assert_int_gt(n, 0);
    ck_assert_int_lt(n, 10);
    ck_assert_int_eq(patience_allows(false), PATIENCE_ALL);
}
END_TEST

/* Who tests now and then has few rounds, and others may always have something. */
START_TEST(but_not_for_long)
{
    patience_round(false, 0);
    for (int i = 0; i < 2; i++) {
        uint64_t begun = clock_ns();
        patience_round(true, 1);
        ck_assert(patience_allows(false) == 0 || clock_ns() - begun > 1000000);
        usleep(2000);
        ck_assert_int_eq(patience_allows(false), PATIENCE_ALL);
        patience_round(false, 40);
        ck_assert_int_eq(patience_allows(false), 0);
    }
}
END_TEST

START_TEST(the_more_there_are_the_longer_and_the_fewer)
{
    int before = rounds_until_allowed();
    for (int mibs = 1; mibs <= 10; mibs++) {
        arrived_held = (size_t)mibs << 20;
        int n = rounds_until_allowed();
        ck_assert(n == 2 * before ||
                  patience_allows(false) == PATIENCE_ALL); /* it took a millisecond */
        ck_assert(patience_is_for_short());
        before *= 2;
    }
    arrived_held = 0;
    ck_assert(!patience_is_for_short());
}
END_TEST

/* Nobody is held up by the many that are in front of what he waits for. */
START_TEST(short_ones_stay_for_a_moment_only)
{
    for (size_t mibs = 1; mibs <= 1000; mibs *= 10) {
        int n = 0;
        arrived_held = mibs << 20;
        patience_round(false, 0);
        for (; patience_allows(true) == 0; n++)
            patience_round(true, 0);
        ck_assert_int_gt(n, 0);
        ck_assert_int_le(n, 16);
        ck_assert_int_eq(patience_allows(true), PATIENCE_ALL);
    }
    arrived_held = 0;
}
END_TEST

START_TEST(who_sleeps_gets_all)
{
    patience_round(false, 0);
    ck_assert_int_eq(patience_allows(false), 0);
    waits_asleep++;
    ck_assert_int_eq(patience_allows(false), PATIENCE_ALL);
    waits_asleep--;
    ck_assert_int_eq(patience_allows(false), 0);
}
END_TEST

/* ---- between ranks ---- */

enum { BYTES = 6144, MESSAGES = 300, FIRST = 8, BEHIND = 200 };

static void send_to(struct channel *c, int to, int tag, const void *data, size_t bytes)
{
    struct buffer buffer = job_bytes((void *)data, bytes);
    ck_assert_int_eq(
        pml_send(c, &buffer, &(struct envelope){ .peer = to, .tag = tag }, SEND_STANDARD), 0);
}

static void recv_from(struct channel *c, int from, int tag, void *data, size_t bytes)
{
    struct buffer buffer = job_bytes(data, bytes);
    ck_assert_int_eq(pml_recv(c, &buffer, &(struct envelope){ .peer = from, .tag = tag }, NULL),
                     0);
}

static size_t length;

/* The first ones are there before rank 0 makes its first round; the others when there is room for them. */
static void left(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    int data[BYTES / sizeof(int)] = { 0 };
    if (rank == 1) {
        for (int i = 0; i < MESSAGES; i++) {
            data[0] = i;
            send_to(c, 0, 1, data, length);
            if (i == FIRST)
                atomic_store(job_word(), 1);
        }
    } else {
        size_t held = arrived_held;
        while (!atomic_load(job_word()))
            sched_yield();
        progress();
        ck_assert_uint_eq(channel_unexpected(c), 0);
        for (uint64_t begun = clock_ns(); channel_unexpected(c) == 0;) {
            ck_assert_uint_lt(clock_ns() - begun, 10000000000u);
            progress();
        }
        ck_assert_uint_gt(arrived_held, held);
        for (int i = 0; i < MESSAGES; i++) {
            recv_from(c, 1, 1, data, length);
            ck_assert_int_eq(data[0], i);
        }
        ck_assert_uint_eq(arrived_held, held);
    }
    channel_close(c);
}
START_TEST(what_nobody_wants_is_left_and_then_taken)
{
    length = BYTES;
    ck_assert(job_run(2, left));
    length = 64;
    arrived_held = 1 << 20; /* short ones are only left when there is so much */
    ck_assert(job_run(2, left));
    arrived_held = 0;
}
END_TEST

static void behind(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    static int data[BEHIND][BYTES / sizeof(int)];
    int last = 0;
    for (int i = 0; i < BEHIND && rank == 0; i++) {
        data[i][0] = i;
        send_to(c, 1, 1, data[i], BYTES);
    }
    if (rank == 0) {
        send_to(c, 1, 2, &(int){ 7 }, sizeof(int));
    } else {
        recv_from(c, 0, 2, &last, sizeof last);
        ck_assert_int_eq(last, 7);
        for (int i = 0; i < BEHIND; i++) {
            recv_from(c, 0, 1, data[0], BYTES);
            ck_assert_int_eq(data[0][0], i);
        }
    }
    channel_close(c);
}
START_TEST(what_is_behind_them_comes)
{
    ck_assert(job_run(2, behind));
}
END_TEST

static void probed(int rank, int size)
{
    struct channel *c = job_world(rank, size);
    int data[BYTES / sizeof(int)] = { 5 };
    if (rank == 0) {
        send_to(c, 1, 1, data, BYTES);
        atomic_store(job_word(), 1);
    } else {
        bool found = false;
        struct result result;
        while (!atomic_load(job_word()))
            sched_yield();
        ck_assert_int_eq(
            pml_iprobe(c, &(struct envelope){ .peer = 0, .tag = 1 }, true, &found, &result), 0);
        ck_assert(found && result.bytes == BYTES);
        recv_from(c, 0, 1, data, BYTES);
    }
    channel_close(c);
}
START_TEST(a_probe_finds_them_at_once)
{
    ck_assert(job_run(2, probed));
}
END_TEST

UNIT_MAIN("patience", they_stay_while_something_else_moves,
          the_more_there_are_the_longer_and_the_fewer, but_not_for_long,
          short_ones_stay_for_a_moment_only, who_sleeps_gets_all,
          what_nobody_wants_is_left_and_then_taken, what_is_behind_them_comes,
          a_probe_finds_them_at_once)
