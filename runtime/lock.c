/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine lock.  Taking it free costs one locked instruction, or a store while the process has
 * one thread, giving it back a store.  One thread that finds it taken tries for a while with
 * `pause` (a short one where the process has one CPU); others, and that one when it was not lucky,
 * sleep on the lock word (a futex).
 *
 *     state     0 free, 1 taken
 *     wanting   threads that try or sleep: engine_breathe does nothing while it is 0
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
 * fractions of one.  Giving way, in engine_breathe too, ends when somebody had the lock, or after
 * a bounded time, since whoever is waited for may have no CPU.
 *
 * Whoever unlocks looks at `sleeping` without a fence, which would cost as much as the rest of a
 * short call.  A thread that falls asleep in the same few nanoseconds may be overlooked, or the
 * one that tries may have no CPU; so nobody sleeps longer than NAP_NS before it tries by itself.
 */
#include "runtime/lock.h"
#include "runtime/bias.h"
#include "runtime/clock.h"

#include <assert.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

atomic_bool threads_multiple, threads_beside;
static enum threads program_threads;
static int our_threads;

enum { TRIES = 200, TRIES_CROWDED = 20, PATIENCE_PAUSES = 200, PATIENCE_YIELDS = 8 };
enum { HUNGER_NS = 200000, NAP_NS = 1000000, KEPT_NAP_NS = 100000 };
enum { ROW = 256, TURN_NS = HUNGER_NS };

static struct {
    _Atomic uint32_t state;
    _Atomic uint32_t wanting, sleeping, trying, hungry;
    _Atomic uint32_t handed;
    _Atomic uint32_t taken; /* counts how often it was taken */
    _Atomic(const void *) owner;
    int levels;                  /* of the owner */
    uint32_t row;                /* `taken` when the row began */
    const void *late;            /* the thread whose call has it by engine_hold */
    const void *last;            /* the thread that had it last, */
    uint32_t hands;              /* and how often that was another one than before */
    _Atomic uint64_t kept_since; /* clock_ns when it was last begun to be kept */
} lock __attribute__((aligned(64)));

