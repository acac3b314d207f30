/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Much data between ranks that share a node, without messages: who knows where the others' buffers
 * are can read and write them itself.
 *
 *     rank 0                       rank 1
 *     slot: my buffers       <->   slot: my buffers
 *     writes into rank 1's         writes into rank 0's       both at once
 *     slot: done             <->   slot: done
 *
 * Whether writing is better or reading depends on the machine.  Data that were just computed lie in the cache of
 * their owner; on an Intel Xeon the kernel copies them from there three times as fast as it fetches them, line
 * after line, from another one.  On an AMD EPYC it is the stores into lines of another cache that are slow.  So where
 * either would do it is measured (attach_blocks.c).
 *
 * Not all memory can be reached (rights, devices).  So the second round says how much is done, and
 * everybody hears everybody: the rest goes by messages, and so do later calls of that collective on this
 * team.  For others less may be needed: only one of two ranks may have the rights to reach the other, and
 * of a gather of two either can do all (attach_blocks.c).
 *
 * Who returns gives its buffers back to the program; nobody may read or write them any more.  That is
 * certain once everybody has said that it is done.  When a process is lost on the way:
 *
 *     the one that leaves       slot: I give up; waits for those who have made an offer to be
 *                               done, to give up as well, or to be lost
 *     the others                do not touch the memory of one that has given up
 *
 * Who offers after that sees the word in the slot before it writes: each side first says, then looks.  Who does
 * not wait between the rounds (attach_later.c) says when it is at work, and is not waited for else: it may
 * be computing for hours.
 *
 * Costs two looks at a slot and a system call per peer and piece, 0.6 us; none where the others' memory is
 * mapped (pml/shm/reach.c), and what is folded is not copied first (attach_view).
 */
#include "coll/attach.h"

#include "coll/tell.h"
#include "pml/failure.h"
#include "pml/peer.h"
#include "runtime/fail.h"

#include <stddef.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 }; /* then it is somebody else's turn */

/* ---- leaving ---- */

/* Who is outside looks at gave_up before it touches anything. */
static bool is_through(const struct attached *a, int rank)
{
    const struct slot *slot = slot_of(a->tiny, rank, a->met.sequence);
    bool has_offered =
        slot_says(slot, a->met.sequence) && !words_differ(slot_said(slot), a->said);
    return !has_offered || atomic_load(&attach_offered(a, rank)->is_outside) ||
           slot_says(slot_of(a->tiny, rank, a->met.sequence + 1), a->met.sequence + 1) ||
           atomic_load(&slot->gave_up) == a->met.sequence ||
           failure_is(a->tiny->member[rank].world);
}

void attach_say_leave(struct attached *a)
{
    const struct tiny *t = a->tiny;
    atomic_store(&a->met.mine->gave_up, a->met.sequence);
    for (int r = 0; r < t->n; r++)
        doorbell_ring(t->member[r].bell);
    atomic_thread_fence(memory_order_seq_cst);
}

bool attach_all_through(const struct attached *a)
{
    for (int r = 0; r < a->tiny->n; r++)
        if (r != a->tiny->me && !is_through(a, r))
            return false;
    return true;
}

static void give_up(struct attached *a)
{
    struct wait w = WAIT_INIT;
    attach_say_leave(a);
    while (!attach_all_through(a)) {
        wait_idle(&w);
        channel_check(a->tiny->channel);
    }
    wait_end(&w);
}

void attach_stay(const struct round *met)
{
    struct offer *offer = (struct offer *)met->mine->payload;
    atomic_store_explicit(&offer->is_outside, false, memory_order_relaxed);
}

void attach_leave(const struct round *met, bool has_offered)
{
    struct attached a = { .tiny = met->tiny, .said = met->said, .met = *met };
    if (has_offered)
        give_up(&a);
    else
        attach_say_leave(&a);
}

static int leave(struct attached *a, int error)
{
    give_up(a);
    return error;
}

/* ---- rounds ---- */

void attach_share(const void *memory, size_t bytes)
{
    if (memory && link_shm.share)
        link_shm.share(memory, bytes);
}

