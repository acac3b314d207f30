/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trees of radix k: ranks are counted from the root, v = me - root, in digits of base k.  The
 * parent of v has its lowest digit that is not zero set to zero.
 *
 *     k = 3, p = 9    0 -> 3, 6, 1, 2     3 -> 4, 5     6 -> 7, 8
 *
 * ceil(log_k p) hops of the whole vector, up to k-1 messages in each, for small vectors: fewer
 * hops than binomial, which is k = 2, where a rank can send several messages at once.
 *
 * bcast_knomial, bcast_binomial     down
 * reduce_knomial, reduce_binomial   up; the tree wraps round at p, so only for operations that
 *                                   commute
 * allreduce_knomial                 up to rank 0, where no tree wraps round and folds are in rank order, and
 *                                   down again: 2(p-1) messages in all, and a rank waits for its children and
 *                                   its parent, so for ranks that share CPUs
 */
#include "coll/algorithms.h"

/* The weight of v's lowest digit that is not zero; of the root's, the first one from p on. */
static int weight(int v, int p, int k)
{
    int w = 1;
    while (w < p && v % (w * k) == 0)
        w *= k;
    return w;
}

/* Everything that v's children bring, folded in order of v; where the sum is. */
static struct span children_fold(struct plan *plan, int me, int p, int v, struct span to)
{
    int k = plan_radix(plan), w = weight(v, p, k);
    struct span sum = in(0, 1);
    for (int low = 1; low < w; low *= k)
        for (int j = 1; j < k && v + j * low < p; j++, sum = to)
            plan_fold(plan, mod(me + j * low, p), to, sum, INCOMING_LAST);
    return sum;
}

static void children_send(struct plan *plan, int me, int p, int v)
{
    int k = plan_radix(plan);
    for (int low = weight(v, p, k) / k; low > 0; low /= k)
        for (int j = 1; j < k && v + j * low < p; j++)
            plan_send(plan, mod(me + j * low, p), out(0, 1));
}

static int parent(const struct plan *plan, int me, int p, int v)
{
    int k = plan_radix(plan);
    return mod(me - v % (weight(v, p, k) * k), p);
}

void bcast_knomial(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p);

    plan_rooms(plan, 0, 1, 0);
    if (v != 0)
        plan_recv(plan, parent(plan, me, p, v), out(0, 1));
    children_send(plan, me, p, v);
}

void bcast_binomial(struct plan *plan, int me, int p)
{
    plan->radix = 2;
    bcast_knomial(plan, me, p);
}

void reduce_knomial(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p);

    plan_rooms(plan, 1, 1, 1);
    struct span sum = children_fold(plan, me, p, v, v == 0 ? out(0, 1) : tmp(0, 1));
    if (v != 0)
        plan_send(plan, parent(plan, me, p, v), sum);
    else
        plan_copy(plan, out(0, 1), sum); /* something to do for p == 1 only */
}

void reduce_binomial(struct plan *plan, int me, int p)
{
    plan->radix = 2;
    reduce_knomial(plan, me, p);
}

void allreduce_knomial(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, 1, 0);
    struct span sum = children_fold(plan, me, p, me, out(0, 1));
    if (me != 0) {
        plan_send(plan, parent(plan, me, p, me), sum);
        plan_recv(plan, parent(plan, me, p, me), out(0, 1));
    } else {
        plan_copy(plan, out(0, 1), sum); /* something to do for p == 1 only */
    }
    children_send(plan, me, p, me);
}
