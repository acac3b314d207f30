/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress and the one wait policy of the library.  A wait that finds nothing goes through
 *
 *     spinning   `pause` between polls, no clock, no system call
 *     yielding   sched_yield between polls, the clock now and then
 *     armed      the doorbell's sleeping flag is up; one more look at the world
 *     asleep     a futex with a timeout; back to armed after each wake-up
 *
 * and back to spinning when anything moved.  With a CPU per rank it spins for some 50-100 us
 * and sleeps after a millisecond of yields.  Where ranks exceed CPUs it spins for 20 polls: a
 * yield hands the CPU to a rank that has work (1-3 us), a wake-up costs 10-80 us, so it goes on
 * yielding for 2 ms.  Unless yields come back at once: then nobody else wants this CPU or, in a
 * session (scheduler autogroup) of our own, yields do not reach the others, and it sleeps soon.
 *
 * Calls that do not wait but are made again and again (tests, probes) yield in the same way and
 * never sleep.  Threads: the engine lock is let go of between polls and while asleep.
 */
#include "runtime/progress.h"
#include "runtime/clock.h"
#include "runtime/lock.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

enum { MOST_POLLERS = 16 };

/* Phases of a wait; ARMED + n: armed after n naps in a row that brought nothing. */
enum { SPINNING, YIELDING, ARMED, ARMED_MOST = ARMED + 5 };

enum {
    POLLS_PER_PROGRESS = 64, /* of a caller that polls its own flag */
    YIELDS_PER_CLOCK = 8,
    CROWDED_SPIN = 20,
    FAST_YIELD_NS = 700, /* quicker on average: it does not switch to anybody */
};
static const uint64_t MICROSECOND = 1000, MILLISECOND = 1000000;

static poller *pollers[MOST_POLLERS];
static int npollers;

static struct {
    uint32_t spin;         /* polls before the first yield */
    uint64_t awake_ns;     /* yields for so long before it sleeps */
    uint64_t impatient_ns; /* the same when yields come back at once */
    uint64_t nap_ns;       /* timeout of the first sleep */
    bool naps_grow;
} policy = { .spin = 2000, .awake_ns = 1000000, .impatient_ns = 1000000, .nap_ns = 1000000 };

static struct {
    bool crowded; /* more ranks than CPUs */
    bool barrier; /* the kernel has what makes long sleeps safe, see doorbell.c */
} surroundings = { .barrier = true };

uint64_t progress_idle_ns;

static struct doorbell own_bell, *bell = &own_bell;
static int sleepers; /* waits of this process that are armed or asleep */

void progress_add(poller *poll)
{
    assert(npollers < MOST_POLLERS);
    pollers[npollers++] = poll;
}

void progress_remove(poller *poll)
{
    for (int i = 0; i < npollers; i++)
        if (pollers[i] == poll) {
            npollers--;
            memmove(&pollers[i], &pollers[i + 1], (size_t)(npollers - i) * sizeof pollers[0]);
            return;
        }
}

static int round_over_pollers(void)
{
    int events = 0;
    for (int i = 0; i < npollers; i++)
        events += pollers[i]();
    /* Another thread of ours may sleep on what was just completed. */
    if (__builtin_expect(sleepers > 0, 0) && events)
        doorbell_ring(bell);
    return events;
}

static void yield(void)
{
    int levels = engine_release();
    sched_yield();
    engine_retake(levels);
}

int progress(void)
{
    static uint32_t empty; /* rounds in a row, over all calls that do not wait */
    int events = round_over_pollers();
    if (events)
        empty = 0;
    else if (empty < policy.spin)
        empty++;
    else
        yield();
    return events;
}

void progress_nudge(void)
{
    doorbell_ring(bell);
}

/* ---- one wait ---- */

static void wait_arm(struct wait *w)
{
    w->rings = doorbell_arm(bell);
}

