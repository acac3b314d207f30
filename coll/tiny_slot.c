/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared slots, the side on which time does not matter: waiting longer than a few looks, waiting
 * for one's turn, and finding out that two ranks are in different collectives.
 *
 * Looks without a pause answer sooner, by a quarter of a round trip where the other rank is
 * about to come; whoever has to wait longer than that does so politely (runtime/progress.h).
 */
#include "coll/tiny_slot.h"

#include "coll/tell.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "mpi.h"

void tiny_tell(const void *what, struct record_wait *wait)
{
    const struct round *round = what;
    const struct tiny *t = round->tiny;
    for (int r = round->first; r <= round->last; r++)
        if (r != t->me && !slot_says(slot_of(t, r, round->sequence), round->sequence))
            part_tell(wait, r, t->member[r].world);
}

int tiny_wait(const struct round *round, const struct slot *slot)
{
    struct wait w = WAIT_FOR(tiny_tell, round);
    int error = 0;
    while (!slot_says(slot, round->sequence) && !error) {
        wait_idle(&w);
        error = channel_check(round->tiny->channel);
    }
    wait_end(&w);
    return slot_says(slot, round->sequence) ? 0 : error;
}

/* The operation that everybody has to have begun before s may: see tiny_turn. */
static uint64_t turn_of(const struct tiny *t, uint64_t s)
{
    return s - t->depth / 2;
}

bool tiny_may_begin(const struct tiny *t)
{
    uint64_t s = t->sequence + 1, earlier = turn_of(t, s);
    if (t->known + t->depth > s)
        return true;
    for (int r = 0; r < t->n; r++)
        if (r != t->me && !slot_says(slot_of(t, r, earlier), earlier))
            return false;
    return true;
}

void tiny_turn_tell(const struct tiny *t, struct record_wait *wait)
{
    struct round earlier = { .tiny = (struct tiny *)t, .last = t->n - 1 };
    earlier.sequence = turn_of(t, t->sequence + 1);
    tiny_tell(&earlier, wait);
}

/* The one after s - depth would do.  But whoever has to wait here sends only, and others are slow:
 * half of the slots at once, so that it is seldom looked at what they write. */
int tiny_turn(struct round *round)
{
    struct tiny *t = round->tiny;
    struct round earlier = *round;
    earlier.sequence = turn_of(t, round->sequence);
    earlier.said = slot_of(t, t->me, earlier.sequence)->said;
    earlier.before = slot_of(t, t->me, earlier.sequence)->before;
    for (int r = 0; r < t->n; r++) {
        const struct slot *slot = slot_of(t, r, earlier.sequence);
        int error =
            r == t->me || slot_says(slot, earlier.sequence) ? 0 : tiny_wait(&earlier, slot);
        if (error)
            return error;
        bool same = slot->said == earlier.said && slot->before == earlier.before;
        if (!same && atomic_load(&slot->sequence) == earlier.sequence)
            tiny_mismatch(&earlier, r, slot);
    }
    t->known = earlier.sequence;
    round->error = earlier.error;
    return 0;
}

void tiny_mismatch(struct round *round, int rank, const struct slot *slot)
{
    struct tiny *t = round->tiny;
    bool now = words_differ(slot->said, round->said);
    uint64_t mine = now ? round->said : round->before;
    uint64_t theirs = now ? slot->said : slot->before;
    uint64_t sequence = now ? round->sequence : round->sequence - 1;
    if (round->error || sequence <= t->blamed || !words_differ(mine, theirs))
        return;
    t->blamed = sequence;
    round->error = fail_keep(
        t, mismatch_fail(&(struct mismatch){ .context = t->channel->context,
                                             .me = t->me,
                                             .peer = rank,
                                             .my_signature = (uint32_t)mine,
                                             .their_signature = (uint32_t)theirs,
                                             .my_number = (uint32_t)(mine >> 32),
                                             .their_number = (uint32_t)(theirs >> 32) }));
}
