/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest link: the process itself.  Packets wait in a list of malloc'd copies until the
 * next poll, so a message to oneself goes through the same matcher and the same protocol as any
 * other.  EAGER messages and answers are always taken (the eager limit bounds each); pieces of
 * long messages only while few are waiting, so a long message does not become a second copy of
 * itself.
 *
 * A short message of the program arrives in the call that sends it, if none is in the list or just out of
 * it.  Those of collectives, and others that have a step, never do: what their receives set off would happen in
 * the middle of a plan.
 */
#include "pml/peer.h"

#include "mpi.h"
#include "runtime/boot.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE_BYTES = 64 << 10,
    MOST_PIECES = 8,
    SHORT_BYTES = 4096,
    MOST_BYTES = 1 << 30 /* a packet counts its bytes in 32 bits */
};

struct packet {
    struct packet *next;
    struct wire header;
    char payload[];
};

static struct packet *first, **end = &first;
static int pieces; /* DATA packets in the list */
static struct peer *myself;

static int self_open(void)
{
    return 0;
}

static void self_close(void)
{
    while (first) {
        struct packet *gone = first;
        first = gone->next;
        free(gone);
    }
    end = &first;
    pieces = 0;
}

static bool self_reaches(int world)
{
    return world == boot.rank;
}

static int self_connect(struct peer *peer)
{
    myself = peer;
    return 0;
}

static long self_put(struct peer *peer, const struct wire *header, const struct buffer *data,
                     size_t skip, size_t bytes)
{
    (void)peer;
    bool is_piece = header->kind == WIRE_DATA;
    if (is_piece && pieces >= MOST_PIECES)
        return -1;
    if (bytes > PIECE_BYTES && (is_piece || header->kind == WIRE_RTS))
        bytes = PIECE_BYTES;
    if (bytes > MOST_BYTES)
        bytes = MOST_BYTES;
    struct packet *packet = malloc(sizeof *packet + bytes);
    if (!packet)
        return -1;
    packet->next = NULL;
    packet->header = *header;
    packet->header.bytes = (uint32_t)bytes;
    if (bytes)
        buffer_pack(data, skip, packet->payload, bytes);
    *end = packet;
    end = &packet->next;
    pieces += is_piece;
    progress_nudge();
    return (long)bytes;
}

static bool self_put_short(struct peer *peer, const struct channel *channel,
                           const struct envelope *to, const char *from, size_t bytes)
{
    if (first || progress_polling || channel_is_collective(channel) || to->step != 0)
        return false;
    struct wire_short head = wire_head(channel, to);
    if (pml_arrived_short(peer, &head, from, bytes))
        return true;
    struct wire header = wire_of(&head, bytes);
    pml_arrived(peer, &header, from);
    progress_completed();
    return true;
}

/* Packets that were there at the call; what they cause waits for the next one. */
static int self_poll(void)
{
    if (!first)
        return 0;
    struct packet *list = first;
    first = NULL;
    end = &first;
    int events = 0;
    while (list) {
        struct packet *packet = list;
        list = packet->next;
        pieces -= packet->header.kind == WIRE_DATA;
        pml_arrived(myself, &packet->header, packet->payload);
        free(packet);
        events++;
    }
    return events;
}

static bool self_drained(const struct peer *peer)
{
    (void)peer;
    return !first;
}

/* Asked when the pml closes: nobody will receive what is left. */
static bool self_gone(const struct peer *peer)
{
    (void)peer;
    return true;
}

static bool self_reads(struct peer *peer)
{
    (void)peer;
    return true;
}

static size_t self_read(struct peer *peer, void *to, uint64_t from, size_t bytes)
{
    (void)peer;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return bytes;
}

const struct link link_self = {
    .name = "self",
    .short_bytes = SHORT_BYTES,
    .slot_room = SHORT_BYTES + 1,
    .put_short = self_put_short,
    .open = self_open,
    .close = self_close,
    .reaches = self_reaches,
    .connect = self_connect,
    .put = self_put,
    .poll = self_poll,
    .reads = self_reads,
    .read = self_read,
    .drained = self_drained,
    .gone = self_gone,
};