static void wait_disarm(struct wait *w)
{
    if (w->phase >= ARMED && --sleepers == 0)
        atomic_store_explicit(&bell->sleeping, 0, memory_order_relaxed);
    w->phase = SPINNING;
}

static void wait_sleep(struct wait *w)
{
    uint64_t most = policy.nap_ns << (policy.naps_grow ? w->phase - ARMED : 0);
    int levels = engine_release();
    doorbell_sleep(bell, w->rings, most);
    engine_retake(levels);
    if (w->phase < ARMED_MOST)
        w->phase++;
    wait_arm(w);
}

/* Is it time to sleep?  Asked every few yields. */
static bool wait_is_long(const struct wait *w)
{
    uint64_t idle_ns = clock_ns() - w->since;
    if (idle_ns >= policy.awake_ns)
        return true;
    uint64_t yields = w->idle - policy.spin;
    return idle_ns >= policy.impatient_ns && idle_ns < yields * FAST_YIELD_NS;
}

static void wait_yield(struct wait *w)
{
    if (w->phase == SPINNING) {
        w->phase = YIELDING;
        w->since = clock_ns();
    }
    yield();
    if (w->idle % YIELDS_PER_CLOCK != 0 || !wait_is_long(w))
        return;
    w->phase = ARMED;
    sleepers++;
    wait_arm(w);
}

static void wait_spin(void)
{
    if (threads_multiple)
        engine_breathe();
    cpu_pause();
}

void wait_poll(struct wait *w)
{
    if (round_over_pollers()) {
        wait_end(w);
        return;
    }
    if (w->idle < policy.spin) {
        w->idle++;
        wait_spin();
    } else if (w->phase < ARMED) {
        w->idle++;
        wait_yield(w);
    } else {
        wait_sleep(w);
    }
}

void wait_idle(struct wait *w)
{
    if (w->idle >= policy.spin || w->idle % POLLS_PER_PROGRESS == POLLS_PER_PROGRESS - 1) {
        wait_poll(w);
        return;
    }
    w->idle++;
    wait_spin();
}

void wait_end(struct wait *w)
{
    if (w->phase != SPINNING) {
        progress_idle_ns += clock_ns() - w->since;
        wait_disarm(w);
    }
    w->idle = 0;
}

/* ---- choosing the policy ---- */

static void policy_choose(bool polite, bool barrier)
{
    long long spin = param_number(SPIN);
    policy.spin = polite             ? CROWDED_SPIN
                  : spin < 0         ? 0
                  : spin > INT32_MAX ? INT32_MAX
                                     : (uint32_t)spin;
    policy.awake_ns = polite ? 2 * MILLISECOND : MILLISECOND;
    policy.impatient_ns = polite ? 200 * MICROSECOND : MILLISECOND;
    policy.nap_ns = barrier ? 10 * MILLISECOND : MILLISECOND;
    policy.naps_grow = barrier;
}

void progress_tune(void)
{
    const char *wish = param_string(POLITE) ? param_string(POLITE) : "auto";
    bool never = strcmp(wish, "never") == 0;
    bool always = strcmp(wish, "always") == 0;
    if (!never && !always && strcmp(wish, "auto") != 0)
        say("XMPI_POLITE=%s is none of auto, always, never; taking auto", wish);
    policy_choose(always || (surroundings.crowded && !never), surroundings.barrier);
    if (never) { /* after four billion polls, minutes later, it yields all the same */
        policy.spin = UINT32_MAX;
        policy.awake_ns = policy.impatient_ns = UINT64_MAX;
    }
}

void progress_open(struct doorbell *mine, bool crowded)
{
    params_read();
    bell = mine ? mine : &own_bell;
    surroundings.crowded = crowded;
    /* A private bell is rung under the engine lock only; no barrier is needed. */
    surroundings.barrier = mine ? doorbell_register() : true;
    progress_tune();
}

void progress_close(void)
{
    bell = &own_bell;
    npollers = 0;
}
