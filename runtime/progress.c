/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress and the one wait policy of the library.  A wait that finds nothing goes through
 *
 *     spinning   `pause` between polls, no clock, no system call
 *     yielding   sched_yield between polls, the clock now and then
 *     armed      the doorbell's sleeping flag is up; one more look at the world
 *     asleep     a futex with a timeout; after each wake-up a look, and armed again
 *
 * and back to spinning when anything moved.  With a CPU per rank it spins for some 50-100 us
 * and sleeps after a millisecond of yields.  Where ranks exceed CPUs a yield hands the CPU to a
 * rank that has work (1-3 us), a wake-up costs 10-80 us, so it goes on yielding for 2 ms.  Unless
 * yields come back at once: then nobody else wants this CPU or, in a session (scheduler autogroup)
 * of our own, yields do not reach the others, and it sleeps soon.
 *
 * How long it spins there is learnt.  Two partners who happen to have a CPU each at the same time
 * answer each other in a tenth of what a switch takes, so it pays to stay; others spin in vain.
 * So waits that end while spinning make the next ones spin longer, those that do not shorter;
 * and who waits for one rank that runs on another CPU stays longer (partner.h).
 *
 * Launchers that give each rank a session of its own also give it a scheduler group of its own,
 * and a yield does not leave the group.  Such a rank does not yield: it sleeps as soon as another
 * rank is awake on its CPU, and else stays awake for a moment (apart.h).
 *
 * Calls that do not wait but are made again and again (tests, probes) yield in the same way and
 * never sleep.
 *
 * Threads: the engine lock is let go of between polls when somebody wants it, and while asleep.
 * Of several threads that wait, one leads, that is, polls; the others follow (runtime/follow.h):
 *
 *     nobody leads            whoever waits leads
 *     the leader is awake     follow
 *     the leader is asleep    lead; it sleeps on, and leads again when this wait is over
 *     the leader was there    lead, and let it follow: what arrives is for those who come and go.
 *       for many messages     It follows by itself when threads come that find their work done
 *
 * A leader that leaves calls a follower that is awake.  To wake one with each message would cost the
 * others ten times as much as the message, so while some thread comes and polls those asleep sleep on: one
 * of them watches.  It looks up after 0.1 ms, 0.2 ms, ..., and leads when nobody has polled since; so
 * what arrives for it when all others have left MPI waits 0.8 ms at most.
 *
 * A wait for memory that other processes write (wait_idle) neither leads nor follows, since no
 * poller would tell.
 */
#include "runtime/progress.h"
#include "runtime/apart.h"
#include "runtime/clock.h"
#include "runtime/follow.h"
#include "runtime/lock.h"
#include "runtime/log.h"
#include "runtime/notice.h"
#include "runtime/param.h"
#include "runtime/partner.h"
#include "runtime/record.h"

#include <assert.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { MOST_POLLERS = 16 };

/* Phases of a wait; ARMED + n: armed after n naps in a row that brought nothing. */
enum { SPINNING, YIELDING, ARMED, ARMED_MOST = ARMED + 5 };

enum {
    POLLS_PER_PROGRESS = 64, /* of a caller that polls its own flag */
    YIELDS_PER_CLOCK = 8,
    TELLING_SPIN = 100000, /* polls of a wait that only spins: then it is told */
    CROWDED_LEAST = 1,     /* polls before the first yield where ranks exceed CPUs */
    CROWDED_MOST = 160,
    MOST_LOOKS = 100,
    ASKED_PER_ROUND = 64, /* how often that is in calls, as nobody looks at a clock */
    ASKED_AMONG_OTHERS = 4,
    CROWDED_GAIN = 4,
    CROWDED_LOSS = 40,
    FAST_YIELD_NS = 700, /* quicker on average: it does not switch to anybody */
    MOST_NAP_NS = 320000000,
    HURRIED_NAP_NS = 100000000,
    ASSIST_NAP_NS = 100000,
    ASSIST_MOST_NAPS = 7,
    CONTENDED_POLLS = 50, /* a poll counts for so many when another thread wanted the lock */
    WATCH_NS = 100000,    /* until the first look of the follower that watches */
    STAYS_MOVES = 8,      /* rounds for others after which a leader gives way to a newcomer, */
    LOOKS_MOVES = 64,     /* and after which it looks whether others call at all */
};
static const uint64_t MICROSECOND = 1000, MILLISECOND = 1000000;

