/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread sleeps until a message comes, and others, which have their engines alone with call after call,
 * never poll.
 */
#include "runtime/progress.h"
#include "runtime/record.h"

#include "test/unit/parting.h"
#include "test/unit/unit.h"

enum { WAITER, SENDER, LATE_MS = 50, MOST_TENTHS = 300 };

static atomic_bool here, ends;
static int flag;

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static int poll_message(void)
{
    if (!here || flag)
        return 0;
    flag = 1;
    return 1;
}

/* Called whenever the thread is about to sleep: as if a call of another one came just now. */
static void tell(const void *unused, struct record_wait *wait)
{
    (void)unused;
    (void)wait;
    int levels = engine_release();
    engine_take_solo(SENDER);
    engine_leave();
    engine_retake(levels);
}

static void *wait_for_message(void *unused)
{
    engine_take();
    progress_sleep_until(1 + WAITER, &flag, tell, NULL);
    engine_give();
    ends = true;
    return unused;
}

START_TEST(who_sleeps_polls_though_others_have_engines)
{
    pthread_t waiter;
    progress_open(NULL, false);
    progress_add(poll_message);
    threads_part();
    pthread_create(&waiter, NULL, wait_for_message, NULL);
    nap_ms(LATE_MS);
    here = true;
    for (int i = 0; i < MOST_TENTHS && !ends; i++)
        nap_ms(100);
    ck_assert(ends);
    pthread_join(waiter, NULL);
}
END_TEST

UNIT_MAIN("alone", who_sleeps_polls_though_others_have_engines)
