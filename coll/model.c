/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest algorithm.  Every algorithm of the collective that can serve is priced whole and in
 * 4, 16 and 64 pieces, as long as that may help, with its own radix, half and twice of it; the plans of all ranks are
 * performed on the model for each, MOST_STEPS steps at most.  What would take more is foretold by smaller ones
 * (grow.h); what cannot be has no price and is not chosen by it.  Those whose rank 0 alone has more to do than the
 * best so far takes are not performed: the answer is the same without them.
 *
 * Costs every rank, the first time a size is met: an allreduce, which has the most algorithms, 8 ms
 * of 8 bytes and 60 ms of 64 KiB on 64 ranks, 0.3 s on 1024 and up to 1 s on 65536; others mostly a half or less.
 * Prices are asked for sizes in steps of a quarter of a doubling, so a program that uses many sizes
 * asks for few; answers are kept for the process.  Ranks are taken to fill one node after the other.
 */
#include "coll/model.h"

#include "runtime/fail.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_STEPS = 1 << 14, LEAST_PIECE = 4096, MOST_PIECES = 64, VERY_MANY = 1024, FAR = 8 };

/* Ranks know the amount of data alike, and an algorithm may be chosen by it.  Of very many ranks' alltoalls it would
 * take seconds to see that they have no price. */
static bool is_priced(const struct question *q)
{
    enum { MOST_ALLTOALL = 4096 };
    return !q->inter && is_amount_known(q->what) &&
           (q->what != COLL_ALLTOALL || q->ranks <= MOST_ALLTOALL);
}

/* The largest of 1, 5/4, 3/2, 7/4 times a power of two that is not larger. */
static size_t rounded(size_t bytes)
{
    if (bytes < 8)
        return bytes;
    int log = 63 - __builtin_clzll(bytes);
    return bytes >> (log - 2) << (log - 2);
}

static struct price_query query_of(const struct question *q, const struct choice *how)
{
    return (struct price_query){
        .algorithm = how->algorithm,
        .p = q->ranks,
        .pieces = how->pieces,
        .radix = how->radix,
        .throttle = how->throttle,
        .bytes = rounded(q->bytes),
        .seats = { .per_node = q->nodes > 1 ? (q->ranks + q->nodes - 1) / q->nodes : 0 },
    };
}

static bool may_be_priced(const struct question *q, const struct choice *how)
{
    const struct algorithm *a = how->algorithm;
    return is_priced(q) && a->program && !choose_objection(a, q);
}

static bool price_up_to(const struct question *q, const struct choice *how, double enough,
                        struct price *price)
{
    if (!may_be_priced(q, how))
        return false;
    struct price_query asked = query_of(q, how);
    asked.enough = enough;
    if (price_of(&price_standard, &asked, MOST_STEPS, price) == 0)
        return true;
    fail_clear(); /* no price is an answer */
    return false;
}

bool model_price_of(const struct question *q, const struct choice *how, struct price *price)
{
    return price_up_to(q, how, 0, price);
}

/* An algorithm's own radix, twice and half of it, as far as it has one. */
static int radixes(const struct algorithm *a, int radix[3])
{
    radix[0] = a->radix;
    radix[1] = 2 * a->radix;
    radix[2] = a->radix / 2;
    return a->radix == 0 ? 1 : radix[2] < 2 ? 2 : 3;
}

/* One algorithm, in more and more pieces. */
struct search {
    const struct question *q;
    double than; /* seconds that others take; 0: nobody does */
    bool found;
    struct choice how; /* the best so far */
    struct price best;
};

/* Among very many ranks only what is long in pieces gets shorter by so much that it is worth a look. */
static bool is_far_behind(const struct search *s)
{
    return s->q->ranks > VERY_MANY && s->than > 0 && price_seconds(s->best) > FAR * s->than;
}

/* In so many pieces it took `before` seconds, in four times as many `now`.  Time is a + b / pieces + c * pieces, so
 * four times as many again spare no more than a quarter of what these did; twice that and a bit is allowed, since
 * short pieces are sent in another way. */
static bool in_vain(const struct search *s, double before, double now)
{
    double spared = before > now ? before - now : 0, own = price_seconds(s->best);
    return 0.95 * now - spared / 2 > (s->than > 0 && s->than < own ? s->than : own);
}

static int most_pieces(const struct algorithm *a, size_t bytes)
{
    int pieces = 1;
    while (a->pipelines && pieces < MOST_PIECES && bytes / (4 * (size_t)pieces) >= LEAST_PIECE)
        pieces *= 4;
    return pieces;
}

/* With one radix. */
static void search_pieces(struct search *s, const struct algorithm *a, int radix)
{
    int most = most_pieces(a, s->q->bytes);
    double before = INFINITY; /* nothing was spared yet, and anything may be */
    for (int pieces = 1; pieces <= most; pieces *= 4) {
        struct choice this = { .algorithm = a, .pieces = pieces, .radix = radix };
        struct price price;
        if (!price_up_to(s->q, &this, (most > 1 ? FAR : 1) * s->than, &price))
            return; /* in more pieces it is more steps still */
        double now = price_seconds(price);
        if (!s->found || now < price_seconds(s->best)) {
            s->found = true;
            s->how = this;
            s->best = price;
        }
        if (is_far_behind(s) || in_vain(s, before, now))
            return;
        before = now;
    }
}

