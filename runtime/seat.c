/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Moving to another CPU, see seat.h.  All that others tell is advice: a rank that the scheduler has
 * moved since it waited last makes us move in vain, once in a gap.
 */
#define _GNU_SOURCE 1 /* CPU_SET, sched_getcpu */
#include "runtime/seat.h"
#include "runtime/apart.h"
#include "runtime/clock.h"
#include "runtime/oncpu.h"
#include "runtime/partner.h"

#include <sched.h>
#include <stddef.h>

enum { WAITS_IN_A_ROW = 64, LASTS = 8 /* gaps: the last move was a good one */ };
/* Of our CPU; longer: we compute in between. */
static const uint64_t WAITS_NS = WAITS_IN_A_ROW * 8000, COPIES_NS = COPIES_IN_A_ROW * 10000;
static const uint64_t FIRST_GAP_NS = 2000000, MOST_GAP_NS = 100000000;

static const struct doorbell *mine;
static struct {
    const struct doorbell *whom; /* we would rather be apart from it, */
    int waits;                   /* for so many waits in a row, */
    uint64_t since;              /* from this time of our CPU on */
} beside;
static uint64_t copied; /* the last row of copies was over, time of our CPU */
static struct {
    uint64_t last, gap; /* between two of them, ns */
} moves;

void seat_open(const struct doorbell *bell)
{
    mine = bell;
    beside.whom = NULL;
    copied = 0;
    moves.last = 0;
    moves.gap = FIRST_GAP_NS;
}

static bool is_steady(const struct doorbell *whom)
{
    if (whom != beside.whom || beside.waits == 0) {
        beside.waits = 0;
        beside.whom = whom;
        beside.since = clock_thread_ns();
    }
    if (++beside.waits < WAITS_IN_A_ROW)
        return false;
    beside.waits = 0;
    return clock_thread_ns() - beside.since < WAITS_NS;
}

static bool is_dense(void)
{
    uint64_t now = clock_thread_ns(), took = now - copied;
    copied = now;
    return took < COPIES_NS;
}

static bool is_time(void)
{
    uint64_t now = clock_ns(), since = now - moves.last;
    if (since < moves.gap)
        return false;
    moves.last = now;
    uint64_t longer = moves.gap < MOST_GAP_NS ? moves.gap * 3 / 2 : MOST_GAP_NS;
    moves.gap = since > LASTS * moves.gap ? FIRST_GAP_NS : longer;
    return true;
}

/* To one of `there` that we may use.  The mask is back at once, so it binds nobody; whoever may use none
 * of them stays. */
static void move(const cpu_set_t *may, cpu_set_t *there)
{
    CPU_AND(there, there, may);
    if (CPU_COUNT(there) > 0 && sched_setaffinity(0, sizeof *there, there) == 0)
        sched_setaffinity(0, sizeof *may, may);
}

void seat_apart(const struct doorbell *whom)
{
    unsigned here = (unsigned)sched_getcpu();
    if (!mine || !oncpu_is(whom, here)) {
        beside.whom = NULL;
        return;
    }
    cpu_set_t may, others;
    if (!is_steady(whom) || mine > whom || here >= CPU_SETSIZE || !is_time() ||
        sched_getaffinity(0, sizeof may, &may) != 0)
        return;
    others = may;
    CPU_CLR(here, &others);
    move(&may, &others);
}

/* Of the two the one whose CPU has more ranks goes, or the one whose doorbell comes first. */
static bool is_mine_to_go(const struct doorbell *whom, unsigned here, unsigned there)
{
    int stay = apart_ranks_on(here) - 1, met = apart_ranks_on(there);
    return stay > 0 && (met <= stay || (met == stay + 1 && mine < whom));
}

void seat_together(const struct doorbell *whom)
{
    if (!mine || !is_dense())
        return;
    unsigned here = (unsigned)sched_getcpu(), there = oncpu_where(whom);
    cpu_set_t may, one;
    if (there == here || there >= CPU_SETSIZE || !is_mine_to_go(whom, here, there) ||
        !is_time() || sched_getaffinity(0, sizeof may, &may) != 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(there, &one);
    move(&may, &one);
}
