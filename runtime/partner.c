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
#define _GNU_SOURCE 1 /* sched_getcpu */
#include "runtime/partner.h"
#include "runtime/clock.h"
#include "runtime/oncpu.h"
#include "runtime/seat.h"

#include <sched.h>

enum {
    PATIENCE = 200, /* polls */
    MOST_MISSES = 4,
    WAITS_PER_TRIAL = 128,
    LINGER = 1000,      /* polls: in that time the others have had their turns */
    LINGERS_FIRST = 4,  /* one in so many waits, */
    LINGERS_LAST = 1024 /* and where it brings nothing */
};

/* Bytes from which on one CPU is better than two, of messages behind others; where more than 6 ranks take turns on a
 * CPU a switch takes twice as long, as Linux keeps the address spaces of so many.  Where a switch takes a sleep and a
 * wake, two CPUs are better for all that is copied: with 2 ranks per CPU 4 KiB take 0.9 us on two, 7 on one, 16 KiB 2.4
 * and 7.5; with 8 ranks per CPU 16 KiB 0.75 of the time, 64 KiB 1.0 to 1.2. */
enum { PARTNER_MOST = 2048, PARTNER_MOST_IN_A_CROWD = 4096, CROWD_PER_CPU = 6 };

/* And of a message alone, where turns of ranks on a CPU are dear.  4 KiB of 4 ranks take 1.0 us on one CPU where a turn
 * takes 0.9 us, and 2.1 on two; 2.1 on one CPU where it takes 1.5 to 2 (AMD EPYC, a virtual machine), and 1.2 to 1.8 on
 * two. */
enum { PARTNER_MOST_ALONE = 4096, TURN_DEAR_NS = 1250 };
enum {
    YIELDS_PER_SAMPLE = 16,
    NO_TURN_NS = 700, /* nobody else was there */
    SAMPLES = 16,     /* until it is known */
    SLOWLY = 64,      /* a longer turn counts for one in so many, as somebody worked in it, */
    OUTLIER = 4       /* and for so many times the usual one at most */
};
static const uint64_t TOGETHER_NS = 200000; /* was worth it */

struct doorbell *partner, *companion;
uint32_t companion_copies;
size_t partner_most = PARTNER_MOST, partner_most_alone = PARTNER_MOST;

static struct doorbell *mine;
static bool is_apart;
static uint32_t misses; /* spins in a row that were in vain, and then waits without one */

static struct {
    bool now;
    uint32_t waits, gap; /* since the last one, and until the next one */
    uint64_t met;        /* it answered at that time; 0: no, or parted since */
} linger;

static struct turn {
    unsigned ranks; /* on a CPU */
    uint32_t yields, samples;
    uint64_t ns; /* of a rank */
} turn;

static void most_choose(void)
{
    bool dear = turn.samples == SAMPLES && turn.ns >= TURN_DEAR_NS;
    partner_most = is_apart                      ? SIZE_MAX
                   : turn.ranks >= CROWD_PER_CPU ? PARTNER_MOST_IN_A_CROWD
                                                 : PARTNER_MOST;
    partner_most_alone =
        dear && partner_most < PARTNER_MOST_ALONE ? PARTNER_MOST_ALONE : partner_most;
}

bool partner_times_yield(void)
{
    return mine && ++turn.yields % YIELDS_PER_SAMPLE == 0;
}

void partner_yielded(uint64_t ns)
{
    if (ns < NO_TURN_NS)
        return;
    uint64_t each = ns / turn.ranks, most = OUTLIER * turn.ns;
    if (turn.samples == 0 || each < turn.ns)
        turn.ns = each;
    else
        turn.ns += ((each < most ? each : most) - turn.ns) / SLOWLY;
    turn.samples += turn.samples < SAMPLES;
    most_choose();
}

void partner_open(struct doorbell *bell)
{
    mine = bell;
    partner = NULL;
    misses = 0;
    companion = NULL;
    is_apart = false;
    turn = (struct turn){ .ranks = 1 };
    most_choose();
    seat_open(mine);
    linger.now = false;
    linger.waits = 0;
    linger.gap = LINGERS_FIRST;
    linger.met = 0;
    partner_tell();
}

void partner_crowd(int ranks, int cpus)
{
    int each = ranks / (cpus > 0 ? cpus : 1);
    turn.ranks = each > 1 ? (unsigned)each : 1;
    most_choose();
}

void partner_is_apart(void)
{
    is_apart = true;
    most_choose();
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

void partner_copied(void)
{
    companion_copies = 0;
    partner_tell();
    seat_together(companion);
}

void partner_missed(uint32_t polls)
{
    bool lingered = linger.now;
    linger_judge();
    if (!mine || !partner || lingered)
        return;
    if (polls >= PATIENCE || misses >= MOST_MISSES)
        misses++;
    seat_apart(partner);
}
