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
 * allgather_swing     the butterfly, far distances first: log2 p rounds, and one before them, in which each
 *                     rank gives its block to who keeps it: so what ranks know is a range of blocks
 * reduce_scatter_swing, allreduce_swing    backwards, and backwards and forwards: there it does not matter
 *                     who keeps what, so 2 log2 p rounds
 *
 *                         rank      0     1     2     3     4     5     6     7
 *                         keeps     0     7     4     1     2     5     6     3
 *                         round 2   0-1   6-7   4-5   0-1   2-3   4-5   6-7   2-3    of ranks 0 3, 1 6, ...
 *                         round 1   0-3   4-7   4-7   0-3   0-3   4-7   4-7   0-3    of ranks 0 7, 1 2, ...
 *
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

/* The block that rank r keeps, so that ranks which know the same have their blocks side by side.  All
 * distances from s on are alike modulo 2^(s+1), so what is left of a rank modulo that when the odd
 * ones are taken back tells who knows the same before round s - 1: first the lower bits, then the
 * higher ones, at last who is odd. */
static int seat(int r, int p)
{
    int rounds = rounds_of(p), even = r % 2 ? mod(r - distance(rounds), p) : r, at = 0;
    for (int s = 1; s < rounds; s++)
        at = 2 * at + (even >> s) % 2;
    return rounds ? 2 * at + r % 2 : 0;
}

/* Who keeps a block. */
static int keeper(int block, int p)
{
    int rounds = rounds_of(p), even = 0;
    for (int s = 1; s < rounds; s++)
        even |= (block >> (rounds - s) & 1) << s;
    return block % 2 ? mod(even + distance(rounds), p) : even;
}

/* What rank r has when n blocks came together. */
static struct span known(int r, int n, int p)
{
    int block = seat(r, p);
    return out(block - block % n, n);
}

/* From the block that each rank keeps to all of them. */
static void swing(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    for (int s = rounds_of(p) - 1, n = 1; s >= 0; s--, n *= 2) {
        int peer = swung(me, s, p);
        plan_send(plan, peer, known(me, n, p));
        plan_recv(plan, peer, known(peer, n, p));
    }
}

void allgather_swing(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    hand_in(plan, me, seat(me, p), keeper(me, p));
    swing(plan, me, p);
}

void reduce_scatter_swing(struct plan *plan, int me, int p)
{
    plan_mirror_hand_over(plan, p, seat(me, p), keeper(me, p), swing);
}

void allreduce_swing(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, swing);
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
