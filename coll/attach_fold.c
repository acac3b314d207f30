/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduce, allreduce and reduce_scatter(_block) in the memory of others.  The vector is cut in as many
 * slices as there are ranks; each rank reads its slice of all vectors, folds them, and writes the
 * result to whoever wants it:
 *
 *     vector of rank 0   [ 0 | 1 | 2 ]        rank 1 reads slice 1 of all,
 *     vector of rank 1   [ 0 | 1 | 2 ]        folds them in rank order,
 *     vector of rank 2   [ 0 | 1 | 2 ]        writes slice 1 of the root, or of all, or keeps it
 *
 * A slice is touched by one rank only, so nobody waits between reading and writing, also in place;
 * all ranks get the same bits, and the order of operands is that of the ranks.  Each rank reads
 * and folds (p-1)/p of a vector, and writes as much in an allreduce, 1/p in a reduce.  There the root
 * has nothing to write, so of two ranks it takes the longer slice.
 *
 * It goes in pieces that stay in the cache.  What cannot be read or written stops the slice there.
 * Only where results replace operands, what was read must be writable, or nobody could go on.
 */
#include "coll/attach_slice.h"

#include "coll/scratch.h"
#include "coll/tell.h"
#include "runtime/folding.h"

#include <string.h>

struct work {
    const struct attached *a;
    const struct call *call;
    const char *mine;
    char *out;         /* for the whole vector; NULL: the result is not for us */
    char *sum, *heard; /* room for a piece each */
    float *floats;     /* the same in floats, or NULL */
    size_t element;    /* bytes */
};

/* Elements of the first so many blocks of a reduce_scatter, or of the vector. */
static size_t elements_of(const struct call *call, int blocks)
{
    if (call->what == COLL_REDUCE_SCATTER)
        return listed_bytes(&call->recv, blocks).all / call->recv.layout->size;
    return call->recv.count * (call->what == COLL_REDUCE_SCATTER_BLOCK ? (size_t)blocks : 1);
}

static struct slice block_slice(const struct call *call, int rank)
{
    size_t first = elements_of(call, rank);
    return (struct slice){ first, elements_of(call, rank + 1) - first };
}

/* Of two ranks that reduce, the root need not write what it has folded: it does five eighths. */
static struct slice slice_of(const struct work *f, int rank)
{
    const struct call *call = f->call;
    size_t n = call->recv.count;
    int ranks = f->a->tiny->n;
    if (is_reduce_scatter(call->what))
        return block_slice(call, rank);
    if (call->what == COLL_REDUCE && ranks == 2)
        return slice_of_two(n, call->root == 0 ? 5 : 3, rank);
    return slice_alike(n, ranks, rank);
}

/* Where the sum of a piece is made: at once where it belongs, unless our own operand is there. */
static char *place_for(const struct work *f, size_t at)
{
    return f->out && f->out != f->mine ? f->out + at : f->sum;
}

struct piece {
    struct attempt attempt;
    const struct work *f;
    size_t at, count; /* bytes, elements */
    char *to;
};

/* What a rank gives to the piece; NULL: it cannot be read. */
static const char *piece_of(const struct piece *p, int rank)
{
    const struct work *f = p->f;
    size_t bytes = p->count * f->element;
    if (rank == f->a->tiny->me)
        return f->mine + p->at;
    return attach_operand(f->a, rank, p->at, bytes, p->attempt.in_place,
                          rank == 0 ? f->sum : f->heard);
}

static void piece_try(void *piece)
{
    struct piece *p = piece;
    int n = p->f->a->tiny->n;
    struct folding folding = folding_begin(&p->f->call->reduction, n, p->to, p->count);
    folding.floats = p->f->floats;
    for (int r = 0; r < n; r++) {
        const char *vector = piece_of(p, r);
        if (!vector)
            return;
        folding_add(&folding, vector);
    }
    folding_end(&folding);
    p->attempt.good = true;
}

/* The piece of all ranks, folded into `to`.  False: it cannot be read. */
static bool piece_fold(const struct work *f, size_t at, size_t count, char *to)
{
    struct piece piece = { .f = f, .at = at, .count = count, .to = to };
    return attempt_make(piece_try, &piece.attempt);
}

/* To all who want it; ours last, as it may be our operand.  How much went well. */
static enum outcome piece_spread(const struct work *f, size_t at, size_t count, const char *sum)
{
    size_t bytes = count * f->element;
    bool spoilt = false;
    for (int i = 1; i < f->a->tiny->n; i++) {
        int r = (f->a->tiny->me + i) % f->a->tiny->n;
        const struct offer *offer = attach_offered(f->a, r);
        if (!offer->out)
            continue;
        spoilt |= offer->out == offer->in;
        if (!attach_write(f->a, r, offer->out + at, sum, bytes))
            return spoilt ? SPOILT : STOPPED;
    }
    if (f->out && sum != f->out + at)
        memcpy(f->out + at, sum, bytes);
    return GOOD;
}

static void share_all(const struct work *f, const struct offer *offer)
{
    size_t bytes = elements_of(f->call, f->a->tiny->n) * f->element;
    attach_share(f->mine, bytes);
    attach_share((void *)(uintptr_t)offer->out, bytes);
}

