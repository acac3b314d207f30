/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefix sums, in rank order.
 *
 * doubling    After round k a rank holds the sum of the 2^k ranks up to itself; each round it
 *             gives that to the rank 2^k further on.  ceil(log2 p) hops of the whole vector.
 *
 *                 rank         0     1     2     3     4
 *                 round 0      0     01    12    23    34
 *                 round 1      0     01    012   0123  1234
 *                 round 2      0     01    012   0123  01234
 *
 *             The exclusive form first moves every contribution one rank up, then does the same
 *             among ranks 1 .. p-1: one round more at most, and nothing to keep apart.
 *
 * chain       Each rank adds its contribution to what comes from below and hands that on: p-1
 *             hops, but each rank sends the vector only once.  In pieces it is a pipeline, so for
 *             large vectors; and for few ranks that share CPUs, where every rank waits for
 *             one other only.  The exclusive form adds to a copy of its contribution, as what
 *             came is its result.
 */
#include "coll/algorithms.h"

void scan_doubling(struct plan *plan, int me, int p)
{
    struct span sum = in(0, 1);

    plan_rooms(plan, 1, 1, 0);
    for (int far = 1; far < p; far *= 2) {
        if (me + far < p)
            plan_send(plan, me + far, sum);
        if (me - far >= 0) {
            plan_fold(plan, me - far, out(0, 1), sum, INCOMING_FIRST);
            sum = out(0, 1);
        }
    }
    plan_copy(plan, out(0, 1), sum); /* something to do on rank 0 only */
}

void exscan_doubling(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, 1, 0);
    if (me + 1 < p)
        plan_send(plan, me + 1, in(0, 1));
    if (me == 0)
        return; /* its result is undefined */
    plan_recv(plan, me - 1, out(0, 1));
    for (int far = 1; far < p - 1; far *= 2) {
        if (me + far < p)
            plan_send(plan, me + far, out(0, 1));
        if (me - far >= 1)
            plan_fold(plan, me - far, out(0, 1), out(0, 1), INCOMING_FIRST);
    }
}

void scan_chain(struct plan *plan, int me, int p)
{
    struct span sum = in(0, 1);

    plan_rooms(plan, 1, 1, 0);
    if (me > 0) {
        plan_fold(plan, me - 1, out(0, 1), sum, INCOMING_FIRST);
        sum = out(0, 1);
    }
    if (me < p - 1)
        plan_send(plan, me + 1, sum);
    plan_copy(plan, out(0, 1), sum); /* something to do on rank 0 only */
}

void exscan_chain(struct plan *plan, int me, int p)
{
    bool adds = me > 0 && me < p - 1;

    plan_rooms(plan, 1, 1, adds);
    plan_copy(plan, tmp(0, adds), in(0, adds));
    if (me > 0)
        plan_recv(plan, me - 1, out(0, 1));
    plan_join(plan, tmp(0, adds), out(0, adds), INCOMING_FIRST);
    if (me < p - 1)
        plan_send(plan, me + 1, me > 0 ? tmp(0, 1) : in(0, 1));
}
