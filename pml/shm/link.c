/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The link between ranks of one node, through the boot segment.  This file: opening, peers, and
 * polling, which takes packets out of the rings (so does take.c); put.c puts them in, lane.h says how they look.
 *
 * Only rings in use are polled.  A rank that writes into a ring for the first time sets its bit
 * in the receiver's area and counts up `knocks`; the receiver compares that word in every poll
 * and looks for new bits when it has changed.  A poll costs 5 ns and 2 ns per ring in use.
 *
 * The receiver publishes how far it has read (ring->tail) after 16 slots or a chunk, and then
 * rings: the sender may sleep because the ring was full.
 */
#include "pml/shm/lane_in.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/partner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct area *mine;
static uint32_t knocks;    /* of mine->knocks, answered */
static struct lane *lanes; /* of each engine one per rank */
static int nlanes;
struct lane **lanes_active;
int lanes_nactive;
static struct lane *firsts[ENGINES]; /* of those that are active, for each engine */

/* ---- lanes ---- */

static void lane_open(struct lane *lane, int engine, int local)
{
    int sharers = boot.segment->nlocal;
    lane->local = local;
    lane->ring = engine * boot.nlocal + boot.local_rank;
    lane->last = lane->in_last = bootseg_slots(sharers) - 1;
    lane->bell = &boot_record(local)->bell;
    lane->chunks = boot_area(local);
    lane->in_ring = area_ring((char *)mine, engine * boot.nlocal + local, sharers);
    lane->out_ring = area_ring(boot_area(local), lane->ring, sharers);
    lane->in = (struct slot *)lane->in_ring->slots;
    lane->out = (struct slot *)lane->out_ring->slots;
    fill_begin(&lane->fill);
}

static bool shm_reaches(int world)
{
    return boot_local(world) >= 0 && world != boot.rank;
}

static int shm_connect(struct peer *peer)
{
    struct lane *lane = &lanes[peer->engine * boot.nlocal + boot_local(peer->world)];
    lane->peer = peer;
    peer->lane = lane;
    return 0;
}

static void shm_say(void)
{
    size_t all = areas_bytes(boot.nlocal), pair = bootseg_pair_bytes(boot.nlocal);
    size_t one = all / (size_t)boot.nlocal - (size_t)boot.nlocal * pair;
    if (boot.local_rank == 0)
        log_line(
            "shared memory: at most %zu KiB per rank and %.2f KiB per pair, %.1f MiB in all",
            one >> 10, (double)pair / 1024, (double)all / (1 << 20));
}

static int shm_open(void)
{
    if (boot.nlocal > AREA_MOST_RANKS)
        return fail(MPI_ERR_OTHER, "%d ranks on one node; shared memory has room for %d",
                    boot.nlocal, AREA_MOST_RANKS);
    mine = (struct area *)boot_area(boot.local_rank);
    knocks = 0;
    lanes_nactive = 0;
    memset(firsts, 0, sizeof firsts);
    nlanes = bootseg_rings(boot.segment->nlocal) * boot.nlocal;
    lanes = aligned_alloc(64, (size_t)nlanes * sizeof *lanes);
    lanes_active = calloc((size_t)nlanes, sizeof(struct lane *));
    if (!lanes || !lanes_active) {
        free(lanes);
        free(lanes_active);
        return fail(MPI_ERR_NO_MEM, "no memory for %d ranks on this node", boot.nlocal);
    }
    memset(lanes, 0, (size_t)nlanes * sizeof *lanes);
    for (int i = 0; i < nlanes; i++)
        lane_open(&lanes[i], i / boot.nlocal, i % boot.nlocal);
    chunks_open(lanes, nlanes);
    shm_say();
    if (boot.nlocal > 1)
        reach_open();
    return 0;
}

static void shm_close(void)
{
    reach_close();
    free(lanes);
    free(lanes_active);
    lanes = NULL;
    lanes_active = NULL;
    lanes_nactive = 0;
}

static bool shm_gone(const struct peer *peer)
{
    const struct lane *lane = peer->lane;
    struct boot_rank *record = boot_record(lane->local);
    return atomic_load(&record->dead) || atomic_load(&record->state) == BOOT_FINALIZED;
}

static bool shm_left(const struct peer *peer, bool session)
{
    const struct lane *lane = peer->lane;
    return record_says_left(boot_record(lane->local), session) && !lane_is_ready(lane);
}

static void shm_lose(struct peer *peer)
{
    struct lane *lane = peer->lane;
    if (atomic_load(&boot_record(lane->local)->dead)) /* else it may read them yet */
        chunks_lose(lane);
}

static bool shm_drained(const struct peer *peer)
{
    return !lane_is_ready(peer->lane);
}

static claim_word *shm_words(struct peer *peer, bool in)
{
    const struct lane *lane = peer->lane;
    return in ? lane->in_ring->claims : lane->out_ring->claims;
}

static void shm_advise(uint32_t copied)
{
    atomic_store_explicit(&mine->advice, copied, memory_order_relaxed);
}