/* For two pieces, and one in floats instead of 16 bits; none where the device folds. */
static char *room_take(const struct call *call)
{
    if (call->near)
        return NULL;
    return scratch_take((size_t)(call->reduction.in_float ? 4 : 2) * ATTACH_PIECE);
}

static struct work work_of(const struct attached *a, const struct call *call, char *room)
{
    const struct layout *layout = call->reduction.layout;
    struct buffer in = { call->in_place ? call->recv.base : call->send.base,
                         elements_of(call, a->tiny->n), layout, HERE };
    return (struct work){ .a = a,
                          .call = call,
                          .mine = buffer_flat(&in),
                          .sum = room,
                          .heard = room ? room + ATTACH_PIECE : NULL,
                          .floats = room && call->reduction.in_float
                                        ? (float *)(room + 2 * ATTACH_PIECE)
                                        : NULL,
                          .element = layout->size };
}

/* ---- one call ---- */

struct fold {
    struct work work;
    char *room, *copy; /* scratch; NULL: none */
    struct slice slice;
    size_t done; /* elements of it */
};
_Static_assert(sizeof(struct fold) <= ATTACH_STATE, "attach_run has so much room");

/* Where the result goes, as if it were the whole vector.  In place others may still read where the blocks of a
 * reduce_scatter go, so there it goes in the end.  False: no memory. */
static bool out_open(struct fold *fold, const struct attached *a, const struct call *call)
{
    bool scatters = is_reduce_scatter(call->what);
    size_t count = scatters ? fold->slice.count : call->recv.count;
    struct buffer out = { call->recv.base, count, call->reduction.layout, HERE };
    if (!scatters) {
        if (call->what == COLL_ALLREDUCE || call->root == a->tiny->me)
            fold->work.out = buffer_flat(&out);
        return true;
    }
    char *to = call->in_place ? NULL : buffer_flat(&out);
    if (!to && !call->near)
        to = fold->copy = scratch_take(buffer_bytes(&out));
    if (to)
        fold->work.out =
            buffer_at(to, -(ptrdiff_t)(fold->slice.first * call->reduction.layout->size));
    return to != NULL;
}

static void fold_open(void *state, const struct attached *a, const struct call *call,
                      struct offer *offer)
{
    struct fold *fold = state;
    bool scatters = is_reduce_scatter(call->what);
    char *room = room_take(call);
    *fold = (struct fold){ .work = work_of(a, call, room), .room = room };
    fold->slice = slice_of(&fold->work, a->tiny->me);
    bool has_room = out_open(fold, a, call) && room;
    *offer = (struct offer){ .in = (uintptr_t)fold->work.mine,
                             .out = scatters ? 0 : (uintptr_t)fold->work.out,
                             .openness = openness_of(call, has_room) };
    if (offer->openness == OPEN)
        share_all(&fold->work, offer);
}

/* A piece of our slice.  In the end told->done is how many elements of it are done, or DONE_NEVER: it is spoilt. */
static bool fold_go_on(void *state, struct told *told)
{
    struct fold *fold = state;
    const struct work *f = &fold->work;
    size_t most = ATTACH_PIECE / f->element, left = fold->slice.count - fold->done;
    size_t count = left < most ? left : most;
    size_t at = (fold->slice.first + fold->done) * f->element;
    told->done = fold->done;
    if (count == 0)
        return false;
    char *to = place_for(f, at);
    enum outcome outcome = STOPPED;
    if (piece_fold(f, at, count, to))
        outcome = piece_spread(f, at, count, to);
    if (outcome == GOOD)
        told->done = fold->done += count;
    if (outcome == SPOILT)
        told->done = DONE_NEVER;
    return outcome == GOOD && fold->done < fold->slice.count;
}

/* What all slices lack. */
static int rest_of_all(const struct work *f, const struct attached *a, struct rest *rest)
{
    int error = 0;
    if (a->away)
        rest_whole(rest, f->call, true);
    for (int r = 0; r < a->tiny->n && !error && !a->away; r++)
        error = rest_add(rest, slice_of(f, r), r, a->is_open ? a->done[r] : 0);
    return error;
}

/* What a block lacks, all blocks lack. */
static void rest_of_blocks(const struct work *f, const struct attached *a, struct rest *rest)
{
    bool lacks = false;
    for (int r = 0; r < a->tiny->n; r++)
        lacks |= !a->is_open || a->done[r] != block_slice(f->call, r).count;
    if (lacks)
        rest_whole(rest, f->call, a->away);
}

static int fold_close(void *state, struct attached *a, int error, struct rest *rest)
{
    struct fold *fold = state;
    const struct call *call = fold->work.call;
    if (!error && is_reduce_scatter(call->what))
        rest_of_blocks(&fold->work, a, rest);
    else if (!error)
        error = rest_of_all(&fold->work, a, rest);
    if (fold->copy && !error && rest->n == 0) {
        struct buffer out = { call->recv.base, fold->slice.count, call->reduction.layout,
                              HERE };
        size_t bytes = buffer_bytes(&out);
        if (bytes > 0)
            memcpy(buffer_flat(&out), fold->copy, bytes);
    }
    scratch_give(fold->copy);
    scratch_give(fold->room);
    return error;
}

const struct attach_way attach_fold = { fold_open, NULL, fold_go_on, fold_close };
