/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions through shared slots (tiny.c): who needs the result folds what all have said.
 *
 * Folding goes in rank order on every rank: all get the same bits.
 *
 * Where ranks exceed CPUs a turn of the scheduler is worth a hundred slots, and what counts is how
 * many calls a rank performs in its turn.  Of a scan that is as many as its slots hold, if it only
 * waits for the rank below and only the rank above for it.
 */
#include "coll/tiny_parts.h"

#include "runtime/folding.h"

/* ---- the two sides of a call ---- */

/* What this rank gives to a reduction: a vector, or a block for each rank. */
static inline struct part operands(const struct call *call)
{
    return (struct part){ .base = call->in_place ? call->recv.base : call->send.base,
                          .layout = call->reduction.layout,
                          .count = call->recv.count };
}

/* What kernels take: dense, or pairs with padding, as they lie in memory. */
static inline const void *vector_of(const struct call *call)
{
    return call->in_place ? call->recv.base : call->send.base;
}

/* The vectors of ranks 0 and 1, of which one is mine. */
static inline int fold_two(struct round *round, const struct call *call, const void *mine,
                           enum from from)
{
    const struct reduction *op = &call->reduction;
    int me = round->tiny->me;
    const struct slot *slot;
    int lost = tiny_hear(round, 1 - me, &slot);
    if (lost)
        return lost;
    const void *theirs = heard_at(round, slot, 1 - me, from);
    op->kernel(call->recv.base, me == 0 ? mine : theirs, me == 0 ? theirs : mine,
               call->recv.count * op->layout->nitems);
    return 0;
}

/* More, or of others alone, each of which the kernel adds to the sum of those before. */
static __attribute__((noinline)) int fold_by_kernel(struct round *round,
                                                    const struct call *call, int n,
                                                    const void *mine, enum from from)
{
    reduce_kernel *kernel = call->reduction.kernel;
    size_t items = call->recv.count * call->reduction.layout->nitems;
    void *out = call->recv.base;
    const void *sum = NULL;
    for (int r = 0; r < n; r++) {
        const struct slot *slot = NULL;
        int lost = r == round->tiny->me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
        const void *next = r == round->tiny->me ? mine : heard_at(round, slot, r, from);
        if (sum)
            kernel(out, sum, next, items);
        sum = sum ? out : next;
    }
    return 0;
}

/* One vector, or a mean, or sums that are rounded once. */
static __attribute__((noinline)) int fold_by_folding(struct round *round,
                                                     const struct call *call, int n,
                                                     const void *mine, enum from from)
{
    float floats[TINY_BYTES / sizeof(uint16_t)];
    struct folding f = folding_begin(&call->reduction, n, call->recv.base, call->recv.count);
    f.floats = floats;
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

/* Fold what the ranks [0, n) have to say, in their order. */
static int fold_ranks(struct round *round, const struct call *call, int n, const void *mine,
                      enum from from)
{
    const struct reduction *op = &call->reduction;
    if (n < 2 || op->mean || (n > 2 && op->in_float))
        return fold_by_folding(round, call, n, mine, from);
    return n == 2 && round->tiny->me < 2 ? fold_two(round, call, mine, from)
                                         : fold_by_kernel(round, call, n, mine, from);
}

/* Mine as an operand.  In place it is overwritten when the third vector is folded: then the slot
 * has a copy. */
static const void *own_vector(const struct round *round, const struct call *call)
{
    return call->in_place ? round->payload : vector_of(call);
}

void tiny_say_vector(struct round *round, const struct call *call)
{
    copy_bytes(round->payload, vector_of(call), round->bytes);
}

void tiny_say_reduce(struct round *round, const struct call *call)
{
    if (call->root != round->tiny->me || call->in_place)
        tiny_say_vector(round, call);
}

int tiny_take_allreduce(struct round *round, const struct call *call)
{
    return fold_ranks(round, call, round->tiny->n, own_vector(round, call), FROM_START);
}

int tiny_take_reduce(struct round *round, const struct call *call)
{
    return call->root == round->tiny->me ? tiny_take_allreduce(round, call) : 0;
}

void tiny_say_reduce_scatter(struct round *round, const struct call *call)
{
    struct part all = operands(call);
    pack_others(round, &all);
}

/* In place the result overwrites block 0, which others have from the slot by now. */
int tiny_take_reduce_scatter(struct round *round, const struct call *call)
{
    struct part all = operands(call);
    struct buffer own = part_block(&all, round->tiny->me);
    return fold_ranks(round, call, round->tiny->n, buffer_flat(&own), FROM_MY_BLOCK);
}

/* With blocks that differ everybody says the whole vector. */
void tiny_say_listed_scatter(struct round *round, const struct call *call)
{
    struct part all = operands(call);
    if (round->bytes > 0)
        all.count = round->bytes / all.layout->size;
    struct buffer vector = part_block(&all, 0);
    pack(round->payload, &vector, round->bytes);
}

/* In place the result may overlap my block of the vector: the slot has a copy. */
int tiny_take_listed_scatter(struct round *round, const struct call *call)
{
    struct call own = *call;
    own.recv.count = (size_t)counts_at(call->recv.counts, round->tiny->me);
    round->place = listed_bytes(&call->recv, round->tiny->me).all;
    if (own.recv.count == 0)
        return tiny_hear_all(round);
    return fold_ranks(round, &own, round->tiny->n, round->payload + round->place,
                      FROM_MY_PLACE);
}

int tiny_take_scan(struct round *round, const struct call *call)
{
    return fold_ranks(round, call, round->tiny->me + 1, own_vector(round, call), FROM_START);
}

int tiny_take_exscan(struct round *round, const struct call *call)
{
    return fold_ranks(round, call, round->tiny->me, own_vector(round, call), FROM_START);
}

/* Add my vector to what the rank below says, and say that.  The result is the sum with mine, or
 * what was heard. */
static int pass_on(struct round *round, const struct call *call, bool with_mine)
{
    const struct reduction *op = &call->reduction;
    int me = round->tiny->me;
    const struct slot *slot;
    const char *below = NULL;
    int lost = me == 0 ? 0 : tiny_hear(round, me - 1, &slot);
    if (lost)
        return lost;
    if (me > 0)
        below = tiny_payload(round, me - 1, slot);
    if (below)
        op->kernel(round->payload, below, vector_of(call),
                   call->recv.count * op->layout->nitems);
    else
        copy_bytes(round->payload, vector_of(call), round->bytes);
    tiny_publish(round);
    const char *result = with_mine ? round->payload : below;
    if (result)
        folding_copy(op, call->recv.base, result, call->recv.count);
    if (result && op->mean)
        reduce_divide(op, call->recv.base, call->recv.count, me + with_mine);
    return 0;
}

int tiny_pass_on_scan(struct round *round, const struct call *call)
{
    return pass_on(round, call, true);
}

int tiny_pass_on_exscan(struct round *round, const struct call *call)
{
    return pass_on(round, call, false);
}