/* Where ranks share processors, a message behind others waits for a turn of its receiver in any case. */
static uint32_t shm_advised(const struct peer *peer)
{
    struct lane *lane = peer->lane;
    const struct area *area = (const struct area *)lane->chunks;
    chunks_ready(); /* now, so that making them is not part of the time of the first copy */
    uint32_t copied = atomic_load_explicit(&area->advice, memory_order_relaxed);
    if (boot.crowded && copied != UINT32_MAX && chunks_wait(lane))
        return advice_behind(copied);
    return copied;
}

/* ---- polling ---- */

static bool lane_is_active(const struct lane *lane)
{
    for (int i = 0; i < lanes_nactive; i++)
        if (lanes_active[i] == lane)
            return true;
    return false;
}

/* Somebody knocked: poll their rings from now on. */
static __attribute__((noinline)) void knocks_answer(void)
{
    knocks = atomic_load(&mine->knocks);
    for (int word = 0; word <= (nlanes - 1) / 64; word++) {
        uint64_t bits = atomic_load(&mine->knocked[word]);
        for (; bits; bits &= bits - 1) {
            int ring = 64 * word + __builtin_ctzll(bits);
            struct lane *lane = &lanes[ring];
            struct peer *peer;
            if (lane_is_active(lane))
                continue;
            if (!lane->peer &&
                peer_in(ring / boot.nlocal, boot_record(lane->local)->world_rank, &peer) != 0)
                boot_abort(MPI_ERR_NO_MEM, fail_text());
            lanes_active[lanes_nactive++] = lane;
            lane->next_active = firsts[ring / boot.nlocal];
            firsts[ring / boot.nlocal] = lane;
        }
    }
}

static inline void slot_read(const struct slot *slot, struct wire *header, size_t *skip)
{
    header->kind = slot->kind;
    header->flags = slot->flags & ~SLOT_FULL;
    header->source = slot->head.source;
    header->context = slot->head.context;
    header->tag = slot->head.tag;
    header->step = slot->head.step;
    header->signature = slot->head.signature;
    header->bytes = slot->bytes;
    header->pad = 0;
    header->sequence = 0;
    *skip = 0;
    if (slot->flags & SLOT_FULL) {
        memcpy(&header->request, slot->body, 4);
        memcpy(&header->total, slot->body + 4, 8);
        *skip = SLOT_EXTRA;
    } else {
        header->request = 0;
        header->total = slot->bytes;
    }
}

/* Payload that goes on in further slots, put together. */
static __attribute__((noinline)) void take_more(struct lane *lane, const struct slot *slot,
                                                const struct wire *header, size_t skip)
{
    char flat[INLINE_BYTES + MORE_BODY], *to = flat + SLOT_BODY;
    memcpy(flat, slot->body, SLOT_BODY); /* copies of known lengths need no call */
    for (uint32_t i = 1; i <= slot->place; i++, to += MORE_BODY) {
        const struct slot *more = lane_slot_in(lane, lane->next + i);
        memcpy(to, ((const struct slot_more *)more)->body, MORE_BODY);
    }
    pml_arrived(lane->peer, header, flat + skip);
}

/* Take any other packet; true when it came in a chunk. */
static __attribute__((noinline)) bool lane_take_any(struct lane *lane, const struct slot *slot)
{
    struct wire header;
    size_t skip;
    slot_read(slot, &header, &skip);
    unsigned place = slot->place;
    uint32_t slots = 1;
    if (place == 0) {
        pml_arrived(lane->peer, &header, slot->body + skip);
    } else if (place < PLACE_CHUNK) {
        assert(place <= MOST_MORE_SLOTS);
        take_more(lane, slot, &header, skip);
        slots += place;
    } else {
        assert(place - PLACE_CHUNK < CHUNK_PLACES && header.bytes <= CHUNK_BYTES);
        pml_arrived(lane->peer, &header, area_place(lane->chunks, place - PLACE_CHUNK));
    }
    lane->next += slots;
    lane->more = slots - 1;
    lane->plain = header.kind == WIRE_EAGER && place < PLACE_CHUNK;
    return place >= PLACE_CHUNK;
}

/* Take one packet, as a rule a message in one slot for the oldest receive; true when it came in a
 * chunk. */
static inline bool lane_take(struct lane *lane)
{
    const struct slot *slot = lane_slot_in(lane, lane->next);
    lane_learn(lane, slot->consumed);
    if (slot->kind != WIRE_EAGER || slot->flags != 0 || slot->place != 0 ||
        !pml_arrived_short(lane->peer, &slot->head, slot->body, slot->bytes))
        return lane_take_any(lane, slot);
    lane->next++;
    lane->more = 0;
    lane->plain = true;
    return false;
}

enum { TELL_CHUNKS = 4 };  /* a quarter of those in flight */
enum { MOST_STAYS = 256 }; /* rounds in which there was something else to do */

/* KiB of messages that nobody wants yet, long ones and short ones, for each lane in this round; asked for when one
 * is met. */
enum { UNASKED = -1 };
static int allowance[2];
static bool some_stay, is_busy; /* in this round; in the last one something was taken */

/* As quickly taken as looked at: 200000 of 600 bytes before the one that is waited for take 0.3 s, 2.5 s if they
 * stay like long ones. */
