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

#include "coll/steady.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4, LEAST_POINTS = 3, VALUES = 5 };
enum { SECONDS, LATENCY, BANDWIDTH, COMPUTE, STEPS }; /* of a point; the steps are rank 0's */

static const double BAD = 0.3;

/* The last few that were performed, each on twice as many groups of ranks as the one before. */
struct curve {
    int n;
    double v[POINTS][VALUES];
};

/* ---- what a doubling adds ---- */

/* Times what the one before added, from what one and, `steps` later, another one added.  Where these go up and
 * down, as of trees whose radix is no power of two, they grow with log n on the whole. */
static double ratio_of(double one, double other, int steps)
{
    static const struct {
        double from, ratio;
    } kinds[] = { { 1.7, 2 }, { 1.3, M_SQRT2 }, { 0.75, 1 }, { 0, 0.5 } };
    double ratio = one > 0 && other > 0 ? pow(other / one, 1.0 / steps) : 1;
    size_t i = 0;
    while (ratio < kinds[i].from)
        i++;
    return kinds[i].ratio;
}

/* Of a value of the points up to `last`. */
static double ratio_among(const struct curve *curve, int value, int last)
{
    if (last < 2)
        return 1;
    return ratio_of(curve->v[1][value] - curve->v[0][value],
                    curve->v[last][value] - curve->v[last - 1][value], last - 1);
}

/* r + r^2 + ... + r^n */
static double powers(double r, int n)
{
    double sum = 0;
    for (double power = r; n > 0; n--, power *= r)
        sum += power;
    return sum;
}

/* A value, so many doublings after the last of these points, where each adds `ratio` times what the one before
 * did: what the last one added is taken from all of them. */
static double lead_on(const struct curve *curve, int last, int value, double ratio,
                      int doublings)
{
    double from = curve->v[0][value], to = curve->v[last][value];
    double added = (to - from) / (1 + powers(1 / ratio, last - 1));
    return fmax(to + added * powers(ratio, doublings), 0);
}

static struct price price_after(const struct curve *curve, int doublings)
{
    double v[VALUES], ratio = ratio_among(curve, SECONDS, curve->n - 1);
    for (int i = SECONDS; i <= COMPUTE; i++)
        v[i] = lead_on(curve, curve->n - 1, i, ratio, doublings);
    double sum = v[LATENCY] + v[BANDWIDTH] + v[COMPUTE];
    double times = sum > 0 ? v[SECONDS] / sum : 0;
    return (struct price){ v[LATENCY] * times, v[BANDWIDTH] * times, v[COMPUTE] * times };
}

/* How far the last point is from where those before it lead; 1: who has less to do the more there are is of another
 * kind each time. */
static double off_the_mark(const struct curve *curve)
{
    int last = curve->n - 1;
    for (int i = 1; i <= last; i++)
        if (curve->v[i][SECONDS] < 0.95 * curve->v[i - 1][SECONDS])
            return 1;
    double ratio = ratio_among(curve, SECONDS, last);
    double seconds = curve->v[last][SECONDS];
    return fabs(lead_on(curve, last - 1, SECONDS, ratio, 1) - seconds) / seconds;
}

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
    double steps = steps_of(query), ratio = ratio_among(curve, STEPS, curve->n - 1);
    double foretold = lead_on(curve, curve->n - 1, STEPS, ratio, doublings);
    return steps <= about * foretold && foretold <= about * steps;
}

/* One more point, the oldest goes. */
static void add_point(struct curve *curve, const struct sim *sim, double steps)
{
    if (curve->n == POINTS)
        memmove(curve->v, curve->v + 1, --curve->n * sizeof curve->v[0]);
    const double v[VALUES] = { price_seconds(sim->price), sim->price.latency,
                               sim->price.bandwidth, sim->price.compute, steps };
    memcpy(curve->v[curve->n++], v, sizeof v);
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
    add_point(&growth->curve, &sim, steps_of(&q));
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
    struct growth growth = { .doublings = 0 };
    *found = false;
    if (!may_grow(job->query))
        return 0;
    int error = perform_all(job, &growth);
    *sim = growth.last;
    *found = !error && is_enough(job->query, sim);
    if (error || *found || growth.curve.n < LEAST_POINTS)
        return error;
    growth.last.bend = off_the_mark(&growth.curve);
    growth.last.price = price_after(&growth.curve, growth.doublings);
    *found =
        growth.last.bend <= BAD && steps_agree(&growth.curve, job->query, growth.doublings);
    *sim = growth.last;
    return 0;
}
