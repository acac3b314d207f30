/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allgathers that go far with little and near with much.  Ranks take seats, and each keeps the block of
 * its seat's number, so that what a rank knows is always a range of blocks, which grows by that of a seat
 * further on: few blocks from seats near by, whose ranks are far away, and many from seats far away.
 *
 *     p = 8     ranks by seat      0 4 2 6 1 5 3 7    bits the other way round
 *               1 block            0-4 2-6 1-5 3-7
 *               2 blocks           0-2 4-6 1-3 5-7
 *               4 blocks           0-1 4-5 2-3 6-7
 *
 *     p = 9     ranks by seat      0 2 4 6 8 1 3 5 7  in steps of about the root of p
 *               1, 1, 2 blocks     from seat + 1, + 2, + 3, which is rank + 2, + 4, - 3
 *               4 blocks           from seat + 5, which is rank + 1
 *
 * If p is 2^a q, q odd, seats are in the former order by q at a time, and in the latter within these.
 * Where p is a power of two ranges are aligned and each is one message; else they begin at the own seat,
 * and what passes the last one goes as two.  Blocks times ranks that they pass on a ring are p/2 log2 p
 * for powers of two, and less than p sqrt p for others, where a circulant graph has p*p/3.
 *
 * nhr    HCCL's nonuniform hierarchical ring: ceil(log2 p) rounds.  Any p.  Where p is no power of two
 *        ranks of a round do not go as far as in the original, whose blocks do not lie together.
 * pat    parallel aggregated trees, as in NCCL: like that until m blocks are known, then the trees over all
 *        such ranges are walked edge by edge, ceil(p / m) - 1 rounds of m blocks.  Fewer blocks under way.
 *        m is the radix; of a power of two the next one below, else the next number that has no divisor
 *        in common with p, for seats then are such that rank r + 1 sits m behind rank r.
 *
 * The allgather has a message more, the first: a rank's block goes to its keeper.  So has the
 * reduce_scatter, the last.  In an allreduce it does not matter who keeps what: 2 ceil(log2 p) rounds, and
 * no block is copied.
 */
#include "coll/algorithms.h"

/* Rank r = j + two i sits at seat j' q + (turn i mod q), j' being the a bits of j the other way round. */
struct seats {
    int p, two, q;  /* p = two q */
    int turn, back; /* each undoes the other, modulo q */
};

static int times(int a, int b, int q)
{
    return (int)((long)a * b % q);
}

/* x * inverse(x, q) is 1 modulo q; they share no divisor. */
static int inverse(int x, int q)
{
    long a = q, b = x % q, of_a = 0, of_b = 1; /* a and b are x times these, modulo q */
    while (b > 0) {
        long over = a / b, rest = a % b, next = of_a - over * of_b;
        a = b;
        b = rest;
        of_a = of_b;
        of_b = next;
    }
    return (int)(of_a < 0 ? of_a + q : of_a);
}

