/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending a packet through shared memory: one line for the shortest, a row of slots, a chunk beyond
 * (goes_by_row says when).  See lane.h for the form.
 *
 * Costs, two processors that share a cache: 10 ns to write a slot, and what the line takes to
 * travel; a chunk of 16 KiB 0.3 us on each side, overlapped when a message has several.
 */
#include "pml/shm/put.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/copy.h"
#include "runtime/partner.h"

#include <string.h>

/* Windows of 8 bytes, no common cache: 8 at a time take 1.1 of the time, 32 take 1.7; of 128 bytes 8 take 1.5.
 * Ping-pongs take 0.98 with 8. */
enum { AHEAD = 8, OWN_SLOTS = 16 };

/* What goes by a row of slots behind others in any case. */
enum { ROW_BEHIND = 128 };

_Static_assert(
    (int)FILL_LINE == (int)COPY_LINE && CHUNK_PART % FILL_LINE == 0,
    "pieces share no line, and those past the caches have room for all of the last one");

/* Is there room for so many slots? */
static inline bool lane_has_room(struct lane *lane, uint32_t slots)
{
    if (__builtin_expect(lane->head + slots - lane->freed <= lane->last + 1, 1))
        return true;
    lane_refresh(lane);
    return lane->head + slots - lane->freed <= lane->last + 1;
}

/* Does a message that is longer than ROW_BEHIND go by a row behind others?  Windows of 512 bytes near take 0.8 of the
 * time of those in chunks, of 1 KiB 0.7.  But rows fill the ring, and where messages go both ways nobody reads
 * meanwhile; so half of it is left to shorter ones and chunks. */
static __attribute__((noinline)) bool row_behind(struct lane *lane, size_t bytes)
{
    if (bytes > ROW_BYTES || boot.crowded || !fill_lets_rows(&lane->fill, bytes))
        return false;
    uint32_t slots = 2 + (uint32_t)bytes / MORE_BODY, most = (lane->last + 1) / 2;
    if (lane->head + slots - lane->freed > most)
        lane_refresh(lane);
    return lane->head + slots - lane->freed <= most;
}

static inline bool goes_by_row(struct lane *lane, size_t bytes)
{
    if (!lane_follows(lane))
        return bytes <= ROW_ALONE;
    return bytes <= ROW_BEHIND || row_behind(lane, bytes);
}

/* The first packet to a peer: tell it to look at our ring from now on. */
static __attribute__((noinline)) void lane_knock(struct lane *lane)
{
    struct area *area = (struct area *)boot_area(lane->local);
    atomic_fetch_or(&area->knocked[lane->ring / 64], (uint64_t)1 << lane->ring % 64);
    atomic_fetch_add(&area->knocks, 1);
    lane->knocked = true;
}

/* ---- header ---- */

/* Must the slot carry `request` and `total`?  `bytes` is what the packet will carry. */
static inline bool header_is_full(const struct wire *header, size_t bytes)
{
    if (header->kind == WIRE_EAGER)
        return header->flags & WIRE_SYNC || bytes < header->total;
    return header->kind != WIRE_MORE;
}

static inline void slot_fill(struct slot *slot, const struct lane *lane,
                             const struct wire *header, bool full)
{
    slot->kind = header->kind;
    slot->flags = header->flags | (full ? SLOT_FULL : 0);
    slot->consumed = (uint16_t)lane->next;
    slot->head.context = header->context;
    slot->head.source = header->source;
    slot->head.tag = header->tag;
    slot->head.step = header->step;
    slot->head.signature = header->signature;
    if (full) {
        memcpy(slot->body, &header->request, 4);
        memcpy(slot->body + 4, &header->total, 8);
    }
}

/* Take the lines that will be written next from the receiver's cache, all at the same time.  A store waits
 * until its line is ours, and later stores behind it; so a line per message would cost each message the
 * way to the receiver and back, while a row of stores with nothing in between has its lines come at once.
 * prefetchw does not do it: the lines are here, to be read.  What is stored does not matter: these
 * slots are free, and their words stay as they are. */
