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
 *     allgather(v), allreduce   one block, one vector   all
 *     gatherv             its block, or that it comes as a message: tiny_listed.c
 *     scatter             root: the others' blocks      the root's
 *     scatterv            root: each block, or that it comes as a message
 *     alltoall, reduce_scatter_block   the others' blocks   all
 *     alltoallv, w        for each of the others its block, or where that one's belongs: tiny_letters.c
 *     reduce_scatter      one vector                    all
 *     scan, exscan        one vector                    those of lower ranks
 *        ranks exceed CPUs   the sum up to itself          that of the rank below
 *
 * Whoever writes nothing writes its slot all the same: it says that the rank is here, in which
 * collective it is, and that it has done with the operations before.
 *
 * Each has two halves: say fills in the slot before it is shown; take hears the others and waits for
 * them.  Those whose end is not waited for take when all have spoken (later.c).
 *
 * Reductions are in tiny_fold.c, gatherv and scatterv in tiny_listed.c, alltoallv and w in tiny_letters.c.
 */
#include "coll/tiny_parts.h"

#include "coll/tell.h"
#include "runtime/fail.h"

/* ---- hearing ---- */

/* Put what the others have to say where it belongs. */
static int take_blocks(struct round *round, const struct part *to, enum from from)
{
    for (int r = 0; r < round->tiny->n; r++) {
        if (r == round->tiny->me)
            continue;
        const struct slot *slot;
        struct buffer block = block_of(to, r);
        int lost = tiny_hear(round, r, &slot);
        if (lost)
            return lost;
        if (!round->error)
            unpack(&block, heard_at(round, slot, r, from));
    }
    return 0;
}

static void keep_own(const struct call *call, const struct buffer *to,
                     const struct buffer *from)
{
    if (call->in_place)
        return;
    char *place = buffer_flat(to);
    const char *own = buffer_flat(from);
    if (place && own && buffer_bytes(to) == buffer_bytes(from))
        copy_bytes(place, own, buffer_bytes(from));
    else
        buffer_copy(to, from);
}

/* ---- the collectives ---- */

static void say_nothing(struct round *round, const struct call *call)
{
    (void)round;
    (void)call;
}

static int take_nothing(struct round *round, const struct call *call)
{
    (void)call;
    return tiny_hear_all(round);
}

static void say_bcast(struct round *round, const struct call *call)
{
    struct buffer data = part_block(&call->recv, 0);
    if (call->root == round->tiny->me)
        pack(round->payload, &data, round->bytes);
}

void pack_several(const struct round *round, const struct part *from)
{
    char *at = round->payload;
    for (int r = 0; r < round->tiny->n; r++) {
        if (r == round->tiny->me)
            continue;
        struct buffer block = part_block(from, r);
        pack(at, &block, round->bytes);
        at += round->bytes;
    }
}

/* From the root, whose word this is. */
static int take_from_root(struct round *round, const struct call *call,
                          const struct buffer *place, enum from from)
{
    const struct slot *slot;
    int lost = tiny_hear(round, call->root, &slot);
    if (!lost && !round->error)
        unpack(place, heard_at(round, slot, call->root, from));
    return lost;
}

static int take_bcast(struct round *round, const struct call *call)
{
    struct buffer data = part_block(&call->recv, 0);
    return call->root == round->tiny->me ? 0 : take_from_root(round, call, &data, FROM_START);
}

static void say_gather(struct round *round, const struct call *call)
{
    struct buffer own = only_block(&call->send);
    if (call->root != round->tiny->me)
        pack(round->payload, &own, round->bytes);
}

static int take_gather(struct round *round, const struct call *call)
{
    if (call->root != round->tiny->me)
        return 0;
    struct buffer place = part_block(&call->recv, round->tiny->me),
                  own = only_block(&call->send);
    keep_own(call, &place, &own);
    return take_blocks(round, &call->recv, FROM_START);
}

static struct buffer allgathered(const struct round *round, const struct call *call)
{
    return call->in_place ? block_of(&call->recv, round->tiny->me) : part_block(&call->send, 0);
}

static void say_allgather(struct round *round, const struct call *call)
{
    struct buffer own = allgathered(round, call);
    pack(round->payload, &own, round->bytes);
}

static int take_allgather(struct round *round, const struct call *call)
{
    struct buffer place = block_of(&call->recv, round->tiny->me);
    struct buffer own = allgathered(round, call);
    keep_own(call, &place, &own);
    return take_blocks(round, &call->recv, FROM_START);
}

/* Short blocks for many ranks lie in the payloads of all slots, from the root's on: nobody else has a use
 * for those, and a root that had to keep them elsewhere could not run as far ahead. */
static bool is_spread(int ranks, size_t bytes)
{
    return ranks > 2 && bytes <= TINY_TRACK_BYTES;
}

static struct cells scattered(const struct round *round, const struct call *call)
{
    return cells_of(round, call->root, 0, round->bytes);
}

