/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgather on a grid: rank y * X + x is column x of row y; X is the largest divisor of p that is
 * not above its root.  Rows go round first, then whole rows go round in each column:
 *
 *     p = 6     0-1      row 0: blocks 0 1         column 0: (0 1) (2 3) (4 5)
 *               2-3
 *               4-5
 *
 * X + Y - 2 hops, n(p-1)/p bytes, neighbours on a 2D torus only; a ring if p is prime.
 * Composition: two rings, called for the groups of each dimension.
 */
#include "coll/algorithms.h"

void allgather_torus(struct plan *plan, int me, int p)
{
    int width = 1;
    for (int x = 2; x * x <= p; x++)
        if (p % x == 0)
            width = x;
    int x = me % width, first = me - x;
    struct group row = { .first = first, .stride = 1, .n = width, .me = x };
    struct group column = { .first = x, .stride = width, .n = p / width, .me = me / width };

    plan_rooms(plan, 1, p, 0);
    plan_call(plan, &row, &(struct homes){ .in = in(0, 1), .out = out(first, width) },
              allgather_ring);
    plan_call(plan, &column, &(struct homes){ .in = out(first, width), .out = out(0, p) },
              allgather_ring);
}
