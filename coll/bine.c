/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binomial trees and butterflies whose distances are 1 -1 3 -5 11 ... instead of 1 2 4 8 16: to
 * the right for even ranks, to the left for odd ones (Bine trees, Swing).  As many rounds and bytes,
 * 2/3 of the way on a ring.  Powers of two.
 *
 *     p = 8, from rank 0      round 2    0 -> 3
 *                             round 1    0 -> 7          3 -> 4
 *                             round 0    0 -> 1  3 -> 2  7 -> 6  4 -> 5
 *
 * allgather_swing     the butterfly, far distances first: log2 p rounds
 * bcast_bine          the tree: who is reached in round s passes it on in the rounds below
 * reduce_bine         the tree upwards; operations that commute
 */
#include "coll/algorithms.h"

/* (1 - (-2)^(s+1)) / 3 */
static int distance(int s)
{
    int far = 0;
    for (int i = 0, power = 1; i <= s; i++, power *= -2)
        far += power;
    return far;
}

static int rounds_of(int p)
{
    int rounds = 0;
    while (1 << rounds < p)
        rounds++;
    return rounds;
}

/* The partner of rank r in round s. */
static int swung(int r, int s, int p)
{
    return mod(r % 2 ? r - distance(s) : r + distance(s), p);
}

/* The blocks that rank r holds when rounds s and above are over, to or from a peer. */
static void hand(struct plan *plan, bool take, int peer, int r, int s)
{
    int p = plan->key.size;
    if (1 << s == p) {
        if (take)
            plan_recv(plan, peer, out(r, 1));
        else
            plan_send(plan, peer, out(r, 1));
        return;
    }
    hand(plan, take, peer, r, s + 1);
    hand(plan, take, peer, swung(r, s, p), s + 1);
}

void allgather_swing(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    plan_copy(plan, out(me, 1), in(0, 1));
    for (int s = rounds_of(p) - 1; s >= 0; s--) {
        int peer = swung(me, s, p);
        hand(plan, false, peer, me, s + 1);
        hand(plan, true, peer, peer, s + 1);
    }
}

/* Has rank v of a tree from rank 0 been reached when round s is over?  All distances from s on are
 * alike modulo 2^(s+1), and every second one is taken back. */
static bool is_reached(int v, int s)
{
    return mod(v % 2 ? v - distance(s) : v, 2 << s) == 0;
}

void bcast_bine(struct plan *plan, int me, int p)
{
    int v = mod(me - plan->root, p), s = rounds_of(p);
    plan_rooms(plan, 0, 1, 0);
    if (v != 0) {
        for (s--; !is_reached(v, s);)
            s--;
        plan_recv(plan, mod(swung(v, s, p) + plan->root, p), out(0, 1));
    }
    for (s--; s >= 0; s--)
        plan_send(plan, mod(swung(v, s, p) + plan->root, p), out(0, 1));
}

void reduce_bine(struct plan *plan, int me, int p)
{
    (void)p;
    plan_mirror_root(plan, me, 1, bcast_bine);
}
