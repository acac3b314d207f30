/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduce and scatter.  IN is p blocks, block b for rank b; OUT is one block.
 *
 * reduce_scatter_circulant  ceil(log2 p) rounds, n(p-1)/p bytes; operations that commute.
 * reduce_scatter_linear     everybody sends block b to rank b, who folds in rank order, going
 *                           outwards from itself: n(p-1)/p bytes, one hop, p-1 messages, any
 *                           operation.
 */
#include "coll/algorithms.h"

void reduce_scatter_circulant(struct plan *plan, int me, int p)
{
    plan_rooms(plan, p, 1, p);
    circulant_fold(plan, me, p, ROOM_TMP, out(0, 1));
}

void reduce_scatter_linear(struct plan *plan, int me, int p)
{
    struct span sum = in(me, 1);

    plan_rooms(plan, p, 1, 0);
    for (int i = 1; i < p; i++)
        plan_send(plan, mod(me + i, p), in(mod(me + i, p), 1));
    for (int r = me - 1; r >= 0; r--, sum = out(0, 1))
        plan_fold(plan, r, out(0, 1), sum, INCOMING_FIRST);
    for (int r = me + 1; r < p; r++, sum = out(0, 1))
        plan_fold(plan, r, out(0, 1), sum, INCOMING_LAST);
    plan_copy(plan, out(0, 1), sum); /* something to do for p == 1 only */
}
