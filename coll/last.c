/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last words of a rank.  Who only sends in a collective may be the first to leave:
 *
 *     rank 0   Scan of 8 bytes: its slot, and it is through      MPI_Finalize
 *     rank 1   Scan of 1 MiB, which goes another way             waits for rank 0, which answers nobody
 *
 * So whoever leaves a communicator, by MPI_Finalize or by freeing it, writes down in its record area what it has
 * said in the last collectives there.  Those of its node who have waited for long read it, as if it had answered
 * (mismatch.c).  It may also have left too early, and never called what they wait for.
 *
 * Costs nothing before a rank leaves.
 */
#include "coll/tell.h"

#include "runtime/boot.h"
#include "runtime/record.h"

#include <string.h>

_Static_assert((int)TEAM_SAID == (int)RECORD_SAID, "all that a team remembers is written down");
_Static_assert(sizeof(struct mismatch) <= RECORD_MET_BYTES, "why it was given up as well");

void last_words(const struct team *team, bool freed)
{
    const struct channel *channel = &team->channel;
    struct record_area *area = record_area;
    if (channel->size < 2 || record_last_read(area, channel->context))
        return;
    struct record_last *last = &area->last[area->lasts++ % RECORD_TEAMS];
    atomic_store_explicit(&last->context, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    last->calls = team->calls & COLL_NUMBERS;
    last->freed = freed;
    memcpy(last->said, team->said, sizeof team->said);
    memset(last->met, 0, sizeof last->met);
    if (channel->broken)
        memcpy(last->met, &team->met, sizeof team->met);
    atomic_store_explicit(&last->context, channel->context, memory_order_release);
}

void last_words_everywhere(void)
{
    for (struct channel *channel = NULL; (channel = channel_next(channel));)
        if (channel->context % 2 == 1) /* a team's (struct ticket), which begins with it */
            last_words((struct team *)channel, false);
}

bool last_words_of(const struct channel *channel, int peer, struct record_last *copy)
{
    int local = boot_local(ranks_world(channel->peers, peer));
    if (local < 0)
        return false;
    const struct record_last *last =
        record_last_read(bootseg_record(boot.segment, boot.first + local), channel->context);
    if (!last)
        return false;
    if (copy)
        memcpy(copy, last, sizeof *copy);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&last->context, memory_order_relaxed) == channel->context;
}

bool last_words_differ(const struct record_last *last, int peer, uint64_t mine,
                       struct mismatch *m)
{
    uint32_t number = (uint32_t)(mine >> 32);
    uint64_t theirs = last->said[number % RECORD_SAID];
    uint32_t ahead = (number - last->calls) & COLL_NUMBERS;
    struct mismatch met;
    memcpy(&met, last->met, sizeof met);
    if (met.context) {
        *m = met;
        return true;
    }
    m->peer = peer;
    m->my_signature = (uint32_t)mine;
    m->my_number = m->their_number = number;
    if (ahead != 0 && ahead < COLL_NUMBERS / 2) {
        m->their_signature = last->freed ? SIGNATURE_FREED : SIGNATURE_FINALIZED;
        return true;
    }
    m->their_signature = (uint32_t)theirs;
    m->their_number = (uint32_t)(theirs >> 32);
    return ((theirs >> 32 ^ number) & COLL_NUMBERS) == 0 && words_differ(mine, theirs);
}
