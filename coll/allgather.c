/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgather.  IN is one block, OUT is p blocks; every block lands where it belongs, so the same
 * programs serve allgatherv and need no scratch.
 *
 * allgather_ring    each block goes round: p-1 hops, the least traffic between neighbours.
 * allgather_bruck   a rank holds blocks me .. me + have - 1 (modulo p) and doubles them each
 *                   round: ceil(log2 p) rounds.  What passes block p - 1 goes as two messages.
 * allgather_spread  everybody sends to everybody: one hop, p-1 messages.
 */
#include "coll/algorithms.h"

void allgather_ring(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    if (p > 1)
        plan_send(plan, mod(me + 1, p), in(0, 1));
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int hop = 0; hop < p - 1; hop++) {
        int give = mod(me - hop, p), take = mod(give - 1, p);
        if (hop > 0)
            plan_send(plan, mod(me + 1, p), out(give, 1));
        plan_recv(plan, mod(me - 1, p), out(take, 1));
    }
}

void allgather_bruck(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    if (p > 1)
        plan_send(plan, mod(me - 1, p), in(0, 1));
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int have = 1; have < p; have *= 2) {
        int more = least(have, p - have);
        for (int k = 0; have > 1 && k < 2; k++)
            plan_send(plan, mod(me - have, p), wrap(ROOM_OUT, me, more, p).part[k]);
        for (int k = 0; k < 2; k++)
            plan_recv(plan, mod(me + have, p), wrap(ROOM_OUT, me + have, more, p).part[k]);
    }
}

void allgather_spread(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    for (int i = 1; i < p; i++)
        plan_send(plan, mod(me + i, p), in(0, 1));
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int i = 1; i < p; i++)
        plan_recv(plan, mod(me - i, p), out(mod(me - i, p), 1));
}
