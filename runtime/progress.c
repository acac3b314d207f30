/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of pollers, rounds over it, and calls that do not wait but are made again and again (tests, probes):
 * they yield like waits (wait.c), and sleep for a moment now and then.
 */
#include "runtime/apart.h"
#include "runtime/clock.h"
#include "runtime/follow.h"
#include "runtime/lock.h"
#include "runtime/param.h"
#include "runtime/partner.h"
#include "runtime/policy.h"
#include "runtime/polling.h"
#include "runtime/wait.h"

#include <assert.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum {
    SOLO_SPIN = 60,       /* polls of one who has an engine alone, where threads share a CPU */
    ASKED_PER_ROUND = 64, /* how often that is in calls, as nobody looks at a clock */
    ASKED_AMONG_OTHERS = 4,
    YIELDS_PER_NAP = 16384, /* some 10 milliseconds */
};

struct waits waits = { .cpus = 1, .bell = &waits.own_bell };

bool progress_polling, progress_is_owed, progress_may_spare;
uint64_t progress_empty;

void progress_add(poller *poll)
{
    for (int i = 0; i < waits.npollers; i++)
        if (waits.pollers[i] == poll)
            return;
    assert(waits.npollers < MOST_POLLERS);
    waits.pollers[waits.npollers++] = poll;
}

void progress_remove(poller *poll)
{
    for (int i = 0; i < waits.npollers; i++)
        if (waits.pollers[i] == poll) {
            waits.npollers--;
            memmove(&waits.pollers[i], &waits.pollers[i + 1],
                    (size_t)(waits.npollers - i) * sizeof waits.pollers[0]);
            return;
        }
}

void progress_round(void)
{
    if (round_over_pollers())
        progress_completed();
}

uint32_t progress_rounds(void)
{
    return atomic_load_explicit(&waits.rounds, memory_order_relaxed);
}

uint32_t progress_spins_solo(void)
{
    return waits.cpus > 1 ? policy.spin : SOLO_SPIN;
}

uint64_t progress_awake_ns(void)
{
    return policy.apart ? 0 : policy.awake_ns;
}

static void yield(void)
{
    if (!partner_times_yield()) {
        sched_yield();
        return;
    }
    uint64_t since = clock_ns();
    sched_yield();
    partner_yielded(clock_ns() - since);
}

/* A nap of no length, some 60 us: who only yields may keep the kernel's own threads off this processor (seen with
 * Linux 6.18), and another rank may wait for those.  Moving memory to large pages does, for one of each processor. */
static void give_way(bool naps)
{
    const struct timespec least = { .tv_nsec = 1 };
    int levels = engine_release();
    partner_leave();
    if (naps)
        nanosleep(&least, NULL);
    else
        yield();
    partner_tell();
    engine_retake(levels);
    if (naps)
        polling_napped();
}

void waits_yield(void)
{
    give_way(false);
}

int progress(void)
{
    if (__builtin_expect(polling_times_gap, 0))
        polling_gap_over();
    progress_spare();
    int events = round_over_pollers();
    if (events)
        progress_completed();
    else if (!engine_breathe()) { /* others have something to do, perhaps */
        if (progress_empty++ >= policy.spin)
            give_way(progress_empty % YIELDS_PER_NAP == 0);
    }
    return events;
}

void progress_beside(void)
{
    if (round_over_pollers())
        progress_completed();
    else
        engine_breathe();
}

uint32_t progress_looks(bool others)
{
    static uint32_t asked;
    if (progress_polling || ++asked % (others ? ASKED_AMONG_OTHERS : ASKED_PER_ROUND) == 0)
        return 0;
    return policy.looks > 0 && threads_are_many() ? 1 : policy.looks;
}

void progress_nudge(void)
{
    if (waits.sleepers > 0 && (!waits.leader || waits.leader == waits.armed))
        doorbell_ring(waits.bell);
    else if (!waits.leader && followers_sleep())
        progress_is_owed = true;
}

void progress_call(void)
{
    doorbell_ring(waits.bell);
}

/* While polling, the end of the round wakes all at once. */
void waits_wake(void)
{
    if (progress_polling)
        return;
    followers_wake();
    if (waits.armed && !waits.armed->helps && (!waits.armed->flag || *waits.armed->flag))
        doorbell_ring(waits.bell);
}
/* ---- opening and closing ---- */

void progress_cpus(int n)
{
    waits.cpus = n;
    engine_cpus(n);
}

void progress_neighbours(const struct doorbell *bells, size_t stride, int n, int cpus)
{
    apart_neighbours(bells, stride, n);
    partner_crowd(n, cpus);
}

void progress_open(struct doorbell *mine, bool crowded)
{
    params_read();
    waits.bell = mine ? mine : &waits.own_bell;
    waits.helper_is_spared = false;
    partner_open(crowded ? mine : NULL);
    if (mine)
        atomic_store(&mine->fences, 0); /* of an earlier use of MPI */
    apart_open(crowded ? mine : NULL);
    if (mine && param_number(ASYNC)) /* a thread that sleeps and is rung all the time */
        apart_fence(mine);
    /* A private bell is rung under the engine lock only; no barrier is needed. */
    policy_open(crowded, mine ? doorbell_register() : true);
}

void progress_close(void)
{
    waits.bell = &waits.own_bell;
    partner_open(NULL);
    waits.npollers = 0;
}
