/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives between the two groups of an intercommunicator.  The plan's ranks are the union:
 * the first group is 0 .. split-1, the second split .. p-1.  Blocks are those of the other
 * group's ranks.  (A barrier is the ordinary one on the union.)
 *
 *     rooted       the root on one side, everybody on the other; the root's own group has
 *                  empty plans
 *     allgather,
 *     alltoall     everybody sends to everybody of the other group
 *     reductions   each group reduces to its first rank; the two first ranks swap; each hands
 *                  out what came from over there
 *
 *         first group    a0 a1 a2  ->  a0  \/  a0  ->  a0 a1 a2   hold the sum of b
 *         second group      b0 b1  ->  b0  /\  b0  ->     b0 b1   hold the sum of a
 */
#include "coll/algorithms.h"

static struct group consecutive(int first, int n, int me)
{
    return (struct group){ .first = first, .stride = 1, .n = n, .me = me };
}

/* The group of this rank, and the other one. */
static struct group ours(const struct plan *plan, int me, int p)
{
    int split = plan->split;
    return me < split ? consecutive(0, split, me) : consecutive(split, p - split, me - split);
}

static struct group theirs(const struct plan *plan, int me, int p)
{
    int split = plan->split;
    return me < split ? consecutive(split, p - split, -1) : consecutive(0, split, -1);
}

/* In the root's group, but not the root. */
static bool bystander(const struct plan *plan, int me)
{
    return (me < plan->split) == (plan->root < plan->split) && me != plan->root;
}

/* A tree of the root and the other group: v = 0 is the root, v = 1 + i member i over there. */
void inter_bcast(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 0, 1, 0);
    if (bystander(plan, me))
        return;
    bool root = me == plan->root;
    struct group tree = root ? theirs(plan, me, p) : ours(plan, me, p);
    int v = root ? 0 : 1 + tree.me, n = 1 + tree.n, mask = 1;
    while (mask < n && !(v & mask))
        mask *= 2;
    if (v != 0) {
        int parent = v - mask;
        plan_recv(plan, parent == 0 ? plan->root : tree.first + parent - 1, out(0, 1));
    }
    for (mask /= 2; mask > 0; mask /= 2)
        if (v + mask < n)
            plan_send(plan, tree.first + v + mask - 1, out(0, 1));
}

void inter_gather(struct plan *plan, int me, int p)
{
    struct group far = theirs(plan, me, p);
    bool root = me == plan->root;

    plan_rooms(plan, 1, root ? far.n : 0, 0);
    if (bystander(plan, me))
        return;
    if (!root)
        plan_send(plan, plan->root, in(0, 1));
    for (int i = 0; root && i < far.n; i++)
        plan_recv(plan, far.first + i, out(i, 1));
}

void inter_scatter(struct plan *plan, int me, int p)
{
    struct group far = theirs(plan, me, p);
    bool root = me == plan->root;

    plan_rooms(plan, root ? far.n : 0, 1, 0);
    if (bystander(plan, me))
        return;
    if (!root)
        plan_recv(plan, plan->root, out(0, 1));
    for (int i = 0; root && i < far.n; i++)
        plan_send(plan, far.first + i, in(i, 1));
}

void inter_allgather(struct plan *plan, int me, int p)
{
    struct group near = ours(plan, me, p), far = theirs(plan, me, p);

    plan_rooms(plan, 1, far.n, 0);
    for (int i = 0; i < far.n; i++)
        plan_send(plan, far.first + mod(near.me + i, far.n), in(0, 1));
    for (int i = 0; i < far.n; i++)
        plan_recv(plan, far.first + i, out(i, 1));
}

void inter_alltoall(struct plan *plan, int me, int p)
{
    struct group near = ours(plan, me, p), far = theirs(plan, me, p);

    plan_rooms(plan, far.n, far.n, 0);
    for (int i = 0; i < far.n; i++) {
        int to = mod(near.me + i, far.n);
        plan_send(plan, far.first + to, in(to, 1));
    }
    for (int i = 0; i < far.n; i++)
        plan_recv(plan, far.first + i, out(i, 1));
}

/* TMP[0] of the group's first rank becomes the sum over the group; TMP[1] is scratch. */
static void sum_here(struct plan *plan, const struct group *near)
{
    struct homes homes = { in(0, 1), tmp(0, 1), tmp(1, 1) };
    plan_call(plan, near, &homes, reduce_ordered);
}

void inter_reduce(struct plan *plan, int me, int p)
{
    struct group near = ours(plan, me, p), far = theirs(plan, me, p);
    bool root = me == plan->root;

    plan_rooms(plan, 1, 1, 2);
    if (bystander(plan, me))
        return;
    if (root) {
        plan_recv(plan, far.first, out(0, 1));
        return;
    }
    sum_here(plan, &near);
    if (near.me == 0)
        plan_send(plan, plan->root, tmp(0, 1));
}

void inter_allreduce(struct plan *plan, int me, int p)
{
    struct group near = ours(plan, me, p), far = theirs(plan, me, p);
    struct homes homes = { in(0, 1), out(0, 1), tmp(1, 1) };

    plan_rooms(plan, 1, 1, 2);
    sum_here(plan, &near);
    if (near.me == 0) {
        plan_send(plan, far.first, tmp(0, 1));
        plan_recv(plan, far.first, out(0, 1));
    }
    plan_call(plan, &near, &homes, bcast_binomial);
}

/* What comes from over there is cut in our blocks: TMP[2 + i] is for our member i. */
void inter_reduce_scatter(struct plan *plan, int me, int p)
{
    struct group near = ours(plan, me, p), far = theirs(plan, me, p);
    struct homes homes = { tmp(2, near.n), out(0, 1), tmp(2, 0) };

    plan_rooms(plan, 1, 1, 2 + near.n);
    sum_here(plan, &near);
    if (near.me == 0) {
        plan_send(plan, far.first, tmp(0, 1));
        plan_recv(plan, far.first, tmp(2, near.n));
    }
    plan_call(plan, &near, &homes, scatter_linear);
}
