/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allreduce.
 *
 * allreduce_doubling   the whole vector, with a partner 1, 2, 4, ... ranks away: ceil(log2 p)
 *                      rounds (two more unless p is a power of two), n bytes in each.  Each
 *                      partner holds a run of ranks next to one's own, so folds are in rank
 *                      order, and all ranks get the same bits.  For small vectors.
 * allreduce_spread     rank b collects block b from everybody, folding in rank order, and hands
 *                      the sum to everybody: 2n(p-1)/p bytes, two hops, 2(p-1) messages.  For
 *                      large vectors when the order matters.
 * allreduce_circulant  2 ceil(log2 p) rounds, 2n(p-1)/p bytes for any p; see circulant.c.
 * allreduce_ring       the vector is cut in p blocks, and each makes two tours.  Block b sets
 *                      out from rank b.  At every stop of the first tour it is folded into the
 *                      block there; after p-1 hops it holds everyone's share, at rank b-1.
 *                      From there the second tour hands it round.  Four ranks, block 2:
 *
 *                          rank     2      3      0      1   |   2      3      0
 *                          holds   2      23     230   2301  | 2301   2301   2301
 *
 *                      2(p-1) hops, so not for small vectors; ring order, so only for
 *                      operations that commute.
 */
#include "coll/algorithms.h"

/* The first 2r ranks pair up so that a power of two remains: the odd one folds for both. */
void allreduce_doubling(struct plan *plan, int me, int p)
{
    int core = 1;
    while (2 * core <= p)
        core *= 2;
    int r = p - core;
    bool paired = me < 2 * r, idle = paired && me % 2 == 0;
    struct span sum = in(0, 1);

    plan_rooms(plan, 1, 1, 0);
    if (idle) {
        plan_send(plan, me + 1, sum);
        plan_recv(plan, me + 1, out(0, 1));
        return;
    }
    if (paired) {
        plan_fold(plan, me - 1, out(0, 1), sum, INCOMING_FIRST);
        sum = out(0, 1);
    }
    int seat = paired ? me / 2 : me - r; /* among the remaining ones */
    for (int mask = 1; mask < core; mask *= 2) {
        int other = seat ^ mask, peer = other < r ? 2 * other + 1 : other + r;
        plan_send(plan, peer, sum);
        plan_fold(plan, peer, out(0, 1), sum, other < seat ? INCOMING_FIRST : INCOMING_LAST);
        sum = out(0, 1);
    }
    if (paired)
        plan_send(plan, me - 1, sum);
    plan_copy(plan, out(0, 1), sum); /* something to do for p == 1 only */
}

void allreduce_spread(struct plan *plan, int me, int p)
{
    struct span mine = out(me, 1), sum = in(me, 1);

    plan_rooms(plan, p, p, 0);
    for (int i = 1; i < p; i++)
        plan_send(plan, mod(me + i, p), in(mod(me + i, p), 1));
    for (int r = me - 1; r >= 0; r--, sum = mine)
        plan_fold(plan, r, mine, sum, INCOMING_FIRST);
    for (int r = me + 1; r < p; r++, sum = mine)
        plan_fold(plan, r, mine, sum, INCOMING_LAST);
    plan_copy(plan, mine, sum); /* something to do for p == 1 only */
    for (int i = 1; i < p; i++)
        plan_send(plan, mod(me + i, p), mine);
    for (int i = 1; i < p; i++)
        plan_recv(plan, mod(me - i, p), out(mod(me - i, p), 1));
}

void allreduce_circulant(struct plan *plan, int me, int p)
{
    plan_rooms(plan, p, p, 0);
    circulant_fold(plan, me, p, ROOM_OUT, out(me, 1));
    circulant_spread(plan, me, p);
}

void allreduce_ring(struct plan *plan, int me, int p)
{
    int left = mod(me - 1, p), right = mod(me + 1, p);

    plan_rooms(plan, p, p, 0);
    plan->rolls = true;
    if (p == 1)
        plan_copy(plan, out(0, 1), in(0, 1));
    for (int hop = 0; hop < p - 1; hop++) { /* first tour: sum up */
        int give = mod(me - hop, p), take = mod(give - 1, p);
        plan_send(plan, right, blocks(hop == 0 ? ROOM_IN : ROOM_OUT, give, 1));
        plan_fold(plan, left, out(take, 1), in(take, 1), INCOMING_FIRST);
    }
    for (int hop = 0; hop < p - 1; hop++) { /* second tour: hand round */
        int give = mod(me - hop + 1, p), take = mod(give - 1, p);
        plan_send(plan, right, out(give, 1));
        plan_recv(plan, left, out(take, 1));
    }
}
