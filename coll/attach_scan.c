/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scan and exscan in the memory of others.  The vector is cut in slices, as in attach_fold.c; each rank walks
 * up all ranks with its slice, and gives each what has come together below it:
 *
 *     sum = slice of rank 0                          its own result is a copy, made by itself
 *     rank 1, 2, ...:   sum = sum op its slice       written there (scan)
 *                       what sum was before          written there (exscan)
 *
 * So nobody waits for anybody between the two rounds, where a chain of messages has one rank after the other
 * begin; the order of operands and the roundings are those of the chain.  The last rank's share of
 * an exscan is nobody's operand.
 *
 * Of two ranks, rank 1 folds what it reads straight into its own result, which costs one copy by the kernel and
 * not two; so rank 0, which has its own copy to make beside, takes the smaller slice.
 *
 * It goes in pieces, of each of which all is read before anything is given, so that what cannot be read stops
 * the slice there.  Where results replace operands, what was read must be writable, or nobody could go on.
 */
#include "coll/attach_slice.h"

#include "coll/scratch.h"
#include "coll/tell.h"

#include <string.h>

struct work {
    const struct attached *a;
    const struct call *call;
    const char *mine;
    char *out;      /* NULL: there is no result for us */
    char *rooms;    /* for a piece of each rank */
    size_t element; /* bytes */
    size_t piece;   /* elements */
    size_t eighths; /* see eighths_of */
    bool exclusive;
};

static struct slice slice_of(const struct work *f, int rank)
{
    size_t n = f->call->recv.count;
    int ranks = f->a->tiny->n;
    return ranks > 2 ? slice_alike(n, ranks, rank) : slice_of_two(n, f->eighths, rank);
}

/* Of two ranks, what rank 0 takes: less where it has a copy to make beside, and nothing where it would take the
 * CPU from rank 1, for which the same work is less. */
static size_t eighths_of(const struct work *f)
{
    const struct offer *lowest = attach_offered(f->a, 0);
    bool copies = !f->exclusive && lowest->out != lowest->in;
    return f->a->tiny->crowded ? 0 : copies ? 2 : 3;
}

/* ---- a piece on its way up ---- */

struct climb {
    struct attempt attempt;
    const struct work *f;
    size_t at, bytes, items;
    const char *sum[TINY_RANKS]; /* of the ranks up to each; that of rank 0 may lie there */
};

static char *room_of(const struct work *f, int rank)
{
    return f->rooms + (size_t)rank * f->piece * f->element;
}

/* What a rank gives to the piece; NULL: it cannot be read. */
static const char *share_of(const struct climb *c, int rank, char *landing, bool in_place)
{
    const struct work *f = c->f;
    if (rank == f->a->tiny->me)
        return f->mine + c->at;
    return attach_operand(f->a, rank, c->at, c->bytes, in_place, landing);
}

/* The share of rank 0.  In an exscan it is the result of rank 1 as it is. */
static const char *lowest_of(const struct climb *c)
{
    const struct work *f = c->f;
    bool is_free = f->out != f->mine || f->a->tiny->n == 2; /* nobody needs what is there */
    bool is_result = f->exclusive && f->a->tiny->me == 1 && is_free;
    return share_of(c, 0, is_result ? f->out + c->at : room_of(f, 0),
                    c->attempt.in_place && !f->exclusive);
}

/* Where the sum up to a rank is made: at once where it belongs, unless our own share is there. */
static char *place_for(const struct climb *c, int rank)
{
    const struct work *f = c->f;
    bool is_ours = rank == f->a->tiny->me && !f->exclusive && f->out != f->mine;
    return is_ours ? f->out + c->at : room_of(f, rank);
}

static void climb_try(void *climb)
{
    struct climb *c = climb;
    const struct work *f = c->f;
    c->sum[0] = lowest_of(c);
    if (!c->sum[0])
        return;
    for (int r = 1; r < f->a->tiny->n - f->exclusive; r++) {
        const char *share = share_of(c, r, room_of(f, r), c->attempt.in_place);
        char *to = place_for(c, r);
        if (!share)
            return;
        f->call->reduction.kernel(to, c->sum[r - 1], share, c->items);
        c->sum[r] = to;
    }
    c->attempt.good = true;
}

/* The sums of all ranks.  False: something cannot be read, and everything is as it was. */
static bool piece_climb(struct climb *c)
{
    return attempt_make(climb_try, &c->attempt);
}

