/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The work of plans, foretold by programs alone: nothing is inferred, which is most of what a plan costs.
 *
 *     one plan     rank 0's on 2048 and on 4096 ranks, and as much more for each doubling from there on;
 *                  where a node has too many ranks for that, that plan itself
 *     all plans    five ranks', the median of them for all: roots have other plans than most.  Of many
 *                  ranks first the shortest, foretold as above: of a ring a plan alone takes long
 *
 * Costs at most fifteen runs of the program.
 */
#include "coll/effort.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <math.h>
#include <stdlib.h>

const double effort_most_touched = 3e9;

struct effort effort_of(const struct plan *plan)
{
    struct effort e = { plan->nsteps, 0, plan->rolls, 0 };
    for (int r = 0; r < ROOMS; r++)
        e.blocks += plan->nblocks[r];
    for (int i = 0; i < plan->nsteps; i++)
        e.touched += (double)plan->step[i].to.n + plan->step[i].from.n;
    return e;
}

int effort_refuse(const struct price_query *query, struct effort effort, size_t most)
{
    const struct algorithm *a = query->algorithm;
    const char *what = collective_name(a->what);
    const char *power = (query->p & (query->p - 1)) == 0
                            ? ""
                            : " for a power of 2, where more algorithms' ranks all do alike,";
    if (effort.steps > (double)most)
        return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "%s:%s on %d ranks is about %.3g steps; at most %zu are performed here: "
                    "ask for fewer ranks,%s or for an algorithm whose ranks all do alike",
                    what, a->name, query->p, effort.steps, most, power);
    if (effort.touched > effort_most_touched)
        return fail(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "%s:%s on %d ranks: their plans name about %.3g blocks; at most %.3g are "
            "looked at here: ask for fewer ranks,%s or for an algorithm whose ranks all "
            "do alike",
            what, a->name, query->p, effort.touched, effort_most_touched, power);
    return 0;
}

struct effort effort_glance(program *f, const struct plan_key *key, int most)
{
    struct plan plan = { .key = *key,
                         .root = key->root,
                         .split = key->split,
                         .radix = key->radix,
                         .neighbours = key->neighbours,
                         .places = key->places,
                         .most_steps = most };
    f(&plan, key->me, key->size);
    struct effort e = effort_of(&plan);
    if (plan.error)
        fail_clear(); /* whoever makes the plan is told */
    if (plan.error && plan.error != MPI_ERR_UNSUPPORTED_OPERATION)
        e = (struct effort){ .steps = 0 };
    plan_free(&plan);
    return (struct effort){ e.steps * key->pieces, e.touched * key->pieces, e.rolls,
                            e.blocks * key->pieces };
}

static struct effort glance(const struct price_query *query, const struct plan_key *key, int me,
                            int p)
{
    struct plan_key other = *key;
    other.me = me;
    other.size = p;
    return effort_glance(query->algorithm->program, &other, EFFORT_STEPS);
}

enum { FEW = 4096 }; /* ranks, whose plans tell those of many */

static bool has_whole_nodes(const struct price_query *query)
{
    return query->seats.per_node <= FEW / 4 && query->seats.per_cache <= FEW / 4;
}

static bool grows(const struct price_query *query)
{
    const struct algorithm *a = query->algorithm;
    return !a->inter && !is_neighbourhood(a->what) && query->p > FEW && query->root < FEW / 2 &&
           !a->script;
}

static double grown(double half, double few, int p)
{
    return half > 0 ? few * pow(few / half, log2((double)p / FEW)) : 0;
}

struct effort effort_one(const struct price_query *query, const struct plan_key *key)
{
    const struct algorithm *a = query->algorithm;
    if (!grows(query))
        return (struct effort){ .steps = 0 };
    if (a->needs == NEEDS_PLACES && !has_whole_nodes(query)) /* which do not fit in few ranks */
        return effort_glance(a->program, key, EFFORT_STEPS);
    struct effort half = glance(query, key, 0, FEW / 2), few = glance(query, key, 0, FEW);
    return (struct effort){ .steps = grown(half.steps, few.steps, query->p),
                            .rolls = few.rolls };
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { GLANCES = 5 };

/* Odd ones and even ones. */
static struct effort glance_at(const struct price_query *query, const struct plan_key *key,
                               int i, int p)
{
    return glance(query, key, (int)((int64_t)p * i / GLANCES) + i, p);
}

/* Of a plan that most ranks have. */
static struct effort median(const struct price_query *query, const struct plan_key *key)
{
    double steps[GLANCES], touched[GLANCES];
    for (int i = 0; i < GLANCES; i++) {
        struct effort e = glance_at(query, key, i, query->p);
        steps[i] = e.steps;
        touched[i] = e.touched;
    }
    qsort(steps, GLANCES, sizeof *steps, by_size);
    qsort(touched, GLANCES, sizeof *touched, by_size);
    return (struct effort){ .steps = steps[GLANCES / 2], .touched = touched[GLANCES / 2] };
}

/* Of the shortest plan that few ranks foretell: in trees some grow by chance, but not that of the first. */
static struct effort shortest(const struct price_query *query, const struct plan_key *key)
{
    struct effort least = { .steps = INFINITY, .touched = INFINITY };
    for (int i = 0; i < GLANCES; i++) {
        struct effort half = glance_at(query, key, i, FEW / 2),
                      few = glance_at(query, key, i, FEW);
        least.steps = fmin(least.steps, grown(half.steps, few.steps, query->p));
        least.touched = fmin(least.touched, grown(half.touched, few.touched, query->p));
    }
    return least;
}

/* All ranks', when it is so many times too much. */
static int refuse_clear(const struct price_query *query, struct effort one, double times,
                        size_t most)
{
    struct effort all = { .steps = one.steps * query->p, .touched = one.touched * query->p };
    bool clear = all.steps > times * (double)most || all.touched > times * effort_most_touched;
    return clear ? effort_refuse(query, all, most) : 0;
}

int effort_all(const struct price_query *query, const struct plan_key *key, size_t most)
{
    enum { LEAST = 64 };
    const double far = 4, clearly = 1.25;
    if (query->p < LEAST || is_neighbourhood(query->algorithm->what))
        return 0; /* edges are few */
    if (grows(query) && (query->algorithm->needs != NEEDS_PLACES || has_whole_nodes(query))) {
        int error = refuse_clear(query, shortest(query, key), far, most);
        if (error)
            return error;
    }
    /* What is not clear is counted, which is as soon over. */
    return refuse_clear(query, median(query, key), clearly, most);
}
