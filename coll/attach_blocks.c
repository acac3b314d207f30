/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgather(v), alltoall and gather in the memory of others: rank r writes its block, or the block
 * for rank i, into the r-th block of rank i's buffer.
 *
 *                 rank 0          rank 1          rank 2
 *     turn 1      -> 1            -> 2            -> 0
 *     turn 2      -> 2            -> 0            -> 1        nobody is written to by two at once
 *
 * Or each reads from those, which the ranks of an allgather or alltoall can as well.  What is better depends on the
 * machine, and on whether the data that arrive are looked at: an allgather of 1 MiB between two CPUs of an AMD EPYC
 * that share no cache takes 444 us by writing if what was there had been read, 64 if not, 189 by reading; on an Intel
 * Xeon it is the reading that is slow.  So the ranks tell each other at the end of each call what it took, and go by
 * the sum (runtime/means.h): all know the same.
 *
 * Of a gather of two ranks the root, which would only wait, reads three eighths of the block itself: a third
 * to two fifths take the same time where CPUs share a cache and where they do not.  Or, as that is measured likewise,
 * it reads six.  Where one of them cannot reach the other, that one does all of it.
 *
 * Memory with gaps is packed before, or written into as a packed copy, which is unpacked in the end.
 * So is the memory of an allgatherv whose blocks do not lie one behind the other: how long they are all know, but
 * not where they go elsewhere.  Alltoall in place sends from a copy.
 */
#include "coll/attach.h"

#include "coll/scratch.h"
#include "coll/tell.h"

struct blocks {
    const struct attached *a;
    const struct call *call;
    enum means mover;     /* who moves the blocks */
    uint64_t ticks;       /* what it took this rank */
    const char *send;     /* packed: one block, or one per rank; NULL: nothing is sent */
    char *land;           /* packed: a block per rank; NULL: nothing arrives */
    size_t mine;          /* bytes of the block that another one gets of us; */
    size_t before, all;   /* and of those in front of it, and of all that one gets */
    char *copy, *landing; /* memory of our own for these two; NULL: the user's */
    int turn;             /* from 1: whose memory it is; after the last the root reads */
    size_t done;          /* bytes of this turn */
};
_Static_assert(sizeof(struct blocks) <= ATTACH_STATE, "attach_run has so much room");
enum { PIECE_BYTES = 1 << 20 }; /* then others may come */

/* Where all of the blocks lie, packed one behind the other; NULL: they do not lie so. */
static char *flat_blocks(const struct part *part, int n)
{
    struct buffer alike = { part->base, (size_t)n * part->count, part->layout, part->where };
    if (!part->vector)
        return buffer_flat(&alike);
    char *first = NULL;
    size_t at = 0;
    for (int r = 0; r < n; r++) {
        struct buffer block = block_of(part, r);
        char *flat = block.count > 0 ? buffer_flat(&block) : NULL;
        if (block.count > 0 && (!flat || (first && flat != first + at)))
            return NULL;
        first = first ? first : flat;
        at += buffer_bytes(&block);
    }
    return first;
}

/* Bytes of the block that others get of a rank. */
static size_t block_bytes(const struct blocks *b, int rank)
{
    const struct part *list = &b->call->recv;
    return b->call->what == COLL_ALLGATHERV
               ? (size_t)counts_at(list->counts, rank) * list->layout->size
               : b->a->bytes;
}

/* And of all blocks in front of it. */
static size_t bytes_before(const struct blocks *b, int rank)
{
    return b->call->what == COLL_ALLGATHERV ? listed_bytes(&b->call->recv, rank).all
                                            : (size_t)rank * b->a->bytes;
}

static void measure(struct blocks *b)
{
    int n = b->a->tiny->n, me = b->a->tiny->me;
    b->mine = block_bytes(b, me);
    b->before = bytes_before(b, me);
    b->all = bytes_before(b, n);
}

/* Gets this rank anything from the others?  Gives it them anything? */
static bool takes(const struct attached *a, const struct call *call)
{
    return call->what != COLL_GATHER || call->root == a->tiny->me;
}

static bool gives(const struct attached *a, const struct call *call)
{
    return call->what != COLL_GATHER || call->root != a->tiny->me;
}

/* Gives it them all the same? */
static bool is_one_block(const struct call *call)
{
    return call->what != COLL_ALLTOALL;
}

