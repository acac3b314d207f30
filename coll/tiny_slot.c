/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared slots, the side on which time does not matter: waiting longer than a few looks, waiting
 * for one's turn, and finding out that two ranks are in different collectives.
 *
 * Who has to wait longer than a few looks (tiny_rest) does so politely (runtime/progress.h).
 */
#include "coll/tiny_slot.h"

#include "coll/tell.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "mpi.h"

#include <string.h>

void tiny_tell(const void *what, struct record_wait *wait)
{
    const struct round *round = what;
    const struct tiny *t = round->tiny;
    for (int r = round->first; r <= round->last; r++)
        if (r != t->me && !slot_says(slot_of(t, r, round->sequence), round->sequence))
            part_tell(wait, r, t->member[r].world);
}

/* The slots of a communicator, as sleepers name them; never 0. */
static uint64_t slots_name(const struct tiny *t)
{
    return t->channel->context * 2 + 1;
}

/* What wakes a rank that sleeps until another one writes its slot of this operation: where it hears
 * everybody now, the last one to write will do. */
static struct awaited awaited(const struct round *round, int rank)
{
    const struct tiny *t = round->tiny;
    bool all = round->sequence == t->sequence && round->first == 0 && round->last == t->n - 1;
    return (struct awaited){ slots_name(t), all ? AWAITS_ALL : rank };
}

/* Have all written this one, as of now?  Of two that write at the same time and ask afterwards, at
 * least one sees both: they fence. */
static bool all_say(const struct tiny *t, uint64_t s)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (int r = 0; r < t->n; r++)
        if (!slot_says(slot_of(t, r, s), s))
            return false;
    return true;
}

/* Tracks and persistent requests have slots of their own, which pollers look at. */
static bool is_of_blocking(const struct tiny *t)
{
    return t->block && t->tracks > 0;
}

/* Sixteen ranks that sleep until the last one has come to a barrier are woken once each, not by each
 * of those who come.  A sleeper says what it waits for, arms its doorbell, looks once more; so
 * whoever finds it asleep and lets it sleep, since somebody is missing, is seen by the one that is. */
void tiny_wake(const struct round *round)
{
    const struct tiny *t = round->tiny;
    enum { UNKNOWN, MISSING, ALL } heard = UNKNOWN;
    for (int r = 0; r < t->n; r++) {
        struct doorbell *bell = t->member[r].bell;
        if (r == t->me || !doorbell_is_down(bell))
            continue;
        struct awaited its = doorbell_awaited(bell);
        if (its.where == AWAITS_NO_CALL && is_of_blocking(t))
            continue;
        bool waits_here = its.where == slots_name(t);
        if (waits_here && its.who == AWAITS_ALL && heard == UNKNOWN)
            heard = all_say(t, round->sequence) ? ALL : MISSING;
        if (!waits_here || its.who == t->me || (its.who == AWAITS_ALL && heard == ALL))
            doorbell_wake(bell);
    }
}

void tiny_pass(const struct round *round)
{
    const struct tiny *t = round->tiny;
    bool last = true;
    for (int r = 0; r < t->n && last; r++)
        last = r == t->me || slot_says(slot_of(t, r, round->sequence), round->sequence);
    for (int r = 0; r < t->n; r++) {
        struct doorbell *bell = t->member[r].bell;
        if (r == t->me || !doorbell_is_down(bell))
            continue;
        struct awaited its = doorbell_awaited(bell);
        if (its.where == slots_name(t) && (its.who == t->me || (its.who == AWAITS_ALL && last)))
            doorbell_pass(bell);
    }
}

int tiny_wait(const struct round *round, int rank)
{
    const struct slot *slot = slot_of(round->tiny, rank, round->sequence);
    struct wait w = WAIT_FOR(tiny_tell, round);
    w.awaited = awaited(round, rank);
    int error = 0;
    while (!slot_says(slot, round->sequence) && !error) {
        wait_idle(&w);
        error = channel_check(round->tiny->channel);
    }
    wait_end(&w);
    return slot_says(slot, round->sequence) ? 0 : error;
}

/* The operation that everybody has to have begun before s may: see await_begun.  Then three quarters of
 * the slots are free, or half of them where ranks exceed CPUs: there it may be long until the others
 * have their turn. */
