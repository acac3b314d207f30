/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the library waits.  A wait that finds nothing goes through
 *
 *     spinning   `pause` between polls, no clock, no system call
 *     yielding   sched_yield between polls, the clock now and then
 *     armed      the doorbell's sleeping flag is up; one more look at the world
 *     asleep     a futex with a timeout; after each wake-up a look, and armed again
 *
 * and back to spinning when anything moved.  How long each of them takes: policy.h.
 *
 * Threads: the engine lock is let go of between polls when somebody wants it, and while asleep.
 * Of several threads that wait, one leads, that is, polls; the others follow (runtime/follow.h):
 *
 *     nobody leads            whoever waits leads
 *     the leader is awake     follow
 *     the leader is asleep    lead; it sleeps on, and leads again when this wait is over, or is as long: then
 *                             follow, and sleep
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
#include "runtime/wait.h"
#include "runtime/apart.h"
#include "runtime/clock.h"
#include "runtime/follow.h"
#include "runtime/lock.h"
#include "runtime/notice.h"
#include "runtime/partner.h"
#include "runtime/policy.h"
#include "runtime/polling.h"
#include "runtime/record.h"

enum {
    POLLS_PER_PROGRESS = 64, /* of a caller that polls its own flag */
    YIELDS_PER_CLOCK = 8,
    TELLING_SPIN = 100000, /* polls of a wait that only spins: then it is told */
    CONTENDED_POLLS = 50,  /* a poll counts for so many when another thread wanted the lock */
    TOLD_NS = 2000000,     /* from one telling to the next */
    LOOKS_NS = 2000000,    /* of a follower without a flag, at most */
    WATCH_NS = 100000,     /* until the first look of the follower that watches */
    STAYS_MOVES = 8,       /* rounds for others after which a leader gives way to a newcomer, */
    LOOKS_MOVES = 64,      /* and after which it looks whether others call at all */
};

uint64_t progress_idle_ns;
uint32_t progress_naps;
int waits_asleep; /* sleepers and followers */
bool waits_mixed;
int waits_asleep_in[ENGINES];

/* ---- asleep ---- */

void wait_arm(struct wait *w)
{
    bool alone = followers == 0 && !threads_are_many() && !waits_mixed;
    atomic_store_explicit(&waits.bell->who, w->awaited.who, memory_order_relaxed);
    uint64_t where = alone ? w->awaited.where : 0;
    if (w->helps)
        where = waits.sleepers == 1 ? AWAITS_NO_CALL : 0;
    atomic_store_explicit(&waits.bell->where, where, memory_order_relaxed);
    waits.ringers_fence = policy_all_fence();
    w->rings = doorbell_arm(waits.bell, !waits.ringers_fence);
    w->woken = false;
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
        if (--waits.sleepers == 0)
            atomic_store_explicit(&waits.bell->sleeping, 0, memory_order_relaxed);
    }
    if (waits.armed == w)
        waits.armed = NULL;
    if (waits.helper == w)
        waits.helper = NULL;
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

/* Let others know what it waits for: once, and again when something has moved, but not all the time, as of very many
 * requests that takes long. */
static void wait_tell(struct wait *w)
{
    polling_over();
    if (w->told)
        return;
    uint64_t now = clock_ns();
    if (w->told_at && now - w->told_at < TOLD_NS)
        return;
    record_wait_tell(&w->slot, &w->call, w->tell, w->what);
    w->told = true;
    w->told_at = now;
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
    w->idle = w->tell_at = 0;
}

/* Something moved, or the wait is over. */
void wait_reset(struct wait *w)
{
    if (__builtin_expect(w->slot, 0))
        record_wait_moves(w->slot);
    wait_rewind(w);
}

/* Awake again: perhaps there is work, so arming costs nothing before the next look. */
void wait_sleep(struct wait *w)
{
    if (w->woken) {
        wait_arm(w);
        return;
    }
    if (w->tell) /* what was not told again so soon */
        wait_tell(w);
    uint64_t most_ns = policy_nap_ns(w->phase - ARMED);
    if (notice_is_wanted(NOTICE_SLEEP))
        notice_give(NOTICE_SLEEP, (int64_t[]){ (int64_t)(clock_ns() - w->since) });
    uint32_t rings = w->rings; /* a call that settles may arm for us meanwhile */
    int levels = engine_release();
    partner_leave();
    doorbell_sleep(waits.bell, rings, most_ns);
    partner_tell();
    engine_retake(levels);
    w->moves++;
    progress_naps++;
    if (w->phase < ARMED_MOST)
        w->phase++;
    w->woken = true;
}