static bool send_open(struct blocks *b, const struct attached *a, const struct call *call)
{
    bool one = is_one_block(call);
    struct buffer send = call->in_place ? block_of(&call->recv, one ? a->tiny->me : 0)
                                        : part_block(&call->send, 0);
    send.count *= one ? 1 : (size_t)a->tiny->n;
    size_t wanted = one ? b->mine : b->all;
    bool is_short = buffer_bytes(&send) < wanted; /* XMPI_SHORT_BLOCKS */
    b->send = is_short || (call->in_place && !one) ? NULL : buffer_flat(&send);
    if (!b->send)
        b->send = b->copy = scratch_take(is_short ? wanted : buffer_bytes(&send));
    if (b->copy)
        buffer_pack(&send, 0, b->copy, buffer_bytes(&send));
    return b->send != NULL;
}

static bool land_open(struct blocks *b, const struct attached *a, const struct call *call)
{
    b->land = flat_blocks(&call->recv, a->tiny->n);
    if (!b->land)
        b->land = b->landing = scratch_take(b->all);
    return b->land != NULL;
}

/* Unpack what was written; or restore what was sent from here, if it was. */
static void land_close(struct blocks *b, bool good)
{
    const struct attached *a = b->a;
    const struct call *call = b->call;
    bool in_place = call->in_place && !is_one_block(call);
    size_t at = 0;
    for (int r = 0; r < a->tiny->n && takes(a, call); r++) {
        struct buffer block = block_of(&call->recv, r);
        size_t bytes = buffer_bytes(&block);
        if (good && b->landing && r != a->tiny->me)
            buffer_unpack(&block, 0, b->landing + at, bytes);
        else if (!good && in_place && b->copy)
            buffer_unpack(&block, 0, b->copy + at, bytes);
        at += bytes;
    }
    scratch_give(b->copy);
    scratch_give(b->landing);
}

static void keep_own(void *state)
{
    const struct blocks *b = state;
    const struct attached *a = b->a;
    const struct call *call = b->call;
    int me = a->tiny->me;
    if (call->in_place || !takes(a, call))
        return;
    struct buffer to = block_of(&call->recv, me);
    struct buffer from = part_block(&call->send, is_one_block(call) ? 0 : me);
    buffer_copy(&to, &from);
}

/* Each could do the other's work. */
static bool is_gather_of_two(const struct attached *a, const struct call *call)
{
    return call->what == COLL_GATHER && a->tiny->n == 2;
}

/* What the root reads of the other's block, from its beginning; a page is not pinned by both but where
 * they meet. */
static size_t share_of_root(const struct blocks *b)
{
    enum { PAGE = 4096 };
    const struct attached *a = b->a;
    if (!is_gather_of_two(a, b->call))
        return 0;
    if (a->tiny->unable)
        return a->tiny->unable >> b->call->root & 1 ? 0 : a->bytes;
    size_t eighths = b->mover == TAKER_READS ? 6 : 3;
    return a->tiny->crowded ? 0 : a->bytes / 8 * eighths / PAGE * PAGE;
}

/* Who of two could not do its part?  Both know.  The other one has not been tried with all if only one is
 * known to be unable. */
static void learn(struct attached *a, const struct call *call)
{
    uint8_t before = a->tiny->unable;
    for (int r = 0; r < 2 && is_gather_of_two(a, call); r++)
        if (!a->done[r])
            a->tiny->unable |= (uint8_t)(1 << r);
    a->other_way = before == 0 && (a->tiny->unable == 1 || a->tiny->unable == 2);
}

/* What the rank of this turn lacks of us, from where to where, or what we lack of that one. */
struct errand {
    int rank;
    bool reads;
    uint64_t there;
    char *here;
    size_t bytes;
};

static bool all_read(const struct blocks *b)
{
    return b->mover == TAKER_READS && b->call->what != COLL_GATHER;
}

static struct errand errand_to_read(const struct blocks *b)
{
    const struct attached *a = b->a;
    int r = (a->tiny->me + b->turn) % a->tiny->n;
    uint64_t in = attach_offered(a, r)->in + (is_one_block(b->call) ? 0 : b->before);
    return b->turn < a->tiny->n
               ? (struct errand){ r, true, in, b->land + bytes_before(b, r), block_bytes(b, r) }
               : (struct errand){ .bytes = 0 };
}

static struct errand errand_of(const struct blocks *b)
{
    const struct attached *a = b->a;
    int n = a->tiny->n, me = a->tiny->me, r = (me + b->turn) % n, other = 1 - me;
    if (all_read(b))
        return errand_to_read(b);
    size_t skip = share_of_root(b);
    if (b->turn == n && skip > 0 && takes(a, b->call))
        return (struct errand){ other, true, attach_offered(a, other)->in,
                                b->land + (size_t)other * a->bytes, skip };
    if (b->turn == n || !gives(a, b->call) || !attach_offered(a, r)->out)
        return (struct errand){ .bytes = 0 };
    uint64_t out = attach_offered(a, r)->out + b->before;
    const char *from = is_one_block(b->call) ? b->send : b->send + (size_t)r * b->mine;
    return (struct errand){ r, false, out + skip, (char *)from + skip, b->mine - skip };
}

