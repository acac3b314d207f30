/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the same takes on twice as many nodes, again and again, and where that leads.
 */
#ifndef XMPI_GROW_CURVE_H
#define XMPI_GROW_CURVE_H

#include "coll/price.h"

enum { CURVE_POINTS = 6, CURVE_VALUES = 5 };
enum { CURVE_SECONDS, CURVE_LATENCY, CURVE_BANDWIDTH, CURVE_COMPUTE, CURVE_STEPS };

/* The last few that were performed, each on twice as many groups of ranks as the one before. */
struct curve {
    bool ways; /* ways through a network get longer, too */
    int n;
    double v[CURVE_POINTS][CURVE_VALUES]; /* the steps are rank 0's */
};

/* One more point, the oldest goes. */
void curve_add(struct curve *curve, struct price price, double steps);

/* Is it enough to lead anywhere? */
bool curve_is_known(const struct curve *curve);

/* So many doublings behind the last point. */
struct price curve_price(const struct curve *curve, int doublings);
double curve_steps(const struct curve *curve, int doublings);

/* How far the last point is from where those before it lead; 1: they lead nowhere. */
double curve_bend(const struct curve *curve);

#endif