/* No further than it takes to see that it is far behind `than` seconds; 0: as far as may be. */
static bool price_against(const struct question *q, const struct algorithm *a, double than,
                          struct choice *how, struct price *best)
{
    int radix[3], n = radixes(a, radix);
    struct search search = { .q = q, .than = than };
    for (int r = 0; r < n; r++)
        search_pieces(&search, a, radix[r]);
    if (search.found) {
        *how = search.how;
        *best = search.best;
    }
    return search.found;
}

bool model_price(const struct question *q, const struct algorithm *a, struct choice *how,
                 struct price *best)
{
    return price_against(q, a, 0, how, best);
}

/* ---- the cheapest ---- */

struct candidate {
    const struct algorithm *algorithm;
    double least;  /* its price is at least this */
    bool no_price; /* it was tried in vain */
};

static bool is_candidate(const struct question *q, const struct algorithm *a,
                         struct candidate *candidate)
{
    int radix[3], n = radixes(a, radix);
    bool any = false;
    for (int r = 0; r < n; r++) {
        struct choice this = { .algorithm = a, .radix = radix[r] };
        if (!may_be_priced(q, &this))
            continue;
        struct price_query asked = query_of(q, &this);
        double least = price_least(&price_standard, &asked);
        candidate->least = any && candidate->least < least ? candidate->least : least;
        any = true;
    }
    candidate->algorithm = a;
    candidate->no_price = false;
    return any;
}

/* By the least that they take, then as in the table: all ranks choose alike. */
static int by_least(const void *one, const void *other)
{
    const struct candidate *a = one, *b = other;
    if (a->least != b->least)
        return a->least < b->least ? -1 : 1;
    return a->algorithm < b->algorithm ? -1 : a->algorithm > b->algorithm;
}

static int list_candidates(const struct question *q, struct candidate *list)
{
    int n = 0, all = algorithms_count();
    for (const struct algorithm *a = algorithms; a < algorithms + all; a++)
        n += a->what == q->what && is_candidate(q, a, &list[n]);
    qsort(list, (size_t)n, sizeof *list, by_least);
    return n;
}

/* Of equals the first in the table. */
static bool is_better(const struct choice *how, struct price price, const struct choice *than,
                      struct price best)
{
    double a = price_seconds(price), b = price_seconds(best);
    return a < b || (a <= b && how->algorithm < than->algorithm);
}

/* Of what moves a block for each rank, plans are the longer the more ranks there are, so few have a price among very
 * many, and those need not be the good ones. */
static bool grows_with_ranks(enum collective what)
{
    return what != COLL_BARRIER && what != COLL_BCAST && what != COLL_REDUCE &&
           what != COLL_ALLREDUCE && what != COLL_SCAN && what != COLL_EXSCAN;
}

/* What the rules would take has no price, and may be cheaper than what has.  Asked as answers are kept: for all
 * sizes that are rounded alike, and all forms. */
static bool rule_may_be_better(const struct question *q, const struct candidate *list, int n,
                               double best)
{
    struct question alike = *q;
    struct choice rule;
    alike.bytes = rounded(q->bytes);
    alike.mode = BLOCKING;
    alike.reading = 0;
    alike.no_tiny = alike.no_attach = "on several nodes";
    bool any = grows_with_ranks(q->what) && choose_by_rule(&alike, &rule), better = false;
    for (int i = 0; any && i < n; i++)
        better |=
            list[i].algorithm == rule.algorithm && list[i].no_price && list[i].least < best;
    return better;
}

static bool choose_cheapest(const struct question *q, struct choice *choice)
{
    struct candidate list[MOST_ALGORITHMS];
    struct price best = { 0 }, price;
    struct choice how;
    int n = list_candidates(q, list);
    bool found = false;
    *choice = (struct choice){ .algorithm = NULL };
    for (int i = 0; i < n; i++) {
        if (found && list[i].least > price_seconds(best))
            break;
        list[i].no_price =
            !price_against(q, list[i].algorithm, found ? price_seconds(best) : 0, &how, &price);
        if (list[i].no_price)
            continue;
        if (found && !is_better(&how, price, choice, best))
            continue;
        found = true;
        best = price;
        *choice = how;
    }
    choice->by = BY_MODEL;
    return found && !rule_may_be_better(q, list, n, price_seconds(best));
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

enum { LISTS = 128 };
static struct answer *kept[LISTS];

static bool answers(const struct answer *a, const struct question *q, size_t bytes)
{
    return a->what == q->what && a->order_matters == q->order_matters && a->ranks == q->ranks &&
           a->nodes == q->nodes && a->placed == (q->places != NULL) && a->bytes == bytes;
}

static struct answer **list_of(const struct question *q, size_t bytes)
{
    uint64_t key = (uint64_t)bytes * 64 + (uint64_t)q->what * 2 + q->order_matters +
                   (uint64_t)q->ranks * 7919;
    return &kept[key * 0x9e3779b97f4a7c15ull >> 57];
}

static const struct answer *recall(const struct question *q, size_t bytes)
{
    const struct answer *a = *list_of(q, bytes);
    while (a && !answers(a, q, bytes))
        a = a->next;
    return a;
}

/* Never given up: an answer costs far more time to find again than memory to keep. */
static void keep(const struct question *q, size_t bytes, bool found,
                 const struct choice *choice)
{
    struct answer *a = malloc(sizeof *a), **list = list_of(q, bytes);
    if (!a)
        return;
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

bool model_choose(const struct question *q, struct choice *choice)
{
    if (q->nodes == 1 || !is_priced(q))
        return false;
    const struct answer *known = recall(q, rounded(q->bytes));
    if (known) {
        *choice = known->choice;
        return known->found;
    }
    bool found = choose_cheapest(q, choice);
    keep(q, rounded(q->bytes), found, choice);
    return found;
}
