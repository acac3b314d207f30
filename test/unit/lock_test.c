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
        engine_lock();
        engine_lock();
        ck_assert_int_eq(inside, 0);
        inside = 1;
        counter++;
        inside = 0;
        engine_unlock();
        engine_unlock();
    }
    return unused;
}

START_TEST(one_thread_at_a_time)
{
    threads_multiple = true;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(counter, THREADS * ROUNDS);
}
END_TEST

static volatile int turn_taken;
static void *take_a_turn(void *unused)
{
    engine_lock();
    turn_taken = 1;
    engine_unlock();
    return unused;
}

/* A thread that holds the lock at three levels and breathes lets the other one in. */
START_TEST(breathing_lets_others_in_at_any_depth)
{
    threads_multiple = true;
    for (int i = 0; i < 3; i++)
        engine_lock();
    pthread_t thread;
    pthread_create(&thread, NULL, take_a_turn, NULL);
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    ck_assert_int_eq(turn_taken, 0);
    for (int i = 0; i < 1000 && !turn_taken; i++)
        engine_breathe();
    ck_assert_int_eq(turn_taken, 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        engine_unlock();
    ck_assert_int_eq(engine_release(), 0); /* nothing is left */
}
END_TEST

START_TEST(released_around_a_sleep)
{
    threads_multiple = true;
    engine_lock();
    engine_lock();
    int levels = engine_release();
    ck_assert_int_eq(levels, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, take_a_turn, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(turn_taken, 1);
    engine_retake(levels);
    engine_unlock();
    engine_unlock();
}
END_TEST

START_TEST(single_threaded_programs_do_not_lock)
{
    engine_lock();
    ck_assert_int_eq(engine_release(), 0);
    engine_breathe();
    engine_unlock();
}
END_TEST

UNIT_MAIN("lock", one_thread_at_a_time, breathing_lets_others_in_at_any_depth,
          released_around_a_sleep, single_threaded_programs_do_not_lock)