static uint64_t turn_of(const struct tiny *t, uint64_t s)
{
    uint64_t ahead = t->depth / (t->crowded || t->depth < 4 ? 2 : 4);
    return s > ahead ? s - ahead : 0;
}

/* Who has to be through with what operation s writes over. */
static int readers_before(const struct tiny *t, uint64_t s, bool everywhere)
{
    return everywhere ? EVERYBODY : t->readers[s & (t->depth - 1)];
}

/* That operation, and who has to have begun it: the ranks first to last. */
static struct round turn_before(const struct tiny *t, uint64_t s, bool everywhere)
{
    int who = readers_before(t, s, everywhere);
    struct round earlier = { .tiny = (struct tiny *)t, .last = t->n - 1 };
    earlier.sequence = turn_of(t, s);
    if (who != EVERYBODY)
        earlier.first = earlier.last = who;
    return earlier;
}

bool tiny_may_begin(const struct tiny *t, const struct call *call)
{
    uint64_t s = t->sequence + 1;
    struct round earlier = turn_before(t, s, tiny_writes_everywhere(t, call));
    if (t->known + t->depth > s || earlier.first == NOBODY)
        return true;
    for (int r = earlier.first; r <= earlier.last; r++)
        if (r != t->me && !slot_says(slot_of(t, r, earlier.sequence), earlier.sequence))
            return false;
    return true;
}

void tiny_turn_tell(const struct tiny *t, const struct call *call, struct record_wait *wait)
{
    bool everywhere = tiny_writes_everywhere(t, call);
    struct round earlier = turn_before(t, t->sequence + 1, everywhere);
    if (earlier.first != NOBODY)
        tiny_tell(&earlier, wait);
}

/* The last operation from `least`, which the rank has begun, to `most`, which it has not, that it has
 * begun. */
static uint64_t last_begun(const struct tiny *t, int rank, uint64_t least, uint64_t most)
{
    while (most - least > 1) {
        uint64_t middle = least + (most - least) / 2;
        if (slot_says(slot_of(t, rank, middle), middle))
            least = middle;
        else
            most = middle;
    }
    return least;
}

/* Is what was just read of a slot still of this operation?  A rank that writes the slot again has shown
 * the one before it, `depth` operations later: who has read a word of the new ones sees that, by this fence and that
 * of tiny_publish, which the writer has passed in between. */
static bool is_still(const struct tiny *t, int rank, uint64_t s)
{
    atomic_thread_fence(memory_order_acquire);
    return !slot_says(slot_of(t, rank, s - 1), s - 1 + t->depth);
}

/* Wait until a rank has begun `earlier`, and look what it has said there.  Where ranks exceed CPUs
 * it will not move meanwhile, and `least` does. */
static int look_back(struct round *earlier, int rank, uint64_t least)
{
    struct tiny *t = earlier->tiny;
    const struct slot *slot = slot_of(t, rank, earlier->sequence);
    bool says = slot_says(slot, earlier->sequence);
    if (t->crowded && !says && slot_says(slot_of(t, rank, least), least)) {
        t->member[rank].begun = last_begun(t, rank, least, earlier->sequence);
        return 0;
    }
    int error = says ? 0 : tiny_wait(earlier, rank);
    if (error)
        return error;
    t->member[rank].begun = earlier->sequence;
    const struct slot seen = { .said = slot_said(slot), .before = slot_before(slot) };
    bool same = slot_said(&seen) == earlier->said && slot_before(&seen) == earlier->before;
    if (!same && is_still(t, rank, earlier->sequence))
        tiny_mismatch(earlier, rank, &seen);
    return 0;
}

/* Wait until these ranks have begun operation `least`, which is over s - depth: it would do.  But
 * whoever has to wait here runs ahead, and others are slow: many slots at once (turn_of), so that
 * it is seldom looked at what they write. */
