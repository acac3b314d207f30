/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broadcast.  The buffer is OUT on every rank; the root's is full, the others' are filled.
 * Ranks are counted from the root: v = me - root.
 *
 * bcast_chain              from neighbour to neighbour.  Cut in pieces it is a pipeline: each
 *                          rank sends the data once, p - 2 + pieces hops.  For very large ones.
 * bcast_scatter_allgather  p blocks are dealt out down the binomial tree, then go round a ring:
 *                          about 2n(p-1)/p bytes through each rank.  For large messages.
 */
#include "coll/algorithms.h"

/* The largest power of two that is below p, or below v's lowest bit. */
static int widest(int v, int p)
{
    int mask = 1;
    while (mask < p && !(v & mask))
        mask *= 2;
    return mask / 2;
}

void bcast_chain(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p);

    plan_rooms(plan, 0, 1, 0);
    if (v > 0)
        plan_recv(plan, mod(me - 1, p), out(0, 1));
    if (v < p - 1)
        plan_send(plan, mod(me + 1, p), out(0, 1));
}

static bool holds(int v, int block, int p)
{
    return block >= v && block < v + subtree_size(v, p);
}

void bcast_scatter_allgather(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p), right = mod(v + 1, p);

    plan_rooms(plan, 0, p, 0);
    if (v != 0)
        plan_recv(plan, mod(me - (v & -v), p), out(v, subtree_size(v, p)));
    for (int mask = widest(v, p); mask > 0; mask /= 2)
        if (v + mask < p)
            plan_send(plan, mod(me + mask, p), out(v + mask, subtree_size(v + mask, p)));
    for (int hop = 0; hop < p - 1; hop++) { /* what the tree has not brought already */
        int give = mod(v - hop, p), take = mod(give - 1, p);
        if (!holds(right, give, p))
            plan_send(plan, mod(me + 1, p), out(give, 1));
        if (!holds(v, take, p))
            plan_recv(plan, mod(me - 1, p), out(take, 1));
    }
}