static poller *pollers[MOST_POLLERS];
static int npollers;

static struct {
    uint32_t spin;         /* polls before the first yield */
    uint32_t looks;        /* of a caller for itself, before it waits */
    uint64_t awake_ns;     /* yields for so long before it sleeps */
    uint64_t impatient_ns; /* the same when yields come back at once */
    uint64_t nap_ns;       /* timeout of the first sleep */
    int nap_growth;        /* each is so many doublings longer than the one before */
    bool learns;           /* crowded: `spin` follows what waits find */
    bool apart;            /* yields do not reach the others */
} policy = {
    .spin = 2000, .looks = 1, .awake_ns = 1000000, .impatient_ns = 1000000, .nap_ns = 1000000
};

static struct {
    bool crowded;     /* more ranks than CPUs */
    bool barrier;     /* the kernel has what makes long sleeps safe, see doorbell.c */
    enum apart apart; /* yields do not reach the other ranks */
    bool silent;      /* something rings no bell */
} surroundings = { .barrier = true };

uint64_t progress_idle_ns;
bool progress_is_owed;
uint32_t progress_naps;
static uint64_t nap_most = MOST_NAP_NS;

static struct doorbell own_bell, *bell = &own_bell;
static int sleepers; /* waits of this process that are armed or asleep on the bell */

static struct wait *leader, *armed; /* the one that polls, and the one of them that sleeps */
static struct wait *watcher;        /* of the followers */
static int cpus = 1;                /* of this process */
int waits_asleep;                   /* sleepers and followers */