enum { SHORT_CHUNK = 4096 };
static inline bool slot_is_short(const struct slot *slot)
{
    return slot->place < PLACE_CHUNK || slot->bytes <= SHORT_CHUNK;
}

/* `taken`: so many KiB of them were taken from this lane. */
static __attribute__((noinline)) bool message_stays(const struct slot *slot, int *taken)
{
    bool is_short = slot_is_short(slot);
    int *allowed = &allowance[is_short];
    if (*allowed == UNASKED)
        *allowed = patience_allows(is_short);
    if (*allowed == PATIENCE_ALL || slot->kind != WIRE_EAGER || !pml_is_unwanted(&slot->head))
        return false;
    if (*taken < *allowed) {
        *taken += 1 + slot->bytes / 1024;
        return false;
    }
    some_stay = true;
    return true;
}

/* Does the next packet stay where it is, a message that nobody wants yet?  As a rule it has to be a long one. */
static inline bool next_stays(const struct lane *lane, int *taken)
{
    const struct slot *slot = lane_slot_in(lane, lane->next);
    return __builtin_expect(!slot_is_short(slot) || patience_is_for_short(), 0) &&
           message_stays(slot, taken);
}

static inline bool lane_stays(struct lane *lane, int *taken)
{
    if (!next_stays(lane, taken))
        return false;
    lane->stays += is_busy;
    bool stays = lane->stays < MOST_STAYS;
    if (!stays)
        lane->stays = 0;
    return stays;
}

/* Take one packet; of one that came in a chunk its bytes. */
static inline size_t lane_take_chunk(struct lane *lane)
{
    const struct slot *slot = lane_slot_in(lane, lane->next);
    return lane_take(lane) ? slot->bytes : 0;
}

/* It comes to copying: two CPUs gain nothing by doing it at once.  `bytes`: the longest of so many packets. */
static void lane_copied(const struct lane *lane, size_t bytes, int packets)
{
    if (bytes > (packets > 1 ? partner_most : partner_most_alone))
        partner_copies(lane->bell);
    else
        partner_is(NULL);
}

static int lane_drain(struct lane *lane)
{
    int packets = 1, unwanted = 0;
    if (lane_stays(lane, &unwanted))
        return 0;
    size_t chunk = lane_take_chunk(lane); /* the longest; 0: none came in one */
    bool empty = false;
    for (; packets < PACKETS_PER_POLL; packets++) {
        empty = !lane_goes_on(lane);
        if (empty || next_stays(lane, &unwanted))
            break;
        size_t bytes = lane_take_chunk(lane);
        chunk = bytes > chunk ? bytes : chunk;
        if (chunk > 0 && lane->next - lane->published >= TELL_CHUNKS &&
            lane->told == lane->head)
            lane_tell(lane, true);
    }
    if (empty)
        lane->told = lane->head;
    if (chunk > 0)
        lane_copied(lane, chunk, packets);
    lane_tell(lane, chunk > 0);
    return packets;
}

/* ---- all lanes ---- */

/* Who knocks is heard by one who has all engines. */
static bool shm_poll_solo(int engine, int *packets)
{
    return atomic_load_explicit(&mine->knocks, memory_order_relaxed) == knocks &&
           lanes_poll_solo(firsts[engine], packets);
}

static int shm_poll(void)
{
    if (__builtin_expect(atomic_load_explicit(&mine->knocks, memory_order_relaxed) != knocks,
                         0))
        knocks_answer();
    int packets = 0;
    bool stayed = some_stay;
    allowance[0] = allowance[1] = UNASKED;
    some_stay = false;
    for (int i = 0; i < lanes_nactive; i++)
        if (lane_is_ready(lanes_active[i]))
            packets += lane_drain(lanes_active[i]);
        else
            lane_expect(lanes_active[i]);
    if (__builtin_expect(some_stay || stayed, 0))
        patience_round(some_stay, packets);
    is_busy = packets > 0;
    if (chunks_wanted && packets == 0)
        chunks_fetch();
    return packets;
}

static size_t shm_read(struct peer *peer, void *to, uint64_t from, size_t bytes)
{
    struct lane *lane = peer->lane;
    partner_copies(lane->bell);
    return reach_read(peer, to, from, bytes);
}

const struct link link_shm = {
    .name = "shm",
    .short_bytes = SHORT_BYTES,
    .open = shm_open,
    .close = shm_close,
    .reaches = shm_reaches,
    .connect = shm_connect,
    .put = lane_put,
    .put_short = lane_put_short,
    .put_solo = lane_put_solo,
    .slot_room = SLOT_BODY + 1,
    .take = lanes_take,
    .poll = shm_poll,
    .poll_solo = shm_poll_solo,
    .solo_bytes = ROW_ALONE,
    .share = reach_share,
    .reads = reach_reads,
    .read = shm_read,
    .write = reach_write,
    .view = reach_view,
    .words = shm_words,
    .advise = shm_advise,
    .advised = shm_advised,
    .drained = shm_drained,
    .lose = shm_lose,
    .left = shm_left,
    .gone = shm_gone,
};
