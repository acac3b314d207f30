/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/lock.h"

#include "test/unit/unit.h"

#include <pthread.h>
#include <time.h>

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

static volatile int turn_taken;
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

UNIT_MAIN("lock", one_thread_at_a_time, breathing_lets_others_in_at_any_depth,
          released_around_a_sleep, sleepers_wake_each_other, nobody_starves,
          one_thread_pays_nothing, a_call_can_get_the_lock_late,
          what_bystanders_share_is_guarded)