static int await_begun(struct round *round, int who, uint64_t least)
{
    struct tiny *t = round->tiny;
    struct round earlier = *round;
    uint64_t half = turn_of(t, round->sequence);
    earlier.sequence = least > half ? least : half;
    earlier.said = slot_said(slot_of(t, t->me, earlier.sequence));
    earlier.before = slot_before(slot_of(t, t->me, earlier.sequence));
    earlier.first = who == EVERYBODY ? 0 : who;
    earlier.last = who == EVERYBODY ? t->n - 1 : who;
    uint64_t known = earlier.sequence;
    for (int r = earlier.first; r <= earlier.last; r++) {
        int error =
            r == t->me || t->member[r].begun >= least ? 0 : look_back(&earlier, r, least);
        if (error)
            return error;
        if (r != t->me && t->member[r].begun < known)
            known = t->member[r].begun;
    }
    if ((who == EVERYBODY || t->n == 2) && known > t->known)
        t->known = known;
    round->error = earlier.error;
    return 0;
}

int tiny_turn(struct round *round)
{
    struct tiny *t = round->tiny;
    int who = readers_before(t, round->sequence, round->everywhere);
    uint64_t least = round->sequence - t->depth + 1;
    if (who == NOBODY || (who != EVERYBODY && t->member[who].begun >= least))
        return 0;
    return await_begun(round, who, least);
}

/* The half that is full was written after the other one, so by operations before this: nobody has
 * to wait for one that waits here. */
int tiny_place(struct round *round)
{
    enum { ALIGNED = 64 };
    struct tiny *t = round->tiny;
    size_t half = t->long_bytes / 2, length = (round->length + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (t->long_at + length > half) {
        uint64_t last = t->long_last[!t->long_half];
        int error = last >= t->known ? await_begun(round, EVERYBODY, last + 1) : 0;
        if (error)
            return error;
        t->long_half = !t->long_half;
        t->long_at = 0;
    }
    uint64_t at = t->long_half * half + t->long_at;
    round->payload = t->longs + (size_t)t->me * t->long_bytes + at;
    memcpy(round->mine->payload, &at, sizeof at);
    t->long_at += length;
    t->long_last[t->long_half] = round->sequence;
    return 0;
}

/* Where have they parted?  In this collective or in the one before it; or one of them is in a later one,
 * having called something in this that went another way. */
static void find_parting(const struct round *round, const struct slot *slot, uint64_t *mine,
                         uint64_t *theirs)
{
    const struct team *team = team_of(round->tiny->channel);
    uint64_t said = slot_said(slot), before = slot_before(slot);
    int ahead = numbers_ahead((uint32_t)(said >> 32), (uint32_t)(round->said >> 32));
    *mine = round->said;
    *theirs = said;
    if (!words_differ(*mine, *theirs)) {
        *mine = round->before;
        *theirs = before;
    } else if (ahead == 1 && words_differ(*mine, before)) {
        *theirs = before;
    } else if (ahead < 0) {
        uint64_t once = said_in(team, (uint32_t)(*theirs >> 32));
        *mine = once && words_differ(once, *theirs) ? once : *mine;
    }
}

void tiny_mismatch(struct round *round, int rank, const struct slot *slot)
{
    struct tiny *t = round->tiny;
    uint64_t mine, theirs;
    find_parting(round, slot, &mine, &theirs);
    if (round->error || !words_differ(mine, theirs))
        return;
    round->error = fail_keep(
        t, mismatch_fail(&(struct mismatch){ .context = t->channel->context,
                                             .me = t->me,
                                             .peer = rank,
                                             .my_signature = (uint32_t)mine,
                                             .their_signature = (uint32_t)theirs,
                                             .my_number = (uint32_t)(mine >> 32),
                                             .their_number = (uint32_t)(theirs >> 32) }));
}

/* What one rank has said in the last operation, if it is there and no later one has taken its slot. */
static bool last_said(const struct tiny *t, int rank, struct slot *seen)
{
    const struct slot *slot = slot_of(t, rank, t->sequence);
    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != t->sequence)
        return false;
    atomic_init(&seen->said, slot_said(slot));
    atomic_init(&seen->before, slot_before(slot));
    return is_still(t, rank, t->sequence);
}

void tiny_stray_say(struct tiny *t)
{
    struct slot mine, seen;
    if (!t || t->sequence == 0 || !last_said(t, t->me, &mine))
        return;
    struct round last = { .tiny = t, .sequence = t->sequence };
    last.said = slot_said(&mine);
    last.before = slot_before(&mine);
    for (int r = 0; r < t->n && !last.error; r++)
        if (r != t->me && last_said(t, r, &seen))
            tiny_mismatch(&last, r, &seen);
    if (last.error)
        say("%s", fail_text());
}
