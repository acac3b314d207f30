/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one escape hatch from plans: collectives of little data between ranks that share memory.
 * Everybody writes its slot (tiny_slot.h) and reads those of whom it needs something of; nobody
 * waits twice, and nobody waits who need not:
 *
 *                         writes                        reads
 *     barrier             nothing                       all
 *     bcast               root: the data                the root's
 *     gather, reduce      one block, one vector         root: all
 *     allgather, allreduce   one block, one vector      all
 *     scatter             root: the others' blocks      the root's
 *     alltoall, reduce_scatter_block   the others' blocks   all
 *     scan, exscan        one vector                    those of lower ranks
 *
 * Whoever writes nothing writes its slot all the same: it says that the rank is here, in which
 * collective it is, and that it has done with the operations before.
 *
 * Folding goes in rank order on every rank: all get the same bits.
 */
#include "coll/tiny_slot.h"

#include "coll/tell.h"
#include "runtime/fail.h"
#include "runtime/folding.h"

#include <string.h>

/* memcpy for sizes that the compiler does not know but that mostly are a word. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

/* At most so many bytes of it: what others do not expect does not overflow a slot. */
static inline void pack(char *to, const struct buffer *from, size_t most)
{
    const char *flat = buffer_flat(from);
    size_t bytes = buffer_bytes(from) < most ? buffer_bytes(from) : most;
    if (flat)
        copy_bytes(to, flat, bytes);
    else
        buffer_pack(from, 0, to, bytes);
}

static inline void unpack(const struct buffer *to, const void *from)
{
    char *flat = buffer_flat(to);
    if (flat)
        copy_bytes(flat, from, buffer_bytes(to));
    else
        buffer_unpack(to, 0, from, buffer_bytes(to));
}

/* ---- the two sides of a call ---- */

/* What this rank gives to a reduction: a vector, or a block for each rank. */
static inline struct part operands(const struct call *call)
{
    return (struct part){ .base = call->in_place ? call->recv.base : call->send.base,
                          .layout = call->reduction.layout,
                          .count = call->recv.count };
}

static inline struct buffer vector_of(const struct call *call)
{
    struct part part = operands(call);
    return part_block(&part, 0);
}

/* The blocks of all ranks but `me` lie one behind the other: which one is that of rank r? */
static inline size_t among_others(int me, int r)
{
    return (size_t)(r < me ? r : r - 1);
}

/* ---- hearing ---- */

enum from { FROM_START, FROM_MY_BLOCK }; /* of a slot's payload */

static inline const char *heard_at(const struct round *round, const struct slot *slot, int r,
                                   enum from from)
{
    return slot->payload +
           (from == FROM_START ? 0 : among_others(r, round->tiny->me) * round->bytes);
}

/* Fold what the ranks [0, n) have to say, in their order. */
static int fold_ranks(struct round *round, const struct call *call, int n, const void *mine,
                      enum from from)
{
    float floats[TINY_BYTES / sizeof(uint16_t)];
    struct buffer out = { call->recv.base, call->recv.count, call->reduction.layout, HERE };
    struct folding f = folding_begin(&call->reduction, n, buffer_flat(&out), call->recv.count);
    f.floats = floats;
    round->last = n - 1;
    for (int r = 0; r < n; r++) {
        const struct slot *slot = NULL;
        int lost = r == round->tiny->me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
        folding_add(&f, r == round->tiny->me ? mine : heard_at(round, slot, r, from));
    }
    folding_end(&f);
    return 0;
}

/* Put what the others have to say where it belongs. */
static int take_blocks(struct round *round, const struct part *to, enum from from)
{
    for (int r = 0; r < round->tiny->n; r++) {
        const struct slot *slot = NULL;
        int lost = r == round->tiny->me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
        struct buffer block = part_block(to, r);
        if (r != round->tiny->me && !round->error)
            unpack(&block, heard_at(round, slot, r, from));
    }
    return 0;
}

