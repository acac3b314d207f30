/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Taking packets out of the rings of one engine, by a thread that has it alone (pml/solo.c).  Nothing but
 * these lanes changes here.  A packet that is no short and plain message stays where it is.
 */
#include "pml/shm/lane_in.h"

#include <assert.h>

static bool lane_take_solo(struct lane *lane)
{
    const struct slot *slot = lane_slot_in(lane, lane->next);
    char row[INLINE_BYTES];
    const char *payload = slot->body;
    if (slot->kind != WIRE_EAGER || slot->flags != 0 || slot->place >= PLACE_CHUNK)
        return false;
    uint32_t more = slot->place;
    assert(more <= MOST_MORE_SLOTS);
    if (more > 0) {
        lane_copy_row(lane, row, slot->bytes);
        payload = row;
    }
    if (!pml_arrived_solo(lane->peer, &slot->head, payload, slot->bytes))
        return false;
    lane_learn(lane, slot->consumed);
    lane->next += 1 + more;
    lane->more = more;
    lane->plain = true;
    return true;
}

static bool lane_drain_solo(struct lane *lane, int *packets)
{
    int taken = 0;
    bool may = true;
    while (may && taken < PACKETS_PER_POLL && lane_goes_on(lane)) {
        may = lane_take_solo(lane);
        taken += may;
    }
    if (may && taken < PACKETS_PER_POLL)
        lane->told = lane->head;
    lane_tell(lane, false);
    *packets += taken;
    return may;
}

bool lanes_poll_solo(struct lane *first, int *packets)
{
    for (struct lane *lane = first; lane; lane = lane->next_active)
        if (!lane_is_ready(lane))
            lane_expect(lane);
        else if (!lane_drain_solo(lane, packets))
            return false;
    return true;
}
