/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Alltoall.  IN and OUT are p blocks: IN[b] goes to rank b, OUT[b] comes from rank b.
 *
 * alltoall_spread  everybody sends to everybody, starting with the neighbour so that no rank is
 *                  asked by all at once: p-1 messages.  Also for alltoallv and alltoallw.
 * alltoall_bruck   ceil(log2 p) messages of about p/2 blocks each, for tiny blocks.  A block
 *                  for the rank i further on travels 2^k ranks in round k if bit k of i is
 *                  set.  What has to travel in a round is first collected:
 *
 *                      round k    S_k = all blocks i with bit k, wherever they are
 *                                 S_k -> me + 2^k        R_k <- me - 2^k
 *
 *                  Block i is in R_k of the last round that moved it, or still in IN.
 */
#include "coll/algorithms.h"

void alltoall_spread(struct plan *plan, int me, int p)
{
    plan_rooms(plan, p, p, 0);
    for (int i = 1; i < p; i++)
        plan_send(plan, mod(me + i, p), in(mod(me + i, p), 1));
    plan_copy(plan, out(me, 1), in(me, 1));
    for (int i = 1; i < p; i++)
        plan_recv(plan, mod(me - i, p), out(mod(me - i, p), 1));
}

/* How many of 0 .. n-1 have bit k. */
static int with_bit(int n, int k)
{
    int rest = (n & ((2 << k) - 1)) - (1 << k);
    return ((n >> (k + 1)) << k) + (rest > 0 ? rest : 0);
}

/* S_k starts at stage(p, k) of TMP, R_k follows it. */
static int stage(int p, int k)
{
    int first = 0;
    for (int r = 0; r < k; r++)
        first += 2 * with_bit(p, r);
    return first;
}

/* Where block i is before round k. */
static struct span whereabouts(int me, int p, int i, int k)
{
    int moved = i & ((1 << k) - 1);
    if (moved == 0)
        return in(mod(me + i, p), 1);
    int last = 31 - __builtin_clz((unsigned)moved);
    return tmp(stage(p, last) + with_bit(p, last) + with_bit(i, last), 1);
}

void alltoall_bruck(struct plan *plan, int me, int p)
{
    int rounds = 0;
    while ((1 << rounds) < p)
        rounds++;
    plan_rooms(plan, p, p, stage(p, rounds));
    for (int k = 0; k < rounds; k++) {
        int n = with_bit(p, k), first = stage(p, k);
        for (int i = 0; i < p; i++)
            if (i >> k & 1)
                plan_copy(plan, tmp(first + with_bit(i, k), 1), whereabouts(me, p, i, k));
        plan_send(plan, mod(me + (1 << k), p), tmp(first, n));
        plan_recv(plan, mod(me - (1 << k), p), tmp(first + n, n));
    }
    for (int i = 0; i < p; i++)
        plan_copy(plan, out(mod(me - i, p), 1), whereabouts(me, p, i, rounds));
}
