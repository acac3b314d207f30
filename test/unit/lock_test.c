/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* RTLD_NEXT */
#include "runtime/clock.h"
#include "runtime/keeplock.h"
#include "runtime/lock.h"
#include "runtime/progress.h"

#include "test/unit/parting.h"
#include "test/unit/unit.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000 };

static long counter;
static volatile int inside;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        engine_take();
        engine_take();
        ck_assert_int_eq(inside, 0);
        inside = 1;
        counter++;
        inside = 0;
        engine_give();
        engine_give();
    }
    return unused;
}

START_TEST(one_thread_at_a_time)
{
    for (int cpus = 1; cpus <= 2; cpus++) {
        pthread_t threads[THREADS];
        engine_cpus(cpus);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, count, NULL);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ck_assert_int_eq(counter, cpus * THREADS * ROUNDS);
    }
}
END_TEST

static atomic_int turn_taken;
static void *take_a_turn(void *unused)
{
    engine_take();
    turn_taken = 1;
    engine_give();
    return unused;
}

/* A thread that holds the lock at three levels and breathes lets the other one in. */
START_TEST(breathing_lets_others_in_at_any_depth)
{
    for (int i = 0; i < 3; i++)
        engine_take();
    pthread_t thread;
    pthread_create(&thread, NULL, take_a_turn, NULL);
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    ck_assert_int_eq(turn_taken, 0);
    for (int i = 0; i < 1000 && !turn_taken; i++)
        engine_breathe();
    ck_assert_int_eq(turn_taken, 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        engine_give();
    ck_assert_int_eq(engine_release(), 0); /* nothing is left */
}
END_TEST

START_TEST(released_around_a_sleep)
{
    engine_take();
    engine_take();
    int levels = engine_release();
    ck_assert_int_eq(levels, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, take_a_turn, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(turn_taken, 1);
    engine_retake(levels);
    engine_give();
    engine_give();
}
END_TEST

static void *take_turns(void *unused)
{
    for (int i = 0; i < 3; i++)
        take_a_turn(unused);
    return unused;
}

/* All of them are asleep when the lock comes free for once: each wakes the next. */
START_TEST(sleepers_wake_each_other)
{
    pthread_t threads[THREADS];
    engine_take();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_turns, NULL);
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    ck_assert_int_eq(turn_taken, 0);
    engine_give();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(turn_taken, 1);
}
END_TEST

/* ---- fairness ---- */

static atomic_int stop;
static void *take_without_end(void *unused)
{
    while (!atomic_load(&stop)) {
        engine_take();
        counter++;
        engine_give();
    }
    return unused;
}

/* More threads than CPUs ask again and again; each gets the lock. */
START_TEST(nobody_starves)
{
    threads_of_program(THREADS_MANY);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_without_end, NULL);
    for (int i = 0; i < 200; i++) {
        engine_take();
        counter++;
        engine_give();
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_ge(counter, 200);
}
END_TEST

/* ---- kept for one thread ---- */

enum { ENOUGH = 1000 }; /* takes in a row until it is kept */

/* False: it never is. */
static bool it_can_be_kept(void)
{
    threads_of_program(THREADS_MANY);
    if (bias_open(NULL)) /* is open */
        return true;
    printf("skip lock kept for a thread: the kernel has no membarrier or forbids it\n");
    return false;
}

static void take_often(int times)
{
    bool alone = true; /* ck_assert would take longer than all the rest */
    for (int i = 0; i < times; i++) {
        engine_take();
        alone = alone && !inside;
        inside = 1;
        counter++;
        inside = 0;
        engine_give();
    }
    ck_assert(alone);
}

static void *take_often_and_end(void *unused)
{
    take_often(ENOUGH);
    ck_assert(bias_is(&engine_locks[0].bias, &seats[0]));
    return unused;
}

/* A lock that was kept for a thread that has ended is free. */
START_TEST(the_end_of_a_thread_frees_it)
{
    if (!it_can_be_kept())
        return;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, take_often_and_end, NULL);
        pthread_join(thread, NULL);
        ck_assert(bias_is(&engine_locks[0].bias, NULL));
    }
    ck_assert_int_eq(counter, 20 * ENOUGH);
}
END_TEST

