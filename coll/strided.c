/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgathers that go far with little and near with much: blocks are counted backwards from the
 * own one, d for that of rank me - d, and cross distance 2^s with the bits of d above s known.
 * Blocks that travel together do not lie together, so each is a message: ceil(log2 p) rounds,
 * p-1 messages, and half of all data goes to a rank next door.
 *
 *     p = 8    distance 4: {0}      2: {0 4}      1: {0 2 4 6}
 *
 * allgather_nhr    all blocks of a distance at once: HCCL's nonuniform hierarchical ring.  Any p.
 * allgather_pat    parallel aggregated trees, as in NCCL: far distances as above until `radix`
 *                  blocks travel together, then the trees that are left are walked edge by edge:
 *                  p / radix - 1 rounds of `radix` blocks.  Fewer blocks under way.  Any p.
 */
#include "coll/algorithms.h"

/* Blocks d, d + stride, ... go `far` ranks on, as long as there are any. */
static void advance(struct plan *plan, int me, int d, int stride, int far)
{
    int p = plan->key.size;
    for (int i = d; i + far < p; i += stride)
        plan_send(plan, mod(me + far, p), out(mod(me - i, p), 1));
    for (int i = d; i + far < p; i += stride)
        plan_recv(plan, mod(me - far, p), out(mod(me - i - far, p), 1));
}

void allgather_pat(struct plan *plan, int me, int p)
{
    int far = 1, near = 1, together = plan_radix(plan);
    while (far < p)
        far *= 2;
    while (near < p && (p - 1) / near >= together)
        near *= 2; /* what the trees below span */
    plan_rooms(plan, 1, p, 0);
    plan_copy(plan, out(me, 1), in(0, 1));
    for (far /= 2; far >= near; far /= 2)
        advance(plan, me, 0, 2 * far, far);
    for (int t = 1; t < near; t++)
        advance(plan, me, t - (t & -t), near, t & -t);
}

void allgather_nhr(struct plan *plan, int me, int p)
{
    plan->radix = p;
    allgather_pat(plan, me, p);
}
