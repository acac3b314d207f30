/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two laws.  Where all nodes are as far from each other, each doubling adds some times what the one before
 * added (ratio_of).  Where ways get longer, it adds a constant, one more hop of a tree perhaps, and something
 * that grows; and as a network grows in one direction after the other, doublings are looked at in pairs:
 *
 *     added       d1   d2   d3   d4   d5        on a ring       c + g 2^i         R = 4
 *                  |_________|    |             on a square     c + g 2^(i/2)     R = 2
 *                       A    |____|             on a cube       c + g 2^(i/3)     R = 1.6
 *                              B                R = B / A, what the growing part becomes in two doublings
 */
#include "coll/grow_curve.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4, LEAST_POINTS = 3 }; /* of the first law; the second takes CURVE_POINTS */

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

/* ---- where ways get longer ---- */

struct ways {
    double pair[2]; /* what the last two pairs of doublings added */
    double
        times; /* that the growing part becomes in a pair; 1: as much more each time, 0: none */
};

static double added(const struct curve *curve, int value, int i)
{
    return curve->v[i][value] - curve->v[i - 1][value];
}

static struct ways ways_of(const struct curve *curve, int value)
{
    static const double kinds[][2] = { { 2.8, 4 }, { 1.8, 2 }, { 1.3, 1.587 }, { 0, 1 } };
    double first = added(curve, value, 1), middle = added(curve, value, 3),
           last = added(curve, value, 5), before = middle - first, now = last - middle;
    struct ways ways = { { added(curve, value, 2) + middle, added(curve, value, 4) + last },
                         0 };
    size_t i = 0;
    if (now <= 0 || now <= 0.01 * last || before <= 0)
        return ways;
    while (now / before < kinds[i][0])
        i++;
    ways.times = kinds[i][1];
    return ways;
}

/* What pair number k adds; 1 and 2 are those that are known. */
static double pair_adds(const struct ways *ways, int k)
{
    double r = ways->times, more = ways->pair[1] - ways->pair[0];
    if (r == 0)
        return fmax(ways->pair[1], 0);
    if (r == 1)
        return ways->pair[1] + (k - 2) * more;
    double grows = more / (r * r - r);
    return ways->pair[0] + grows * (pow(r, k) - r);
}

static double lead_on_ways(const struct curve *curve, int value, int doublings)
{
    struct ways ways = ways_of(curve, value);
    double to = curve->v[CURVE_POINTS - 1][value];
    for (int k = 3; doublings > 0; k++, doublings -= 2)
        to += pair_adds(&ways, k) / (doublings == 1 ? 1 + sqrt(fmax(ways.times, 1)) : 1);
    return fmax(to, 0);
}

/* The last pair of doublings, from the three before it. */
static double ways_bend(const struct curve *curve)
{
    double times = ways_of(curve, CURVE_SECONDS).times, r = sqrt(fmax(times, 1));
    double first = added(curve, CURVE_SECONDS, 1), third = added(curve, CURVE_SECONDS, 3);
    double per_step = r > 1 ? (third - first) / (r * r * r - r) : (third - first) / 2;
    double fourth = third + (r > 1 ? per_step * (pow(r, 4) - pow(r, 3)) : per_step);
    double fifth = third + (r > 1 ? per_step * (pow(r, 5) - pow(r, 3)) : 2 * per_step);
    double seconds = curve->v[CURVE_POINTS - 1][CURVE_SECONDS];
    return fabs(curve->v[3][CURVE_SECONDS] + fourth + fifth - seconds) / seconds;
}

/* ---- both ---- */

void curve_add(struct curve *curve, struct price price, double steps)
{
    const double v[CURVE_VALUES] = { price_seconds(price), price.latency, price.bandwidth,
                                     price.compute, steps };
    if (curve->n == (curve->ways ? CURVE_POINTS : POINTS))
        memmove(curve->v, curve->v + 1, (size_t)--curve->n * sizeof curve->v[0]);
    memcpy(curve->v[curve->n++], v, sizeof v);
}

bool curve_is_known(const struct curve *curve)
{
    return curve->n >= (curve->ways ? CURVE_POINTS : LEAST_POINTS);
}

struct price curve_price(const struct curve *curve, int doublings)
{
    double v[CURVE_VALUES], ratio = ratio_among(curve, CURVE_SECONDS, curve->n - 1);
    for (int i = CURVE_SECONDS; i <= CURVE_COMPUTE; i++)
        v[i] = curve->ways ? lead_on_ways(curve, i, doublings)
                           : lead_on(curve, curve->n - 1, i, ratio, doublings);
    double sum = v[CURVE_LATENCY] + v[CURVE_BANDWIDTH] + v[CURVE_COMPUTE];
    double times = sum > 0 ? v[CURVE_SECONDS] / sum : 0;
    return (struct price){ v[CURVE_LATENCY] * times, v[CURVE_BANDWIDTH] * times,
                           v[CURVE_COMPUTE] * times };
}

double curve_steps(const struct curve *curve, int doublings)
{
    double ratio = ratio_among(curve, CURVE_STEPS, curve->n - 1);
    return lead_on(curve, curve->n - 1, CURVE_STEPS, ratio, doublings);
}

/* Who has less to do the more there are is of another kind each time. */
double curve_bend(const struct curve *curve)
{
    int last = curve->n - 1;
    for (int i = 1; i <= last; i++)
        if (curve->v[i][CURVE_SECONDS] < 0.95 * curve->v[i - 1][CURVE_SECONDS])
            return 1;
    if (curve->ways)
        return ways_bend(curve);
    double ratio = ratio_among(curve, CURVE_SECONDS, last);
    double seconds = curve->v[last][CURVE_SECONDS];
    return fabs(lead_on(curve, last - 1, CURVE_SECONDS, ratio, 1) - seconds) / seconds;
}
