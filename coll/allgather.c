/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgather.  IN is one block, OUT is p blocks; every block lands where it belongs, so the same
 * programs serve allgatherv and need no scratch.
 *
 * allgather_ring       each block goes round: p-1 hops, the least traffic between neighbours.
 * allgather_ring_both  each block goes both ways, half round: p/2 hops, two messages in each.
 * allgather_neighbour  pairs exchange what they took last, to the right and to the left in turn:
 *                      p/2 hops, two blocks in each but the first.  p even.
 *
 *                          0-1 2-3 4-5      1-2 3-4 5-0      0-1 2-3 4-5
 *
 * allgather_bruck      a rank holds blocks me .. me + have - 1 (modulo p) and multiplies them by
 *                      the radix k each round: ceil(log_k p) rounds of k-1 messages.  What
 *                      passes block p - 1 goes as two messages.
 * allgather_circulant  as many rounds as bruck by 2; the blocks a rank holds grow along p / 2^i,
 *                      rounded up: the second half of the circulant allreduce (circulant.c).
 * allgather_spread     everybody sends to everybody: one hop, p-1 messages.
 */
#include "coll/algorithms.h"

void hand_in(struct plan *plan, int me, int kept, int keeper)
{
    if (kept == me) {
        plan_copy(plan, out(me, 1), in(0, 1));
        return;
    }
    plan_send(plan, keeper, in(0, 1));
    plan_recv(plan, kept, out(kept, 1));
}

void allgather_ring(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    plan->rolls = true;
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

void allgather_ring_both(struct plan *plan, int me, int p)
{
    int left = mod(me - 1, p), right = mod(me + 1, p);

    plan_rooms(plan, 1, p, 0);
    plan->rolls = true;
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int hop = 0; 2 * hop < p - 1; hop++) {
        bool back = 2 * hop + 1 < p - 1; /* with p even the last block comes from the left */
        plan_send(plan, right, out(mod(me - hop, p), 1));
        if (back)
            plan_send(plan, left, out(mod(me + hop, p), 1));
        plan_recv(plan, left, out(mod(left - hop, p), 1));
        if (back)
            plan_recv(plan, right, out(mod(right + hop, p), 1));
    }
}

void allgather_neighbour(struct plan *plan, int me, int p)
{
    bool even = me % 2 == 0;
    int peer[] = { even ? mod(me + 1, p) : mod(me - 1, p),
                   even ? mod(me - 1, p) : mod(me + 1, p) };
    int pair = me - me % 2, came[] = { pair, pair }, turn = even ? 2 : -2;

    plan_rooms(plan, 1, p, 0);
    plan->rolls = true;
    plan_copy(plan, out(me, 1), in(0, 1));
    plan_send(plan, peer[0], out(me, 1));
    plan_recv(plan, peer[0], out(peer[0], 1));
    for (int i = 1; i < p / 2; i++, turn = -turn) {
        int side = i % 2, give = i == 1 ? pair : came[!side];
        came[side] = mod(came[side] - turn, p);
        plan_send(plan, peer[side], out(give, 2));
        plan_recv(plan, peer[side], out(came[side], 2));
    }
}

void allgather_bruck(struct plan *plan, int me, int p)
{
    int k = plan_radix(plan);

    plan_rooms(plan, 1, p, 0);
    for (int far = 1; far < k && far < p; far++)
        plan_send(plan, mod(me - far, p), in(0, 1));
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int have = 1; have < p; have *= k) {
        for (int far = have; have > 1 && far < k * have && far < p; far += have)
            for (int part = 0; part < 2; part++)
                plan_send(plan, mod(me - far, p),
                          wrap(ROOM_OUT, me, least(have, p - far), p).part[part]);
        for (int far = have; far < k * have && far < p; far += have)
            for (int part = 0; part < 2; part++)
                plan_recv(plan, mod(me + far, p),
                          wrap(ROOM_OUT, me + far, least(have, p - far), p).part[part]);
    }
}

void allgather_circulant(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    plan_copy(plan, out(me, 1), in(0, 1));
    circulant_spread(plan, me, p);
}

void allgather_spread(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    to_everybody(plan, me, p, true);
}
