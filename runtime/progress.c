/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress, and how the library waits.  A wait that finds nothing goes through
 *
 *     spinning   `pause` between polls, no clock, no system call
 *     yielding   sched_yield between polls, the clock now and then
 *     armed      the doorbell's sleeping flag is up; one more look at the world
 *     asleep     a futex with a timeout; after each wake-up a look, and armed again
 *
 * and back to spinning when anything moved.  How long each of them takes: policy.h.
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
#include "runtime/notice.h"
#include "runtime/param.h"
#include "runtime/partner.h"
#include "runtime/policy.h"
#include "runtime/polling.h"
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
    SOLO_SPIN = 60,        /* polls of one who has an engine alone, where threads share a CPU */
    ASKED_PER_ROUND = 64,  /* how often that is in calls, as nobody looks at a clock */
    ASKED_AMONG_OTHERS = 4,
    ASSIST_NAP_NS = 100000,
    ASSIST_MOST_NAPS = 7,
    ASSIST_CALLED_NAPS = 2, /* it calls now and then, and may compute in between */
    CONTENDED_POLLS = 50,   /* a poll counts for so many when another thread wanted the lock */
    WATCH_NS = 100000,      /* until the first look of the follower that watches */
    STAYS_MOVES = 8,  /* rounds for others after which a leader gives way to a newcomer, */
    LOOKS_MOVES = 64, /* and after which it looks whether others call at all */
    SETTLING_ROUNDS =
        8, /* of a call that has spared the helper, until it leaves the rest to it */
};

static poller *pollers[MOST_POLLERS];
static int npollers;

uint64_t progress_idle_ns;
bool progress_is_owed;
uint32_t progress_naps;

static struct doorbell own_bell, *bell = &own_bell;
static int sleepers; /* waits of this process that are armed or asleep on the bell */

static struct wait *leader, *armed; /* the one that polls, and the one of them that sleeps */
static struct wait *watcher;        /* of the followers */
static struct wait *helper;         /* progress_assist's, armed or asleep */
static bool ringers_fence;          /* all of them, when somebody armed last */
static int cpus = 1;                /* of this process */
int waits_asleep;                   /* sleepers and followers */
bool waits_mixed;
int waits_asleep_in[ENGINES];

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
bool progress_polling;

bool progress_may_spare;
static bool helper_is_spared; /* the bell is down while a call goes on */

uint64_t progress_empty;
static _Atomic uint32_t rounds; /* ever; written under the lock */

