/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trees, hierarchies, exchanges in which every rank does something else: their plans cannot stand for each
 * other, and of 4096 ranks nobody wants to perform them all before a broadcast.  But how they grow is simple:
 *
 *     seconds |           x'       performed on 2, 4, 8 ... nodes as large as the real ones, as far as the
 *             |       x            budget goes, each half of the next.  What a doubling adds is some times
 *             |    x               what the one before added, and that goes on: the same for what grows
 *             | x x                with log n, twice as much for n, half for 1 - 1/n, where all but a part
 *             +------------ nodes  has to cross, 1.4 times on a square of ranks
 *
 * Halving keeps what matters of a number: powers of two stay what they are, and so do twos and threes in
 * front of them.  It is a foretelling of a model: how far the last point is from where those before it lead is
 * said (sim.bend), and where that is more than BAD there is no price.
 */
#include "coll/grow.h"

#include "coll/grow_curve.h"
#include "coll/steady.h"
#include "runtime/fail.h"
#include "mpi.h"

static const double BAD = 0.3, BAD_WAYS = 0.15; /* whose law goes further up */

/* ---- performing ---- */

/* The same on so many groups; the last one has as few ranks as it has. */
static struct price_query smaller(const struct price_query *query, int unit, int groups)
{
    struct price_query q = *query;
    int missing = (unit - query->p % unit) % unit;
    q.p = groups * unit - missing;
    q.root = query->root / unit % groups * unit + query->root % unit;
    q.root = q.root < q.p ? q.root : q.p - 1;
    return q;
}

static bool may_grow(const struct price_query *query)
{
    const struct algorithm *a = query->algorithm;
    return !a->inter && !a->script && !is_neighbourhood(a->what);
}

/* 0: not known. */
static double steps_of(const struct price_query *query)
{
    return query->algorithm->needs == NEEDS_PLACES ? 0 : count_steps(query, query->p);
}

/* The real plan is about as long as those of the smaller ones foretell: a torus of 358 ranks has 2 rows, of 1432 ranks
 * 8, so it is of another kind. */
static bool steps_agree(const struct curve *curve, const struct price_query *query,
                        int doublings)
{
    const double about = 1.5;
    double steps = steps_of(query), foretold = curve_steps(curve, doublings);
    return steps <= about * foretold && foretold <= about * steps;
}

struct growth {
    struct curve curve;
    struct sim last; /* the largest that was performed, */
    int doublings;   /* so many before the real one */
};

/* One on so many groups; not *good: it cannot, or would be too much. */
static int perform_one(const struct grow_job *job, int groups, size_t most,
                       struct growth *growth, bool *good)
{
    struct price_query q = smaller(job->query, job->unit, groups);
    struct sim sim = { .acts = 0 };
    int error = job->perform(&q, most, job->with, &sim);
    *good = !error && price_seconds(sim.price) > 0;
    if (error == MPI_ERR_UNSUPPORTED_OPERATION) {
        fail_clear();
        return 0;
    }
    if (!*good)
        return error;
    curve_add(&growth->curve, sim.price, steps_of(&q));
    growth->last = sim;
    growth->last.grown = q.p;
    return 0;
}

/* Nobody wants to know more: more ranks take no less. */
static bool is_enough(const struct price_query *query, const struct sim *sim)
{
    return query->enough > 0 && price_seconds(sim->price) > query->enough;
}

/* From few groups to many, until the next would be too much. */
static int perform_all(const struct grow_job *job, struct growth *growth)
{
    int all = (job->query->p + job->unit - 1) / job->unit, halved = 0, error = 0;
    double spent = 0, next = 0;
    bool good = true;
    while (all >> (halved + 1) >= 2)
        halved++;
    for (; halved > 0 && !error && spent + next <= (double)job->most; halved--) {
        error = perform_one(job, all >> halved, job->most - (size_t)spent, growth, &good);
        if (!good && growth->curve.n > 0)
            break; /* before the first it may be that so few cannot */
        growth->doublings = halved;
        if (is_enough(job->query, &growth->last))
            break;
        spent += (double)growth->last.acts;
        next = 2.2 * (double)growth->last.acts;
    }
    return error;
}

int grow_run(const struct grow_job *job, struct sim *sim, bool *found)
{
    struct growth growth = { .curve = { .ways = job->ways } };
    *found = false;
    if (!may_grow(job->query))
        return 0;
    int error = perform_all(job, &growth);
    *sim = growth.last;
    *found = !error && is_enough(job->query, sim);
    if (error || *found || !curve_is_known(&growth.curve))
        return error;
    growth.last.bend = curve_bend(&growth.curve);
    growth.last.price = curve_price(&growth.curve, growth.doublings);
    *found = growth.last.bend <= (job->ways ? BAD_WAYS : BAD) &&
             steps_agree(&growth.curve, job->query, growth.doublings);
    *sim = growth.last;
    return 0;
}
