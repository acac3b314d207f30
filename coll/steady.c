/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings have plans as long as there are ranks, and a million ranks would do a million things each.
 * But after a few rounds every round is like the one before: what is added when the ring grows by
 * one group of actors is always the same.
 *
 *     seconds |            . '          measured on rings of k, 2k, 3k groups, with the blocks,
 *             |        . '              distances and routes of the large one.  If the three lie
 *             |   x x x                 on a line, the large one lies on it as well; if not, k
 *             +---------------- ranks   is doubled, until it would be too much.
 *
 * Times may take long to settle: where a slow rank of each node and the whole way around one take
 * about as long, thousands of rounds.  Meanwhile they grow as they will, but for a few in a thousand;
 * for a model that is enough, after as many acts as take some milliseconds, and it is said
 * (steady.bend).  What is counted is exact.
 *
 * That a plan is of this kind is found by counting rank 0's steps at 64, 128, 256 ranks, and
 * that its peers are always the same number of ranks away.
 */
#include "coll/steady.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <math.h>
#include <stdlib.h>

enum { FEW_RANKS = 256, FEW_ACTS = 1 << 14, LEAST_RING = 16, GOOD_ACTS = 1 << 16 };

double count_steps(const struct price_query *query, int p)
{
    struct plan plan = { .key = { .size = p,
                                  .root = query->root,
                                  .pieces = 1,
                                  .script = query->algorithm->script },
                         .root = query->root,
                         .radix = price_radix(query) };
    query->algorithm->program(&plan, 0, p);
    double n = plan.error ? -1 : plan.nsteps;
    plan_free(&plan);
    return n;
}

/* Steps of rank 0 at p if they grow evenly with it, else 0. */
static double long_plan(const struct price_query *query)
{
    enum need needs = query->algorithm->needs;
    if (!cast_scales(query) || query->p <= FEW_RANKS || query->root >= FEW_RANKS / 4 ||
        needs > NEEDS_EVEN)
        return 0;
    double a = count_steps(query, FEW_RANKS / 4), b = count_steps(query, FEW_RANKS / 2),
           c = count_steps(query, FEW_RANKS);
    if (a < 0 || b <= a || c - b != 2 * (b - a))
        return 0;
    int pieces = query->pieces > 1 ? query->pieces : 1;
    return (c + (b - a) / (FEW_RANKS / 4) * (query->p - FEW_RANKS)) * pieces;
}

/* The peers of a ring of n as peers in one of p: as far to the left or right.  The widest. */
static int widen(struct cast *cast, int p)
{
    int n = cast->p, widest = 0;
    for (int i = 0; i < cast->role->nacts; i++) {
        int32_t *peer = &cast->role->act[i].peer;
        if (*peer < 0)
            continue;
        int away = *peer <= n / 2 ? *peer : *peer - n;
        widest = abs(away) > widest ? abs(away) : widest;
        *peer = mod(away, p);
    }
    cast->p = p;
    return widest;
}

/* One small ring.  *widest: 0 when it is none, or when somebody half of it away is a peer, to whom the
 * way is as far to the left as to the right: the two ends would take different ones. */
static int measure_ring(const struct steady_job *job, int groups, double v[STEADY_VALUES],
                        int *widest, struct steady *how)
{
    struct price_query small = *job->query;
    struct grouping grouping = { .shift = job->grouping.shift };
    small.p = groups * grouping.shift;
    struct cast cast;
    *widest = 0;
    int error = cast_open_alike(&cast, &small, (double)job->query->p / small.p, grouping);
    if (cast.symmetry == SYMMETRY_SHIFT) {
        *widest = widen(&cast, job->query->p);
        *widest = 2 * *widest < small.p ? *widest : 0;
        *how = (struct steady){ cast.acts, cast.nactors, cast.symmetry, small.p, 0 };
        error = *widest ? job->measure(&cast, job->with, v) : 0;
    } else if (error == MPI_ERR_UNSUPPORTED_OPERATION) {
        error = 0; /* not alike: no ring */
    }
    cast_close(&cast);
    return error;
}

/* How much more, or less, the last step adds than the one before, as a share of it.  0: the three
 * lie on a line. */
static double bend(const double a[], const double b[], const double c[], int certain)
{
    double most = 0;
    for (int i = 0; i < certain; i++) {
        double more = fabs(c[i] - 2 * b[i] + a[i]);
        if (more > 1e-9 * fabs(c[i]))
            most = fmax(most, more / fabs(c[i] - b[i]));
    }
    return most;
}

/* Rings of 1, 2 and 3 times k groups. *bent: how far they are from a line; < 0: they are no rings. */
static int three_rings(const struct steady_job *job, int k, double at[3][STEADY_VALUES],
                       double *bent, struct steady *how)
{
    int widest[3];
    *bent = -1;
    for (int i = 0; i < 3; i++) {
        int error = measure_ring(job, (i + 1) * k, at[i], &widest[i], how);
        if (error || widest[i] == 0 || widest[i] != widest[0])
            return error;
    }
    *bent = bend(at[0], at[1], at[2], job->certain);
    return 0;
}

/* *found: v is the answer. */
static int by_rings(const struct steady_job *job, double steps, double v[STEADY_VALUES],
                    struct steady *how, bool *found)
{
    int unit = job->grouping.shift, k = (LEAST_RING + unit - 1) / unit;
    double bent = 1, acts = 0;
    for (; (double)3 * k * unit < job->query->p / 2.0; k *= 2) {
        double at[3][STEADY_VALUES] = { { 0 } };
        acts = steps / job->query->p * 3 * k * unit * unit;
        if (acts > (double)job->most || (*found && acts > GOOD_ACTS && bent <= job->bend))
            return 0;
        int error = three_rings(job, k, at, &bent, how);
        *found = bent >= 0 && bent <= job->bend;
        if (error || bent < 0)
            return error;
        how->bend = bent;
        double more = (double)job->query->p / ((double)k * unit) - 3;
        for (int i = 0; i < STEADY_VALUES; i++)
            v[i] = at[2][i] + more * (at[2][i] - at[1][i]);
        if (bent == 0)
            return 0;
    }
    return 0;
}

static int too_long(const struct price_query *query, double steps, size_t most)
{
    return fail(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "%s:%s on %d ranks is %.3g steps for each of them and settles into no steady "
        "state that could be found; at most %zu steps are performed here: ask for fewer "
        "ranks, or for a network that repeats itself sooner",
        collective_name(query->algorithm->what), query->algorithm->name, query->p, steps, most);
}

int steady_run(const struct steady_job *job, double v[STEADY_VALUES], struct steady *how)
{
    const struct price_query *query = job->query;
    bool found = false;
    int error = cast_objection(query);
    double steps = error ? 0 : long_plan(query);
    if (!error && job->grouping.shift && steps * job->grouping.shift > FEW_ACTS)
        error = by_rings(job, steps, v, how, &found);
    if (error || found)
        return error;
    if (steps * (job->grouping.shift ? job->grouping.shift : 1) > (double)job->most)
        return too_long(query, steps, job->most);
    struct cast cast;
    error = cast_open(&cast, query, 1, job->grouping, job->most);
    *how = (struct steady){ cast.acts, cast.nactors, cast.symmetry, 0, 0 };
    if (!error)
        error = job->measure(&cast, job->with, v);
    cast_close(&cast);
    return error;
}