static int round_over_pollers(void)
{
    if (__builtin_expect(progress_polling, 0))
        return 0;
    int events = 0;
    progress_polling = true;
    progress_is_owed = helper_is_spared;
    atomic_store_explicit(&rounds, atomic_load_explicit(&rounds, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    for (int i = 0; i < npollers; i++)
        events += pollers[i]();
    progress_polling = false;
    if (events)
        progress_empty = 0;
    return events;
}

void progress_round(void)
{
    if (round_over_pollers())
        progress_completed();
}

uint32_t progress_rounds(void)
{
    return atomic_load_explicit(&rounds, memory_order_relaxed);
}

uint32_t progress_spins_solo(void)
{
    return cpus > 1 ? policy.spin : SOLO_SPIN;
}

uint64_t progress_awake_ns(void)
{
    return policy.apart ? 0 : policy.awake_ns;
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
    if (__builtin_expect(polling_times_gap, 0))
        polling_gap_over();
    progress_spare();
    int events = round_over_pollers();
    if (events)
        progress_completed();
    else if (!engine_breathe()) { /* others have something to do, perhaps */
        if (progress_empty++ >= policy.spin)
            yield();
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
    if (progress_polling)
        return;
    followers_wake();
    if (armed && !armed->helps && (!armed->flag || *armed->flag))
        doorbell_ring(bell);
}

/* ---- one wait ---- */

static void wait_arm(struct wait *w)
{
    bool alone = followers == 0 && !threads_are_many() && !waits_mixed;
    atomic_store_explicit(&bell->who, w->awaited.who, memory_order_relaxed);
    uint64_t where = alone ? w->awaited.where : 0;
    if (w->helps)
        where = sleepers == 1 ? AWAITS_NO_CALL : 0;
    atomic_store_explicit(&bell->where, where, memory_order_relaxed);
    ringers_fence = policy_all_fence();
    w->rings = doorbell_arm(bell, !ringers_fence);
    w->woken = false;
}

/* May a call take the bell down?  Only where it can be put up again without a barrier. */
static void helper_judge(void)
{
    progress_may_spare = helper && sleepers == 1 && ringers_fence && !helper_is_spared;
}

static void count_asleep(const struct wait *w, int change)
{
    waits_asleep += change;
    for (int k = 0; k < ENGINES; k++)
        if (w->engine == 0 || w->engine == k + 1)
            waits_asleep_in[k] += change;
}

static void wait_disarm(struct wait *w)
{
    if (w->phase >= ARMED) {
        count_asleep(w, -1);
        if (--sleepers == 0)
            atomic_store_explicit(&bell->sleeping, 0, memory_order_relaxed);
    }
    if (armed == w)
        armed = NULL;
    if (helper == w)
        helper = NULL;
    helper_judge();
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
    policy_learn(w->phase != SPINNING);
}

/* Let others know what it waits for: once, and again when something has moved. */
static void wait_tell(struct wait *w)
{
    polling_over();
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
        if (policy.apart)
            apart_lend_no_more();
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
    uint64_t most_ns = policy_nap_ns(w->phase - ARMED);
    if (notice_is_wanted(NOTICE_SLEEP))
        notice_give(NOTICE_SLEEP, (int64_t[]){ (int64_t)(clock_ns() - w->since) });
    uint32_t rings = w->rings; /* a call that settles may arm for us meanwhile */
    int levels = engine_release();
    partner_leave();
    doorbell_sleep(bell, rings, most_ns);
    partner_tell();
    engine_retake(levels);
    w->moves++;
    progress_naps++;
    if (w->phase < ARMED_MOST)
        w->phase++;
    w->woken = true;
}

static void wait_begin_sleep(struct wait *w)
{
    if (w->since == 0)
        w->since = clock_ns();
    if (policy.apart)
        apart_lend_no_more();
    w->phase = ARMED;
    sleepers++;
    count_asleep(w, 1);
    if (leader == w)
        armed = w;
    if (w->helps)
        helper = w;
    wait_arm(w);
    helper_judge();
}

/* ---- behind the leader ---- */

/* Nobody polls: be asleep on the bell, after one look at least, whatever others have alone meanwhile. */
static void wait_take_over(struct wait *w)
{
    leader = w;
    w->since = 0;
    w->solos = engine_solos();
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
    count_asleep(w, 1);
    bool called = follow(w->flag, &how);
    count_asleep(w, -1);
    progress_idle_ns += clock_ns() - since;
    if (watches)
        watcher = NULL;
    if (w->flag && !*w->flag) {
        wait_tell(w);
        if (watches && !called && !leader)
            wait_take_over(w);
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
        return policy_is_long(clock_ns() - w->since, w->yields);
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
        policy_ask_who_is_apart();
    }
    bool leads = leader == w;
    if (policy.apart) {
        apart_lend();
        wait_spin(w);
    } else {
        yield();
    }
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

/* Have others polled for their engines while it was asleep?  Then it had better not be woken by what
 * comes for them; they have a look at everything now and then (pml/solo.c). */
static bool wait_is_not_alone(struct wait *w)
{
    uint32_t before = w->solos;
    w->solos = engine_solos();
    return w->phase >= ARMED && w->solos != before;
}

/* True: this thread leads. */
static bool wait_leads(struct wait *w)
{
    if (wait_is_not_alone(w)) {
        if (leader == w)
            leader = armed == w ? NULL : armed;
        return false;
    }
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

void progress_sleep_until(int engine, const int *flag, record_teller *tell, const void *what)
{
    struct wait w = WAIT_FOR(tell, what);
    w.flag = flag;
    w.engine = engine;
    w.solos = engine_solos();
    if (!*flag && !leader) {
        leader = &w;
        wait_tell(&w);
        wait_begin_sleep(&w);
    }
    while (!*flag)
        wait_poll(&w);
    wait_end(&w);
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
 * has passed already.  If it waits no more, but has polled since we looked last, 0.4 ms at most: if we slept on the doorbell
 * while it calls again and again, each message would cost its sender a system call and us a switch. */
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

void progress_spare_helper(void)
{
    progress_may_spare = false;
    helper_is_spared = progress_is_owed = true;
    atomic_store_explicit(&bell->sleeping, 0, memory_order_relaxed);
}

/* The bell goes up before the first look, and whoever rings fences; so what comes after the last look
 * wakes the helper. */
void progress_settle(void)
{
    if (helper_is_spared) {
        helper_is_spared = false;
        if (helper)
            wait_arm(helper);
        helper_judge();
    }
    for (int i = 0; i < SETTLING_ROUNDS; i++) {
        if (round_over_pollers() == 0)
            return;
        progress_completed();
    }
    progress_nudge();
}

void progress_assist(struct wait *w)
{
    if ((leader && leader != w) || (leader == w && !armed && followers > 0)) {
        assist_rest(w);
        return;
    }
    leader = w;
    bool moves = round_over_pollers(), polls = progress_rounds() != w->hands + 1;
    w->hands = progress_rounds();
    if (!polls || w->yields > ASSIST_CALLED_NAPS)
        w->yields = polls ? ASSIST_CALLED_NAPS : 0;
    if (moves) {
        wait_reset(w);
        progress_completed();
        engine_breathe();
    } else if (polls) {
        assist_rest(w);
    } else if (w->phase < ARMED) {
        w->since = clock_ns();
        wait_begin_sleep(w);
    } else {
        wait_sleep(w);
    }
}

/* ---- opening and closing ---- */

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
    helper_is_spared = false;
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
    bell = &own_bell;
    partner_open(NULL);
    npollers = 0;
}
