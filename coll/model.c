/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest algorithm.  Every algorithm of the collective that can serve is priced whole and in
 * 4, 16 and 64 pieces, with its own radix, half and twice of it; the plans of all ranks are
 * performed on the model for each, so what a rank may spend is bounded: MOST_STEPS steps, some
 * milliseconds.  What would take more has no price and is not chosen by it.
 *
 * Prices are asked for sizes in steps of a quarter of a doubling, so a program that uses many sizes
 * asks for few prices; answers are kept for the process.
 */
#include "coll/model.h"

#include "runtime/fail.h"

#include <string.h>

enum { MOST_STEPS = 1 << 14, LEAST_PIECE = 4096 };

/* Ranks know the amount of data alike, and an algorithm may be chosen by it. */
static bool is_priced(const struct question *q)
{
    switch (q->what) {
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return false;
    default:
        return !q->inter && !is_neighbourhood(q->what);
    }
}

/* The largest of 1, 5/4, 3/2, 7/4 times a power of two that is not larger. */
static size_t rounded(size_t bytes)
{
    if (bytes < 8)
        return bytes;
    int log = 63 - __builtin_clzll(bytes);
    return bytes >> (log - 2) << (log - 2);
}

static bool try(const struct question *q, const struct choice *how, struct price *price)
{
    const struct price_query asked = {
        .algorithm = how->algorithm,
        .p = q->ranks,
        .pieces = how->pieces,
        .radix = how->radix,
        .bytes = rounded(q->bytes),
        .seats = { .per_node = q->nodes > 1 ? (q->ranks + q->nodes - 1) / q->nodes : 0 },
    };
    if (choose_objection(how->algorithm, how->radix, q))
        return false;
    if (price_of(&price_standard, &asked, MOST_STEPS, price) == 0)
        return true;
    fail_clear(); /* no price is an answer */
    return false;
}

bool model_price(const struct question *q, const struct algorithm *a, struct choice *how,
                 struct price *best)
{
    static const int cuts[] = { 1, 4, 16, 64 };
    if (a->script)
        return false; /* only its own ranks are to verify it */
    int radixes[] = { a->radix, 2 * a->radix, a->radix / 2 };
    bool found = false;
    for (int c = 0; is_priced(q) && c < (a->cut ? 4 : 1); c++)
        for (int r = 0; r < (a->radix ? 3 : 1); r++) {
            struct choice this = { .algorithm = a, .pieces = cuts[c], .radix = radixes[r] };
            struct price price;
            if ((a->radix && this.radix < 2) ||
                (c > 0 && q->bytes / (size_t)cuts[c] < LEAST_PIECE))
                continue;
            if (!try(q, &this, &price))
                continue;
            if (found && price_seconds(price) >= price_seconds(*best))
                continue;
            found = true;
            *how = this;
            *best = price;
        }
    return found;
}

static bool choose_cheapest(const struct question *q, struct choice *choice)
{
    struct price best = { 0 }, price;
    struct choice how;
    bool found = false;
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (a->what != q->what || !a->program || !model_price(q, a, &how, &price))
            continue;
        if (found && price_seconds(price) >= price_seconds(best))
            continue;
        found = true;
        best = price;
        *choice = how;
    }
    choice->by = BY_MODEL;
    return found;
}

/* ---- answers, kept ---- */

struct answer {
    bool known, found;
    enum collective what;
    bool order_matters, placed;
    int ranks, nodes;
    size_t bytes;
    struct choice choice;
};

static bool answers(const struct answer *a, const struct question *q)
{
    return a->known && a->what == q->what && a->order_matters == q->order_matters &&
           a->ranks == q->ranks && a->nodes == q->nodes && a->placed == (q->places != NULL) &&
           a->bytes == rounded(q->bytes);
}

bool model_choose(const struct question *q, struct choice *choice)
{
    enum { ANSWERS = 128 };
    static struct answer kept[ANSWERS];
    if (q->nodes == 1 || !is_priced(q))
        return false;
    size_t bytes = rounded(q->bytes);
    uint64_t key = (uint64_t)bytes * 64 + (uint64_t)q->what * 2 + q->order_matters +
                   (uint64_t)q->ranks * 7919;
    struct answer *a = &kept[key * 0x9e3779b97f4a7c15ull >> 57];
    if (!answers(a, q)) {
        *a = (struct answer){ .known = true,
                              .what = q->what,
                              .order_matters = q->order_matters,
                              .placed = q->places != NULL,
                              .ranks = q->ranks,
                              .nodes = q->nodes,
                              .bytes = bytes };
        a->found = choose_cheapest(q, &a->choice);
    }
    *choice = a->choice;
    return a->found;
}
