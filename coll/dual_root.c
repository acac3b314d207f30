/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums in rank order up binary trees whose ranks are numbered from below (Traeff): a tree over
 * ranks first .. last has `last` at its top, and each subtree is a run of ranks before it.
 *
 *     over 0 .. 6          6             6 folds what 5 brings before its own share, then what 2
 *                       2     5          brings before that: 0 1 2 | 3 4 5 | 6
 *                      0 1   3 4
 *
 * reduce_in_order      one tree; rank p-1 hands the result to the root.
 * allreduce_dual_root  one tree over each half of the ranks.  The two at the top exchange their
 *                      sums, lower before upper on both sides, and send the result down again.
 *
 * Cut in pieces they are pipelines, up and down at once: O(log p) hops and about 3 n bytes of time,
 * for large vectors when the order matters.
 */
#include "coll/algorithms.h"

struct stand { /* -1 = nobody */
    int parent, left, right;
};

/* Where `me` stands in the tree over first .. last. */
static struct stand stand(int me, int first, int last)
{
    struct stand s = { .parent = -1 };
    while (me != last) {
        int middle = first + (last - first) / 2 - 1; /* the top of the left subtree */
        s.parent = last;
        if (me <= middle) {
            last = middle;
        } else {
            first = middle + 1;
            last--;
        }
    }
    int n = last - first;
    s.right = n >= 1 ? last - 1 : -1;
    s.left = n >= 2 ? first + n / 2 - 1 : -1;
    return s;
}

static struct span fold_up(struct plan *plan, const struct stand *s, struct span to)
{
    struct span sum = in(0, 1);
    if (s->right >= 0) {
        plan_fold(plan, s->right, to, sum, INCOMING_FIRST);
        sum = to;
    }
    if (s->left >= 0)
        plan_fold(plan, s->left, to, sum, INCOMING_FIRST);
    if (s->parent >= 0)
        plan_send(plan, s->parent, sum);
    return sum;
}

void reduce_in_order(struct plan *plan, int me, int p)
{
    struct stand s = stand(me, 0, p - 1);
    bool top = me == p - 1, root = me == plan->root;

    plan_rooms(plan, 1, root ? 1 : 0, 1);
    plan->collects = true;
    struct span sum = fold_up(plan, &s, root && top ? out(0, 1) : tmp(0, 1));
    if (top && root)
        plan_copy(plan, out(0, 1), sum); /* something to do for p == 1 only */
    else if (top)
        plan_send(plan, plan->root, sum);
    else if (root)
        plan_recv(plan, p - 1, out(0, 1));
}

void allreduce_dual_root(struct plan *plan, int me, int p)
{
    int half = p / 2;
    bool lower = me < half;
    struct stand s = lower ? stand(me, 0, half - 1) : stand(me, half, p - 1);

    plan_rooms(plan, 1, 1, 0);
    struct span sum = fold_up(plan, &s, out(0, 1));
    if (s.parent >= 0) {
        plan_recv(plan, s.parent, out(0, 1));
    } else if (half > 0) {
        int twin = lower ? p - 1 : half - 1;
        plan_send(plan, twin, sum);
        plan_fold(plan, twin, out(0, 1), sum, lower ? INCOMING_LAST : INCOMING_FIRST);
    }
    if (p == 1)
        plan_copy(plan, out(0, 1), sum);
    if (s.left >= 0)
        plan_send(plan, s.left, out(0, 1));
    if (s.right >= 0)
        plan_send(plan, s.right, out(0, 1));
}