static inline uint32_t count(const _Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* A process of one thread has nobody to be ahead of: it stores.  A thread that it makes later finds
 * what was stored. */
static inline bool lock_try(void)
{
    if (count(&lock.state) != 0)
        return false;
    if (__libc_single_threaded) {
        atomic_store_explicit(&lock.state, 1, memory_order_relaxed);
        return true;
    }
    return atomic_exchange_explicit(&lock.state, 1, memory_order_acquire) == 0;
}

static _Atomic int tries = TRIES;

void engine_cpus(int cpus)
{
    atomic_store_explicit(&tries, cpus > 1 ? TRIES : TRIES_CROWDED, memory_order_relaxed);
}

static bool lock_try_long(void)
{
    for (int i = atomic_load_explicit(&tries, memory_order_relaxed); i > 0; i--) {
        if (lock_try())
            return true;
        cpu_pause();
    }
    return false;
}

/* Be the one who tries, if there is none. */
static bool trying_begin(void)
{
    return count(&lock.trying) == 0 && atomic_exchange(&lock.trying, 1) == 0;
}

static void trying_end(void)
{
    atomic_store_explicit(&lock.trying, 0, memory_order_relaxed);
}

/* The one who is woken is the one who tries. */
static __attribute__((noinline)) void lock_wake(void)
{
    if (trying_begin() &&
        syscall(SYS_futex, &lock.state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0)
        trying_end();
}

/* True: woken by somebody. */
static bool word_nap(_Atomic uint32_t *word, uint32_t value, long most_ns)
{
    const struct timespec nap = { .tv_nsec = most_ns };
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &nap, NULL, 0) == 0;
}

/* True: woken by somebody, to try. */
static bool lock_nap(long most_ns)
{
    return word_nap(&lock.state, 1, most_ns);
}

/* Take it away from the thread that it is kept for.  False: there is none. */
static bool lock_take_away(void)
{
    struct seat *from;
    if (!bias_take(&from))
        return false;
    for (int i = atomic_load_explicit(&tries, memory_order_relaxed); i > 0; i--) {
        if (bias_is_left(from))
            return true;
        cpu_pause();
    }
    for (;;) { /* what it had been handed before was for somebody else, if `from` is inside */
        atomic_exchange(&lock.handed, 0);
        if (bias_is_left(from))
            return true;
        word_nap(&lock.handed, 0, NAP_NS);
    }
}

/* This thread has left, and somebody has taken it away: there is one at most, until he has had it. */
static __attribute__((noinline)) void lock_hand_over(void)
{
    atomic_store(&lock.handed, 1);
    syscall(SYS_futex, &lock.handed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Has anybody used the lock since it was looked at? */
struct look {
    uint32_t taken;
    bool empty;
};

static struct look lock_look(void)
{
    bool empty = !atomic_load_explicit(&lock.owner, memory_order_relaxed);
    return (struct look){ count(&lock.taken), empty };
}

static bool lock_was_idle(struct look before)
{
    struct look now = lock_look();
    return before.empty && now.empty && now.taken == before.taken;
}

/* Keep it from now on, if that can be. */
static void lock_begin_turn(void)
{
    atomic_store_explicit(&lock.kept_since, clock_ns(), memory_order_relaxed);
    bias_begin();
}

/* Hungry: the lock is kept for somebody who uses it; then it is kept for us, as long. */
static bool lock_take_turn(uint64_t now)
{
    uint64_t since = atomic_load_explicit(&lock.kept_since, memory_order_relaxed);
    if ((int64_t)(now - since) < TURN_NS ||
        !lock_take_away()) /* it may have begun after `now` */
        return false;
    lock_begin_turn();
    return true;
}

/* Asleep for a while.  True: it has the lock. */
static bool lock_sleep_once(bool hungry)
{
    struct look before = lock_look();
    bool woken = lock_nap(bias_is(NULL) ? NAP_NS : KEPT_NAP_NS);
    bool mine = woken ? lock_try_long() : lock_try();
    if (woken)
        trying_end();
    return mine || (lock_was_idle(before) && lock_take_away()) ||
           (hungry && lock_take_turn(clock_ns()));
}

static void lock_sleep(void)
{
    uint64_t since = clock_ns();
    bool hungry = false;
    atomic_fetch_add(&lock.sleeping, 1);
    while (!lock_sleep_once(hungry))
        if (!hungry && clock_ns() - since > HUNGER_NS) {
            hungry = true;
            atomic_fetch_add_explicit(&lock.hungry, 1, memory_order_relaxed);
        }
    if (hungry)
        atomic_fetch_sub_explicit(&lock.hungry, 1, memory_order_relaxed);
    atomic_fetch_sub(&lock.sleeping, 1);
}

static __attribute__((noinline)) void lock_wait(void)
{
    atomic_fetch_add_explicit(&lock.wanting, 1, memory_order_relaxed);
    bool mine = false;
    if (trying_begin()) {
        struct look before = lock_look();
        mine = lock_try_long();
        trying_end();
        mine = mine || (lock_was_idle(before) && lock_take_away());
    }
    if (!mine)
        lock_sleep();
    atomic_fetch_sub_explicit(&lock.wanting, 1, memory_order_relaxed);
}

/* Until the lock changes hands, or long enough.  Without the lock. */
static __attribute__((noinline)) void lock_let_others(uint32_t before)
{
    for (int i = 0; i < PATIENCE_PAUSES && count(&lock.taken) == before; i++)
        cpu_pause();
    for (int i = 0; i < PATIENCE_YIELDS && count(&lock.taken) == before; i++)
        sched_yield();
}

/* Enough in a row?  A process of one thread needs no more than it has. */
static __attribute__((noinline)) void lock_keep(uint32_t taken)
{
    lock.row = taken;
    if (!__libc_single_threaded && !bias_is_inside())
        lock_begin_turn();
}

/* Not kept for this thread. */
static void lock_take_free(void)
{
    if (__builtin_expect(count(&lock.hungry) != 0, 0))
        lock_let_others(count(&lock.taken));
    if (!lock_try())
        lock_wait();
    uint32_t taken = count(&lock.taken);
    if (lock.last != &seat) {
        lock.last = &seat;
        lock.hands++;
        lock.row = taken;
    }
    if (__builtin_expect(taken - lock.row >= ROW, 0))
        lock_keep(taken);
}

static void lock_take(int levels)
{
    if (!bias_enter())
        lock_take_free();
    atomic_store_explicit(&lock.owner, &seat, memory_order_relaxed);
    lock.levels = levels;
    atomic_store_explicit(&lock.taken, count(&lock.taken) + 1, memory_order_relaxed);
}

/* It is kept for us, or was until somebody took it away: nobody else would get it.  Either he sees that
 * we have left, or we see that he is there (bias.h). */
static void lock_leave(void)
{
    bias_leave();
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(!bias_is(&seat), 0))
        lock_hand_over();
}

static void lock_free(void)
{
    atomic_store_explicit(&lock.owner, NULL, memory_order_relaxed);
    if (bias_is_inside()) {
        lock_leave();
        return;
    }
    atomic_store_explicit(&lock.state, 0, memory_order_release);
    if (__builtin_expect(count(&lock.sleeping) != 0, 0) && count(&lock.trying) == 0)
        lock_wake();
}

/* For everybody, even if it was kept. */
static void lock_let_go(void)
{
    if (bias_is_inside() && bias_end())
        bias_leave();
    lock_free();
}

static bool lock_is_mine(void)
{
    return atomic_load_explicit(&lock.owner, memory_order_relaxed) == &seat;
}

void engine_take(void)
{
    if (lock_is_mine())
        lock.levels++;
    else
        lock_take(1);
}

void engine_give(void)
{
    assert(lock_is_mine() && lock.levels > 0);
    if (--lock.levels == 0)
        lock_free();
}

void engine_hold(void)
{
    if (lock_is_mine())
        return;
    lock_take(1);
    lock.late = &seat;
}

void engine_leave(void)
{
    if (!lock_is_mine())
        return;
    if (lock.late == &seat)
        lock.late = NULL;
    engine_give();
}

bool engine_is_late(void)
{
    return lock.late == &seat;
}

int engine_release(void)
{
    if (!lock_is_mine())
        return 0;
    int levels = lock.levels;
    lock.levels = 0;
    lock_let_go();
    return levels;
}

void engine_retake(int levels)
{
    if (levels > 0)
        lock_take(levels);
}

uint32_t engine_hands(void)
{
    return lock.hands;
}

bool engine_breathe(void)
{
    if (__builtin_expect(count(&lock.wanting) == 0, 1))
        return false;
    uint32_t before = count(&lock.taken);
    int levels = engine_release();
    if (levels == 0)
        return false;
    lock_let_others(before);
    engine_retake(levels);
    return true;
}

/* ---- who takes it ---- */

/* Else its end would take the lock, see below. */
void engine_forgo(void)
{
    bias_forgo();
}

/* Whoever takes the lock away from this thread looks at its memory until then.  So this thread has to
 * have had the lock the usual way: there was nobody left who looked, and nobody begins any more. */
static void thread_ends(void)
{
    if (!lock_is_mine())
        lock_take(1);
    while (bias_is_inside() && !bias_end()) { /* somebody is at it, and has it first */
        lock_free();
        lock_take(1);
    }
    bias_leave();
    engine_release();
}

static void threads_choose(void)
{
    if (program_threads == THREADS_MANY)
        bias_open(thread_ends);
    threads_multiple = program_threads == THREADS_MANY || our_threads > 0;
    threads_beside = program_threads == THREADS_BESIDE && !threads_multiple;
}

void threads_of_program(enum threads may)
{
    program_threads = may;
    threads_choose();
}

void threads_of_ours(int change)
{
    our_threads += change;
    threads_choose();
}
