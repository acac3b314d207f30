/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/bias.h"
#include "runtime/clock.h"

#include "test/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static struct bias bias;

static void nothing(void)
{
}

static bool works(void)
{
    if (bias_open(nothing))
        return true;
    printf("skip bias: the kernel has no membarrier or forbids it\n");
    return false;
}

/* The lock is kept for this thread, which is outside. */
static void keep(void)
{
    bias_begin(&bias, seats);
    bias_leave(seats);
}

START_TEST(who_keeps_it_enters)
{
    if (!works())
        return;
    ck_assert(!bias_enter(&bias, seats));
    ck_assert(!bias_is_inside(seats));
    bias_begin(&bias, seats);
    ck_assert(bias_is(&bias, seats) && bias_is_inside(seats));
    bias_leave(seats);
    ck_assert(bias_enter(&bias, seats) && bias_is_inside(seats));
    ck_assert(bias_end(&bias, seats));
    ck_assert(bias_is(&bias, NULL));
    bias_leave(seats);
    ck_assert(!bias_enter(&bias, seats));
}
END_TEST

START_TEST(it_is_taken_when_its_thread_has_left)
{
    struct seat *from;
    if (!works())
        return;
    ck_assert(!bias_take(&bias, &from));
    keep();
    ck_assert(bias_enter(&bias, seats));
    ck_assert(bias_take(&bias, &from));
    ck_assert(from == seats && !bias_is_left(from));
    ck_assert(!bias_end(&bias, seats)); /* somebody is at it */
    bias_leave(seats);
    ck_assert(bias_is_left(from));
}
END_TEST

/* ---- every interleaving of entering and taking away ---- */

#if defined(__x86_64__)
#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

enum { ONE_STEP = 0x100, MOST_STEPS = 1000 }; /* the flag that traps after each instruction */

/* Who takes it away sets `bias` before the instruction `sets` and looks before `looks`, where the
 * barrier interrupts the one that enters; a signal is as much of a barrier. */
static struct {
    volatile int at, sets, looks;
    volatile bool left;
} other;

static void other_steps(int number, siginfo_t *unused, void *context)
{
    (void)number;
    (void)unused;
    (void)context;
    struct seat *mine = seats;
    if (other.at == other.sets)
        atomic_compare_exchange_strong(&bias.whose, &mine, NULL);
    if (other.at == other.looks)
        other.left = bias_is_left(seats);
    other.at++;
}

static __attribute__((noinline)) bool enter_by_steps(int sets, int looks)
{
    other.at = 0;
    other.sets = sets;
    other.looks = looks;
    other.left = false;
    __writeeflags(__readeflags() | ONE_STEP);
    bool entered = bias_enter(&bias, seats);
    __writeeflags(__readeflags() & ~(unsigned long long)ONE_STEP);
    return entered;
}

START_TEST(never_do_both_have_it)
{
    struct sigaction action = { .sa_sigaction = other_steps, .sa_flags = SA_SIGINFO };
    if (!works())
        return;
    sigaction(SIGTRAP, &action, NULL);
    int has_to_wait = 0, is_first = 0, steps = 1;
    for (int sets = 0; sets < steps; sets++)
        for (int looks = sets; looks < steps; looks++) {
            keep();
            bool entered = enter_by_steps(sets, looks);
            ck_assert(!entered || !other.left);
            ck_assert(bias_is_inside(seats) == entered);
            has_to_wait += entered;
            is_first += other.left && !entered;
            bias_leave(seats);
            steps = other.at;
            ck_assert_int_lt(steps, MOST_STEPS);
        }
    ck_assert_int_gt(has_to_wait, 0);
    ck_assert_int_gt(is_first, 0);
}
END_TEST
#else
START_TEST(never_do_both_have_it)
{
}
END_TEST
#endif

/* ---- the barrier ---- */

enum { HURRY_NS = 300000000 };
static atomic_bool is_free, stop;
static volatile int is_in, is_taken;
static volatile bool both; /* ck_assert would take longer than all the rest */

/* Stores to lines of the other CPU: those that follow wait behind them. */
static struct {
    _Alignas(64) volatile int word;
} lines[8];

static void store_far(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        lines[i].word = 1;
}

static void *enter_without_end(void *unused)
{
    keep();
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        store_far();
        if (bias_enter(&bias, seats)) {
            is_in = 1;
            cpu_pause();
            if (is_taken)
                both = true;
            is_in = 0;
            bias_leave(seats);
        } else if (atomic_exchange(&is_free, false)) {
            keep();
        } else {
            sched_yield();
        }
    }
    return unused;
}

static void look_for_a_while(void)
{
    for (int i = 0; i < 20; i++) {
        if (is_in)
            both = true;
        cpu_pause();
    }
}

/* A thread comes and goes as fast as it can; it is taken away and given back all the time. */
START_TEST(never_do_both_have_it_in_a_hurry)
{
    if (!works())
        return;
    pthread_t thread;
    struct seat *from;
    pthread_create(&thread, NULL, enter_without_end, NULL);
    uint64_t since = clock_ns();
    while (clock_ns() - since < HURRY_NS) {
        store_far();
        while (!bias_take(&bias, &from))
            sched_yield();
        while (!bias_is_left(from))
            sched_yield();
        is_taken = 1;
        look_for_a_while();
        is_taken = 0;
        atomic_store(&is_free, true);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    ck_assert(!both);
}
END_TEST

UNIT_MAIN("bias", who_keeps_it_enters, it_is_taken_when_its_thread_has_left,
          never_do_both_have_it, never_do_both_have_it_in_a_hurry)
