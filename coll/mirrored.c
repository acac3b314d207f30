/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What other programs are backwards (mirror.c): reduce_scatters and allreduces from allgathers,
 * reduces from bcasts.  Rounds, bytes and constraints are theirs; all for operations that commute.
 * An allreduce is the allgather backwards and then forwards, 2n(p-1)/p bytes.
 */
#include "coll/algorithms.h"

void reduce_scatter_ring(struct plan *plan, int me, int p)
{
    plan_mirror_scatter(plan, me, p, allgather_ring);
}

void reduce_scatter_ring_both(struct plan *plan, int me, int p)
{
    plan_mirror_scatter(plan, me, p, allgather_ring_both);
}

void reduce_scatter_neighbour(struct plan *plan, int me, int p)
{
    plan_mirror_scatter(plan, me, p, allgather_neighbour);
}

void reduce_scatter_bruck(struct plan *plan, int me, int p)
{
    plan_mirror_scatter(plan, me, p, allgather_bruck);
}

void reduce_scatter_multiplying(struct plan *plan, int me, int p)
{
    plan_mirror_scatter(plan, me, p, allgather_multiplying);
}

void reduce_scatter_torus(struct plan *plan, int me, int p)
{
    plan_mirror_scatter(plan, me, p, allgather_torus);
}

void allreduce_ring_both(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, allgather_ring_both);
}

void allreduce_bruck(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, allgather_bruck);
}

void allreduce_torus(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, allgather_torus);
}

void reduce_chain(struct plan *plan, int me, int p)
{
    (void)p;
    plan_mirror_root(plan, me, 1, bcast_chain);
}