static bool errand_go(struct blocks *b, const struct errand *e, size_t bytes)
{
    uint64_t began = cpu_ticks();
    bool good = e->reads
                    ? attach_read(b->a, e->rank, e->here + b->done, e->there + b->done, bytes)
                    : attach_write(b->a, e->rank, e->there + b->done, e->here + b->done, bytes);
    b->ticks += cpu_ticks() - began;
    b->done += bytes;
    return good;
}

/* ---- one call ---- */

static size_t mean_block(const struct blocks *b)
{
    return b->all / (size_t)b->a->tiny->n;
}

/* What is known of means that all choose alike; NULL: there is no choice. */
static struct means_table *means_of(const struct blocks *b)
{
    struct tiny *t = b->a->tiny;
    if (b->call->what != COLL_GATHER)
        return &t->movers[MOVERS_OF_BLOCKS];
    bool may_share = is_gather_of_two(b->a, b->call) && !t->unable && !t->crowded;
    return may_share ? &t->movers[MOVERS_OF_GATHERS] : NULL;
}

static enum means mover_of(const struct blocks *b)
{
    struct means_table *means = means_of(b);
    return means ? means_take(means, mean_block(b)) : GIVER_WRITES;
}

/* All went well, and said what it took.  The sum counts where all do alike, or share processors; of a gather, whose two
 * ranks work at the same time, the longer time. */
static void mover_learn(const struct blocks *b)
{
    struct means_table *means = means_of(b);
    uint64_t n = (uint64_t)b->a->tiny->n;
    uint64_t ticks = b->call->what == COLL_GATHER ? b->a->longest : b->a->ticks / (n * (n - 1));
    if (means)
        means_took(means, b->mover, mean_block(b), ticks);
}

/* What others reach of ours: all blocks that arrive but our own, and what the root of a gather reads; or what the
 * others read. */
static void share(const struct blocks *b)
{
    const struct attached *a = b->a;
    size_t root_reads = gives(a, b->call) ? share_of_root(b) : 0;
    size_t own_end = b->before + b->mine;
    if (all_read(b)) {
        attach_share(b->send, is_one_block(b->call) ? b->mine : b->all);
        return;
    }
    attach_share(root_reads ? b->send : NULL, root_reads);
    attach_share(b->land, b->before);
    attach_share(b->land ? b->land + own_end : NULL, b->all - own_end);
}

static void blocks_open(void *state, const struct attached *a, const struct call *call,
                        struct offer *offer)
{
    struct blocks *b = state;
    *b = (struct blocks){ .a = a, .call = call, .turn = 1 };
    measure(b);
    b->mover = mover_of(b);
    bool is_open = (!gives(a, call) || send_open(b, a, call)) &&
                   (!takes(a, call) || land_open(b, a, call));
    *offer = (struct offer){ .in = (uintptr_t)b->send,
                             .out = (uintptr_t)b->land,
                             .openness = !is_open                  ? CLOSED
                                         : b->mover == TAKER_READS ? OPEN_TO_READ
                                                                   : OPEN };
    share(b);
}

/* In the end told->done says whether all went well. */
static bool blocks_go_on(void *state, struct told *told)
{
    struct blocks *b = state;
    bool has_gone = false;
    while (b->turn <= b->a->tiny->n) {
        struct errand errand = errand_of(b);
        size_t left = errand.bytes - b->done, piece = left < PIECE_BYTES ? left : PIECE_BYTES;
        if (left == 0) {
            b->turn++;
            b->done = 0;
            continue;
        }
        if (has_gone)
            return true;
        if (!errand_go(b, &errand, piece))
            return false;
        has_gone = true;
    }
    *told = (struct told){ .done = 1, .ticks = b->ticks };
    return false;
}

static int blocks_close(void *state, struct attached *a, int error, struct rest *rest)
{
    struct blocks *b = state;
    bool good = !error && a->is_open;
    for (int r = 0; r < a->tiny->n && good; r++)
        good &= a->done[r] != 0;
    if (!error && a->is_open)
        learn(a, b->call);
    if (good)
        mover_learn(b);
    land_close(b, good);
    if (!error && !good)
        rest_whole(rest, b->call, false);
    return error;
}

const struct attach_way attach_blocks = { blocks_open, keep_own, blocks_go_on, blocks_close };
