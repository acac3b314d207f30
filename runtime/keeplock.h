/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A lock that may be kept for one thread (bias.h), of which the engine lock is made (lock.c): taking
 * it free costs one locked instruction, or a store while the process has one thread; of those who
 * find it taken one tries for a while, the others sleep.
 */
#ifndef XMPI_KEEPLOCK_H
#define XMPI_KEEPLOCK_H

#include "runtime/bias.h"

#include <stdint.h>

struct keeplock {
    _Atomic uint32_t state;
    _Atomic uint32_t wanting, sleeping, trying, hungry;
    _Atomic uint32_t handed;
    _Atomic uint32_t taken; /* counts how often it was taken */
    _Atomic(const struct seat *) owner;
    int levels;                  /* of the owner, */
    bool waited;                 /* who found it taken */
    uint32_t row;                /* `taken` when the row began */
    const struct seat *last;     /* of the thread that had it last, */
    uint32_t hands;              /* and how often that was another one than before */
    _Atomic uint64_t kept_since; /* clock_ns when it was last begun to be kept */
    struct bias bias __attribute__((aligned(64)));
} __attribute__((aligned(128)));

extern struct keeplock engine_locks[SEATS]; /* one for each engine, lock.c */

/* Not kept for this thread; and what its owner does besides when it goes. */
void keeplock_take_free(struct keeplock *lock, struct seat *mine, int levels);
void keeplock_hand_over(struct keeplock *lock);
void keeplock_wake(struct keeplock *lock);

static inline uint32_t keeplock_count(const _Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void keeplock_own(struct keeplock *lock, struct seat *mine, int levels)
{
    atomic_store_explicit(&lock->owner, mine, memory_order_relaxed);
    lock->levels = levels;
    lock->waited = false;
    atomic_store_explicit(&lock->taken, keeplock_count(&lock->taken) + 1, memory_order_relaxed);
}

/* `mine` is this thread's seat for this lock. */
static inline void keeplock_take(struct keeplock *lock, struct seat *mine, int levels)
{
    if (bias_enter(&lock->bias, mine))
        keeplock_own(lock, mine, levels);
    else
        keeplock_take_free(lock, mine, levels);
}

/* It is kept for us, or was until somebody took it away: nobody else would get it.  Either he sees that
 * we have left, or we see that he is there (bias.h). */
static inline void keeplock_leave(struct keeplock *lock, struct seat *mine)
{
    bias_leave(mine);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(!bias_is(&lock->bias, mine), 0))
        keeplock_hand_over(lock);
}

static inline void keeplock_free(struct keeplock *lock, struct seat *mine)
{
    atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
    if (bias_is_inside(mine)) {
        keeplock_leave(lock, mine);
        return;
    }
    atomic_store_explicit(&lock->state, 0, memory_order_release);
    if (__builtin_expect(keeplock_count(&lock->sleeping) != 0, 0) &&
        keeplock_count(&lock->trying) == 0)
        keeplock_wake(lock);
}

static inline bool keeplock_is_mine(const struct keeplock *lock, const struct seat *mine)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed) == mine;
}

/* For everybody, even if it was kept. */
void keeplock_let_go(struct keeplock *lock, struct seat *mine);

/* Without waiting for anybody.  Of a lock that is kept for another thread: only if nobody has had it
 * since the look before. */
struct keeplook {
    uint32_t taken;
    bool empty;
};
struct keeplook keeplock_look(const struct keeplock *lock);
bool keeplock_try(struct keeplock *lock, struct seat *mine, struct keeplook before);

/* Would this thread have to wait for it, as far as one can see? */
static inline bool keeplock_is_busy(const struct keeplock *lock, const struct seat *mine)
{
    return keeplock_count(&lock->state) != 0 && !bias_is(&lock->bias, mine);
}

static inline bool keeplock_is_wanted(const struct keeplock *lock)
{
    return keeplock_count(&lock->wanting) != 0;
}

/* Until the lock changes hands, or long enough.  Without the lock. */
void keeplock_let_others(struct keeplock *lock, uint32_t before);

/* The thread ends, see bias.h. */
void keeplock_forget(struct keeplock *lock, struct seat *mine);

/* How many CPUs there are for the threads of this process. */
void keeplock_cpus(int cpus);

#endif