int attach_offer(struct attached *a, const struct offer *offer)
{
    tiny_all(&a->met, a->tiny);
    int lost = tiny_begin(&a->met, a->said, a->before);
    if (lost)
        return lost; /* nobody knows of us */
    memcpy(a->met.mine->payload, offer, sizeof *offer);
    tiny_publish(&a->met);
    return 0;
}

const struct offer *attach_offered(const struct attached *a, int rank)
{
    const struct slot *slot = slot_of(a->tiny, rank, a->met.sequence);
    return (const struct offer *)slot->payload;
}

int attach_hear_all(struct round *round)
{
    int lost = tiny_hear_all(round);
    if (!lost)
        round->tiny->known = round->sequence;
    return lost;
}

void attach_set_outside(const struct attached *a, bool is_outside)
{
    struct offer *offer = (struct offer *)a->met.mine->payload;
    atomic_store(&offer->is_outside, is_outside);
}

void attach_look(struct attached *a)
{
    uint64_t mine = attach_offered(a, a->tiny->me)->openness;
    a->is_open = mine == OPEN || mine == OPEN_TO_READ;
    for (int r = 0; r < a->tiny->n; r++) {
        a->is_open &= attach_offered(a, r)->openness == mine;
        a->away |= attach_offered(a, r)->openness == ON_DEVICE;
    }
    attach_fence();
}

/* All, in this collective. */
static int hear(struct attached *a, struct round *round)
{
    int lost = attach_hear_all(round);
    if (lost)
        return leave(a, lost);
    if (__builtin_expect(round->error, 0)) {
        give_up(a);
        fail_recall(a->tiny);
    }
    return round->error;
}

int attach_meet(struct attached *a)
{
    int error = hear(a, &a->met);
    if (!error)
        attach_look(a);
    return error;
}

int attach_say_end(struct attached *a, struct told told)
{
    tiny_all(&a->over, a->tiny);
    int lost = tiny_begin(&a->over, a->said, a->before);
    if (lost)
        return lost;
    memcpy(a->over.mine->payload, &told, sizeof told);
    tiny_publish(&a->over);
    return 0;
}

void attach_learn(struct attached *a)
{
    a->ticks = a->moved = a->longest = 0;
    for (int r = 0; r < a->tiny->n; r++) {
        struct told told;
        memcpy(&told, slot_of(a->tiny, r, a->over.sequence)->payload, sizeof told);
        a->done[r] = told.done;
        a->ticks += told.ticks;
        a->moved += told.moved;
        a->longest = told.ticks > a->longest ? told.ticks : a->longest;
    }
}

int attach_end(struct attached *a, struct told told)
{
    int error = attach_say_end(a, told);
    error = error ? leave(a, error) : hear(a, &a->over);
    if (!error)
        attach_learn(a);
    return error;
}

/* ---- memory ---- */

/* The link to a rank that is still with us. */
static struct peer *peer_within_reach(const struct attached *a, int rank)
{
    struct peer *peer;
    const struct slot *slot = slot_of(a->tiny, rank, a->met.sequence);
    if (atomic_load(&slot->gave_up) == a->met.sequence ||
        peer_of(a->tiny->member[rank].world, &peer) != 0 || !peer->link->write ||
        !peer->link->reads(peer))
        return NULL;
    return peer;
}

bool attach_read(const struct attached *a, int rank, void *to, uint64_t from, size_t bytes)
{
    for (size_t at = 0, piece; at < bytes; at += piece) {
        struct peer *peer = peer_within_reach(a, rank);
        piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        size_t read = peer ? peer->link->read(peer, (char *)to + at, from + at, piece) : 0;
        pml_counters.bytes_read += read;
        if (read < piece)
            return false;
        if (at + piece < bytes)
            progress_beside();
    }
    return true;
}

const char *attach_view(const struct attached *a, int rank, uint64_t from, size_t bytes)
{
    struct peer *peer = peer_within_reach(a, rank);
    const char *at = peer && peer->link->view ? peer->link->view(peer, from, bytes) : NULL;
    pml_counters.bytes_read += at ? bytes : 0;
    return at;
}

