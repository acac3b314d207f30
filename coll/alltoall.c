/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Alltoall.  IN and OUT are p blocks: IN[b] goes to rank b, OUT[b] comes from rank b.
 *
 * alltoall_spread  everybody sends to everybody, starting with the neighbour so that no rank is
 *                  asked by all at once: p-1 messages.  Also for alltoallv and alltoallw.
 * alltoall_throttled   the same messages, `radix` sends and as many receives at a time, where a
 *                  network loses its breath when everybody sends to everybody.
 * alltoall_pairwise    p-1 exchanges one after the other: in round i with rank me xor i where p is a
 *                  power of two (and not WIDE), else to me + i and from me - i.  Also for alltoallv
 *                  and alltoallw.
 *
 *                      round 1   0-1 2-3     round 2   0-2 1-3     round 3   0-3 1-2
 *
 * alltoall_bruck   ceil(log_k p) rounds of k-1 messages of about p/k blocks each, for tiny
 *                  blocks.  A block for the rank i further on travels d k^r ranks in round r if
 *                  digit r of i, in base k, is d.  What travels together is first collected:
 *
 *                      digit d of weight w    S = all blocks i with that digit, wherever they are
 *                                             S -> me + d w        R <- me - d w
 *
 *                  Block i is in R of the last digit that moved it, or still in IN.  Also for
 *                  alltoallv and alltoallw, sizes first (sized.c).
 */
#include "coll/algorithms.h"

void to_everybody(struct plan *plan, int me, int p, bool alike)
{
    bool turns = p > WIDE;

    plan->rolls = turns;
    for (int i = 1; i < p; i++) {
        int to = mod(me + i, p), from = mod(me - i, p);
        plan_send(plan, to, in(alike ? 0 : to, 1));
        if (turns)
            plan_recv(plan, from, out(from, 1));
    }
    plan_copy(plan, out(me, 1), in(alike ? 0 : me, 1));
    for (int i = 1; i < p && !turns; i++)
        plan_recv(plan, mod(me - i, p), out(mod(me - i, p), 1));
}

void alltoall_spread(struct plan *plan, int me, int p)
{
    plan_rooms(plan, p, p, 0);
    to_everybody(plan, me, p, false);
}

void alltoall_throttled(struct plan *plan, int me, int p)
{
    plan->in_flight = plan_radix(plan);
    alltoall_spread(plan, me, p);
}

void alltoall_pairwise(struct plan *plan, int me, int p)
{
    bool pairs = (p & (p - 1)) == 0 && p <= WIDE;

    plan_rooms(plan, p, p, 0);
    plan->in_flight = 1;
    plan->by_rounds = true;
    plan->rolls = !pairs;
    plan_copy(plan, out(me, 1), in(me, 1));
    for (int i = 1; i < p; i++) {
        int to = pairs ? me ^ i : mod(me + i, p), from = pairs ? to : mod(me - i, p);
        plan_send(plan, to, in(to, 1));
        plan_recv(plan, from, out(from, 1));
    }
}

/* How many of 0 .. n-1 have digit d at weight w, in base k. */
static int with_digit(int n, int k, int w, int d)
{
    int rest = n % (w * k) - d * w;
    return n / (w * k) * w + (rest < 0 ? 0 : least(rest, w));
}

/* Where the blocks of digit d at weight w begin in TMP: first those given, then those taken. */
static int stage(int p, int k, int w, int d)
{
    int first = 0;
    for (int weight = 1; weight <= w; weight *= k)
        for (int digit = 1; digit < (weight == w ? d : k); digit++)
            first += 2 * with_digit(p, k, weight, digit);
    return first;
}

/* Where block i is when all digits below weight w have travelled. */
static struct span whereabouts(int me, int p, int k, int i, int w)
{
    int moved = i % w, last = 1;
    if (moved == 0)
        return in(mod(me + i, p), 1);
    while (moved / last >= k)
        last *= k;
    int digit = moved / last;
    return tmp(stage(p, k, last, digit) + with_digit(p, k, last, digit) +
                   with_digit(i, k, last, digit),
               1);
}

void alltoall_bruck(struct plan *plan, int me, int p)
{
    int k = plan_radix(plan), w;

    for (w = 1; w < p; w *= k)
        ;
    plan_rooms(plan, p, p, stage(p, k, w, 1));
    for (w = 1; w < p; w *= k)
        for (int d = 1; d < k && d * w < p; d++) {
            int n = with_digit(p, k, w, d), first = stage(p, k, w, d);
            for (int i = 0; i < p; i++)
                if (i / w % k == d)
                    plan_copy(plan, tmp(first + with_digit(i, k, w, d), 1),
                              whereabouts(me, p, k, i, w));
            plan_send(plan, mod(me + d * w, p), tmp(first, n));
            plan_recv(plan, mod(me - d * w, p), tmp(first + n, n));
        }
    for (int i = 0; i < p; i++)
        plan_copy(plan, out(mod(me - i, p), 1), whereabouts(me, p, k, i, w));
}
