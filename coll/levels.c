/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hierarchies, by composition: a flat program is called for the groups of each level of the
 * team's places.  The root stands for its groups, the lowest rank for the others.
 *
 *     bcast, p = 8, nodes 0 1 2 3 | 4 5 6 7, root 1
 *         between nodes    1 -> 4
 *         on each node     1 -> 0 2 3       4 -> 5 6 7
 *
 * bcast_levels        from the outermost level to the innermost: a vector crosses to each node once
 * reduce_levels       the same backwards; operations that commute
 * allreduce_levels    to the lowest ranks, among those of the outermost level by doubling, and
 *                     down again.  Operations that commute.
 * allreduce_factored  for large vectors: every rank takes its share of what crosses; the
 *                     circulant with ranks dealt out to nodes (circulant.c).  Operations that
 *                     commute.
 */
#include "coll/algorithms.h"

static int leader(const struct plan *plan, int level, int r)
{
    const int *first = plan->places->first[level];
    return first[r] == first[plan->root] ? plan->root : first[r];
}

/* Does r stand for a group at this level?  Everybody for himself at the innermost. */
static bool leads(const struct plan *plan, int level, int r)
{
    return level == plan->places->levels || leader(plan, level, r) == r;
}

/* As below, where groups are ranks one behind the other: nobody is looked for, so the plans of very many ranks
 * (cast.c) are soon made. */
static struct group standing_in_order(const struct plan *plan, int level, int me, int p)
{
    const int *each = plan->places->each;
    int outer = level > 0 ? each[level - 1] : p;
    int inner = level < plan->places->levels ? each[level] : 1;
    int first = me - me % outer, end = least(first + outer, p);
    int top = level > 0 ? leader(plan, level - 1, me) : plan->root;
    return (struct group){ .first = first,
                           .stride = inner,
                           .n = leads(plan, level, me) ? (end - first + inner - 1) / inner : 0,
                           .me = (me - first) / inner,
                           .root = (top - first) / inner,
                           .deputy = top + 1 };
}

/* Those who stand for the groups of `level` inside my group of the level outside it; all of them
 * for level 0.  n is 0 if I do not stand for one. */
static struct group standing(struct plan *plan, int level, int me, int p)
{
    if (plan->places->each[0])
        return standing_in_order(plan, level, me, p);
    int *member = plan_members(plan, p);
    struct group g = { .member = member };
    for (int r = 0; member && leads(plan, level, me) && r < p; r++) {
        if (!leads(plan, level, r))
            continue;
        if (level > 0 && leader(plan, level - 1, r) != leader(plan, level - 1, me))
            continue;
        if (r == me)
            g.me = g.n;
        if (r == (level > 0 ? leader(plan, level - 1, me) : plan->root))
            g.root = g.n;
        member[g.n++] = r;
    }
    return g;
}

static void call(struct plan *plan, int level, int me, int p, struct span from, program *f)
{
    struct group group = standing(plan, level, me, p);
    struct homes homes = { .in = from, .out = out(0, 1), .tmp = out(0, 1) };
    if (group.n > 0)
        plan_call(plan, &group, &homes, f);
}

void bcast_levels(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 0, 1, 0);
    for (int level = 0; level <= plan->places->levels; level++)
        call(plan, level, me, p, out(0, 1), bcast_binomial);
}

void reduce_levels(struct plan *plan, int me, int p)
{
    (void)p;
    plan_mirror_root(plan, me, 1, bcast_levels);
}

void allreduce_levels(struct plan *plan, int me, int p)
{
    int levels = plan->places->levels;

    plan_rooms(plan, 1, 1, 0);
    for (int level = levels; level > 0; level--)
        call(plan, level, me, p, level == levels ? in(0, 1) : out(0, 1), reduce_binomial);
    call(plan, 0, me, p, out(0, 1), allreduce_doubling);
    for (int level = 1; level <= levels; level++)
        call(plan, level, me, p, out(0, 1), bcast_binomial);
}

/* Which of its node's ranks each one is, counted from 0, and how many are that of their nodes. */
static void count_seats(const int *first, int p, int *slot, int *sitting)
{
    for (int r = 0; r < p; r++)
        sitting[r] = 0;
    for (int r = 0; r < p; r++)
        slot[r] = sitting[first[r]]++; /* the ranks of a node so far, at its lowest */
    for (int r = 0; r < p; r++)
        sitting[r] = 0;
    for (int r = 0; r < p; r++)
        sitting[slot[r]]++;
}

/* Rank i of each node that has so many, node by node; then rank i + 1 of each. */
void allreduce_factored(struct plan *plan, int me, int p)
{
    const int *first = plan->places->first[0];
    int *member = plan_members(plan, 3 * p);
    struct group all = { .n = p, .member = member };
    if (!member)
        return;
    int *slot = member + p, *next = slot + p;
    count_seats(first, p, slot, next);
    all.radix = next[0]; /* nodes, which all have a first one */
    for (int i = 0, before = 0, here; i < p; i++, before += here) {
        here = next[i];
        next[i] = before;
    }
    for (int r = 0; r < p; r++) {
        all.me = r == me ? next[slot[r]] : all.me;
        member[next[slot[r]]++] = r;
    }
    plan_rooms(plan, p, p, 0);
    plan_call(plan, &all, &(struct homes){ .in = in(0, p), .out = out(0, p) },
              allreduce_circulant);
}
