/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgather and alltoall into the memory of others: rank r writes its block, or the block for
 * rank i, into the r-th block of rank i's buffer.
 *
 *                 rank 0          rank 1          rank 2
 *     turn 1      -> 1            -> 2            -> 0
 *     turn 2      -> 2            -> 0            -> 1        nobody is written to by two at once
 *
 * Memory with gaps is packed before, or written into as a packed copy, which is unpacked in the end.
 * Alltoall in place sends from a copy.
 */
#include "coll/attach.h"

#include "coll/scratch.h"

struct blocks {
    const struct part *to;
    const char *send;     /* packed: one block, or one per rank */
    char *land;           /* packed: a block per rank */
    char *copy, *landing; /* memory of our own for these two; NULL: the user's */
};

/* The blocks of all ranks as one buffer. */
static struct buffer all_blocks(const struct part *part, int n)
{
    return (struct buffer){ part->base, (size_t)n * part->count, part->layout };
}

/* False: no memory. */
static bool blocks_open(struct blocks *b, const struct attached *a, const struct call *call)
{
    int n = a->tiny->n;
    bool gathers = call->what == COLL_ALLGATHER;
    struct buffer land = all_blocks(&call->recv, n);
    struct buffer send = call->in_place ? part_block(&call->recv, gathers ? a->tiny->me : 0)
                                        : part_block(&call->send, 0);
    send.count *= gathers ? 1 : (size_t)n;
    *b = (struct blocks){ .to = &call->recv };
    b->send = call->in_place && !gathers ? NULL : buffer_flat(&send);
    b->land = buffer_flat(&land);
    if (!b->send)
        b->send = b->copy = scratch_take(buffer_bytes(&send));
    if (!b->land)
        b->land = b->landing = scratch_take(buffer_bytes(&land));
    if (b->copy)
        buffer_pack(&send, 0, b->copy, buffer_bytes(&send));
    return b->send && b->land;
}

/* Unpack what was written; or restore what was sent from here, if it was. */
static void blocks_close(struct blocks *b, const struct attached *a, const struct call *call,
                         bool good)
{
    bool in_place = call->in_place && call->what == COLL_ALLTOALL;
    for (int r = 0; r < a->tiny->n; r++) {
        struct buffer block = part_block(b->to, r);
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
    if (call->in_place)
        return;
    struct buffer to = part_block(&call->recv, me);
    struct buffer from = part_block(&call->send, call->what == COLL_ALLGATHER ? 0 : me);
    buffer_copy(&to, &from);
}

static bool write_all(const struct attached *a, const struct call *call, const char *send)
{
    int n = a->tiny->n, me = a->tiny->me;
    for (int i = 1; i < n; i++) {
        int r = (me + i) % n;
        const char *from = call->what == COLL_ALLGATHER ? send : send + (size_t)r * a->bytes;
        uint64_t to = attach_offered(a, r)->out + (uint64_t)me * a->bytes;
        if (!attach_write(a, r, to, from, a->bytes))
            return false;
    }
    return true;
}

int attach_blocks(struct attached *a, const struct call *call, struct rest *rest)
{
    struct blocks b;
    bool is_open = blocks_open(&b, a, call), good = false;
    struct offer offer = { .out = (uintptr_t)b.land, .is_open = is_open };
    int error = attach_offer(a, &offer);
    if (!error) {
        keep_own(a, call);
        error = attach_meet(a);
    }
    if (!error && a->is_open) {
        error = attach_end(a, write_all(a, call, b.send));
        good = !error;
        for (int r = 0; r < a->tiny->n; r++)
            good &= a->done[r] != 0;
    }
    blocks_close(&b, a, call, good);
    rest->n = !error && !good;
    return error;
}
