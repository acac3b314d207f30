/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spinning for a partner that runs, and running where it does not, see partner.h.
 *
 * What it brings: ping-pongs of all pairs where ranks exceed CPUs take a quarter to a half of the
 * time, since a pair has two CPUs for a time slice instead of a switch per message.  What it costs
 * others: a spin of some microseconds per time slice; and, where partners compute for longer than
 * that, one in each 128 waits.  Programs whose ranks wait for one neighbour after the other are not
 * moved.
 *
 * Without lingering two partners would hardly ever meet: each looks for the other in the moment
 * between two yields.  It costs some 50 us, and a time slice is 3 ms; where the two do not stay
 * together for a good while it happens ever more rarely, down to one in a thousand waits.
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
    LINGER = 1000,         /* polls: in that time the others have had their turns */
    LINGERS_FIRST = 4,     /* one in so many waits, */
    LINGERS_LAST = 1024    /* and where it brings nothing */
};
static const uint64_t FIRST_GAP_NS = 2000000, MOST_GAP_NS = 100000000;
static const uint64_t TOGETHER_NS = 200000; /* was worth it */

struct doorbell *partner;

static struct doorbell *mine;
static uint32_t misses; /* spins in a row that were in vain, and then waits without one */

static struct {
    const struct doorbell *whom; /* we share a CPU with it, */
    int waits;                   /* for so many waits in a row */
    uint64_t last, gap;          /* between two moves, ns */
} beside;

static struct {
    bool now;
    uint32_t waits, gap; /* since the last one, and until the next one */
    uint64_t met;        /* it answered at that time; 0: no, or parted since */
} linger;

void partner_open(struct doorbell *bell)
{
    mine = bell;
    partner = NULL;
    misses = 0;
    beside.whom = NULL;
    beside.waits = 0;
    beside.last = 0;
    beside.gap = FIRST_GAP_NS;
    linger.now = false;
    linger.waits = 0;
    linger.gap = LINGERS_FIRST;
    linger.met = 0;
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

/* ---- waiting for its turn ---- */

static bool linger_begin(unsigned here)
{
    if (oncpu_is(partner, here)) /* it waits for this very CPU */
        return false;
    if (++linger.waits < linger.gap)
        return false;
    linger.waits = 0;
    linger.now = true;
    return true;
}

static bool linger_goes_on(uint32_t polls)
{
    return polls < LINGER ||
           (polls < LINGER + PATIENCE && oncpu_runs_beside(partner, (unsigned)sched_getcpu()));
}

static void linger_answered(void)
{
    if (!linger.now)
        return;
    linger.now = false;
    linger.met = clock_ns();
}

/* We yield: how was the last one? */
static void linger_judge(void)
{
    if (!linger.now && linger.met == 0)
        return;
    bool good = linger.met != 0 && clock_ns() - linger.met >= TOGETHER_NS;
    uint32_t longer = linger.gap * 3 / 2;
    linger.gap = good ? LINGERS_FIRST : longer < LINGERS_LAST ? longer : LINGERS_LAST;
    linger.now = false;
    linger.met = 0;
}

/* ---- spinning ---- */

bool partner_may_answer(uint32_t polls)
{
    if (!mine || !partner)
        return false;
    if (linger.now)
        return linger_goes_on(polls);
    if (polls >= PATIENCE)
        return false;
    if (misses >= MOST_MISSES && misses % WAITS_PER_TRIAL != 0)
        return false;
    unsigned here = (unsigned)sched_getcpu();
    return oncpu_runs_beside(partner, here) || linger_begin(here);
}

void partner_answered(void)
{
    misses = 0;
    linger_answered();
}

/* ---- two on one CPU ---- */

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
    bool lingered = linger.now;
    linger_judge();
    if (!mine || !partner || lingered)
        return;
    if (polls >= PATIENCE || misses >= MOST_MISSES)
        misses++;
    share_no_cpu();
}