void wait_begin_sleep(struct wait *w)
{
    if (w->since == 0)
        w->since = clock_ns();
    if (policy.apart)
        apart_lend_no_more();
    w->phase = ARMED;
    waits.sleepers++;
    count_asleep(w, 1);
    if (waits.leader == w)
        waits.armed = w;
    if (w->helps)
        waits.helper = w;
    wait_arm(w);
    helper_judge();
}

/* ---- behind the leader ---- */

/* Nobody polls: be asleep on the bell, after one look at least, whatever others have alone meanwhile. */
static void wait_take_over(struct wait *w)
{
    waits.leader = w;
    w->since = 0;
    w->solos = engine_solos();
    wait_begin_sleep(w);
}

/* Who has a flag is called when it is set; others look at it themselves now and then. */
static uint64_t rest_ns(const struct wait *w)
{
    uint64_t ns = policy_nap_ns(w->rests);
    return w->flag || ns < LOOKS_NS ? ns : policy.nap_ns > LOOKS_NS ? policy.nap_ns : LOOKS_NS;
}

static void wait_follow(struct wait *w)
{
    wait_rewind(w);
    bool may_spin = followers < waits.cpus - 1,
         watches = !waits.watcher && (!waits.leader || waits.leader != waits.armed);
    bool rests = w->rests > 0;
    struct following how = { .awake = w->moves < STAYS_MOVES && !rests,
                             .pauses = may_spin ? policy.spin : 0,
                             .asleep_ns = rest_ns(w) };
    if (watches) {
        waits.watcher = w;
        how.asleep_ns = WATCH_NS;
        how.watch = &waits.rounds;
    }
    uint64_t since = clock_ns();
    count_asleep(w, 1);
    bool called = follow(w->flag, &how);
    count_asleep(w, -1);
    progress_idle_ns += clock_ns() - since;
    w->rests = called ? 0 : w->rests + (w->rests < ARMED_MOST - ARMED);
    if (watches)
        waits.watcher = NULL;
    if (w->flag && !*w->flag) {
        wait_tell(w);
        if (watches && !called && !waits.leader)
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
    if (w->idle >= w->tell_at + TELLING_SPIN) {
        wait_tell(w);
        w->tell_at = w->idle;
    }
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
    bool leads = waits.leader == w;
    if (policy.apart) {
        apart_lend();
        wait_spin(w);
    } else {
        waits_yield();
    }
    if ((leads && waits.leader != w) || !wait_yields_long(w))
        return;
    wait_tell(w);
    if (waits.leader == w && waits.armed) { /* it can sleep for both */
        waits.leader = waits.armed;
        wait_follow(w);
    } else {
        wait_begin_sleep(w);
    }
}

/* How many polls before it yields: few where more threads wait than have CPUs. */
static uint32_t wait_spins(void)
{
    return followers < waits.cpus || policy.spin < CROWDED_LEAST ? policy.spin : CROWDED_LEAST;
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
        if (waits.leader == w)
            waits.leader = waits.armed == w ? NULL : waits.armed;
        return false;
    }
    if (waits.leader != w) {
        if (waits.leader && waits.leader != waits.armed && waits.leader->moves < STAYS_MOVES)
            return false;
        waits.leader = w;
    } else if (wait_is_too_much(w)) {
        waits.leader = waits.armed == w ? NULL : waits.armed;
        return false;
    }
    return true;
}

/* Nobody has called it, and somebody leads: for this thread as well, awake or asleep on the bell. */
static bool wait_rests(const struct wait *w)
{
    return w->rests > 0 && waits.leader && waits.leader != w;
}

void wait_poll(struct wait *w)
{
    if (threads_are_many() && (wait_rests(w) || !wait_leads(w)))
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
    if (!*flag && !waits.leader) {
        waits.leader = &w;
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
void wait_retire(const struct wait *w)
{
    if (waits.leader == w)
        waits.leader = waits.armed;
    if (followers > 0 && !waits.leader)
        followers_wake_one(!waits.watcher);
}

void wait_end(struct wait *w)
{
    wait_reset(w);
    if (__builtin_expect(w->slot, 0))
        record_wait_over(w->slot);
    record_now = w->call;
    wait_retire(w);
}