/* It is kept for a thread that calls no more: others do not wait for it. */
START_TEST(who_is_away_loses_it)
{
    if (!it_can_be_kept())
        return;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        turn_taken = 0;
        pthread_create(&thread, NULL, take_turns, NULL);
        pthread_join(thread, NULL);
        take_often(ENOUGH);
        ck_assert(bias_is(&engine_locks[0].bias, &seats[0]));
        pthread_create(&thread, NULL, take_turns, NULL);
        pthread_join(thread, NULL);
        ck_assert(!bias_is(&engine_locks[0].bias, &seats[0]));
        ck_assert_int_eq(turn_taken, 1);
    }
}
END_TEST

/* The thread that it is kept for lets others in while it sleeps or breathes; if it stays, not before it
 * gives the lock back. */
START_TEST(who_keeps_it_lets_others_in)
{
    if (!it_can_be_kept())
        return;
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, take_turns, NULL);
        pthread_join(thread, NULL);
        take_often(ENOUGH);
        engine_take();
        ck_assert(bias_is(&engine_locks[0].bias, &seats[0]));
        turn_taken = 0;
        pthread_create(&thread, NULL, take_a_turn, NULL);
        nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
        ck_assert_int_eq(turn_taken, 0); /* it may have taken it away, but has to wait */
        if (i == 0) {
            int levels = engine_release();
            pthread_join(thread, NULL);
            engine_retake(levels);
        } else {
            for (int k = 0; k < 100000 && !turn_taken && i == 1; k++)
                engine_breathe();
            ck_assert_int_eq(turn_taken, i == 1);
            engine_give();
            pthread_join(thread, NULL);
            engine_take();
        }
        ck_assert_int_eq(turn_taken, 1);
        engine_give();
    }
}
END_TEST

/* What lock.c calls: with `endless`, who sleeps on a word that is 0 sleeps until somebody wakes it, and
 * is counted. */
static atomic_bool endless;
static atomic_int endless_sleeps;

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    long (*call)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_futex && (int)a[1] == FUTEX_WAIT_PRIVATE && (int)a[2] == 0 && endless) {
        a[3] = 0;
        endless_sleeps++;
    }
    return call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Who takes it away from a thread that has it sleeps, and needs no clock to learn that it has left. */
START_TEST(who_leaves_wakes_who_took_it_away)
{
    if (!it_can_be_kept())
        return;
    endless = true;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, take_turns,
                   NULL); /* nothing is kept before there is one */
    pthread_join(threads[0], NULL);
    for (int i = 0; i < 20; i++) {
        take_often(ENOUGH);
        engine_take();
        ck_assert(bias_is(&engine_locks[0].bias, &seats[0]));
        int before = endless_sleeps;
        for (int k = 0; k < 2; k++)
            pthread_create(&threads[k], NULL, take_a_turn, NULL);
        while (endless_sleeps == before)
            nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
        engine_give();
        for (int k = 0; k < 2; k++)
            pthread_join(threads[k], NULL);
    }
}
END_TEST

/* In bursts, with pauses in which it is taken away from those that are away. */
static void *take_in_bursts(void *seed)
{
    unsigned state = (unsigned)(size_t)seed;
    for (int i = 0; i < 60; i++) {
        state = state * 1103515245u + 12345u;
        take_often((int)(state >> 16) % (2 * ENOUGH) + 1);
        if (i % 3 == 0)
            nanosleep(&(struct timespec){ 0, (long)(state >> 16) % 300000 }, NULL);
        if (i % 7 == 0) {
            engine_take();
            engine_retake(engine_release());
            engine_breathe();
            engine_give();
        }
    }
    return NULL;
}

/* A thread ends with the lock while somebody is taking it away; its memory goes with it. */
static void *end_with_it(void *unused)
{
    take_often(ENOUGH);
    engine_take();
    ck_assert(bias_is(&engine_locks[0].bias, &seats[0]));
    turn_taken = 1;
    while (!bias_is(&engine_locks[0].bias, NULL))
        cpu_pause();
    return unused;
}

