/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest algorithm.  Every algorithm of the collective that can serve is priced whole and in
 * 4, 16 and 64 pieces, with its own radix, half and twice of it; the plans of all ranks are
 * performed on the model for each, MOST_STEPS steps at most.  What would take more has no price and
 * is not chosen by it.
 *
 * Costs every rank, the first time a size is met: an allreduce, which has the most algorithms, 30 ms
 * of 8 bytes and 100 ms of 64 KiB on 64 ranks, 0.1 s on 1024, 0.3 s on 4096; others a half or less.
 * Prices are asked for sizes in steps of a quarter of a doubling, so a program that uses many sizes
 * asks for few; answers are kept for the process.  Ranks are taken to fill one node after the other.
 */
#include "coll/model.h"

#include "runtime/fail.h"

#include <stdlib.h>

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

bool model_price_of(const struct question *q, const struct choice *how, struct price *price)
{
    const struct algorithm *a = how->algorithm;
    const struct price_query asked = {
        .algorithm = a,
        .p = q->ranks,
        .pieces = how->pieces,
        .radix = how->radix,
        .bytes = rounded(q->bytes),
        .seats = { .per_node = q->nodes > 1 ? (q->ranks + q->nodes - 1) / q->nodes : 0 },
    };
    if (!is_priced(q) || !a->program || choose_objection(a, how->radix, q))
        return false;
    if (a->script)
        return false; /* only its own ranks are to verify it */
    if (price_of(&price_standard, &asked, MOST_STEPS, price) == 0)
        return true;
    fail_clear(); /* no price is an answer */
    return false;
}

bool model_price(const struct question *q, const struct algorithm *a, struct choice *how,
                 struct price *best)
{
    static const int cuts[] = { 1, 4, 16, 64 };
    int radixes[] = { a->radix, 2 * a->radix, a->radix / 2 };
    bool found = false, hopeless[3] = { false }; /* in more pieces it is more steps still */
    for (int c = 0; c < (a->cut ? 4 : 1); c++)
        for (int r = 0; r < (a->radix ? 3 : 1); r++) {
            struct choice this = { .algorithm = a, .pieces = cuts[c], .radix = radixes[r] };
            struct price price;
            if (hopeless[r] || (a->radix && this.radix < 2) ||
                (c > 0 && q->bytes / (size_t)cuts[c] < LEAST_PIECE))
                continue;
            hopeless[r] = !model_price_of(q, &this, &price);
            if (hopeless[r] || (found && price_seconds(price) >= price_seconds(*best)))
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
    *choice = (struct choice){ .algorithm = NULL };
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (a->what != q->what || !model_price(q, a, &how, &price))
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
    enum collective what;
    bool order_matters, placed;
    int ranks, nodes;
    size_t bytes;
    bool found;
    struct choice choice;
    struct answer *next;
};

static bool answers(const struct answer *a, const struct question *q)
{
    return a->what == q->what && a->order_matters == q->order_matters && a->ranks == q->ranks &&
           a->nodes == q->nodes && a->placed == (q->places != NULL) &&
           a->bytes == rounded(q->bytes);
}

/* Never given up: an answer costs far more time to find again than memory to keep. */
bool model_choose(const struct question *q, struct choice *choice)
{
    enum { LISTS = 128 };
    static struct answer *kept[LISTS];
    if (q->nodes == 1 || !is_priced(q))
        return false;
    size_t bytes = rounded(q->bytes);
    uint64_t key = (uint64_t)bytes * 64 + (uint64_t)q->what * 2 + q->order_matters +
                   (uint64_t)q->ranks * 7919;
    struct answer **list = &kept[key * 0x9e3779b97f4a7c15ull >> 57], *a = *list;
    while (a && !answers(a, q))
        a = a->next;
    if (a) {
        *choice = a->choice;
        return a->found;
    }
    bool found = choose_cheapest(q, choice);
    a = malloc(sizeof *a);
    if (a) {
        *a = (struct answer){ .what = q->what,
                              .order_matters = q->order_matters,
                              .placed = q->places != NULL,
                              .ranks = q->ranks,
                              .nodes = q->nodes,
                              .bytes = bytes,
                              .found = found,
                              .choice = *choice,
                              .next = *list };
        *list = a;
    }
    return found;
}