static void keep_own(const struct call *call, const struct buffer *to,
                     const struct buffer *from)
{
    if (!call->in_place)
        buffer_copy(to, from);
}

/* ---- the collectives ---- */

static int tiny_barrier(struct round *round, const struct call *call)
{
    (void)call;
    tiny_publish(round);
    for (int r = 0; r < round->tiny->n; r++) {
        const struct slot *slot = NULL;
        int lost = r == round->tiny->me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
    }
    return 0;
}

static int tiny_bcast(struct round *round, const struct call *call)
{
    struct buffer data = part_block(&call->recv, 0);
    const struct slot *slot;
    if (call->root == round->tiny->me)
        pack(round->mine->payload, &data, round->bytes);
    tiny_publish(round);
    if (call->root == round->tiny->me)
        return 0;
    round->first = round->last = call->root;
    int lost = tiny_hear(round, call->root, &slot);
    if (!lost && !round->error)
        unpack(&data, slot->payload);
    return lost;
}

static int tiny_gather(struct round *round, const struct call *call)
{
    int me = round->tiny->me;
    struct buffer own = { NULL, 0, NULL, HERE };
    if (call->send.layout) /* the root's may be in place */
        own = part_block(&call->send, 0);
    if (call->root != me) {
        pack(round->mine->payload, &own, round->bytes);
        tiny_publish(round);
        return 0;
    }
    tiny_publish(round);
    struct buffer place = part_block(&call->recv, me);
    keep_own(call, &place, &own);
    return take_blocks(round, &call->recv, FROM_START);
}

static int tiny_allgather(struct round *round, const struct call *call)
{
    struct buffer place = part_block(&call->recv, round->tiny->me);
    struct buffer own = call->in_place ? place : part_block(&call->send, 0);
    pack(round->mine->payload, &own, round->bytes);
    tiny_publish(round);
    keep_own(call, &place, &own);
    return take_blocks(round, &call->recv, FROM_START);
}

/* The blocks of all others, for them to take. */
static void pack_others(const struct round *round, const struct part *from)
{
    char *at = round->mine->payload;
    for (int r = 0; r < round->tiny->n; r++) {
        if (r == round->tiny->me)
            continue;
        struct buffer block = part_block(from, r);
        pack(at, &block, round->bytes);
        at += round->bytes;
    }
}

static int tiny_scatter(struct round *round, const struct call *call)
{
    int me = round->tiny->me;
    const struct slot *slot;
    struct buffer place = { NULL, 0, NULL, HERE };
    if (call->recv.layout)
        place = part_block(&call->recv, 0);
    if (call->root == me) {
        struct buffer own = part_block(&call->send, me);
        pack_others(round, &call->send);
        tiny_publish(round);
        keep_own(call, &place, &own);
        return 0;
    }
    tiny_publish(round);
    round->first = round->last = call->root;
    int lost = tiny_hear(round, call->root, &slot);
    if (!lost && !round->error)
        unpack(&place, heard_at(round, slot, call->root, FROM_MY_BLOCK));
    return lost;
}

static int tiny_alltoall(struct round *round, const struct call *call)
{
    const struct part *from = call->in_place ? &call->recv : &call->send;
    struct buffer place = part_block(&call->recv, round->tiny->me);
    struct buffer own = part_block(from, round->tiny->me);
    pack_others(round, from);
    tiny_publish(round);
    keep_own(call, &place, &own);
    return take_blocks(round, &call->recv, FROM_MY_BLOCK);
}

/* ---- reductions ---- */

/* Mine as an operand.  In place it is overwritten when the third vector is folded: then the slot
 * has a copy. */
static const void *own_vector(const struct round *round, const struct call *call)
{
    struct buffer own = vector_of(call);
    return call->in_place ? round->mine->payload : buffer_flat(&own);
}

