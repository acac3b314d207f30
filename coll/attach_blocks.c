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
    const char *send;     /* packed: one block, or one per rank; NULL: nothing is sent */
    char *land;           /* packed: a block per rank; NULL: nothing arrives */
    char *copy, *landing; /* memory of our own for these two; NULL: the user's */
};

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

/* False: no memory. */
static bool blocks_open(struct blocks *b, const struct attached *a, const struct call *call)
{
    *b = (struct blocks){ .send = NULL };
    return (!gives(a, call) || send_open(b, a, call)) &&
           (!takes(a, call) || land_open(b, a, call));
}

/* Unpack what was written; or restore what was sent from here, if it was. */
static void blocks_close(struct blocks *b, const struct attached *a, const struct call *call,
                         bool good)
{
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

static void keep_own(const struct attached *a, const struct call *call)
{
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

static bool read_share(const struct attached *a, const struct call *call, char *land)
{
    size_t bytes = share_of_root(a, call);
    int other = 1 - a->tiny->me;
    return bytes == 0 || !takes(a, call) ||
           attach_read(a, other, land + (size_t)other * a->bytes, attach_offered(a, other)->in,
                       bytes);
}

static bool write_all(const struct attached *a, const struct call *call, const char *send)
{
    int n = a->tiny->n, me = a->tiny->me;
    size_t skip = share_of_root(a, call);
    for (int i = 1; i < n && gives(a, call); i++) {
        int r = (me + i) % n;
        uint64_t out = attach_offered(a, r)->out;
        const char *from = is_one_block(call) ? send : send + (size_t)r * a->bytes;
        if (out && !attach_write(a, r, out + (uint64_t)me * a->bytes + skip, from + skip,
                                 a->bytes - skip))
            return false;
    }
    return true;
}

int attach_blocks(struct attached *a, const struct telling *telling, struct rest *rest)
{
    const struct call *call = telling->call;
    struct blocks b;
    bool is_open = blocks_open(&b, a, call), good = false;
    struct offer offer = { .in = (uintptr_t)b.send,
                           .out = (uintptr_t)b.land,
                           .openness = is_open ? OPEN : CLOSED };
    size_t root_reads = gives(a, call) ? share_of_root(a, call) : 0;
    attach_share(root_reads ? b.send : NULL, root_reads);
    attach_share(b.land, (size_t)a->tiny->n * a->bytes);
    int error = attach_offer(a, &offer);
    if (!error) {
        keep_own(a, call);
        error = attach_meet(a);
    }
    if (!error && a->is_open) {
        error = attach_end(a, write_all(a, call, b.send) && read_share(a, call, b.land));
        good = !error;
        for (int r = 0; r < a->tiny->n; r++)
            good &= a->done[r] != 0;
        if (!error)
            learn(a, call);
    }
    blocks_close(&b, a, call, good);
    rest->n = !error && !good;
    return error;
}