/* Of more than two ranks.  Apart, so that two save no registers for it. */
static __attribute__((noinline)) void scatter_cells(const struct round *round,
                                                    const struct call *call)
{
    struct cells cells = scattered(round, call);
    for (int r = 0; r < round->tiny->n; r++) {
        struct buffer block = part_block(&call->send, r);
        if (r != round->tiny->me)
            pack(cell_of(&cells, r), &block, round->bytes);
    }
}

static void say_scatter(struct round *round, const struct call *call)
{
    const struct tiny *t = round->tiny;
    if (call->root != t->me)
        return;
    if (is_spread(t->n, round->bytes))
        scatter_cells(round, call);
    else
        pack_others(round, &call->send);
}

static __attribute__((noinline)) int take_cell(struct round *round, const struct call *call)
{
    struct buffer place = only_block(&call->recv);
    struct cells cells = scattered(round, call);
    const struct slot *slot;
    int lost = tiny_hear(round, call->root, &slot);
    if (!lost && !round->error)
        unpack(&place, cell_of(&cells, round->tiny->me));
    return lost;
}

static int take_scatter(struct round *round, const struct call *call)
{
    const struct tiny *t = round->tiny;
    if (call->root != t->me && is_spread(t->n, round->bytes))
        return take_cell(round, call);
    struct buffer place = only_block(&call->recv);
    if (call->root != t->me)
        return take_from_root(round, call, &place, FROM_MY_BLOCK);
    struct buffer own = part_block(&call->send, t->me);
    keep_own(call, &place, &own);
    return 0;
}

static void say_alltoall(struct round *round, const struct call *call)
{
    pack_others(round, call->in_place ? &call->recv : &call->send);
}

static int take_alltoall(struct round *round, const struct call *call)
{
    const struct part *from = call->in_place ? &call->recv : &call->send;
    struct buffer place = part_block(&call->recv, round->tiny->me);
    struct buffer own = part_block(from, round->tiny->me);
    keep_own(call, &place, &own);
    return take_blocks(round, &call->recv, FROM_MY_BLOCK);
}

/* ---- which, and whether ---- */

static const struct performance performances[COLL_KINDS] = {
    [COLL_BARRIER] = { say_nothing, take_nothing, HEARS_ALL, false },
    [COLL_BCAST] = { say_bcast, take_bcast, HEARS_ROOT, false },
    [COLL_GATHER] = { say_gather, take_gather, ROOT_HEARS_ALL, false },
    [COLL_GATHERV] = { tiny_say_gatherv, tiny_take_gatherv, ROOT_HEARS_ALL, false },
    [COLL_SCATTER] = { say_scatter, take_scatter, HEARS_ROOT, true },
    [COLL_SCATTERV] = { tiny_say_scatterv, tiny_take_scatterv, HEARS_ROOT, false },
    [COLL_ALLGATHER] = { say_allgather, take_allgather, HEARS_ALL, false },
    [COLL_ALLGATHERV] = { say_allgather, take_allgather, HEARS_ALL, false },
    [COLL_ALLTOALL] = { say_alltoall, take_alltoall, HEARS_ALL, true },
    [COLL_ALLTOALLV] = { tiny_say_letters, tiny_take_letters, HEARS_ALL, false },
    [COLL_ALLTOALLW] = { tiny_say_letters, tiny_take_letters, HEARS_ALL, false },
    [COLL_REDUCE] = { tiny_say_reduce, tiny_take_reduce, ROOT_HEARS_ALL, false },
    [COLL_ALLREDUCE] = { tiny_say_vector, tiny_take_allreduce, HEARS_ALL, false },
    [COLL_REDUCE_SCATTER] = { tiny_say_listed_scatter, tiny_take_listed_scatter, HEARS_ALL,
                              false },
    [COLL_REDUCE_SCATTER_BLOCK] = { tiny_say_reduce_scatter, tiny_take_reduce_scatter,
                                    HEARS_ALL, true },
    [COLL_SCAN] = { tiny_say_vector, tiny_take_scan, HEARS_LOWER, false },
    [COLL_EXSCAN] = { tiny_say_vector, tiny_take_exscan, HEARS_LOWER, false },
};

/* The same where ranks exceed CPUs. */
static const struct performance chains[COLL_KINDS] = {
    [COLL_SCAN] = { NULL, tiny_pass_on_scan, HEARS_BELOW, false },
    [COLL_EXSCAN] = { NULL, tiny_pass_on_exscan, HEARS_BELOW, false },
};

static inline const struct performance *performance_of(const struct tiny *t,
                                                       enum collective what)
{
    const struct performance *p = &performances[what];
    return p->hears == HEARS_LOWER && t->crowded ? &chains[what] : p;
}

/* Does the root write into the slots of all, from which all read?  Then all have to be through with what was
 * there, and each with what is there now before the slot's own rank writes it again. */
static inline bool has_cells(const struct tiny *t, enum collective what)
{
    return (what == COLL_SCATTER || what == COLL_SCATTERV) && t->n > 2;
}

bool tiny_writes_everywhere(const struct tiny *t, const struct call *call)
{
    return has_cells(t, call->what) && call->root == t->me;
}

/* What one slot has of blocks of so many bytes. */
static inline size_t payload_bytes(enum collective what, int ranks, size_t bytes)
{
    bool one = !performances[what].apart || (what == COLL_SCATTER && is_spread(ranks, bytes));
    return one ? bytes : bytes * ((size_t)ranks - 1);
}

