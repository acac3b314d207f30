/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgather, alltoall and gather into the memory of others: rank r writes its block, or the block
 * for rank i, into the r-th block of rank i's buffer.
 *
 *                 rank 0          rank 1          rank 2
 *     turn 1      -> 1            -> 2            -> 0
 *     turn 2      -> 2            -> 0            -> 1        nobody is written to by two at once
 *
 * Of a gather of two ranks the root, which would only wait, reads three eighths of the block itself: a third
 * to two fifths take the same time where CPUs share a cache and where they do not.  Where one of them cannot
 * reach the other, that one does all of it.
 *
 * Memory with gaps is packed before, or written into as a packed copy, which is unpacked in the end.
 * Alltoall in place sends from a copy.
 */
#include "coll/attach.h"

#include "coll/scratch.h"
#include "coll/tell.h"

struct blocks {
    const struct attached *a;
    const struct call *call;
    const char *send;     /* packed: one block, or one per rank; NULL: nothing is sent */
    char *land;           /* packed: a block per rank; NULL: nothing arrives */
    char *copy, *landing; /* memory of our own for these two; NULL: the user's */
    int turn;             /* from 1: who is written to; after the last the root reads */
    size_t done;          /* bytes of this turn */
};
_Static_assert(sizeof(struct blocks) <= ATTACH_STATE, "attach_run has so much room");
enum { PIECE_BYTES = 1 << 20 }; /* then others may come */

/* The blocks of all ranks as one buffer. */
static struct buffer all_blocks(const struct part *part, int n)
{
    return (struct buffer){ part->base, (size_t)n * part->count, part->layout, part->where };
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
    struct buffer send = call->in_place ? part_block(&call->recv, one ? a->tiny->me : 0)
                                        : part_block(&call->send, 0);
    send.count *= one ? 1 : (size_t)a->tiny->n;
    b->send = call->in_place && !one ? NULL : buffer_flat(&send);
    if (!b->send)
        b->send = b->copy = scratch_take(buffer_bytes(&send));
    if (b->copy)
        buffer_pack(&send, 0, b->copy, buffer_bytes(&send));
    return b->send != NULL;
}

static bool land_open(struct blocks *b, const struct attached *a, const struct call *call)
{
    struct buffer land = all_blocks(&call->recv, a->tiny->n);
    b->land = buffer_flat(&land);
    if (!b->land)
        b->land = b->landing = scratch_take(buffer_bytes(&land));
    return b->land != NULL;
}

/* Unpack what was written; or restore what was sent from here, if it was. */
static void land_close(struct blocks *b, bool good)
{
    const struct attached *a = b->a;
    const struct call *call = b->call;
    bool in_place = call->in_place && !is_one_block(call);
    for (int r = 0; r < a->tiny->n && takes(a, call); r++) {
        struct buffer block = part_block(&call->recv, r);
        if (good && b->landing && r != a->tiny->me)
            buffer_unpack(&block, 0, b->landing + (size_t)r * a->bytes, a->bytes);
        else if (!good && in_place && b->copy)
            buffer_unpack(&block, 0, b->copy + (size_t)r * a->bytes, a->bytes);
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
    struct buffer to = part_block(&call->recv, me);
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
static size_t share_of_root(const struct attached *a, const struct call *call)
{
    enum { PAGE = 4096 };
    if (!is_gather_of_two(a, call))
        return 0;
    if (a->tiny->unable)
        return a->tiny->unable >> call->root & 1 ? 0 : a->bytes;
    return a->tiny->crowded ? 0 : a->bytes / 8 * 3 / PAGE * PAGE;
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

/* What the rank of this turn lacks of us, from where to where, or what the root lacks of the other one's. */
struct errand {
    int rank;
    bool reads;
    uint64_t there;
    char *here;
    size_t bytes;
};

static struct errand errand_of(const struct blocks *b)
{
    const struct attached *a = b->a;
    int n = a->tiny->n, me = a->tiny->me, r = (me + b->turn) % n, other = 1 - me;
    size_t skip = share_of_root(a, b->call);
    if (b->turn == n && skip > 0 && takes(a, b->call))
        return (struct errand){ other, true, attach_offered(a, other)->in,
                                b->land + (size_t)other * a->bytes, skip };
    if (b->turn == n || !gives(a, b->call) || !attach_offered(a, r)->out)
        return (struct errand){ .bytes = 0 };
    uint64_t out = attach_offered(a, r)->out + (uint64_t)me * a->bytes;
    const char *from = is_one_block(b->call) ? b->send : b->send + (size_t)r * a->bytes;
    return (struct errand){ r, false, out + skip, (char *)from + skip, a->bytes - skip };
}

static bool errand_go(const struct blocks *b, const struct errand *e, size_t bytes)
{
    return e->reads ? attach_read(b->a, e->rank, e->here + b->done, e->there + b->done, bytes)
                    : attach_write(b->a, e->rank, e->there + b->done, e->here + b->done, bytes);
}

/* ---- one call ---- */

/* What others reach of ours: all blocks that arrive but our own, and what the root of a gather reads. */
static void share(const struct blocks *b)
{
    const struct attached *a = b->a;
    size_t root_reads = gives(a, b->call) ? share_of_root(a, b->call) : 0;
    size_t below = (size_t)a->tiny->me * a->bytes, own_end = below + a->bytes;
    attach_share(root_reads ? b->send : NULL, root_reads);
    attach_share(b->land, below);
    attach_share(b->land ? b->land + own_end : NULL, (size_t)a->tiny->n * a->bytes - own_end);
}

static void blocks_open(void *state, const struct attached *a, const struct call *call,
                        struct offer *offer)
{
    struct blocks *b = state;
    *b = (struct blocks){ .a = a, .call = call, .turn = 1 };
    bool is_open = (!gives(a, call) || send_open(b, a, call)) &&
                   (!takes(a, call) || land_open(b, a, call));
    *offer = (struct offer){ .in = (uintptr_t)b->send,
                             .out = (uintptr_t)b->land,
                             .openness = is_open ? OPEN : CLOSED };
    share(b);
}

/* In the end *done says whether all went well. */
static bool blocks_go_on(void *state, uint64_t *done)
{
    struct blocks *b = state;
    bool has_gone = false;
    *done = 0;
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
        b->done += piece;
        has_gone = true;
    }
    *done = 1;
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
    land_close(b, good);
    rest->n = !error && !good;
    return error;
}

const struct attach_way attach_blocks = { blocks_open, keep_own, blocks_go_on, blocks_close };