START_TEST(nobody_looks_at_a_thread_that_has_ended)
{
    enum { STACK = 1 << 20 };
    if (!it_can_be_kept())
        return;
    for (int i = 0; i < 20; i++) {
        pthread_t ends, takes;
        pthread_attr_t attributes;
        turn_taken = 0;
        void *stack =
            mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert(stack != MAP_FAILED);
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, STACK);
        pthread_create(&ends, &attributes, end_with_it, NULL);
        while (!turn_taken)
            cpu_pause();
        pthread_create(&takes, NULL, take_a_turn, NULL);
        pthread_join(ends, NULL);
        ck_assert_int_eq(munmap(stack, STACK), 0); /* with its seat */
        pthread_join(takes, NULL);
        pthread_attr_destroy(&attributes);
        ck_assert(bias_is(&engine_locks[0].bias, NULL));
    }
}
END_TEST

/* A thread of ours is waited for by one that has the lock. */
static void *forgo_and_end(void *unused)
{
    engine_forgo();
    take_often(ENOUGH);
    ck_assert(bias_is(&engine_locks[0].bias, NULL));
    turn_taken = 1;
    while (turn_taken != 2)
        cpu_pause();
    return unused;
}

START_TEST(it_ends_though_somebody_has_the_lock)
{
    if (!it_can_be_kept())
        return;
    pthread_t thread;
    pthread_create(&thread, NULL, forgo_and_end, NULL);
    while (turn_taken != 1)
        cpu_pause();
    engine_take();
    turn_taken = 2;
    pthread_join(thread, NULL);
    engine_give();
}
END_TEST

/* In a child there may be nobody who gives the lock back. */
static void *fork_and_end(void *unused)
{
    take_often(ENOUGH);
    turn_taken = 2;
    while (turn_taken != 3)
        cpu_pause();
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        return unused; /* the last thread of the child, which exits with 0 */
    }
    int status = -1;
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    turn_taken = 4;
    return unused;
}

START_TEST(the_thread_of_a_child_ends)
{
    if (!it_can_be_kept())
        return;
    pthread_t thread;
    pthread_create(&thread, NULL, fork_and_end, NULL);
    while (turn_taken != 2)
        cpu_pause();
    engine_take();
    turn_taken = 3;
    while (turn_taken != 4)
        cpu_pause();
    engine_give();
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(one_thread_at_a_time_though_it_is_kept)
{
    if (!it_can_be_kept())
        return;
    for (int round = 0; round < 4; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, take_in_bursts,
                           (void *)(size_t)(round * THREADS + i + 1));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    ck_assert(bias_is(&engine_locks[0].bias, NULL));
}
END_TEST

/* ---- programs with one thread, or with bystanders ---- */

START_TEST(one_thread_pays_nothing)
{
    ck_assert(!threads_are_many());
    ck_assert(!engine_guard());
    engine_unguard(false);
    ck_assert_int_eq(engine_release(), 0);
    ck_assert(!engine_breathe());
}
END_TEST

/* ---- a thread of ours begins in the middle of a call ---- */

static void *take_and_count(void *unused)
{
    engine_take();
    counter++;
    engine_give();
    return unused;
}

START_TEST(a_call_can_get_the_lock_late)
{
    pthread_t other;
    threads_of_program(THREADS_BESIDE);
    ck_assert(!threads_are_many() && threads_beside);
    engine_hold();
    engine_hold(); /* it has it */
    threads_of_ours(1);
    ck_assert(threads_are_many() && !threads_beside && engine_is_late());
    pthread_create(&other, NULL, take_and_count, NULL);
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    ck_assert_int_eq(counter, 0);
    engine_leave();
    pthread_join(other, NULL);
    ck_assert_int_eq(counter, 1);
    engine_leave(); /* a call that has given it back already */
    engine_take();
    ck_assert(!engine_is_late());
    engine_hold();
    engine_leave();
    ck_assert_int_eq(engine_release(), 0);
    threads_of_ours(-1);
    ck_assert(!threads_are_many() && threads_beside);
}
END_TEST

static void *guard_and_count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        bool guarded = engine_guard();
        ck_assert(guarded);
        counter++;
        engine_unguard(guarded);
    }
    return unused;
}