size_t tiny_needs(enum collective what, int ranks, size_t bytes)
{
    bool whole = what == COLL_REDUCE_SCATTER_BLOCK; /* as rules count */
    return payload_bytes(what, ranks, whole ? bytes / (size_t)ranks : bytes);
}

bool tiny_is_together(enum collective what)
{
    return performances[what].hears == HEARS_ALL;
}

/* Bytes of each payload where blocks differ: all ranks know all counts. */
static size_t listed_payload(const struct call *call, int n)
{
    struct listed bytes = listed_bytes(&call->recv, n);
    return call->what == COLL_REDUCE_SCATTER ? bytes.all : bytes.longest;
}

/* Pairs with padding lie in slots as in memory, for kernels step by their C structs; behind the data of the last
 * one there need not be memory. */
size_t tiny_says(const struct call *call, int ranks, size_t bytes)
{
    ptrdiff_t low;
    const struct reduction *op = &call->reduction;
    if (has_known_counts(call->what))
        return listed_payload(call, ranks);
    if (is_reduction(call->what) && !op->layout->dense)
        return layout_span(op->layout, call->recv.count, &low);
    return bytes;
}

/* Vectors that kernels take as they are; blocks of them one by one would need memory behind the last pair. */
static bool has_kernel(const struct call *call)
{
    const struct layout *layout = call->reduction.layout;
    bool vector = call->what != COLL_REDUCE_SCATTER && call->what != COLL_REDUCE_SCATTER_BLOCK;
    return call->reduction.kernel && (layout->dense || (vector && reduce_is_padded(layout)));
}

/* What a payload may have. */
static size_t most_room(const struct tiny *t)
{
    size_t half = t->long_bytes / 2, room = half > t->room ? half : t->room;
    return room < TINY_BYTES ? room : TINY_BYTES;
}

const char *tiny_objection(const struct team *team, const struct call *call, bool tracked,
                           size_t bytes)
{
    const struct tiny *t = team->tiny;
    if (!t || (tracked && t->tracks == 0))
        return TINY_NO_SLOTS;
    if (is_reduction(call->what) && !has_kernel(call))
        return "it takes builtin operations on types without gaps, and vectors of pairs";
    if (has_letters(call->what) && call->in_place)
        return "it does not take MPI_IN_PLACE";
    if (has_letters(call->what) && !tiny_has_letters(t))
        return "the slots have no room for letters to all ranks";
    bytes = tiny_says(call, t->n, bytes);
    if (tiny_needs(call->what, t->n, bytes) > (tracked ? TINY_TRACK_BYTES : most_room(t)))
        return "the data do not fit a shared slot";
    return NULL;
}

/* The ranks that have to speak before this one can take, and those that read what it says. */
static void await(struct round *round, enum heard hears, const struct call *call)
{
    const struct tiny *t = round->tiny;
    int root = call->root;
    bool is_root = t->me == root;
    if (hears == HEARS_LOWER) {
        round->last = t->me - 1;
        round->source = t->me == 1 ? 0 : NOBODY;
    } else if (hears == HEARS_BELOW) {
        round->last = t->me - 1;
        round->first = t->me > 0 ? t->me - 1 : 0;
        round->source = t->me > 0 ? t->me - 1 : NOBODY;
        round->readers = t->me + 1 < t->n ? t->me + 1 : NOBODY;
    } else if (hears == HEARS_ROOT && is_root) {
        round->last = -1;
    } else if (hears == HEARS_ROOT) {
        round->first = round->last = round->source = root;
        if (!has_cells(t, call->what))
            round->readers = NOBODY;
    } else if (hears == ROOT_HEARS_ALL && is_root) {
        round->source = t->n == 2 ? 1 - root : NOBODY;
        round->readers = NOBODY;
    } else if (hears == ROOT_HEARS_ALL) {
        round->last = -1;
        round->readers = root;
    }
}

void tiny_prepare(struct round *round, struct tiny *tiny, const struct telling *telling)
{
    const struct call *call = telling->call;
    tiny_all(round, tiny);
    round->performance = performance_of(tiny, call->what);
    round->bytes = tiny_says(call, tiny->n, telling->bytes);
    round->length = has_letters(call->what) ? tiny_letters_length(tiny)
                                            : payload_bytes(call->what, tiny->n, round->bytes);
    round->everywhere = tiny_writes_everywhere(tiny, call);
    round->unfit = NULL;
    round->telling = telling;
    await(round, round->performance->hears, call);
}

int tiny_recall(const struct round *round)
{
    fail_recall(round->tiny);
    return round->error;
}

int tiny_run(struct tiny *tiny, const struct telling *telling, struct unfit *unfit)
{
    struct round round;
    tiny_prepare(&round, tiny, telling);
    round.unfit = unfit;
    int error = tiny_say(&round, telling->call, telling_word(telling), telling->before);
    if (!error)
        error = tiny_take(&round, telling->call);
    if (!error)
        tiny_fetch(&round);
    return error;
}