void progress_add(poller *poll)
{
    for (int i = 0; i < npollers; i++)
        if (pollers[i] == poll)
            return;
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

/* Pollers are not called while one is at work: from a function of the program that it calls, or
 * by another thread while that function runs. */
static bool polling;

static uint32_t empty; /* rounds in a row that moved nothing, in calls that do not wait */
static _Atomic uint32_t rounds; /* ever; written under the lock */

static int round_over_pollers(void)
{
    if (__builtin_expect(polling, 0))
        return 0;
    int events = 0;
    polling = true;
    progress_is_owed = false;
    atomic_store_explicit(&rounds, atomic_load_explicit(&rounds, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    for (int i = 0; i < npollers; i++)
        events += pollers[i]();
    polling = false;
    if (events)
        empty = 0;
    return events;
}

static void yield(void)
{
    int levels = engine_release();
    partner_leave();
    sched_yield();
    partner_tell();
    engine_retake(levels);
}

int progress(void)
{
    int events = round_over_pollers();
    if (events)
        progress_completed();
    else if (!engine_breathe()) { /* others have something to do, perhaps */
        if (empty < policy.spin)
            empty++;
        else
            yield();
    }
    return events;
}

uint32_t progress_looks(bool others)
{
    static uint32_t asked;
    if (polling || ++asked % (others ? ASKED_AMONG_OTHERS : ASKED_PER_ROUND) == 0)
        return 0;
    return policy.looks > 0 && threads_are_many() ? 1 : policy.looks;
}

void progress_nudge(void)
{
    if (sleepers > 0 && (!leader || leader == armed))
        doorbell_ring(bell);
    else if (!leader && followers_sleep())
        progress_is_owed = true;
}

void progress_call(void)
{
    doorbell_ring(bell);
}

/* While polling, the end of the round wakes all at once. */
void waits_wake(void)
{
    if (polling)
        return;
    followers_wake();
    if (armed && (!armed->flag || *armed->flag))
        doorbell_ring(bell);
}

/* ---- one wait ---- */

static void wait_arm(struct wait *w)
{
    bool all_fence = surroundings.apart == APART_YES && apart_all_fence();
    w->rings = doorbell_arm(bell, !all_fence);
    w->woken = false;
}

static void wait_disarm(struct wait *w)
{
    if (w->phase >= ARMED) {
        waits_asleep--;
        if (--sleepers == 0)
            atomic_store_explicit(&bell->sleeping, 0, memory_order_relaxed);
    }
    if (armed == w)
        armed = NULL;
    w->phase = SPINNING;
}

/* Was it worth spinning? */
static void spin_learn(const struct wait *w)
{
    if (w->phase == SPINNING && w->idle == 0)
        return;
    if (w->phase == SPINNING && w->idle > policy.spin) {
        partner_answered();
        return;
    }
    int spin = (int)policy.spin + (w->phase == SPINNING ? CROWDED_GAIN : -CROWDED_LOSS);
    policy.spin = spin < CROWDED_LEAST  ? CROWDED_LEAST
                  : spin > CROWDED_MOST ? CROWDED_MOST
                                        : (uint32_t)spin;
}

/* Let others know what it waits for: once, and again when something has moved. */
static void wait_tell(struct wait *w)
{
    if (!w->told)
        record_wait_tell(&w->slot, &w->call, w->tell, w->what);
    w->told = true;
}

/* Back to the beginning, without a claim that something has moved. */
static void wait_rewind(struct wait *w)
{
    if (policy.learns)
        spin_learn(w);
    w->told = false;
    if (w->phase != SPINNING) {
        progress_idle_ns += w->since ? clock_ns() - w->since : 0;
        wait_disarm(w);
    }
    w->idle = 0;
}

/* Something moved, or the wait is over. */
static void wait_reset(struct wait *w)
{
    if (__builtin_expect(w->slot, 0))
        record_wait_moves(w->slot);
    wait_rewind(w);
}

/* Awake again: perhaps there is work, so arming costs nothing before the next look. */
static void wait_sleep(struct wait *w)
{
    if (w->woken) {
        wait_arm(w);
        return;
    }
    uint64_t most = policy.nap_ns << policy.nap_growth * (w->phase - ARMED);
    if (notice_is_wanted(NOTICE_SLEEP))
        notice_give(NOTICE_SLEEP, (int64_t[]){ (int64_t)(clock_ns() - w->since) });
    int levels = engine_release();
    partner_leave();
    doorbell_sleep(bell, w->rings, most < nap_most ? most : nap_most);
    partner_tell();
    engine_retake(levels);
    w->moves++;
    progress_naps++;
    if (w->phase < ARMED_MOST)
        w->phase++;
    w->woken = true;
}

/* Is it time to sleep?  By the clock. */
static bool wait_is_long(const struct wait *w)
{
    uint64_t idle_ns = clock_ns() - w->since;
    if (idle_ns >= policy.awake_ns)
        return true;
    return idle_ns >= policy.impatient_ns && idle_ns < w->yields * (uint64_t)FAST_YIELD_NS;
}

static void wait_begin_sleep(struct wait *w)
{
    if (w->since == 0)
        w->since = clock_ns();
    w->phase = ARMED;
    sleepers++;
    waits_asleep++;
    if (leader == w)
        armed = w;
    wait_arm(w);
}

/* ---- behind the leader ---- */

/* Nobody polls: be asleep on the bell. */
static void wait_take_over(struct wait *w)
{
    leader = w;
    w->since = 0;
    wait_begin_sleep(w);
}

static void wait_follow(struct wait *w)
{
    wait_rewind(w);
    bool may_spin = followers < cpus - 1, watches = !watcher && (!leader || leader != armed);
    struct following how = { .awake = w->moves < STAYS_MOVES,
                             .pauses = may_spin ? policy.spin : 0,
                             .asleep_ns = policy.nap_ns };
    if (watches) {
        watcher = w;
        how.asleep_ns = WATCH_NS;
        how.watch = &rounds;
    }
    uint64_t since = clock_ns();
    waits_asleep++;
    bool called = follow(w->flag, &how);
    waits_asleep--;
    progress_idle_ns += clock_ns() - since;
    if (watches)
        watcher = NULL;
    if (w->flag && !*w->flag) {
        wait_tell(w);
        if (watches && !called && !leader)
            wait_take_over(w);
    }
}

/* Do yields reach the others?  Until all have told, and then no more. */
static void ask_who_is_apart(void)
{
    if (surroundings.apart != APART_UNKNOWN || !surroundings.crowded || !surroundings.barrier)
        return;
    surroundings.apart = apart_find();
    if (surroundings.apart == APART_YES) {
        apart_fence();
        progress_tune();
    }
}

static bool is_in_the_way(void)
{
    return policy.apart && apart_is_in_the_way();
}

/* Is it time to sleep?  Most waits are over within a few yields, and never look at the clock, which
 * costs a tenth of a yield. */
static bool wait_yields_long(struct wait *w)
{
    if (++w->yields % YIELDS_PER_CLOCK != 0)
        return is_in_the_way();
    if (w->since != 0)
        return wait_is_long(w);
    w->since = clock_ns();
    w->yields = 0;
    return false;
}

static void wait_spin(struct wait *w)
{
    if (w->idle == TELLING_SPIN)
        wait_tell(w);
    if (engine_breathe())
        w->idle += CONTENDED_POLLS;
    cpu_pause();
}

/* Perhaps for the answer of the rank that we sent to last.  Collectives wait for many, and so do
 * waits without a flag. */
static bool wait_is_for_one(const struct wait *w)
{
    return w->flag && !w->call.inside;
}

static void wait_yield(struct wait *w)
{
    if (w->phase == SPINNING) {
        w->phase = YIELDING;
        w->since = 0;
        w->yields = 0;
        if (wait_is_for_one(w))
            partner_missed(w->idle);
        ask_who_is_apart();
    }
    bool leads = leader == w;
    if (policy.apart)
        wait_spin(w);
    else
        yield();
    if ((leads && leader != w) || !wait_yields_long(w))
        return;
    wait_tell(w);
    if (leader == w && armed) { /* it can sleep for both */
        leader = armed;
        wait_follow(w);
    } else {
        wait_begin_sleep(w);
    }
}

/* How many polls before it yields: few where more threads wait than have CPUs. */
static uint32_t wait_spins(void)
{
    return followers < cpus || policy.spin < CROWDED_LEAST ? policy.spin : CROWDED_LEAST;
}

/* It may be over before a yield is. */
static bool wait_stays(const struct wait *w)
{
    return w->phase == SPINNING && wait_is_for_one(w) && partner_may_answer(w->idle);
}

/* A round without a word to the other threads. */
static void wait_round(struct wait *w)
{
    if (round_over_pollers()) {
        w->moves++;
        wait_reset(w);
        progress_completed();
        return;
    }
    if (w->idle < wait_spins() || wait_stays(w)) {
        w->idle++;
        wait_spin(w);
    } else if (w->phase < ARMED) {
        w->idle++;
        wait_yield(w);
    } else {
        wait_sleep(w);
    }
}

/* Has the leader done the work of others who call us all the time? */
static bool wait_is_too_much(struct wait *w)
{
    if (w->moves < LOOKS_MOVES)
        return false;
    uint32_t before = w->hands;
    w->moves = STAYS_MOVES;
    w->hands = engine_hands();
    return w->hands - before >= LOOKS_MOVES;
}

/* True: this thread leads. */
static bool wait_leads(struct wait *w)
{
    if (leader != w) {
        if (leader && leader != armed && leader->moves < STAYS_MOVES)
            return false;
        leader = w;
    } else if (wait_is_too_much(w)) {
        leader = armed == w ? NULL : armed;
        return false;
    }
    return true;
}

void wait_poll(struct wait *w)
{
    if (threads_are_many() && !wait_leads(w))
        wait_follow(w);
    else
        wait_round(w);
}

void wait_idle(struct wait *w)
{
    if (w->idle >= policy.spin || w->idle % POLLS_PER_PROGRESS == POLLS_PER_PROGRESS - 1) {
        wait_round(w);
        return;
    }
    w->idle++;
    wait_spin(w);
}

/* Somebody else may lead now. */
static void wait_retire(const struct wait *w)
{
    if (leader == w)
        leader = armed;
    if (followers > 0 && !leader)
        followers_wake_one(!watcher);
}

void wait_end(struct wait *w)
{
    wait_reset(w);
    if (__builtin_expect(w->slot, 0))
        record_wait_over(w->slot);
    record_now = w->call;
    wait_retire(w);
}

/* ---- a thread that only helps ---- */

/* A thread of the program waits, and does the work itself.  Nobody tells us when it has done, for
 * that would cost it a system call; so have a look after 0.1 ms, 0.2 ms, ...: we miss no more than
 * has passed already. */
static void assist_rest(struct wait *w)
{
    wait_reset(w);
    wait_retire(w);
    struct timespec nap = { .tv_nsec = ASSIST_NAP_NS << w->yields };
    w->yields += w->yields < ASSIST_MOST_NAPS;
    int levels = engine_release();
    nanosleep(&nap, NULL);
    engine_retake(levels);
}

void progress_assist(struct wait *w)
{
    if ((leader && leader != w) || (leader == w && !armed && followers > 0)) {
        assist_rest(w);
        return;
    }
    leader = w;
    w->yields = 0;
    if (round_over_pollers()) {
        wait_reset(w);
        progress_completed();
        engine_breathe();
    } else if (w->phase < ARMED) {
        w->since = clock_ns();
        wait_begin_sleep(w);
    } else {
        wait_sleep(w);
    }
}

/* ---- choosing the policy ---- */

static void policy_choose(bool polite, bool barrier)
{
    long long spin = param_number(SPIN);
    policy.learns = polite;
    policy.spin = polite             ? CROWDED_LEAST
                  : spin < 0         ? 0
                  : spin > INT32_MAX ? INT32_MAX
                                     : (uint32_t)spin;
    policy.looks = polite ? 0 : policy.spin < MOST_LOOKS ? policy.spin : MOST_LOOKS;
    policy.awake_ns = polite ? 2 * MILLISECOND : MILLISECOND;
    policy.impatient_ns = polite ? 200 * MICROSECOND : MILLISECOND;
    policy.nap_ns = barrier ? 10 * MILLISECOND : MILLISECOND;
    policy.nap_growth = barrier ? 2 : 0;
    policy.apart = polite && surroundings.apart == APART_YES;
    if (policy.apart)
        policy.impatient_ns = 100 * MICROSECOND;
    if (surroundings.silent) {
        policy.nap_ns = (polite ? 200 : 50) * MICROSECOND;
        policy.nap_growth = 1;
    }
}

void progress_naps_short(bool yes)
{
    surroundings.silent = yes;
    progress_tune();
}

void progress_naps_hurry(bool yes)
{
    nap_most = yes ? HURRIED_NAP_NS : MOST_NAP_NS;
}

void progress_tune(void)
{
    const char *wish = param_string(POLITE) ? param_string(POLITE) : "auto";
    bool never = strcmp(wish, "never") == 0;
    bool always = strcmp(wish, "always") == 0;
    if (!never && !always && strcmp(wish, "auto") != 0)
        say("XMPI_POLITE=%s is none of auto, always, never; taking auto", wish);
    policy_choose(always || (surroundings.crowded && !never), surroundings.barrier);
    if (always) { /* who asks for it wants CPUs for others, not the last microsecond */
        policy.awake_ns = 200 * MICROSECOND;
        policy.impatient_ns = 20 * MICROSECOND;
        policy.nap_ns *= 1 + surroundings.silent; /* then a poll costs as much as a yield */
    }
    if (never) { /* after four billion polls, minutes later, it yields all the same */
        policy.spin = UINT32_MAX;
        policy.awake_ns = policy.impatient_ns = UINT64_MAX;
    }
}

void progress_cpus(int n)
{
    cpus = n;
    engine_cpus(n);
}

void progress_neighbours(const struct doorbell *bells, size_t stride, int n)
{
    apart_neighbours(bells, stride, n);
}

void progress_open(struct doorbell *mine, bool crowded)
{
    params_read();
    bell = mine ? mine : &own_bell;
    surroundings.crowded = crowded;
    surroundings.apart = APART_UNKNOWN;
    partner_open(crowded ? mine : NULL);
    apart_open(crowded ? mine : NULL);
    /* A private bell is rung under the engine lock only; no barrier is needed. */
    surroundings.barrier = mine ? doorbell_register() : true;
    progress_tune();
}

void progress_close(void)
{
    bell = &own_bell;
    partner_open(NULL);
    npollers = 0;
}