START_TEST(what_bystanders_share_is_guarded)
{
    threads_beside = true;
    pthread_t other;
    pthread_create(&other, NULL, guard_and_count, NULL);
    for (int i = 0; i < ROUNDS; i++) { /* a call that is always thread-safe */
        engine_take();
        counter++;
        engine_give();
    }
    pthread_join(other, NULL);
    ck_assert_int_eq(counter, 2 * ROUNDS);
}
END_TEST

/* ---- several engines ---- */

static volatile int alone_in[ENGINES], all_in;
static long alone_count[ENGINES], all_count;

/* Of those in one engine and those who have all. */
static void check_nobody_else(int k)
{
    ck_assert_int_eq(all_in, 0);
    if (k >= 0) {
        ck_assert_int_eq(alone_in[k], 0);
        return;
    }
    for (int i = 0; i < ENGINES; i++)
        ck_assert_int_eq(alone_in[i], 0);
}

static void be_alone(int k)
{
    check_nobody_else(k);
    alone_in[k] = 1;
    alone_count[k]++;
    alone_in[k] = 0;
}

static void have_all(void)
{
    check_nobody_else(-1);
    all_in = 1;
    all_count++;
    all_in = 0;
}

/* One of eight rounds needs all, in one of four ways. */
static void solo_round(int k, int round)
{
    bool solo = round % 8 != 3 && engine_take_solo(k);
    if (round % 8 == 3)
        engine_take();
    else if (solo && round % 8 == 5)
        engine_join();
    else if (solo && round % 8 == 6 && !engine_try_join())
        be_alone(k);
    else if (solo && round % 8 == 7 && !engine_yield_solo())
        ck_assert(!engine_is_solo());
    if (engine_is_solo())
        be_alone(k);
    else
        have_all();
    if (!engine_is_solo() && round % 16 == 5 && engine_part_solo(k))
        be_alone(k);
    engine_leave();
}

static void *go_alone(void *engine)
{
    uint64_t since = clock_ns();
    for (int round = 0; round < ROUNDS || (engine_solos() == 0 && clock_ns() - since < 20e9);
         round++)
        solo_round((int)(intptr_t)engine, round);
    return NULL;
}

START_TEST(who_has_all_is_alone)
{
    pthread_t threads[THREADS + 1];
    threads_of_program(THREADS_MANY);
    engines_open(ENGINES);
    for (int i = 0; i <= THREADS; i++)
        pthread_create(&threads[i], NULL, go_alone, (void *)(intptr_t)(i % ENGINES));
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    long alone = 0;
    for (int k = 0; k < ENGINES; k++)
        alone += alone_count[k];
    ck_assert_int_gt(alone, 0);
    ck_assert_int_ge(all_count, (THREADS + 1) * ROUNDS / 8);
}
END_TEST

/* Threads that wait awake, and have little to do, take CPUs from those who have. */
START_TEST(who_yields_much_comes_together)
{
    threads_part();
    ck_assert(engine_take_solo(2));
    int yields = 1;
    while (engine_yield_solo())
        ck_assert_int_le(++yields, 64);
    ck_assert(!engine_is_solo());
    engine_leave();
    ck_assert(!engine_take_solo(2));
    engine_leave();
}
END_TEST

UNIT_MAIN("lock", one_thread_at_a_time, breathing_lets_others_in_at_any_depth,
          released_around_a_sleep, sleepers_wake_each_other, nobody_starves,
          the_end_of_a_thread_frees_it, who_is_away_loses_it, who_keeps_it_lets_others_in,
          who_leaves_wakes_who_took_it_away, nobody_looks_at_a_thread_that_has_ended,
          it_ends_though_somebody_has_the_lock, the_thread_of_a_child_ends,
          one_thread_at_a_time_though_it_is_kept, one_thread_pays_nothing,
          a_call_can_get_the_lock_late, what_bystanders_share_is_guarded, who_has_all_is_alone,
          who_yields_much_comes_together)
