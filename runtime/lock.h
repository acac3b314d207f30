/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine lock: one recursive lock around the library for MPI_THREAD_MULTIPLE, of as many parts as
 * there are engines, so that messages of different communicators need not wait for each other (lock.c).
 * Programs that asked for less pay one predicted branch.  Waiting loops let go of it between polls
 * (see runtime/wait.c), so a thread that waits never stops the others; neither does one
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

/* Change under the lock only.  Hidden already where they are declared: each call reads them, and so finds
 * them directly. */
extern atomic_bool threads_multiple __attribute__((visibility("hidden")));
extern atomic_bool threads_beside __attribute__((visibility("hidden")));

/* What they are follows from what threads of the program may do, and from how many threads of ours
 * (runtime/assist.h) there are.  Under the lock, or while there is one thread. */
enum threads { THREADS_ONE, THREADS_BESIDE, THREADS_MANY };
void threads_of_program(enum threads may);
void threads_of_ours(int change);

/* Whoever takes it gives it back as often.  True: somebody else had it, so this thread had to wait. */
bool engine_take(void);
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

/* ---- one engine alone ----
 * Messages of a communicator belong to one engine.  What a thread has that took it solo is what belongs
 * to that engine, and it may look at all that belongs to nobody; nothing else. */
extern _Thread_local int engine_mine __attribute__((tls_model("initial-exec"))); /* or -1 */

/* How many there are, from now on; before there are threads, or with the engine lock. */
void engines_open(int n);

/* Are they apart?  Only then may a thread have one alone.  Read with each call, so in a line of its own. */
extern struct engines_apart {
    _Atomic bool yes;
} __attribute__((aligned(128))) engines_apart __attribute__((visibility("hidden")));

static inline bool engines_are_apart(void)
{
    return __builtin_expect(atomic_load_explicit(&engines_apart.yes, memory_order_relaxed), 0);
}

/* A call for engine k had to wait for the lock, which it has now; so they may part. */
void engine_clash(int k);

/* Has this thread one alone? */
static inline bool engine_is_solo(void)
{
    return __builtin_expect(engine_mine >= 0, 0);
}

/* True: it has engine k alone.  False: it has all, as engine_take. */
bool engine_take_solo(int k);
void engine_give_solo(void);

/* This thread has one alone, gives it back and has all then; what it knows of what it may not touch
 * alone may have changed meanwhile, and of the engine as well.  engine_join: if it has one alone. */
void engine_join_solo(void);
static inline void engine_join(void)
{
    if (engine_mine >= 0)
        engine_join_solo();
}

/* The same without waiting.  False: it still has the engine alone. */
bool engine_try_join(void);

/* This thread has all, once: from now on engine k alone, if that may be; else all.  True: alone. */
bool engine_part_solo(int k);

/* Let others run; let others have the engine who want it.  False: it has all now. */
bool engine_yield_solo(void);
bool engine_breathe_solo(void);

/* How often any engine was taken alone. */
uint32_t engine_solos(void);

/* How often another thread than the last one has taken it.  Under the lock. */
uint32_t engine_hands(void);

/* How many CPUs there are for the threads of this process; before there are several. */
void engine_cpus(int cpus);

#endif
