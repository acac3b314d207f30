/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scatter from a root: gather, run backwards.  The root's IN is p blocks; OUT is one block.
 *
 * scatter_linear    the root sends to everybody: p-1 messages; also for scatterv.
 * scatter_binomial  a subtree's blocks travel as one message (two where they wrap round rank
 *                   p - 1) to its head, which keeps the first and deals out the rest from TMP.
 *                   Also for scatterv, sizes first (sized.c).
 */
#include "coll/algorithms.h"

void scatter_linear(struct plan *plan, int me, int p)
{
    bool root = me == plan->root;

    plan_rooms(plan, root ? p : 0, 1, 0);
    plan->rolls = true;
    if (!root) {
        plan_recv(plan, plan->root, out(0, 1));
        return;
    }
    for (int i = 1; i < p; i++)
        plan_send(plan, mod(me + i, p), in(mod(me + i, p), 1));
    plan_copy(plan, out(0, 1), in(me, 1));
}

/* The widest child of a subtree of n ranks. */
static int widest(int n)
{
    int child = 1;
    while (2 * child < n)
        child *= 2;
    return child;
}

static void deal_from_root(struct plan *plan, int me, int p)
{
    for (int child = widest(p); child > 0; child /= 2)
        for (int k = 0; child < p && k < 2; k++)
            plan_send(plan, mod(me + child, p),
                      wrap(ROOM_IN, me + child, subtree_size(child, p), p).part[k]);
    plan_copy(plan, out(0, 1), in(me, 1));
}

static void take(struct plan *plan, int me, int p, struct span all)
{
    int v = mod(me - plan->root, p), parent = mod(me - (v & -v), p);
    int before = parent == plan->root ? wrap(ROOM_IN, me, all.n, p).part[0].n : all.n;
    plan_recv(plan, parent, blocks(all.room, all.first, before));
    plan_recv(plan, parent, blocks(all.room, all.first + before, all.n - before));
}

void scatter_binomial(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p), n = subtree_size(v, p);

    plan_rooms(plan, v == 0 ? p : 0, 1, v == 0 ? 0 : n);
    if (v == 0) {
        deal_from_root(plan, me, p);
    } else if (n == 1) {
        take(plan, me, p, out(0, 1));
    } else {
        take(plan, me, p, tmp(0, n));
        for (int child = widest(n); child > 0; child /= 2)
            plan_send(plan, mod(me + child, p), tmp(child, subtree_size(v + child, p)));
        plan_copy(plan, out(0, 1), tmp(0, 1));
    }
}
