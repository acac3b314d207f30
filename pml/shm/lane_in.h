/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking at packets that come in, and what whoever takes them owes the sender: for link.c, and for solo.c,
 * which takes those of one engine.
 */
#ifndef XMPI_SHM_LANE_IN_H
#define XMPI_SHM_LANE_IN_H

#include "pml/shm/lane.h"

#include <string.h>

enum {
    PACKETS_PER_POLL = 32,
    PUBLISH_SLOTS = 16,
    OLD_NEWS = 1 << 15,
    NEAR = 1,
    FAR = 2,
    EXPECT_MORE = 2
};

_Static_assert(1 + MOST_MORE_SLOTS + PUBLISH_SLOTS <= BOOT_LEAST_SLOTS,
               "the longest row has room in any ring whose receiver has read all");

static inline bool slot_has(const struct slot *slot, uint32_t position)
{
    return atomic_load_explicit(&slot->word, memory_order_acquire) == slot_word(position);
}

static inline bool lane_is_ready(const struct lane *lane)
{
    return slot_has(lane_slot_in(lane, lane->next), lane->next);
}

/* The same where packets follow each other.  If the sender is ahead of us, a line that will be read soon is
 * fetched; to fetch one that is not written yet would slow the sender down. */
static inline bool lane_goes_on(const struct lane *lane)
{
    const struct slot *in = lane->in;
    uint32_t next = lane->next, last = lane->in_last;
    if (!slot_has(&in[next & last], next))
        return false;
    if (slot_has(&in[(next + NEAR) & last], next + NEAR))
        __builtin_prefetch(&in[(next + FAR) & last], 0, 3);
    return true;
}

/* What the peer has read of ours, told along with a packet.  An old packet may tell less than we
 * know from its tail.  Its 16 bits say which position they mean only while we have not come too
 * far since its ring was last empty, for it was written after that. */
static inline void lane_learn(struct lane *lane, uint16_t consumed)
{
    uint16_t more = (uint16_t)(consumed - (uint16_t)lane->freed);
    if (more == 0)
        return;
    if (more <= lane->head - lane->freed && lane->head - lane->told < OLD_NEWS)
        lane->freed += more;
}

/* Nothing is here.  The next packet is perhaps like the last one: the line behind its first one is
 * fetched with that, not after it.  Beyond two it costs the sender more than it brings us. */
static inline void lane_expect(const struct lane *lane)
{
    for (uint32_t i = 1; i <= lane->more && lane->more <= EXPECT_MORE; i++)
        __builtin_prefetch(lane_slot_in(lane, lane->next + i), 0, 3);
}

/* Tell the sender how far we have read, now and then. */
static inline void lane_tell(struct lane *lane, bool now)
{
    if (!now && lane->next - lane->published < PUBLISH_SLOTS)
        return;
    lane->published = lane->next;
    atomic_store_explicit(&lane->in_ring->tail, lane->next, memory_order_release);
    doorbell_ring(lane->bell);
}

/* The payload of a row of slots; copies of known lengths need no call. */
static inline void lane_copy_row(const struct lane *lane, char *to, size_t bytes)
{
    memcpy(to, lane_slot_in(lane, lane->next)->body, SLOT_BODY);
    to += SLOT_BODY;
    bytes -= SLOT_BODY;
    uint32_t position = lane->next + 1;
    for (; bytes > MORE_BODY; bytes -= MORE_BODY, to += MORE_BODY, position++)
        memcpy(to, ((const struct slot_more *)lane_slot_in(lane, position))->body, MORE_BODY);
    copy_short(to, ((const struct slot_more *)lane_slot_in(lane, position))->body, bytes);
}

/* Those that are polled, as somebody knocked (link.c). */
extern struct lane **lanes_active __attribute__((visibility("hidden")));
extern int lanes_nactive __attribute__((visibility("hidden")));

/* The link's take.  take.c */
long lanes_take(struct peer *peer, struct wire_short *wanted, char *to, size_t room,
                uint32_t looks);

/* Hand over what has come in these lanes, as far as it is plain and short.  False: something else comes
 * next.  solo.c */
bool lanes_poll_solo(struct lane *first, int *packets);

#endif
