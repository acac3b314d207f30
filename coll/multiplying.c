/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recursive multiplying: in each round groups of k exchange everything, everybody with everybody,
 * so ceil(log_k p) rounds of k-1 messages.  For small vectors, where a rank can send several
 * messages at once; k = 2 is recursive doubling.
 *
 *     k = 3, p = 9     012 345 678      then     036 147 258
 *
 * allreduce_multiplying  any p: as many seats as the largest power of k not above p; each is a
 *                        run of ranks, whose first folds for all.  In a group everybody adds up
 *                        the same way, ((s0 s1) s2) ..., so all get the same bits, in rank order.
 * allreduce_all_pairs    one group of all: one round, p-1 messages of the whole vector.
 * allreduce_halving      the largest distance first, each rank summing up only its k-th part of
 *                        what the group has left, then backwards (Rabenseifner; BCube for k > 2):
 *                        2 log_k p rounds, 2n(p-1)/p bytes, two more messages of the vector if p
 *                        is not a power.  Operations that commute.
 * allgather_multiplying  blocks times k in each round, neighbours first.  Any p: ranks are cut in k runs as
 *                        long as each other but for one rank, and these again, ceil(log_k p) times; who
 *                        has no partner in a shorter run hears from the last of it.  Where p is no power of k,
 *                        about a round of k-1 messages more; no rank hears a block twice.
 *
 *                            k = 2, p = 7    1-2 3-4 5-6    then 0-1 3-5 4-6    then 0-3 1-4 2-5
 *                                                                0-2                 2-6
 */
#include "coll/algorithms.h"

/* Seat s is ranks bound(s) .. bound(s + 1) - 1. */
struct seats {
    int n, mine;    /* how many; that of my run */
    int first, end; /* my run */
    int p;
};

static int bound(const struct seats *seats, int s)
{
    return (int)((long)s * seats->p / seats->n);
}

static struct seats seats_for(int me, int p, int k)
{
    struct seats s = { .n = 1, .p = p };
    while (s.n <= p / k)
        s.n *= k;
    s.mine = (int)(((long)(me + 1) * s.n - 1) / p);
    s.first = bound(&s, s.mine);
    s.end = bound(&s, s.mine + 1);
    return s;
}

/* The first of a run hears from the others; returns where the sum of the run is. */
static struct span gather_run(struct plan *plan, const struct seats *s, int me,
                              struct span mine, struct span to)
{
    if (me != s->first)
        plan_send(plan, s->first, mine);
    for (int r = s->first + 1; me == s->first && r < s->end; r++, mine = to)
        plan_fold(plan, r, to, mine, INCOMING_LAST);
    return mine;
}

static void tell_run(struct plan *plan, const struct seats *s, int me, struct span result)
{
    if (me != s->first)
        plan_recv(plan, s->first, result);
    for (int r = s->first + 1; me == s->first && r < s->end; r++)
        plan_send(plan, r, result);
}

/* k seats, `apart` from each other, exchange sums and add them up in their order. */
static struct span exchange(struct plan *plan, const struct seats *s, int k, int apart,
                            struct span sum, struct span spare)
{
    int digit = s->mine / apart % k, base = s->mine - digit * apart;
    struct span to = digit == 0 ? out(0, 1) : spare, all = sum;
    for (int j = 1; j < k; j++)
        plan_send(plan, bound(s, base + (digit + j) % k * apart), sum);
    for (int j = 0; j < k; j++) {
        int peer = bound(s, base + j * apart);
        if (j == digit && j > 0)
            plan_join(plan, to, sum, INCOMING_LAST);
        else if (j == 0 && j != digit)
            plan_recv(plan, peer, to);
        else if (j != digit)
            plan_fold(plan, peer, to, all, INCOMING_LAST);
        all = j > 0 || digit > 0 ? to : all;
    }
    return all;
}

void allreduce_multiplying(struct plan *plan, int me, int p)
{
    int k = plan_radix(plan);
    struct seats s = seats_for(me, p, k);
    struct span sum = in(0, 1);

    plan_rooms(plan, 1, 1, 2);
    sum = gather_run(plan, &s, me, sum, out(0, 1));
    for (int apart = 1, round = 0; me == s.first && apart < s.n; apart *= k, round++)
        sum = exchange(plan, &s, k, apart, sum, tmp(round % 2, 1));
    if (me == s.first)
        plan_copy(plan, out(0, 1), sum);
    tell_run(plan, &s, me, out(0, 1));
}

void allreduce_all_pairs(struct plan *plan, int me, int p)
{
    plan->radix = p;
    allreduce_multiplying(plan, me, p);
}

/* Some ranks, one behind the other. */
struct run {
    int first, n;
};

/* The j-th of k parts of a run, which are equally long but for one rank. */
static struct run part(struct run all, int k, int j)
{
    int from = (int)((long)j * all.n / k), to = (int)((long)(j + 1) * all.n / k);
    return (struct run){ all.first + from, to - from };
}

/* What a run knows goes to who sits in the others where one sits there.  One who has no partner in a shorter
 * run hears from its last, and before others, for those wait for that one; all in one order, so that each
 * could send and take one message at a time. */
static void multiply(struct plan *plan, int me, struct run all, int k)
{
    if (all.n == 1)
        return;
    int mine = (int)(((long)(me - all.first + 1) * k - 1) / all.n);
    struct run run = part(all, k, mine);
    int seat = me - run.first;
    multiply(plan, me, run, k);
    for (int d = 1; d < k && seat == run.n - 1; d++) {
        struct run other = part(all, k, (mine + d) % k);
        if (other.n > run.n)
            plan_send(plan, other.first + run.n, out(run.first, run.n));
    }
    for (int d = 1; d < k; d++) {
        struct run other = part(all, k, (mine + d) % k);
        if (seat < other.n)
            plan_send(plan, other.first + seat, out(run.first, run.n));
    }
    for (int alone = 1; alone >= 0; alone--)
        for (int d = 1; d < k; d++) {
            struct run other = part(all, k, mod(mine - d, k));
            if (alone == (seat >= other.n))
                plan_recv(plan, other.first + least(seat, other.n - 1),
                          out(other.first, other.n));
        }
}

void allgather_multiplying(struct plan *plan, int me, int p)
{
    plan_rooms(plan, 1, p, 0);
    plan_copy(plan, out(me, 1), in(0, 1));
    multiply(plan, me, (struct run){ 0, p }, plan_radix(plan));
}

static void halve(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, allgather_multiplying);
}

void allreduce_halving(struct plan *plan, int me, int p)
{
    struct seats s = seats_for(me, p, plan_radix(plan));
    int *member = plan_members(plan, s.n);

    plan_rooms(plan, s.n, s.n, 0);
    for (int i = 0; member && i < s.n; i++)
        member[i] = bound(&s, i);
    struct group firsts = { .n = s.n, .me = s.mine, .radix = plan->radix, .member = member };
    struct span sum = gather_run(plan, &s, me, in(0, s.n), out(0, s.n));
    if (me == s.first)
        plan_call(plan, &firsts, &(struct homes){ .in = sum, .out = out(0, s.n) }, halve);
    tell_run(plan, &s, me, out(0, s.n));
}