static void pack_vector(const struct round *round, const struct call *call)
{
    struct buffer own = vector_of(call);
    pack(round->mine->payload, &own, round->bytes);
}

static int tiny_reduce(struct round *round, const struct call *call)
{
    bool root = call->root == round->tiny->me;
    if (!root || call->in_place)
        pack_vector(round, call);
    tiny_publish(round);
    return root ? fold_ranks(round, call, round->tiny->n, own_vector(round, call), FROM_START)
                : 0;
}

static int tiny_allreduce(struct round *round, const struct call *call)
{
    pack_vector(round, call);
    tiny_publish(round);
    return fold_ranks(round, call, round->tiny->n, own_vector(round, call), FROM_START);
}

/* In place the result overwrites block 0, which others have from the slot by now. */
static int tiny_reduce_scatter(struct round *round, const struct call *call)
{
    struct part all = operands(call);
    struct buffer own = part_block(&all, round->tiny->me);
    pack_others(round, &all);
    tiny_publish(round);
    return fold_ranks(round, call, round->tiny->n, buffer_flat(&own), FROM_MY_BLOCK);
}

static int tiny_scan(struct round *round, const struct call *call)
{
    int me = round->tiny->me;
    pack_vector(round, call);
    tiny_publish(round);
    return fold_ranks(round, call, call->what == COLL_SCAN ? me + 1 : me,
                      own_vector(round, call), FROM_START);
}

/* ---- which, and whether ---- */

typedef int performer(struct round *round, const struct call *call);

static performer *const performers[COLL_KINDS] = {
    [COLL_BARRIER] = tiny_barrier,
    [COLL_BCAST] = tiny_bcast,
    [COLL_GATHER] = tiny_gather,
    [COLL_SCATTER] = tiny_scatter,
    [COLL_ALLGATHER] = tiny_allgather,
    [COLL_ALLTOALL] = tiny_alltoall,
    [COLL_REDUCE] = tiny_reduce,
    [COLL_ALLREDUCE] = tiny_allreduce,
    [COLL_REDUCE_SCATTER_BLOCK] = tiny_reduce_scatter,
    [COLL_SCAN] = tiny_scan,
    [COLL_EXSCAN] = tiny_scan,
};

size_t tiny_needs(enum collective what, int ranks, size_t bytes)
{
    size_t others = (size_t)ranks - 1;
    if (what == COLL_REDUCE_SCATTER_BLOCK)
        return bytes / (others + 1) * others;
    return what == COLL_SCATTER || what == COLL_ALLTOALL ? bytes * others : bytes;
}

const char *tiny_objection(const struct team *team, const struct call *call, size_t bytes)
{
    const struct tiny *t = team->tiny;
    const struct reduction *op = &call->reduction;
    if (!t)
        return "the ranks have no shared slots";
    if (tiny_needs(call->what, t->n, bytes) > t->room)
        return "the data do not fit a shared slot";
    if (is_reduction(call->what) && (!op->kernel || !op->layout->dense))
        return "it takes builtin operations on types without gaps";
    return NULL;
}

/* Does everybody hear everybody? */
static bool is_together(enum collective what)
{
    return what == COLL_BARRIER || what == COLL_ALLGATHER || what == COLL_ALLTOALL ||
           what == COLL_ALLREDUCE || what == COLL_REDUCE_SCATTER_BLOCK;
}

int tiny_run(struct tiny *tiny, const struct telling *telling)
{
    const struct call *call = telling->call;
    struct round round = { .bytes = telling->bytes };
    uint64_t said = (uint64_t)telling->number << 32 | telling->signature;
    int lost = tiny_begin(&round, tiny, said);
    if (!lost)
        lost = performers[call->what](&round, call);
    if (!lost && is_together(call->what))
        tiny->known = round.sequence;
    if (__builtin_expect(lost || !round.error, 1))
        return lost;
    fail_recall(tiny);
    return round.error;
}
