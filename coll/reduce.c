/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduction to a root.  Away from the root there is no OUT, so sums live in TMP.
 *
 * reduce_ordered         up a binomial tree counted from rank 0, where each rank's children hold
 *                        the ranks just after it, so that every fold is in rank order; then
 *                        rank 0 hands the result to the root.
 * reduce_linear          everybody sends to the root, which folds down to rank 0 and then up to rank
 *                        p-1, so in rank order.  p-1 messages at the root, but nobody waits
 *                        for anybody but the root: best when ranks share CPUs.
 * reduce_scatter_gather  each rank sums up one of p blocks (circulant, see
 *                        allreduce_circulant), and the root collects them: 2n bytes at the root
 *                        instead of n log2 p.  Operations that commute, large vectors.
 */
#include "coll/algorithms.h"

/* Fold what the subtrees below me bring; returns where the sum is. */
static struct span fold_children(struct plan *plan, int me, int p, struct span to)
{
    struct span sum = in(0, 1);
    for (int mask = 1; me + mask < p && !(me & mask); mask *= 2, sum = to)
        plan_fold(plan, me + mask, to, sum, INCOMING_LAST);
    return sum;
}

void reduce_ordered(struct plan *plan, int me, int p)
{
    int root = plan->root;

    plan_rooms(plan, 1, 1, 1);
    bool result_here = me == 0 && root == 0;
    struct span sum = fold_children(plan, me, p, result_here ? out(0, 1) : tmp(0, 1));
    if (me != 0)
        plan_send(plan, me - (me & -me), sum);
    else if (root != 0)
        plan_send(plan, root, sum);
    else
        plan_copy(plan, out(0, 1), sum);
    if (me == root && root != 0)
        plan_recv(plan, 0, out(0, 1));
}

void reduce_linear(struct plan *plan, int me, int p)
{
    bool root = me == plan->root;
    struct span sum = in(0, 1);

    plan_rooms(plan, 1, root ? 1 : 0, 0);
    if (!root)
        plan_send(plan, plan->root, sum);
    for (int r = me - 1; root && r >= 0; r--, sum = out(0, 1))
        plan_fold(plan, r, out(0, 1), sum, INCOMING_FIRST);
    for (int r = me + 1; root && r < p; r++, sum = out(0, 1))
        plan_fold(plan, r, out(0, 1), sum, INCOMING_LAST);
    if (root)
        plan_copy(plan, out(0, 1), sum); /* something to do for p == 1 only */
}

void reduce_scatter_gather(struct plan *plan, int me, int p)
{
    bool root = me == plan->root;

    plan_rooms(plan, p, root ? p : 0, p);
    enum room sums = root ? ROOM_OUT : ROOM_TMP;
    circulant_fold(plan, me, p, sums, blocks(sums, me, 1));
    if (!root)
        plan_send(plan, plan->root, tmp(me, 1));
    for (int i = 1; root && i < p; i++)
        plan_recv(plan, mod(me + i, p), out(mod(me + i, p), 1));
}