static __attribute__((noinline)) void lane_own(struct lane *lane)
{
    uint32_t end = lane->head + OWN_SLOTS, free_end = lane->freed + lane->last + 1;
    if ((int32_t)(free_end - end) < 0)
        end = free_end;
    for (uint32_t position = lane->head; position != end; position++)
        *(volatile uint8_t *)&lane_slot(lane, position)->kind = 0;
    lane->owned = end;
}

static inline void lane_own_next(struct lane *lane)
{
    if (__builtin_expect((int32_t)(lane->head - lane->owned) >= 0, 0))
        lane_own(lane);
}

/* Where copying leaves time for it a line at a time is enough. */
static inline void lane_want_next(const struct lane *lane)
{
    cpu_want(lane_slot(lane, lane->head + AHEAD));
}

static inline void lane_publish(struct lane *lane, struct slot *slot, uint32_t slots)
{
    slot_publish(lane, slot, slots);
    if (__builtin_expect(!lane->knocked, 0))
        lane_knock(lane);
    doorbell_ring(lane->bell);
}

/* ---- payload ---- */

/* What does not fit the first slot, from flat memory. */
static void more_fill(struct lane *lane, const char *from, size_t bytes)
{
    uint32_t position = lane->head + 1;
    for (; bytes > MORE_BODY; bytes -= MORE_BODY, from += MORE_BODY, position++) {
        struct slot_more *more = (struct slot_more *)lane_slot(lane, position);
        atomic_store_explicit(&more->zero, 0, memory_order_relaxed);
        memcpy(more->body, from, MORE_BODY);
    }
    struct slot_more *more = (struct slot_more *)lane_slot(lane, position);
    atomic_store_explicit(&more->zero, 0, memory_order_relaxed);
    copy_short(more->body, from, bytes);
}

/* The next message is perhaps as long as this one: fetch the lines of its payload while there is
 * nothing to do.  Not the line of its header, which the receiver polls. */
static inline void lane_prepare(struct lane *lane, uint32_t more)
{
    if (lane->head + more - lane->freed > lane->last)
        return;
    for (uint32_t i = 1; i <= more; i++)
        cpu_want(lane_slot(lane, lane->head + i));
}

/* After RTS and an address the peer reads for a while, and we had better not spin. */
static inline void lane_partner(const struct lane *lane, const struct wire *header)
{
    if (header->kind == WIRE_RTS)
        partner_copies(lane->bell);
    else
        partner_is(lane->bell);
}

/* Header and payload in 1 + more slots. */
static inline long put_slots(struct lane *lane, const struct wire *header, const char *from,
                             size_t bytes)
{
    bool full = header_is_full(header, bytes);
    size_t skip = full ? SLOT_EXTRA : 0, room = SLOT_BODY - skip;
    uint32_t more = bytes <= room ? 0 : (uint32_t)((bytes - room + MORE_BODY - 1) / MORE_BODY);
    if (!lane_has_room(lane, 1 + more))
        return -1;
    /* The first slot last and at one go: the receiver polls that line, and would take it away
     * between two stores that are far apart. */
    if (more)
        more_fill(lane, from + room, bytes - room);
    struct slot *slot = lane_slot(lane, lane->head);
    slot_fill(slot, lane, header, full);
    slot->bytes = (uint16_t)bytes;
    slot->place = (uint16_t)more;
    copy_short(slot->body + skip, from, bytes < room ? bytes : room);
    bool follows = lane_follows(lane);
    lane_publish(lane, slot, 1 + more);
    if (follows)
        lane_own_next(lane);
    else
        lane_want_next(lane);
    if (more > 1)
        lane_prepare(lane, more);
    return (long)bytes;
}

