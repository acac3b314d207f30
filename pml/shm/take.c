/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One message past the matcher: from the slot to the buffer of who waits for it (the link's take).
 */
#include "pml/shm/lane_in.h"

#include "runtime/clock.h"

#include <assert.h>

/* Until a packet is here.  After one that could not be taken a receive is better posted early: chunks,
 * which are fetched by polls, and what is read from the sender's memory. */
static inline bool lane_await(struct lane *lane, uint32_t looks)
{
    if (lane_goes_on(lane))
        return true;
    lane->told = lane->head;
    lane_expect(lane);
    while (lane->plain && --looks > 0) {
        cpu_pause();
        if (lane_is_ready(lane))
            return true;
        lane_expect(lane);
    }
    return false;
}

static inline bool slot_is(const struct slot *slot, const struct wire_short *wanted)
{
    return slot->kind == WIRE_EAGER && slot->flags == 0 && slot->place < PLACE_CHUNK &&
           slot->head.context == wanted->context &&
           (slot->head.source == wanted->source ||
            wanted->source == (uint32_t)PML_ANY_SOURCE) &&
           (slot->head.tag == wanted->tag || wanted->tag == PML_ANY_TAG) &&
           slot->head.step == wanted->step && slot->head.signature == wanted->signature;
}

static __attribute__((noinline)) void row_copy(const struct lane *lane, char *to, size_t bytes)
{
    lane_copy_row(lane, to, bytes);
}

static inline long lane_take_wanted(struct lane *lane, struct wire_short *wanted, char *to,
                                    size_t room)
{
    const struct slot *slot = lane_slot_in(lane, lane->next);
    size_t bytes = slot->bytes;
    if (!slot_is(slot, wanted) || !wire_fits(bytes, room, wanted->signature))
        return -1;
    wanted->source = slot->head.source;
    wanted->tag = slot->head.tag;
    uint32_t more = slot->place;
    assert(more <= MOST_MORE_SLOTS);
    lane_learn(lane, slot->consumed);
    if (__builtin_expect(more == 0, 1))
        copy_short(to, slot->body, bytes);
    else
        row_copy(lane, to, bytes);
    lane->more = more;
    lane->next += 1 + more;
    lane_tell(lane, false);
    return (long)bytes;
}

/* The lanes have turns, so that of senders who always have something each is heard. */
static struct lane *any_ready(void)
{
    static int turn;
    for (int i = 0; i < lanes_nactive; i++) {
        turn = turn + 1 < lanes_nactive ? turn + 1 : 0;
        if (lane_is_ready(lanes_active[turn]))
            return lanes_active[turn];
    }
    return NULL;
}

static struct lane *any_await(uint32_t looks)
{
    struct lane *ready = any_ready();
    bool plain = lanes_nactive > 0;
    for (int i = 0; i < lanes_nactive && !ready; i++) {
        lanes_active[i]->told = lanes_active[i]->head;
        lane_expect(lanes_active[i]);
        plain = plain && lanes_active[i]->plain;
    }
    while (!ready && plain && --looks > 0) {
        cpu_pause();
        ready = any_ready();
        for (int i = 0; i < lanes_nactive && !ready; i++)
            lane_expect(lanes_active[i]);
    }
    return ready;
}

long lanes_take(struct peer *peer, struct wire_short *wanted, char *to, size_t room,
                uint32_t looks)
{
    struct lane *lane = peer ? peer->lane : any_await(looks);
    if (peer ? !lane_await(lane, looks) : !lane)
        return -1;
    return lane_take_wanted(lane, wanted, to, room);
}
