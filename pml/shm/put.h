/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing a short message into the next slot, without a call: for put.c and quick.c.
 */
#ifndef XMPI_SHM_PUT_H
#define XMPI_SHM_PUT_H

#include "pml/shm/lane.h"
#include "runtime/clock.h"

static inline void slot_publish(struct lane *lane, struct slot *slot, uint32_t slots)
{
    atomic_store_explicit(&slot->word, slot_word(lane->head), memory_order_release);
    cpu_give(slot); /* messages of 8 bytes that follow each other: 0.9 of the time */
    lane->head += slots;
}

/* A message that is all here, of at most SLOT_BODY bytes, into the next slot, which is free. */
static inline void lane_write(struct lane *lane, const struct wire_short *head,
                              const char *from, size_t bytes)
{
    struct slot *slot = lane_slot(lane, lane->head);
    slot->kind = WIRE_EAGER;
    slot->flags = 0;
    slot->consumed = (uint16_t)lane->next;
    slot->head.context =
        head->context; /* one by one: all at once would wait for them to be stored */
    slot->head.source = head->source;
    slot->head.tag = head->tag;
    slot->head.step = head->step;
    slot->head.signature = head->signature;
    slot->bytes = (uint16_t)bytes;
    slot->place = 0;
    copy_short(slot->body, from, bytes);
    slot_publish(lane, slot, 1);
}

/* The same of one that goes by a row of slots.  False: it does not, or there is no room. */
bool lane_put_row(struct lane *lane, const struct wire_short *head, const char *from,
                  size_t bytes);

/* After lane_write: have the next slots at hand, if these are used up, and wake the peer, if it sleeps. */
void lane_follow(struct lane *lane);

#endif
