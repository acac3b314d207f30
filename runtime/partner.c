/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spinning for a partner that runs, and running where it does not, see partner.h.
 *
 * What it brings: ping-pongs of all pairs where ranks exceed CPUs take a quarter to a half of the
 * time, since a pair has two CPUs for a time slice instead of a switch per message.  What it costs
 * others: a spin of some microseconds per time slice; and, where partners compute for longer than
 * that, one in each 128 waits.  Programs whose ranks wait for one neighbour after the other are not
 * moved.
 */
#define _GNU_SOURCE 1 /* CPU_SET, sched_getcpu */
#include "runtime/partner.h"
#include "runtime/clock.h"
#include "runtime/oncpu.h"

#include <sched.h>

enum {
    PATIENCE = 200, /* polls */
    MOST_MISSES = 4,
    WAITS_PER_TRIAL = 128,
    WAITS_ON_ONE_CPU = 64, /* in a row, then one of the two moves */
};
static const uint64_t FIRST_GAP_NS = 2000000, MOST_GAP_NS = 100000000;

struct doorbell *partner;

static struct doorbell *mine;
static uint32_t misses; /* spins in a row that were in vain, and then waits without one */

static struct {
    const struct doorbell *whom; /* we share a CPU with it, */
    int waits;                   /* for so many waits in a row */
    uint64_t last, gap;          /* between two moves, ns */
} beside;

void partner_open(struct doorbell *bell)
{
    mine = bell;
    partner = NULL;
    misses = 0;
    beside.whom = NULL;
    beside.waits = 0;
    beside.last = 0;
    beside.gap = FIRST_GAP_NS;
    partner_tell();
}

void partner_tell(void)
{
    if (mine)
        oncpu_tell(mine, (unsigned)sched_getcpu());
}

void partner_leave(void)
{
    if (mine)
        oncpu_leave(mine);
}

bool partner_may_answer(uint32_t polls)
{
    if (!mine || !partner || polls >= PATIENCE)
        return false;
    if (misses >= MOST_MISSES && misses % WAITS_PER_TRIAL != 0)
        return false;
    return oncpu_runs_beside(partner, (unsigned)sched_getcpu());
}

void partner_answered(void)
{
    misses = 0;
}

/* To any other CPU that we may use.  The mask is back at once, so it binds nobody; whoever has one
 * CPU only stays. */
static void move_away(unsigned here)
{
    cpu_set_t all, others;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || here >= CPU_SETSIZE)
        return;
    others = all;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0)
        return;
    sched_setaffinity(0, sizeof all, &all);
}

/* Of two that share a CPU the one whose doorbell comes first moves, rarely and ever more so. */
static void share_no_cpu(void)
{
    unsigned here = (unsigned)sched_getcpu();
    if (partner != beside.whom || !oncpu_is(partner, here)) {
        beside.whom = partner;
        beside.waits = 0;
        return;
    }
    if (++beside.waits < WAITS_ON_ONE_CPU || mine > partner)
        return;
    beside.waits = 0;
    uint64_t now = clock_ns();
    if (now - beside.last < beside.gap)
        return;
    beside.last = now;
    beside.gap = beside.gap < MOST_GAP_NS ? beside.gap * 3 / 2 : MOST_GAP_NS;
    move_away(here);
}

void partner_missed(uint32_t polls)
{
    if (!mine || !partner)
        return;
    if (polls >= PATIENCE || misses >= MOST_MISSES)
        misses++;
    share_no_cpu();
}