static bool share_divisor(int a, int b)
{
    while (b > 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a > 1;
}

/* Those of q next to each other w ranks apart, about the root of q. */
static struct seats seats_for(int p)
{
    struct seats s = { .p = p, .two = 1, .q = p, .back = 1 };
    for (; s.q % 2 == 0; s.q /= 2)
        s.two *= 2;
    while (2 * s.back <= s.q / (2 * s.back))
        s.back *= 2;
    s.turn = inverse(s.back, s.q);
    return s;
}

/* Ranks next to each other `far` seats apart. */
static struct seats seats_apart(int p, int far)
{
    return (struct seats){ p, 1, p, far, inverse(far, p) };
}

/* The a bits of x, the other way round. */
static int reversed(const struct seats *s, int x)
{
    int y = 0;
    for (int two = s->two; two > 1; two /= 2, x /= 2)
        y = 2 * y + x % 2;
    return y;
}

static int seat_of(const struct seats *s, int rank)
{
    rank = mod(rank, s->p);
    return reversed(s, rank) * s->q + times(s->turn, rank / s->two, s->q);
}

static int rank_at(const struct seats *s, int seat)
{
    seat = mod(seat, s->p);
    return reversed(s, seat / s->q) + s->two * times(s->back, seat % s->q, s->q);
}

/* n blocks that are known at a seat, its own among them. */
static struct wrapped known(const struct seats *s, int seat, int n)
{
    int first = mod(seat, s->p);
    return wrap(ROOM_OUT, s->q == 1 ? first - first % n : first, n, s->p);
}

static void give(struct plan *plan, int to, struct wrapped range)
{
    for (int k = 0; k < 2; k++)
        plan_send(plan, to, range.part[k]);
}

static void take(struct plan *plan, int from, struct wrapped range)
{
    for (int k = 0; k < 2; k++)
        plan_recv(plan, from, range.part[k]);
}

/* From the block of each seat to m blocks. */
static void gather(struct plan *plan, const struct seats *s, int me, int m)
{
    int skip[32], n = 0, seat = seat_of(s, me);
    for (int had = m; had > 1; had = (had + 1) / 2)
        skip[n++] = had;
    for (int have = 1; n > 0; have = skip[n]) {
        int more = skip[--n] - have, to = s->q == 1 ? seat ^ have : seat - have,
            from = s->q == 1 ? to : seat + have;
        give(plan, rank_at(s, to), known(s, seat, more));
        take(plan, rank_at(s, from), known(s, from, more));
    }
}

/* Then along the edges of a tree: what rank me + t gathered. */
static void walk(struct plan *plan, const struct seats *s, int me, int m)
{
    for (int t = 1; t * m < s->p; t++) {
        int far = t & -t, n = least(m, s->p - t * m);
        give(plan, mod(me - far, s->p), known(s, seat_of(s, me - far + t), n));
        take(plan, mod(me + far, s->p), known(s, seat_of(s, me + t), n));
    }
}

/* How many blocks travel together. */
static int together(int p, int radix)
{
    int m = 1;
    if (seats_for(p).q == 1)
        while (2 * m <= least(radix, p))
            m *= 2;
    else
        for (m = least(radix, p); m < p && share_divisor(m, p);)
            m++;
    return m;
}

static struct seats seats_of_pat(int p, int m)
{
    struct seats s = seats_for(p);
    return s.q == 1 || m == p ? s : seats_apart(p, m);
}

static void nhr(struct plan *plan, int me, int p)
{
    struct seats s = seats_for(p);
    plan_rooms(plan, 1, p, 0);
    gather(plan, &s, me, p);
}

static void pat(struct plan *plan, int me, int p)
{
    int m = together(p, plan_radix(plan));
    struct seats s = seats_of_pat(p, m);
    plan_rooms(plan, 1, p, 0);
    gather(plan, &s, me, m);
    walk(plan, &s, me, m);
}

void allgather_nhr(struct plan *plan, int me, int p)
{
    struct seats s = seats_for(p);
    plan_rooms(plan, 1, p, 0);
    hand_in(plan, me, seat_of(&s, me), rank_at(&s, me));
    nhr(plan, me, p);
}

void allgather_pat(struct plan *plan, int me, int p)
{
    struct seats s = seats_of_pat(p, together(p, plan_radix(plan)));
    plan_rooms(plan, 1, p, 0);
    hand_in(plan, me, seat_of(&s, me), rank_at(&s, me));
    pat(plan, me, p);
}

void reduce_scatter_nhr(struct plan *plan, int me, int p)
{
    struct seats s = seats_for(p);
    plan_mirror_hand_over(plan, p, seat_of(&s, me), rank_at(&s, me), nhr);
}

void reduce_scatter_pat(struct plan *plan, int me, int p)
{
    struct seats s = seats_of_pat(p, together(p, plan_radix(plan)));
    plan_mirror_hand_over(plan, p, seat_of(&s, me), rank_at(&s, me), pat);
}

void allreduce_nhr(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, nhr);
}