/* To each its own. */
static enum outcome piece_give(const struct climb *c)
{
    const struct work *f = c->f;
    bool spoilt = false;
    for (int r = 1; r < f->a->tiny->n; r++) {
        const char *sum = c->sum[r - f->exclusive];
        const struct offer *offer = attach_offered(f->a, r);
        bool is_operand = !f->exclusive || r < f->a->tiny->n - 1;
        spoilt |= is_operand && offer->out == offer->in;
        if (r != f->a->tiny->me && !attach_write(f->a, r, offer->out + c->at, sum, c->bytes))
            return spoilt ? SPOILT : STOPPED;
        if (r == f->a->tiny->me && sum != f->out + c->at)
            memcpy(f->out + c->at, sum, c->bytes);
    }
    return GOOD;
}

/* How many elements of our slice are done, or DONE_NEVER. */
static uint64_t slice_climb(const struct work *f)
{
    struct slice slice = slice_of(f, f->a->tiny->me);
    size_t done = 0;
    while (done < slice.count) {
        size_t count = slice.count - done < f->piece ? slice.count - done : f->piece;
        struct climb c = { .f = f };
        c.at = (slice.first + done) * f->element;
        c.bytes = count * f->element;
        c.items = count * f->call->reduction.layout->nitems;
        enum outcome outcome = piece_climb(&c) ? piece_give(&c) : STOPPED;
        if (outcome != GOOD)
            return outcome == SPOILT ? DONE_NEVER : done;
        done += count;
        if (done < slice.count)
            progress_beside();
    }
    return done;
}

/* ---- the call ---- */

/* The two rounds.  Rank 0 makes its own copy while the others come. */
static int scan_all(struct work *f, struct attached *a, const struct offer *offer)
{
    int me = a->tiny->me;
    size_t bytes = f->call->recv.count * f->element;
    bool is_open = offer->openness == OPEN;
    if (is_open && !(f->exclusive && me == a->tiny->n - 1))
        attach_share(f->mine, bytes);
    if (is_open && me > 0)
        attach_share(f->out, bytes);
    int error = attach_offer(a, offer);
    if (!error && is_open && me == 0 && f->out && f->out != f->mine)
        memcpy(f->out, f->mine, bytes);
    if (!error)
        error = attach_meet(a);
    f->eighths = error ? 0 : eighths_of(f); /* of slots that are written anew after the end */
    if (!error && a->is_open)
        error = attach_end(a, (struct told){ .done = slice_climb(f) });
    return error;
}

/* Of a slice, as far as it is done. */
static void take_mean(const struct work *f, struct slice slice, uint64_t done)
{
    int shares = f->a->tiny->me + !f->exclusive;
    if (f->call->reduction.mean && f->out)
        reduce_divide(&f->call->reduction, f->out + slice.first * f->element, done, shares);
}

/* In elements, so that the pieces of all ranks stay in the cache. */
static size_t piece_for(size_t element, int ranks)
{
    size_t most = (size_t)2 * ATTACH_PIECE / (size_t)ranks / element;
    return most > 0 ? most : 1;
}

int attach_scan(struct attached *a, const struct telling *telling, struct rest *rest)
{
    const struct call *call = telling->call;
    const struct layout *layout = call->reduction.layout;
    struct buffer in = { call->in_place ? call->recv.base : call->send.base, call->recv.count,
                         layout, HERE };
    struct buffer out = { call->recv.base, call->recv.count, layout, HERE };
    int ranks = a->tiny->n;
    size_t piece = piece_for(layout->size, ranks);
    char *rooms = call->near ? NULL : scratch_take((size_t)ranks * piece * layout->size);
    struct work f = { .a = a,
                      .call = call,
                      .mine = buffer_flat(&in),
                      .rooms = rooms,
                      .element = layout->size,
                      .piece = piece,
                      .exclusive = call->what == COLL_EXSCAN };
    if (!f.exclusive || a->tiny->me > 0)
        f.out = buffer_flat(&out);
    struct offer offer = { .in = (uintptr_t)f.mine,
                           .out = (uintptr_t)f.out,
                           .openness = openness_of(call, rooms) };
    int error = scan_all(&f, a, &offer);
    if (a->away)
        rest_whole(rest, call, true);
    for (int r = 0; r < ranks && !error && !a->away; r++) {
        uint64_t done = a->is_open ? a->done[r] : 0;
        error = rest_add(rest, slice_of(&f, r), r, done);
        if (!error)
            take_mean(&f, slice_of(&f, r), done);
    }
    scratch_give(rooms);
    return error;
}
