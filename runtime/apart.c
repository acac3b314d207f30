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
    if (!mine)
        return;
    atomic_store(&mine->fences, 0);
    atomic_store(&mine->group, own_group());
}

void apart_neighbours(const struct doorbell *bells, size_t stride, int n)
{
    neighbours.first = bells;
    neighbours.stride = stride;
    neighbours.n = n;
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