bool attach_write(const struct attached *a, int rank, uint64_t to, const void *from,
                  size_t bytes)
{
    for (size_t at = 0, piece; at < bytes; at += piece) {
        struct peer *peer = peer_within_reach(a, rank);
        piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        size_t written =
            peer ? peer->link->write(peer, to + at, (const char *)from + at, piece) : 0;
        pml_counters.bytes_written += written;
        if (written < piece)
            return false;
        if (at + piece < bytes)
            progress_beside();
    }
    return true;
}

/* ---- whether, and which ---- */

typedef int performer(struct attached *a, const struct telling *telling, struct rest *rest);

static performer *const performers[COLL_KINDS] = {
    [COLL_BCAST] = attach_pull,
    [COLL_SCATTER] = attach_pull,
    [COLL_SCAN] = attach_scan,
    [COLL_EXSCAN] = attach_scan,
};

static const struct attach_way *const ways[COLL_KINDS] = {
    [COLL_GATHER] = &attach_blocks,       [COLL_ALLGATHER] = &attach_blocks,
    [COLL_ALLGATHERV] = &attach_blocks,   [COLL_ALLTOALL] = &attach_blocks,
    [COLL_REDUCE] = &attach_fold,         [COLL_ALLREDUCE] = &attach_fold,
    [COLL_REDUCE_SCATTER] = &attach_fold, [COLL_REDUCE_SCATTER_BLOCK] = &attach_fold,
};

const struct attach_way *attach_way_of(enum collective what)
{
    return ways[what];
}

bool attach_serves_nonblocking(enum collective what)
{
    return attach_way_of(what) != NULL;
}

const char *attach_objection(const struct team *team, const struct call *call, bool tracked)
{
    const struct reduction *op = &call->reduction;
    if (!team->tiny || (tracked && team->tiny->tracks == 0))
        return TINY_NO_SLOTS;
    if (tracked && !attach_serves_nonblocking(call->what))
        return "of these it serves blocking calls only";
    if (team->tiny->apart >> call->what & 1)
        return "a rank could not reach the memory of another";
    if (team->away)
        return "a rank has its data on a device";
    if (is_reduction(call->what) && (!op->kernel || !op->layout->dense))
        return "it takes builtin operations on types without gaps";
    if (is_reduction(call->what) && op->layout->size > ATTACH_PIECE)
        return "the elements are too long";
    return NULL;
}

/* The two rounds, and what is done between them. */
static int perform(struct attached *a, const struct call *call, struct rest *rest)
{
    const struct attach_way *way = attach_way_of(call->what);
    _Alignas(max_align_t) char state[ATTACH_STATE];
    struct offer offer;
    way->open(state, a, call, &offer);
    int error = attach_offer(a, &offer);
    if (!error) {
        if (way->own)
            way->own(state);
        error = attach_meet(a);
    }
    if (!error && a->is_open) {
        struct told told = { 0 };
        while (way->go_on(state, &told))
            progress_beside();
        error = attach_end(a, told);
    }
    return way->close(state, a, error, rest);
}

void attach_begin(struct attached *a, struct team *team, struct tiny *tiny,
                  const struct telling *telling)
{
    memset(a, 0, offsetof(struct attached, done)); /* which attach_learn writes */
    a->tiny = tiny;
    a->channel = &team->channel;
    a->said = telling_word(telling);
    a->before = telling->before;
    a->bytes = telling->bytes;
}

int attach_run(struct team *team, const struct telling *telling, struct rest *rest)
{
    struct attached a;
    attach_begin(&a, team, team->tiny, telling);
    rest->n = 0;
    rest->away = false;
    enum collective what = telling->call->what;
    int error = attach_way_of(what) ? perform(&a, telling->call, rest)
                                    : performers[what](&a, telling, rest);
    if (rest->n > 0 && !rest->away && !a.other_way)
        team->tiny->apart |= 1u << telling->call->what;
    return error;
}
