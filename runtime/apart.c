/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is in which scheduler group and on which CPU, see apart.h.  All of it is advice: a rank that
 * moved to another CPU since it waited last makes us sleep, or stay awake for some microseconds,
 * without need.
 */
#define _GNU_SOURCE 1 /* sched_getcpu */
#include "runtime/apart.h"
#include "runtime/oncpu.h"
#include "runtime/system_text.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { NO_GROUPS = 1 }; /* every process tells the same; groups are counted from 1 */

static struct doorbell *mine;
static struct {
    const struct doorbell *first;
    size_t stride;
    int n;
} neighbours;

static const struct doorbell *neighbour(int i)
{
    return (const struct doorbell *)((const char *)neighbours.first +
                                     (size_t)i * neighbours.stride);
}

/* Of "/autogroup-17 nice 0", where the kernel makes groups. */
static unsigned own_group(void)
{
    char text[64];
    unsigned number = 0;
    if (!system_text("/proc/sys/kernel/sched_autogroup_enabled", text, sizeof text) ||
        text[0] != '1' || !system_text("/proc/self/autogroup", text, sizeof text) ||
        sscanf(text, "/autogroup-%u", &number) != 1)
        return NO_GROUPS;
    return number + NO_GROUPS + 1;
}

void apart_open(struct doorbell *bell)
{
    mine = bell;
    neighbours.n = 0;
    doorbells_fence = false;
    doorbell_pass = NULL;
    if (!mine)
        return;
    atomic_store(&mine->lends, LENDS_NOT);
    atomic_store(&mine->owed, 0);
    atomic_store(&mine->fences, 0);
    atomic_store(&mine->group, own_group());
}

void apart_neighbours(const struct doorbell *bells, size_t stride, int n)
{
    neighbours.first = bells;
    neighbours.stride = stride;
    neighbours.n = n;
}

int apart_ranks_on(unsigned cpu)
{
    int n = 0;
    for (int i = 0; i < neighbours.n; i++)
        n += oncpu_is(neighbour(i), cpu);
    return n;
}

enum apart apart_find(void)
{
    bool all_told = mine && neighbours.n > 0;
    for (int i = 0; i < neighbours.n && mine; i++) {
        uint32_t group = atomic_load_explicit(&neighbour(i)->group, memory_order_relaxed);
        if (group && group != atomic_load_explicit(&mine->group, memory_order_relaxed))
            return APART_YES;
        all_told &= group != 0;
    }
    return all_told ? APART_NO : APART_UNKNOWN;
}

void apart_fence(struct doorbell *bell)
{
    doorbells_fence = true;
    atomic_store(bell ? &bell->fences : &mine->fences, 1);
}

bool apart_all_fence(void)
{
    for (int i = 0; i < neighbours.n; i++)
        if (!atomic_load_explicit(&neighbour(i)->fences, memory_order_acquire))
            return false;
    return neighbours.n > 0;
}

bool apart_is_in_the_way(void)
{
    unsigned here = (unsigned)sched_getcpu();
    oncpu_tell(mine, here);
    for (int i = 0; i < neighbours.n; i++) {
        const struct doorbell *other = neighbour(i);
        if (other != mine &&
            atomic_load_explicit(&other->sleeping, memory_order_relaxed) == 0 &&
            oncpu_is(other, here))
            return true;
    }
    return false;
}

/* ---- waking each other ---- */

/* Who lends a hand on that CPU is told that somebody there is owed a ring.  Once it has been told it
 * looks, after this; so whom we owe is written down before. */
static bool passed_to(struct doorbell *other, struct doorbell *bell)
{
    uint32_t lends = LENDS;
    if (atomic_load_explicit(&other->lends, memory_order_relaxed) == LENDS_NOT)
        return false;
    atomic_store(&bell->owed, 1);
    return atomic_compare_exchange_strong(&other->lends, &lends, LENDS_TO_SOMEBODY) ||
           lends == LENDS_TO_SOMEBODY;
}

static bool pass(struct doorbell *bell)
{
    uint32_t runs = atomic_load_explicit(&bell->runs, memory_order_relaxed);
    if (runs == 0 || oncpu_is(mine, runs / 2 - 1) || !atomic_load(&bell->sleeping))
        return false;
    for (int i = 0; i < neighbours.n; i++) {
        struct doorbell *other = (struct doorbell *)neighbour(i);
        if (other != mine && other != bell && oncpu_is(other, runs / 2 - 1) &&
            passed_to(other, bell))
            return true;
    }
    if (atomic_load_explicit(&bell->owed, memory_order_relaxed))
        atomic_store(&bell->owed, 0); /* we ring it ourselves, whoever else was to */
    return false;
}

static void wake_owed(void)
{
    for (int i = 0; i < neighbours.n; i++) {
        struct doorbell *other = (struct doorbell *)neighbour(i);
        if (other != mine && atomic_load(&other->owed) && atomic_exchange(&other->owed, 0) &&
            atomic_load(&other->sleeping))
            doorbell_wake_ourselves(other);
    }
}

void apart_pass_rings(void)
{
    doorbell_pass = pass;
}

void apart_lend(void)
{
    uint32_t lends = atomic_load_explicit(&mine->lends, memory_order_relaxed);
    if (lends == LENDS)
        return;
    if (atomic_exchange(&mine->lends, LENDS) == LENDS_TO_SOMEBODY)
        wake_owed();
}

void apart_lend_no_more(void)
{
    if (atomic_load_explicit(&mine->lends, memory_order_relaxed) != LENDS_NOT &&
        atomic_exchange(&mine->lends, LENDS_NOT) == LENDS_TO_SOMEBODY)
        wake_owed();
}
