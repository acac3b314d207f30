/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rare side of keeplock.h: waiting, and keeping.  One thread that finds the lock taken tries for a
 * while with `pause` (a short one where the process has one CPU); others, and that one when it was not
 * lucky, sleep on the lock word (a futex).
 *
 *     state     0 free, 1 taken
 *     wanting   threads that try or sleep: who breathes does nothing while it is 0
 *     sleeping  threads on the futex
 *     trying    1 while one of those that want it is awake: it tries, or was woken and is on its
 *               way.  Whoever unlocks wakes a sleeper only when there is none
 *     hungry    threads that have waited for HUNGER_NS: others let them go first
 *     handed    1 when a thread has left that it was kept for and taken away from; who took it away
 *               may sleep on this word
 *
 * A thread that has taken it ROW times in a row keeps it (bias.h): the state stays 1, and it comes
 * and goes with a store each, and wakes nobody.  Who wants it then takes it away: at once, when the
 * thread has not been in the library for a moment; else after TURN_NS, and then keeps it as long.
 * What a message touches moves to the other CPU with the lock, some hundred lines of cache.
 *
 * So threads that make call after call keep the lock for a while, among themselves, and hand it
 * over some thousand times a second, not with each call: a hand-over costs microseconds, a call
 * fractions of one.  Giving way, when breathing too, ends when somebody had the lock, or after
 * a bounded time, since whoever is waited for may have no CPU.
 *
 * Whoever unlocks looks at `sleeping` without a fence, which would cost as much as the rest of a
 * short call.  A thread that falls asleep in the same few nanoseconds may be overlooked, or the
 * one that tries may have no CPU; so nobody sleeps longer than NAP_NS before it tries by itself.
 */
#include "runtime/keeplock.h"
#include "runtime/clock.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 200, TRIES_CROWDED = 20, PATIENCE_PAUSES = 200, PATIENCE_YIELDS = 8 };
enum { HUNGER_NS = 200000, NAP_NS = 1000000, KEPT_NAP_NS = 100000 };
enum { ROW = 256, TURN_NS = HUNGER_NS };

static inline uint32_t count(const _Atomic uint32_t *counter)
{
    return keeplock_count(counter);
}

/* A process of one thread has nobody to be ahead of: it stores.  A thread that it makes later finds
 * what was stored. */
static inline bool lock_try(struct keeplock *lock)
{
    if (count(&lock->state) != 0)
        return false;
    if (__libc_single_threaded) {
        atomic_store_explicit(&lock->state, 1, memory_order_relaxed);
        return true;
    }
    return atomic_exchange_explicit(&lock->state, 1, memory_order_acquire) == 0;
}

static _Atomic int tries = TRIES;

void keeplock_cpus(int cpus)
{
    atomic_store_explicit(&tries, cpus > 1 ? TRIES : TRIES_CROWDED, memory_order_relaxed);
}

static bool lock_try_long(struct keeplock *lock)
{
    for (int i = atomic_load_explicit(&tries, memory_order_relaxed); i > 0; i--) {
        if (lock_try(lock))
            return true;
        cpu_pause();
    }
    return false;
}

/* Be the one who tries, if there is none. */
static bool trying_begin(struct keeplock *lock)
{
    return count(&lock->trying) == 0 && atomic_exchange(&lock->trying, 1) == 0;
}

static void trying_end(struct keeplock *lock)
{
    atomic_store_explicit(&lock->trying, 0, memory_order_relaxed);
}

/* The one who is woken is the one who tries. */
void keeplock_wake(struct keeplock *lock)
{
    if (trying_begin(lock) &&
        syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0)
        trying_end(lock);
}

/* True: woken by somebody. */
static bool word_nap(_Atomic uint32_t *word, uint32_t value, long most_ns)
{
    const struct timespec nap = { .tv_nsec = most_ns };
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &nap, NULL, 0) == 0;
}

/* True: woken by somebody, to try. */
static bool lock_nap(struct keeplock *lock, long most_ns)
{
    return word_nap(&lock->state, 1, most_ns);
}

/* Take it away from the thread that it is kept for.  False: there is none. */
static bool lock_take_away(struct keeplock *lock)
{
    struct seat *from;
    if (!bias_take(&lock->bias, &from))
        return false;
    for (int i = atomic_load_explicit(&tries, memory_order_relaxed); i > 0; i--) {
        if (bias_is_left(from))
            return true;
        cpu_pause();
    }
    for (;;) { /* what it had been handed before was for somebody else, if `from` is inside */
        atomic_exchange(&lock->handed, 0);
        if (bias_is_left(from))
            return true;
        word_nap(&lock->handed, 0, NAP_NS);
    }
}

