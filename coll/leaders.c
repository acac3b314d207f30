/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Alltoall with aggregation: only the lowest rank of each node talks to other nodes, in one message
 * for all pairs of ranks.  Of M ranks on each of N nodes, a leader's scratch, in blocks:
 *
 *     A   M p    what the members of this node give, as they have it
 *     B   M p    the same, sorted by node: sent, M x M blocks to each of the others
 *     C   M p    what the other nodes give for this one, as they sorted it
 *     D   M p    the same and what stays here, sorted by member and rank: handed out
 *
 * 2(M-1) + 2(N-1) messages at a leader, of which N-1 cross instead of M M (N-1); everything is
 * copied twice and all goes through one rank, so for small blocks.
 */
#include "coll/algorithms.h"

struct leading {
    const int *rank; /* node behind node, ranks in order: as B and C are sorted */
    int p, start, m; /* my node is rank[start .. start + m) */
};

static struct span a_block(const struct leading *l, int member, int to)
{
    return member == 0 ? in(to, 1) : tmp(member * l->p + to, 1);
}

/* To and from the node rank[s .. s + n). */
static void exchange(struct plan *plan, const struct leading *l, int s, int n)
{
    int b = l->m * (l->p + s), c = l->m * (2 * l->p + s);
    for (int i = 0; i < l->m && !plan->error; i++)
        for (int j = 0; j < n && !plan->error; j++)
            plan_copy(plan, tmp(b + i * n + j, 1), a_block(l, i, l->rank[s + j]));
    plan_send(plan, l->rank[s], tmp(b, l->m * n));
    plan_recv(plan, l->rank[s], tmp(c, l->m * n));
}

/* Everything for member j, by rank; the leader keeps its own. */
static void hand_out(struct plan *plan, const struct leading *l, int j)
{
    int d = (3 * l->m + j) * l->p;
    for (int q = 0; q < l->p && !plan->error; q++) {
        bool here = q >= l->start && q < l->start + l->m;
        int from = l->rank[q];
        struct span block = here ? a_block(l, q - l->start, l->rank[l->start + j])
                                 : tmp(l->m * (2 * l->p + q) + j, 1);
        plan_copy(plan, j == 0 ? out(from, 1) : tmp(d + from, 1), block);
    }
    if (j > 0)
        plan_send(plan, l->rank[l->start + j], tmp(d, l->p));
}

static void lead(struct plan *plan, const struct leading *l, const int *first)
{
    plan_rooms(plan, l->p, l->p, 4 * l->m * l->p);
    for (int i = 1; i < l->m; i++)
        plan_recv(plan, l->rank[l->start + i], tmp(i * l->p, l->p));
    for (int s = 0, n; s < l->p; s += n) {
        for (n = 1; s + n < l->p && first[l->rank[s + n]] == first[l->rank[s]]; n++)
            ;
        if (s != l->start)
            exchange(plan, l, s, n);
    }
    for (int j = 0; j < l->m && !plan->error; j++)
        hand_out(plan, l, j);
}

/* Node behind node, ranks in order; `at` becomes, for the lowest rank of each node, where the next one begins. */
static void sort_by_node(const int *first, int p, int *rank, int *at)
{
    for (int r = 0; r < p; r++)
        at[r] = 0;
    for (int r = 0; r < p; r++)
        at[first[r]]++;
    for (int f = 0, before = 0, here; f < p; f++, before += here) {
        here = at[f];
        at[f] = before;
    }
    for (int r = 0; r < p; r++)
        rank[at[first[r]]++] = r;
}

void alltoall_leaders(struct plan *plan, int me, int p)
{
    const int *first = plan->places->first[0];
    int *rank = plan_members(plan, 2 * p);
    struct leading l = { .rank = rank, .p = p };
    if (!rank)
        return;
    if (first[me] != me) {
        plan_rooms(plan, p, p, 0);
        plan_send(plan, first[me], in(0, p));
        plan_recv(plan, first[me], out(0, p));
        return;
    }
    sort_by_node(first, p, rank, rank + p);
    for (int r = 0; r < p; r++)
        l.m += first[r] == me;
    l.start = rank[p + me] - l.m;
    lead(plan, &l, first);
}
