/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine lock: one recursive lock around the library for MPI_THREAD_MULTIPLE.  Programs
 * that asked for less pay one predicted branch.  Waiting loops let go of it between polls
 * (see runtime/progress.c), so a thread that waits never stops the others; neither does one
 * that runs a function of the program (an operation, an attribute's copy function).
 *
 *     threads_multiple     every call takes the lock
 *     threads_beside       MPI_THREAD_FUNNELED and SERIALIZED: calls run without it, except for
 *                          those that are always thread-safe (MPI_Info_create); what these share
 *                          with the others is under engine_guard
 *     neither              one thread; or the library is not up, and all that may be called is
 *                          always thread-safe
 */
#ifndef XMPI_LOCK_H
#define XMPI_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern atomic_bool threads_multiple, threads_beside; /* change under the lock only */

/* What they are follows from what threads of the program may do, and from how many threads of ours
 * (runtime/assist.h) there are.  Under the lock, or while there is one thread. */
enum threads { THREADS_ONE, THREADS_BESIDE, THREADS_MANY };
void threads_of_program(enum threads may);
void threads_of_ours(int change);

/* Whoever takes it gives it back as often. */
void engine_take(void);
void engine_give(void);

/* A thread of ours begins in the middle of a call that may have gone without the lock: the call has
 * it from now on, once, and engine_leave at its end gives it back.  engine_is_late: this call has
 * got it so. */
void engine_hold(void);
void engine_leave(void);
bool engine_is_late(void);

/* A thread of ours begins, and whoever waits for its end may have the lock: from here to its end it
 * waits for nothing but what it asks for by engine_take. */
void engine_forgo(void);

static inline bool threads_are_many(void)
{
    return __builtin_expect(atomic_load_explicit(&threads_multiple, memory_order_relaxed), 0);
}

/* Around what functions that are always thread-safe share with those that are not. */
static inline bool engine_guard(void)
{
    if (__builtin_expect(!atomic_load_explicit(&threads_beside, memory_order_relaxed), 1))
        return false;
    engine_take();
    return true;
}

static inline void engine_unguard(bool guarded)
{
    if (__builtin_expect(guarded, 0))
        engine_give();
}

/* Let other threads in when some are waiting: release all levels this thread holds, wait until
 * one of them had the lock, take them again.  True when there was somebody.  One load when
 * nobody wants it. */
bool engine_breathe(void);

/* Around a sleep, or a function of the program: give up all levels and return their number, 0
 * when this thread holds none; take that many back. */
int engine_release(void);
void engine_retake(int levels);

/* How often another thread than the last one has taken it.  Under the lock. */
uint32_t engine_hands(void);

/* How many CPUs there are for the threads of this process; before there are several. */
void engine_cpus(int cpus);

#endif
