/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/follow.h"

#include "runtime/clock.h"
#include "runtime/lock.h"
#include "test/unit/unit.h"

#include <pthread.h>
#include <unistd.h>

enum { MANY = 5 };
static const uint64_t LONG_NS = 100000000000;

struct waiter {
    struct following how;
    const int *flag;
    bool called;
    atomic_bool over;
    pthread_t thread;
};

static void *wait_until_called(void *argument)
{
    struct waiter *w = argument;
    engine_take();
    w->called = follow(w->flag, &w->how);
    w->over = true;
    engine_give();
    return NULL;
}

static int number(void)
{
    engine_take();
    int n = followers;
    engine_give();
    return n;
}

/* When it returns the thread is in the list, and waits without the lock; or it has done so already,
 * where this thread got no CPU for as long as that one waits. */
static void begin(struct waiter *w, const int *flag, struct following how)
{
    int before = number();
    *w = (struct waiter){ .how = how, .flag = flag };
    ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_until_called, w), 0);
    while (number() == before && !w->over)
        usleep(100);
}

static bool end(struct waiter *w)
{
    pthread_join(w->thread, NULL);
    return w->called;
}

static struct following asleep(uint64_t most_ns)
{
    return (struct following){ .awake = false, .asleep_ns = most_ns };
}

static struct following awake(void)
{
    return (struct following){ .awake = true, .pauses = UINT32_MAX, .asleep_ns = LONG_NS };
}

static void call_all(void)
{
    engine_take();
    followers_wake();
    engine_give();
}

static void call_one(bool even_asleep)
{
    engine_take();
    followers_wake_one(even_asleep);
    engine_give();
}

START_TEST(who_is_not_called_returns_in_time)
{
    struct waiter w;
    uint64_t since = clock_ns();
    begin(&w, NULL, asleep(20000000));
    ck_assert(!end(&w));
    ck_assert(clock_ns() - since >= 20000000);
    ck_assert_int_eq(number(), 0);
}
END_TEST

START_TEST(only_those_whose_flag_is_set_are_called)
{
    struct waiter w[MANY];
    int flags[MANY] = { 0 };
    for (int i = 0; i < MANY; i++)
        begin(&w[i], &flags[i], i % 2 ? awake() : asleep(LONG_NS));
    call_all();
    ck_assert_int_eq(number(), MANY);
    for (int k = 0; k < MANY; k++) { /* from the middle, the ends last */
        int i = (k + 2) % MANY;
        engine_take();
        flags[i] = 1;
        followers_wake();
        ck_assert_int_eq(followers, MANY - k); /* it leaves the list when it has the lock */
        engine_give();
        ck_assert(end(&w[i]));
        ck_assert_int_eq(number(), MANY - k - 1);
    }
}
END_TEST

START_TEST(who_waits_for_anything_is_called_by_everything)
{
    struct waiter any, other;
    int flag = 0;
    begin(&other, &flag, asleep(LONG_NS));
    begin(&any, NULL, asleep(LONG_NS));
    call_all();
    ck_assert(end(&any));
    ck_assert_int_eq(number(), 1);
    flag = 1;
    call_all();
    ck_assert(end(&other));
}
END_TEST

START_TEST(who_is_awake_is_to_lead)
{
    struct waiter first, second;
    int never = 0;
    begin(&first, &never, asleep(LONG_NS));
    begin(&second, &never, awake());
    call_one(true);
    ck_assert(end(&second));
    ck_assert_int_eq(number(), 1);
    call_one(false); /* costs too much */
    usleep(20000);
    ck_assert_int_eq(number(), 1);
    call_one(true);
    ck_assert(end(&first));
}
END_TEST

START_TEST(one_leader_at_a_time)
{
    struct waiter w[2];
    int never = 0;
    for (int i = 0; i < 2; i++)
        begin(&w[i], &never, awake());
    engine_take();
    followers_wake_one(true);
    followers_wake_one(true); /* the first is on its way */
    engine_give();
    ck_assert(end(&w[0]));
    usleep(20000);
    ck_assert_int_eq(number(), 1);
    call_one(true);
    ck_assert(end(&w[1]));
}
END_TEST

START_TEST(others_come_after_the_last_has_left)
{
    struct waiter w[3];
    int flags[3] = { 0 };
    begin(&w[0], &flags[0], asleep(LONG_NS));
    begin(&w[1], &flags[1], asleep(LONG_NS));
    flags[1] = 1;
    call_all();
    ck_assert(end(&w[1]));
    begin(&w[2], &flags[2], asleep(LONG_NS));
    flags[0] = flags[2] = 1;
    call_all();
    ck_assert(end(&w[0]));
    ck_assert(end(&w[2]));
}
END_TEST

START_TEST(all_asleep_or_not)
{
    struct waiter sleeps, turns;
    int never = 0;
    ck_assert(!followers_sleep()); /* there are none */
    begin(&sleeps, &never, asleep(LONG_NS));
    ck_assert(followers_sleep());
    begin(&turns, &never, awake());
    ck_assert(!followers_sleep());
    call_one(true);
    ck_assert(end(&turns));
    ck_assert(followers_sleep());
    call_one(true);
    ck_assert(end(&sleeps));
}
END_TEST

/* Somebody polls: it sleeps on.  Nobody does any more: it returns.  On a machine so busy that the one
 * who polls does not run for as long as it sleeps, it may return before. */
START_TEST(a_watcher_sleeps_as_long_as_somebody_polls)
{
    static _Atomic uint32_t polls;
    struct waiter w;
    struct following how = asleep(50000000);
    uint64_t since = clock_ns(), polled = since, gap = 0;
    int never = 0;
    how.watch = &polls;
    begin(&w, &never, how);
    while (polled - since < 400000000) {
        uint64_t now = clock_ns();
        gap = now - polled > gap ? now - polled : gap;
        polled = now;
        polls++;
        usleep(500);
    }
    int still = number();
    ck_assert(!end(&w));
    if (gap < how.asleep_ns)
        ck_assert_int_eq(still, 1);
}
END_TEST

UNIT_MAIN("follow", who_is_not_called_returns_in_time, only_those_whose_flag_is_set_are_called,
          who_waits_for_anything_is_called_by_everything, who_is_awake_is_to_lead,
          one_leader_at_a_time, others_come_after_the_last_has_left, all_asleep_or_not,
          a_watcher_sleeps_as_long_as_somebody_polls)