/* This thread has left, and somebody has taken it away: there is one at most, until he has had it. */
void keeplock_hand_over(struct keeplock *lock)
{
    atomic_store(&lock->handed, 1);
    syscall(SYS_futex, &lock->handed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

struct keeplook keeplock_look(const struct keeplock *lock)
{
    bool empty = !atomic_load_explicit(&lock->owner, memory_order_relaxed);
    return (struct keeplook){ count(&lock->taken), empty };
}

/* Nobody has used the lock since it was looked at. */
static bool lock_was_idle(const struct keeplock *lock, struct keeplook before)
{
    struct keeplook now = keeplock_look(lock);
    return before.empty && now.empty && now.taken == before.taken;
}

/* Keep it from now on, if that can be. */
static void lock_begin_turn(struct keeplock *lock, struct seat *mine)
{
    atomic_store_explicit(&lock->kept_since, clock_ns(), memory_order_relaxed);
    bias_begin(&lock->bias, mine);
}

/* Hungry: the lock is kept for somebody who uses it; then it is kept for us, as long. */
static bool lock_take_turn(struct keeplock *lock, struct seat *mine, uint64_t now)
{
    uint64_t since = atomic_load_explicit(&lock->kept_since, memory_order_relaxed);
    if ((int64_t)(now - since) < TURN_NS ||
        !lock_take_away(lock)) /* it may have begun after `now` */
        return false;
    lock_begin_turn(lock, mine);
    return true;
}

/* Asleep for a while.  True: it has the lock. */
static bool lock_sleep_once(struct keeplock *lock, struct seat *mine, bool hungry)
{
    struct keeplook before = keeplock_look(lock);
    bool woken = lock_nap(lock, bias_is(&lock->bias, NULL) ? NAP_NS : KEPT_NAP_NS);
    bool had = woken ? lock_try_long(lock) : lock_try(lock);
    if (woken)
        trying_end(lock);
    return had || (lock_was_idle(lock, before) && lock_take_away(lock)) ||
           (hungry && lock_take_turn(lock, mine, clock_ns()));
}

static void lock_sleep(struct keeplock *lock, struct seat *mine)
{
    uint64_t since = clock_ns();
    bool hungry = false;
    atomic_fetch_add(&lock->sleeping, 1);
    while (!lock_sleep_once(lock, mine, hungry))
        if (!hungry && clock_ns() - since > HUNGER_NS) {
            hungry = true;
            atomic_fetch_add_explicit(&lock->hungry, 1, memory_order_relaxed);
        }
    if (hungry)
        atomic_fetch_sub_explicit(&lock->hungry, 1, memory_order_relaxed);
    atomic_fetch_sub(&lock->sleeping, 1);
}

static __attribute__((noinline)) void lock_wait(struct keeplock *lock, struct seat *mine)
{
    atomic_fetch_add_explicit(&lock->wanting, 1, memory_order_relaxed);
    bool had = false;
    if (trying_begin(lock)) {
        struct keeplook before = keeplock_look(lock);
        had = lock_try_long(lock);
        trying_end(lock);
        had = had || (lock_was_idle(lock, before) && lock_take_away(lock));
    }
    if (!had)
        lock_sleep(lock, mine);
    atomic_fetch_sub_explicit(&lock->wanting, 1, memory_order_relaxed);
}

/* Until the lock changes hands, or long enough.  Without the lock. */
void keeplock_let_others(struct keeplock *lock, uint32_t before)
{
    for (int i = 0; i < PATIENCE_PAUSES && count(&lock->taken) == before; i++)
        cpu_pause();
    for (int i = 0; i < PATIENCE_YIELDS && count(&lock->taken) == before; i++)
        sched_yield();
}

/* Enough in a row?  A process of one thread needs no more than it has. */
static __attribute__((noinline)) void lock_keep(struct keeplock *lock, struct seat *mine,
                                                uint32_t taken)
{
    lock->row = taken;
    if (!__libc_single_threaded && !bias_is_inside(mine))
        lock_begin_turn(lock, mine);
}

/* This thread has it the usual way. */
static inline void lock_own_free(struct keeplock *lock, struct seat *mine, int levels)
{
    uint32_t taken = count(&lock->taken);
    keeplock_own(lock, mine, levels);
    if (lock->last != mine) {
        lock->last = mine;
        lock->hands++;
        lock->row = taken;
    }
    if (__builtin_expect(taken - lock->row >= ROW, 0))
        lock_keep(lock, mine, taken);
}

static __attribute__((noinline)) void lock_take_late(struct keeplock *lock, struct seat *mine,
                                                     int levels)
{
    if (count(&lock->hungry) != 0)
        keeplock_let_others(lock, count(&lock->taken));
    bool waited = !lock_try(lock);
    if (waited)
        lock_wait(lock, mine);
    lock_own_free(lock, mine, levels);
    lock->waited = waited;
}

/* What is rare is done by functions that are called last, so that no register has to be saved for them. */
void keeplock_take_free(struct keeplock *lock, struct seat *mine, int levels)
{
    if (__builtin_expect(count(&lock->hungry) != 0, 0) || !lock_try(lock))
        lock_take_late(lock, mine, levels);
    else
        lock_own_free(lock, mine, levels);
}

bool keeplock_try(struct keeplock *lock, struct seat *mine, struct keeplook before)
{
    if (!bias_enter(&lock->bias, mine)) {
        if (!lock_try(lock) && (bias_is(&lock->bias, NULL) || !lock_was_idle(lock, before) ||
                                !lock_take_away(lock)))
            return false;
        lock_own_free(lock, mine, 1);
        return true;
    }
    keeplock_own(lock, mine, 1);
    return true;
}

void keeplock_let_go(struct keeplock *lock, struct seat *mine)
{
    if (bias_is_inside(mine) && bias_end(&lock->bias, mine))
        bias_leave(mine);
    keeplock_free(lock, mine);
}

/* Whoever takes the lock away from this thread looks at its memory until then.  So this thread has to
 * have had the lock the usual way: there was nobody left who looked, and nobody begins any more. */
void keeplock_forget(struct keeplock *lock, struct seat *mine)
{
    if (!keeplock_is_mine(lock, mine))
        keeplock_take(lock, mine, 1);
    while (bias_is_inside(mine) && !bias_end(&lock->bias, mine)) { /* somebody has it first */
        keeplock_free(lock, mine);
        keeplock_take(lock, mine, 1);
    }
    bias_leave(mine);
    keeplock_free(lock, mine);
}