static long put_row(struct lane *lane, const struct wire *header, const char *from,
                    size_t bytes)
{
    long put = put_slots(lane, header, from, bytes);
    if (put < 0)
        return put;
    if (bytes >= FILL_LEAST)
        fill_row(&lane->fill);
    lane_partner(lane, header);
    return put;
}

static __attribute__((noinline)) long put_packed(struct lane *lane, const struct wire *header,
                                                 const struct buffer *data, size_t skip,
                                                 size_t bytes)
{
    char flat[INLINE_BYTES];
    buffer_pack(data, skip, flat, bytes);
    return put_row(lane, header, flat, bytes);
}

static inline long put_inline(struct lane *lane, const struct wire *header,
                              const struct buffer *data, size_t skip, size_t bytes)
{
    const char *flat = bytes == 0 ? "" : buffer_flat(data);
    if (__builtin_expect(flat != NULL, 1))
        return put_row(lane, header, flat + skip, bytes);
    return put_packed(lane, header, data, skip, bytes);
}

/* How long a piece: short messages are cut finer, so that both sides copy at once; unless only one
 * of them has a processor. */
_Static_assert((int)SHORT_BYTES <= CHUNK_BYTES / 2, "a short message is one piece");
static size_t piece_bytes(size_t bytes)
{
    size_t most = bytes <= 32768 && !boot.crowded ? CHUNK_BYTES / 2 : CHUNK_BYTES;
    return bytes < most ? bytes : most;
}

/* The same as in lane_own: the lines come all at the same time. */
static void chunk_own(char *to, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += FILL_LINE)
        *(volatile char *)(to + at) = 0;
}

/* Stores that wait for their lines count. */
static uint64_t stored_ns(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return clock_ns();
}

/* Memory that is new: a page fault would pass for 100 lines that are slow. */
static void chunk_touch(char *to, size_t bytes)
{
    enum { PAGE = 4096 };
    for (size_t at = 0; at < bytes; at += PAGE)
        *(volatile char *)(to + at) = 0;
}

static __attribute__((noinline)) void chunk_time(struct fill *fill, char *to, size_t bytes)
{
    chunk_touch(to, bytes);
    uint64_t before = stored_ns(), began = stored_ns(), looking = began - before;
    chunk_own(to, bytes);
    uint64_t ns = stored_ns() - began;
    fill_took(fill, bytes, ns > looking ? ns - looking : 0);
}

/* A piece of data with gaps without them, as only whole lines go past the caches. */
static const char *packed(const struct buffer *data, size_t skip, size_t bytes)
{
    static _Alignas(FILL_LINE) char flat[CHUNK_BYTES];
    buffer_pack(data, skip, flat, bytes);
    return flat;
}

/* Where ranks share processors lines are not taken first: the copy finds more of them in caches. */
static enum fill_how how_to_fill(struct lane *lane, size_t bytes)
{
    if (boot.crowded && lane->chunk_here)
        return FILL_COPY;
    return fill_next(&lane->fill, bytes, lane_follows(lane),
                     boot.crowded || lane->chunk_fetched);
}

static void chunk_fill(struct lane *lane, unsigned place, const struct buffer *data,
                       size_t skip, size_t bytes)
{
    const char *flat = buffer_flat(data);
    char *to = area_place(boot_area(boot.local_rank), place);
    enum fill_how how = how_to_fill(lane, bytes);
    if (how == FILL_PAST) {
        copy_streamed_lines(to, flat ? flat + skip : packed(data, skip, bytes), bytes);
        return;
    }
    if (how == FILL_OWN)
        chunk_own(to, bytes);
    else if (how == FILL_TIMED)
        chunk_time(&lane->fill, to, bytes);
    if (flat)
        memcpy(to, flat + skip, bytes);
    else
        buffer_pack(data, skip, to, bytes);
}

