/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which CPU a rank runs on, or ran on last, told in its doorbell by those that share CPUs:
 *
 *     runs    0              never told
 *             2 (1 + CPU)    waits, and has given the CPU up in a yield
 *             and 1          runs, as far as it knows: the scheduler may have taken the CPU away
 *
 * All of it is advice to those who wait.  It costs two stores per yield, to a line of its own.
 */
#ifndef XMPI_ONCPU_H
#define XMPI_ONCPU_H

#include "runtime/progress.h"

/* The owner of `bell` runs on CPU `here`. */
static inline void oncpu_tell(struct doorbell *bell, unsigned here)
{
    uint32_t runs = 2 * (1 + here) + 1;
    if (atomic_load_explicit(&bell->runs, memory_order_relaxed) != runs)
        atomic_store_explicit(&bell->runs, runs, memory_order_relaxed);
}

/* It is about to give it up. */
static inline void oncpu_leave(struct doorbell *bell)
{
    uint32_t runs = atomic_load_explicit(&bell->runs, memory_order_relaxed);
    atomic_store_explicit(&bell->runs, runs & ~1u, memory_order_relaxed);
}

/* The CPU it was on when it told last; UINT32_MAX: never. */
static inline unsigned oncpu_where(const struct doorbell *bell)
{
    return atomic_load_explicit(&bell->runs, memory_order_relaxed) / 2 - 1;
}

/* Was it on CPU `here` when it told last? */
static inline bool oncpu_is(const struct doorbell *bell, unsigned here)
{
    return atomic_load_explicit(&bell->runs, memory_order_relaxed) / 2 == 1 + here;
}

/* Does it run, and on another CPU? */
static inline bool oncpu_runs_beside(const struct doorbell *bell, unsigned here)
{
    uint32_t runs = atomic_load_explicit(&bell->runs, memory_order_relaxed);
    return runs % 2 == 1 && runs / 2 != 1 + here;
}

#endif
