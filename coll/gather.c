/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gather to a root.  IN is one block; the root's OUT is p blocks.
 *
 * gather_linear    everybody sends to the root: p-1 messages there; also for gatherv.
 * gather_binomial  subtrees collect in TMP, in tree order, and pass their blocks on as one
 *                  message: ceil(log2 p) messages at the root.  For small blocks.  Ranks are
 *                  counted from the root, v = me - root, and subtree v is v .. v + subtree_size - 1;
 *                  what wraps round rank p - 1 reaches the root as two messages.  Also for
 *                  gatherv, sizes first (sized.c).
 */
#include "coll/algorithms.h"

void gather_linear(struct plan *plan, int me, int p)
{
    bool root = me == plan->root;

    plan_rooms(plan, 1, root ? p : 0, 0);
    plan->rolls = true;
    if (!root) {
        plan_send(plan, plan->root, in(0, 1));
        return;
    }
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int i = 1; i < p; i++)
        plan_recv(plan, mod(me + i, p), out(mod(me + i, p), 1));
}

static void collect_at_root(struct plan *plan, int me, int p)
{
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int child = 1; child < p; child *= 2)
        for (int k = 0; k < 2; k++)
            plan_recv(plan, mod(me + child, p),
                      wrap(ROOM_OUT, me + child, subtree_size(child, p), p).part[k]);
}

/* To the root a subtree goes in the parts that the root's wrapped range has. */
static void pass_on(struct plan *plan, int me, int p, struct span all)
{
    int v = mod(me - plan->root, p), parent = mod(me - (v & -v), p);
    int before = parent == plan->root ? wrap(ROOM_OUT, me, all.n, p).part[0].n : all.n;
    plan_send(plan, parent, blocks(all.room, all.first, before));
    plan_send(plan, parent, blocks(all.room, all.first + before, all.n - before));
}

void gather_binomial(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p), n = subtree_size(v, p);

    plan_rooms(plan, 1, v == 0 ? p : 0, v == 0 || n == 1 ? 0 : n);
    if (v == 0) {
        collect_at_root(plan, me, p);
    } else if (n == 1) {
        pass_on(plan, me, p, in(0, 1));
    } else {
        plan_copy(plan, tmp(0, 1), in(0, 1));
        for (int child = 1; child < n; child *= 2)
            plan_recv(plan, mod(me + child, p), tmp(child, subtree_size(v + child, p)));
        pass_on(plan, me, p, tmp(0, n));
    }
}
