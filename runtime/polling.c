/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See polling.h.  One thread at a time: where several test in turns nothing is told.
 */
#define _GNU_SOURCE 1 /* RUSAGE_THREAD */
#include "runtime/polling.h"
#include "runtime/clock.h"
#include "runtime/record.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const uint64_t WINDOW_NS = 100000000, MOST_CPU_NS = 100000, MOST_NS = 100000000,
                      SLEEP_NS = 200000000, LITTLE_NS = 1000, SOME_NS = 20000,
                      MOST_TIMED_NS = 50000;

/* A while of nothing but tests that find nothing. */
static struct {
    const void *thread; /* NULL: none has tested yet */
    uint64_t head;      /* events recorded before it */
    uint64_t seen;      /* progress_empty, when it looked last */
    uint64_t begin_ns;
    uint64_t window_ns, tests; /* clock and progress_empty when the window began, which is */
    bool measured;             /* also known of these: */
    uint64_t cpu_ns, sleeps, naps; /* naps: slept in tests since then */
    uint64_t timed;                /* pairs of a gap and the test behind it, */
    uint64_t outside, inside;      /* and their CPU in ns */
    uint64_t stamp_ns;             /* CPU: the test before the gap is over, or the gap is */
    int slot;
    uintptr_t keys[RECORD_ITEMS]; /* of what is told */
    int nkeys;
} polling;

bool polling_is_told, polling_times_gap, polling_times_test;

void polling_forget(void)
{
    memset(&polling, 0, sizeof polling);
    polling_is_told = polling_times_gap = polling_times_test = false;
}

static void stop_telling(void)
{
    if (polling.slot)
        record_wait_over(polling.slot);
    polling.slot = 0;
    polling.nkeys = 0;
    polling_is_told = false;
}

void polling_over(void)
{
    if (polling_is_told && polling.thread == &record_now)
        stop_telling();
}

static void begin(uint64_t now)
{
    stop_telling();
    polling.thread = &record_now;
    polling.head = record_area->head;
    polling.begin_ns = polling.window_ns = now;
    polling.measured = polling_times_gap = polling_times_test = false;
}

/* ---- what the program does between two tests ---- */

static uint64_t cpu_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* One gap in 17 tests, which goes with no loop of a few tests: else the same gap would be timed each time.
 * While it is told: all. */
static void time_gap(void)
{
    bool now = polling_is_told || progress_empty % POLLING_MISSES == 0;
    if (!polling.measured || !now)
        return;
    polling_times_gap = true;
    polling.stamp_ns = cpu_now();
}

/* Since the stamp, which is renewed.  A hypervisor's time counts as well, so there is a limit. */
static uint64_t cpu_spent(void)
{
    uint64_t before = polling.stamp_ns;
    polling.stamp_ns = cpu_now();
    uint64_t spent = polling.stamp_ns - before;
    return spent < MOST_TIMED_NS ? spent : MOST_TIMED_NS;
}

void polling_gap_over(void)
{
    if (polling.thread != &record_now)
        return;
    polling.outside += cpu_spent();
    polling_times_gap = false;
    polling_times_test = true;
}

static void test_over(void)
{
    if (!polling_times_test)
        return;
    polling.inside += cpu_spent();
    polling.timed++;
    polling_times_test = false;
}

/* It is at something else for more of the CPU than testing takes.  Of few pairs that is not certain. */
static bool computes_between(void)
{
    return polling.outside > polling.inside + polling.timed * LITTLE_NS + SOME_NS;
}

/* ---- windows ---- */

static uint64_t time_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

/* The window is over.  False: the program was at something else.  To sleep takes some of the CPU as well. */
static bool window_was_tests(uint64_t now, uint64_t cpu_ns, uint64_t sleeps)
{
    uint64_t tests = progress_empty - polling.tests;
    bool computes =
        sleeps > tests / 2 ? cpu_ns - polling.cpu_ns > tests * MOST_CPU_NS : computes_between();
    return now - polling.window_ns <= tests * MOST_NS && !computes;
}

static void window_next(uint64_t now)
{
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) != 0)
        return;
    uint64_t cpu_ns = time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
    uint64_t slept = (uint64_t)used.ru_nvcsw, sleeps = slept - polling.sleeps - polling.naps;
    if (polling.measured && !window_was_tests(now, cpu_ns, sleeps)) {
        begin(now);
    } else if (polling.measured && polling.timed > 0) {
        polling_is_told = true;
        if (polling.slot)
            record_tests_sleep(polling.slot, sleeps * SLEEP_NS > now - polling.window_ns);
    }
    polling.window_ns = now;
    polling.tests = progress_empty;
    polling.cpu_ns = cpu_ns;
    polling.sleeps = slept;
    polling.naps = 0;
    polling.timed = polling.outside = polling.inside = 0;
    polling.measured = true;
}

void polling_napped(void)
{
    if (polling.thread == &record_now)
        polling.naps++;
}

static bool is_known(uintptr_t key)
{
    for (int i = 0; i < polling.nkeys; i++)
        if (polling.keys[i] == key)
            return true;
    return false;
}

static void tell_more(record_teller *tell, const void *what, uintptr_t key)
{
    if (polling.nkeys == 0)
        record_tests_tell(&polling.slot, polling.begin_ns, tell, what);
    else
        record_tests_add(polling.slot, polling.nkeys < RECORD_ITEMS ? tell : NULL, what);
    if (polling.slot && polling.nkeys < RECORD_ITEMS)
        polling.keys[polling.nkeys++] = key;
}

void polling_look(record_teller *tell, const void *what, uintptr_t key)
{
    uint64_t now = clock_ns();
    if (polling.thread != &record_now || polling.seen > progress_empty ||
        polling.head != record_area->head)
        begin(now);
    test_over();
    polling.seen = progress_empty;
    if (now - polling.window_ns >= WINDOW_NS)
        window_next(now);
    if (polling_is_told && !is_known(key))
        tell_more(tell, what, key);
    if (polling.slot)
        record_tests_go_on(polling.slot, now);
    time_gap();
}