static __attribute__((noinline)) long put_chunk(struct lane *lane, const struct wire *header,
                                                const struct buffer *data, size_t skip,
                                                size_t bytes)
{
    if (!lane_has_room(lane, 1))
        return -1;
    bytes = piece_bytes(bytes);
    int place = chunk_take(lane, bytes);
    if (place < 0 && bytes <= ROW_BYTES)
        return put_inline(lane, header, data, skip, bytes);
    if (place < 0 && (lane->first_chunk != lane->last_chunk || header->bytes > 0))
        return -1; /* this peer's own chunks will come back, or it would be less than all */
    if (place < 0) /* peers that do not read sit on all of them: small pieces find their way */
        return put_inline(lane, header, data, skip, ROW_BYTES);
    chunk_fill(lane, (unsigned)place, data, skip, bytes);
    struct slot *slot = lane_slot(lane, lane->head);
    slot_fill(slot, lane, header, header_is_full(header, bytes));
    slot->bytes = (uint16_t)bytes;
    slot->place = (uint16_t)(PLACE_CHUNK + place);
    bool follows = lane_follows(lane), alone = !follows && header->kind == WIRE_EAGER;
    lane_publish(lane, slot, 1);
    lane_want_next(lane);
    if (bytes <= (alone ? partner_most_alone : partner_most))
        partner_is(lane->bell);
    else
        partner_copies(lane->bell);
    chunk_sent(lane, place, bytes, !follows || bytes > ROW_BYTES);
    return (long)bytes;
}

long lane_put(struct peer *peer, const struct wire *header, const struct buffer *data,
              size_t skip, size_t bytes)
{
    struct lane *lane = peer->lane;
    if (goes_by_row(lane, bytes))
        return put_inline(lane, header, data, skip, bytes);
    return put_chunk(lane, header, data, skip, bytes);
}

/* ---- a message in one slot ---- */

static __attribute__((noinline)) bool lane_wake(struct lane *lane)
{
    doorbell_wake(lane->bell);
    return true;
}

static inline bool put_one(struct lane *lane, const struct channel *channel,
                           const struct envelope *to, const char *from, size_t bytes)
{
    if (!lane->knocked || lane->head - lane->freed > lane->last)
        return false;
    struct wire_short head = wire_head(channel, to);
    lane_write(lane, &head, from, bytes);
    lane_own_next(lane);
    return true;
}

bool lane_put_row(struct lane *lane, const struct wire_short *head, const char *from,
                  size_t bytes)
{
    if (!goes_by_row(lane, bytes))
        return false;
    struct wire header = wire_of(head, bytes);
    return put_row(lane, &header, from, bytes) >= 0;
}

void lane_follow(struct lane *lane)
{
    lane_own_next(lane);
    doorbell_ring(lane->bell);
}

/* What is rare comes first or last, so that no register has to be saved for it. */
bool lane_put_short(struct peer *peer, const struct channel *channel, const struct envelope *to,
                    const char *from, size_t bytes)
{
    struct lane *lane = peer->lane;
    if (!put_one(lane, channel, to, from, bytes))
        return false;
    partner_is(lane->bell);
    if (__builtin_expect(doorbell_sleeps(lane->bell), 0))
        return lane_wake(lane);
    return true;
}

static __attribute__((noinline)) bool put_row_solo(struct lane *lane,
                                                   const struct channel *channel,
                                                   const struct envelope *to, const char *from,
                                                   size_t bytes)
{
    struct wire_short head = wire_head(channel, to);
    struct wire header = wire_of(&head, bytes);
    return put_slots(lane, &header, from, bytes) >= 0;
}

/* Nothing but the lane changes. */
bool lane_put_solo(struct peer *peer, const struct channel *channel, const struct envelope *to,
                   const char *from, size_t bytes)
{
    struct lane *lane = peer->lane;
    if (bytes > SLOT_BODY || !put_one(lane, channel, to, from, bytes))
        return put_row_solo(lane, channel, to, from, bytes);
    doorbell_ring(lane->bell);
    return true;
}
