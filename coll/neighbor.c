/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives between neighbours.  OUT[b] comes along an incoming edge; IN[b] leaves along an
 * outgoing one, or IN is a single block that leaves along all of them (allgather).
 *
 *     direct    one message per edge, none waits for another: all are posted at once.
 *               An edge from a rank to itself is a copy.
 *
 *          sources            me            destinations
 *             3  -- OUT[0] -->    -- IN[0] -->  1
 *             me -- OUT[1] <==========  IN[1]   me
 *             1  -- OUT[2] -->    -- IN[2] -->  1
 *
 * The number of messages is the degree, which is why nothing cleverer is here.  Combining the
 * messages of several edges would need to know the edges of others.
 */
#include "coll/algorithms.h"

#include <stdlib.h>

struct neighbours *neighbours_new(int nsources, int ndestinations)
{
    size_t edges = (size_t)nsources + (size_t)ndestinations;
    struct neighbours *n = malloc(sizeof(*n) + edges * sizeof(struct edge));
    if (!n)
        return NULL;
    struct edge *edge = (struct edge *)(n + 1);
    *n = (struct neighbours){ nsources, ndestinations, edge, edge + nsources };
    for (int i = 0; i < nsources; i++)
        n->source[i] = (struct edge){ -1, i };
    for (int i = 0; i < ndestinations; i++)
        n->destination[i] = (struct edge){ -1, i };
    return n;
}

/* What one sends down comes from above: where both are the same rank the sources are listed the other
 * way round. */
struct neighbours *neighbours_torus(int ndims, const int *dims, int me)
{
    struct neighbours *n = neighbours_new(2 * ndims, 2 * ndims);
    for (int d = ndims - 1, apart = 1; n && d >= 0; apart *= dims[d--]) {
        int mine = me / apart % dims[d], origin = me - mine * apart, at = 2 * d;
        struct edge below = { origin + mod(mine - 1, dims[d]) * apart, at };
        struct edge above = { origin + mod(mine + 1, dims[d]) * apart, at + 1 };
        n->destination[at] = n->source[at + 1] = below;
        n->destination[at + 1] = n->source[at] = above;
    }
    return n;
}

/* The block of IN that leaves along an edge. */
static struct span leaving(const struct edge *edge, bool alike)
{
    return in(alike ? 0 : edge->block, 1);
}

/* The k-th edge that leads here from here is the k-th that comes from here. */
static void copy_own(struct plan *plan, int me, bool alike)
{
    const struct neighbours *n = plan->neighbours;
    for (int to = 0, from = 0; to < n->ndestinations; to++) {
        if (n->destination[to].peer != me)
            continue;
        while (from < n->nsources && n->source[from].peer != me)
            from++;
        if (from < n->nsources)
            plan_copy(plan, out(n->source[from++].block, 1),
                      leaving(&n->destination[to], alike));
    }
}

static void exchange(struct plan *plan, int me, bool alike)
{
    const struct neighbours *n = plan->neighbours;
    plan_rooms(plan, alike ? 1 : n->ndestinations, n->nsources, 0);
    for (int i = 0; i < n->ndestinations; i++) {
        const struct edge *e = &n->destination[i];
        if (e->peer >= 0 && e->peer != me)
            plan_send(plan, e->peer, leaving(e, alike));
    }
    copy_own(plan, me, alike);
    for (int i = 0; i < n->nsources; i++) {
        const struct edge *e = &n->source[i];
        if (e->peer >= 0 && e->peer != me)
            plan_recv(plan, e->peer, out(e->block, 1));
    }
}

void neighbor_allgather(struct plan *plan, int me, int p)
{
    (void)p;
    exchange(plan, me, true);
}

void neighbor_alltoall(struct plan *plan, int me, int p)
{
    (void)p;
    exchange(plan, me, false);
}
