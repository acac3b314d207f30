/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two binary trees at once (Sanders, Speck, Traeff): the vector is cut in two halves, each goes
 * its own tree, and whoever is inside one tree is a leaf of the other, so that every rank sends
 * each half about twice in one tree and never in the other.
 *
 *     first tree, p = 8          second tree: the same, every seat moved on by one
 *             0                          0
 *             4                          5
 *          2     6                    3     7
 *         1 3   5 7                  2 4   6 1
 *
 * If p is odd the second tree is the first with its seats counted from the other end.
 * Cut in pieces each tree is a pipeline: about 2 log2 p hops and n bytes through each rank, so
 * for large vectors on many ranks.  Sums meet out of order: operations that commute.
 */
#include "coll/algorithms.h"

/* Where one rank stands in one tree; -1 = nobody. */
struct stand {
    int parent, child[2];
};

/* Seats 0 .. p-1 in order from left to right, 0 above all others. */
static struct stand seat(int v, int p)
{
    struct stand s = { -1, { -1, -1 } };
    int bit = 1;
    while (bit < p && !(v & bit))
        bit *= 2;
    if (v > 0) {
        s.parent = (v ^ bit) | (bit * 2);
        if (s.parent >= p)
            s.parent = v ^ bit;
        s.child[0] = bit > 1 ? v - bit / 2 : -1;
    }
    for (bit /= 2; bit > 0 && v + bit >= p;)
        bit /= 2;
    s.child[1] = bit > 0 ? v + bit : -1;
    return s;
}

/* Between the seats of the first tree and those of the second. */
static int other(int v, int p, bool back)
{
    if (v <= 0)
        return v;
    if (p % 2 == 1) /* 1 .. p-1 is even many: from the other end */
        return p - v;
    return 1 + mod(v - 1 + (back ? -1 : 1), p - 1);
}

/* Of rank `me` in tree 0 or 1, as ranks. */
static struct stand stand(const struct plan *plan, int me, int p, int tree)
{
    int v = mod(me - plan->root, p);
    struct stand s = seat(tree ? other(v, p, false) : v, p);
    int *of[] = { &s.parent, &s.child[0], &s.child[1] };
    for (int i = 0; i < 3; i++)
        if (*of[i] >= 0)
            *of[i] = mod((tree ? other(*of[i], p, true) : *of[i]) + plan->root, p);
    return s;
}

void bcast_double_tree(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 0, 2, 0);
    for (int tree = 0; tree < 2; tree++) {
        struct stand s = stand(plan, me, p, tree);
        if (s.parent >= 0)
            plan_recv(plan, s.parent, out(tree, 1));
        for (int c = 0; c < 2; c++)
            if (s.child[c] >= 0)
                plan_send(plan, s.child[c], out(tree, 1));
    }
}

void reduce_double_tree(struct plan *plan, int me, int p)
{
    (void)p;
    plan_mirror_root(plan, me, 2, bcast_double_tree);
}

void allreduce_double_tree(struct plan *plan, int me, int p)
{
    (void)p;
    plan_mirror_all(plan, me, 2, bcast_double_tree);
}
