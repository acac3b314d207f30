/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine lock.  Taking it free costs one locked instruction; a thread that finds it taken
 * tries for a while with `pause`, then sleeps on the lock word (a futex).
 *
 *     state     0 free, 1 taken
 *     wanting   threads that try or sleep: engine_breathe does nothing while it is 0
 *     sleeping  threads on the futex: the one who unlocks wakes one of them
 *
 * engine_breathe would starve the others if it took the lock back at once, since a thread that
 * was just woken needs microseconds to arrive; it therefore waits until somebody had the lock,
 * for a bounded time.
 */
#include "runtime/lock.h"
#include "runtime/clock.h"

#include <assert.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

bool threads_multiple;

enum { TRIES = 200, BREATHE_TRIES = 1000, BREATHE_YIELDS = 4 };

static struct {
    _Atomic uint32_t state;
    _Atomic uint32_t wanting, sleeping;
    _Atomic uint32_t taken; /* counts how often it changed hands */
    _Atomic(const void *) owner;
    int levels; /* of the owner */
} lock __attribute__((aligned(64)));

/* The address of this variable names the thread. */
static _Thread_local char me __attribute__((tls_model("initial-exec")));

static bool lock_try(void)
{
    return atomic_load_explicit(&lock.state, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&lock.state, 1, memory_order_acquire) == 0;
}

static void lock_sleep(void)
{
    atomic_fetch_add(&lock.sleeping, 1);
    while (!lock_try())
        syscall(SYS_futex, &lock.state, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    atomic_fetch_sub(&lock.sleeping, 1);
}

static void lock_wait(void)
{
    atomic_fetch_add_explicit(&lock.wanting, 1, memory_order_relaxed);
    bool mine = false;
    for (int i = 0; i < TRIES && !mine; i++) {
        cpu_pause();
        mine = lock_try();
    }
    if (!mine)
        lock_sleep();
    atomic_fetch_sub_explicit(&lock.wanting, 1, memory_order_relaxed);
}

static void lock_take(int levels)
{
    if (!lock_try())
        lock_wait();
    atomic_store_explicit(&lock.owner, &me, memory_order_relaxed);
    lock.levels = levels;
    atomic_store_explicit(&lock.taken, lock.taken + 1, memory_order_relaxed);
}

static void lock_free(void)
{
    atomic_store_explicit(&lock.owner, NULL, memory_order_relaxed);
    atomic_store(&lock.state, 0);
    if (atomic_load(&lock.sleeping))
        syscall(SYS_futex, &lock.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool lock_is_mine(void)
{
    return atomic_load_explicit(&lock.owner, memory_order_relaxed) == &me;
}

void engine_lock_slow(void)
{
    if (lock_is_mine())
        lock.levels++;
    else
        lock_take(1);
}

void engine_unlock_slow(void)
{
    assert(lock_is_mine() && lock.levels > 0);
    if (--lock.levels == 0)
        lock_free();
}

int engine_release(void)
{
    if (!threads_multiple || !lock_is_mine())
        return 0;
    int levels = lock.levels;
    lock.levels = 0;
    lock_free();
    return levels;
}

void engine_retake(int levels)
{
    if (levels > 0)
        lock_take(levels);
}

static bool lock_changed_hands(uint32_t before)
{
    return atomic_load_explicit(&lock.taken, memory_order_relaxed) != before;
}

void engine_breathe(void)
{
    if (atomic_load_explicit(&lock.wanting, memory_order_relaxed) == 0)
        return;
    uint32_t before = atomic_load_explicit(&lock.taken, memory_order_relaxed);
    int levels = engine_release();
    if (levels == 0)
        return;
    for (int i = 0; i < BREATHE_TRIES && !lock_changed_hands(before); i++)
        cpu_pause();
    for (int i = 0; i < BREATHE_YIELDS && !lock_changed_hands(before); i++)
        sched_yield();
    engine_retake(levels);
}
