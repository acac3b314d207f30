/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of plans against the formulas of the textbooks, and prices against LogGP worked out by
 * hand.  p ranks, n bytes, q = ceil(log2 p).
 */
#include "coll/count.h"
#include "coll/forced.h"
#include "coll/march.h"
#include "coll/sim.h"
#include "runtime/fail.h"
#include "mpi.h"

#include "test/unit/unit.h"

#include <math.h>
#include <string.h>

enum { PLENTY = 4000000 };

static struct price_query query(enum collective what, const char *name, int p, size_t bytes)
{
    const struct algorithm *a = algorithm_find(what, false, name);
    ck_assert_msg(a != NULL, "no %s", name);
    return (struct price_query){ .algorithm = a, .p = p, .bytes = bytes };
}

static struct count counted(enum collective what, const char *name, int p, size_t bytes)
{
    struct price_query q = query(what, name, p, bytes);
    struct count c;
    ck_assert_msg(count_of(&q, PLENTY, &c) == 0, "%s: %s", name, fail_text());
    return c;
}

static int log2_up(int p)
{
    int q = 0;
    while (1 << q < p)
        q++;
    return q;
}

static bool near(double got, double wanted)
{
    return fabs(got - wanted) <= 1e-9 * fabs(wanted) + 1e-15;
}

#define EQUAL(got, wanted)                                                                     \
    ck_assert_msg(near(got, wanted), "p %d: " #got " is %.12g, not " #wanted " = %.12g", p,    \
                  (double)(got), (double)(wanted))

/* ---- allreduce ---- */

START_TEST(ring_allreduce)
{
    for (int p = 2; p <= 64; p++) {
        double n = 1000.0 * p;
        struct count c = counted(COLL_ALLREDUCE, "ring", p, (size_t)n);
        EQUAL(c.rounds, 2 * (p - 1));
        EQUAL(c.messages.most, 2 * (p - 1));
        EQUAL(c.bytes.most, 2 * n * (p - 1) / p);
        EQUAL(c.bytes.sum, 2 * n * (p - 1));
        EQUAL(c.folds.most, n * (p - 1) / p);
    }
}
END_TEST

START_TEST(doubling_allreduce)
{
    for (int p = 2; p <= 64; p++) {
        struct count c = counted(COLL_ALLREDUCE, "doubling", p, 8);
        bool power = (p & (p - 1)) == 0;
        int q = log2_up(p);
        EQUAL(c.rounds, power ? q : q - 1 + 2);
        if (power) {
            EQUAL(c.bytes.most, 8 * q);
            EQUAL(c.bytes.sum, 8 * q * p);
            EQUAL(c.folds.most, 8 * q);
        }
    }
}
END_TEST

START_TEST(circulant_allreduce)
{
    for (int p = 2; p <= 64; p++) {
        double n = 1000.0 * p;
        struct count c = counted(COLL_ALLREDUCE, "circulant", p, (size_t)n);
        EQUAL(c.rounds, 2 * log2_up(p));
        EQUAL(c.bytes.most, 2 * n * (p - 1) / p);
        EQUAL(c.folds.most, n * (p - 1) / p);
    }
}
END_TEST

START_TEST(circulant_reduce_scatter)
{
    for (int p = 2; p <= 64; p++) {
        double n = 1000.0 * p;
        struct count c = counted(COLL_REDUCE_SCATTER, "circulant", p, (size_t)n);
        EQUAL(c.rounds, log2_up(p));
        EQUAL(c.bytes.most, n * (p - 1) / p);
        EQUAL(c.folds.most, n * (p - 1) / p);
    }
}
END_TEST

/* ---- broadcast ---- */

START_TEST(binomial_broadcast)
{
    for (int p = 2; p <= 64; p++) {
        struct count c = counted(COLL_BCAST, "binomial", p, 1000);
        EQUAL(c.rounds, log2_up(p));
        EQUAL(c.messages.most, log2_up(p));
        EQUAL(c.messages.sum, p - 1);
        EQUAL(c.bytes.most, 1000.0 * log2_up(p));
    }
}
END_TEST

/* N bytes in S pieces over bandwidth B to k ranks: N (S + k - 2) / (S B). */
START_TEST(pipelined_broadcast)
{
    struct price_model model = { .link = { [DISTANCE_CACHE] = { .byte = 1e-9 } } };
    for (int p = 2; p <= 32; p++)
        for (int pieces = 1; pieces <= 32; pieces *= 2) {
            struct price_query q = query(COLL_BCAST, "chain", p, 1 << 20);
            struct count c;
            struct price price;
            q.pieces = pieces;
            ck_assert_int_eq(count_of(&q, PLENTY, &c), 0);
            ck_assert_int_eq(price_of(&model, &q, PLENTY, &price), 0);
            EQUAL(c.rounds, pieces + p - 2);
            EQUAL(c.bytes.most, 1 << 20);
            EQUAL(price_seconds(price), (1 << 20) * 1e-9 * (pieces + p - 2) / pieces);
            EQUAL(price.bandwidth, price_seconds(price));
        }
}
END_TEST

/* Two trees at once: each piece of both halves takes two rounds of who is inside a tree; 2 log2 p hops down. */
START_TEST(double_tree_broadcast)
{
    for (int p = 3; p <= 64; p++)
        for (int pieces = 1; pieces <= 32; pieces *= 2) {
            struct price_query q = query(COLL_BCAST, "double-tree", p, 1 << 20);
            struct count c;
            q.pieces = pieces;
            ck_assert_int_eq(count_of(&q, PLENTY, &c), 0);
            ck_assert_double_le(c.rounds, 2 * pieces + 2 * log2_up(p));
            EQUAL(c.bytes.most, 1 << 20);
            EQUAL(c.messages.most, 2 * pieces);
        }
}
END_TEST

START_TEST(scatter_allgather_broadcast)
{
    for (int p = 2; p <= 64; p *= 2) {
        double n = 1000.0 * p;
        struct count c = counted(COLL_BCAST, "scatter-allgather", p, (size_t)n);
        ck_assert_double_le(c.rounds, log2_up(p) + p - 1);
        ck_assert_double_ge(c.rounds, p - 1);
        ck_assert_double_le(c.bytes.most, 2 * n * (p - 1) / p);
    }
}
END_TEST

/* ---- what moves blocks ---- */

START_TEST(allgathers)
{
    for (int p = 2; p <= 64; p++) {
        struct count ring = counted(COLL_ALLGATHER, "ring", p, 100);
        struct count bruck = counted(COLL_ALLGATHER, "bruck", p, 100);
        struct count spread = counted(COLL_ALLGATHER, "spread", p, 100);
        EQUAL(ring.rounds, p - 1);
        EQUAL(bruck.rounds, log2_up(p));
        EQUAL(spread.rounds, p - 1);
        EQUAL(ring.bytes.most, 100 * (p - 1));
        EQUAL(bruck.bytes.most, 100 * (p - 1));
        EQUAL(spread.bytes.most, 100 * (p - 1));
        EQUAL(bruck.scratch.most, 0);
    }
}
END_TEST

START_TEST(alltoalls)
{
    for (int p = 2; p <= 64; p++) {
        struct count spread = counted(COLL_ALLTOALL, "spread", p, 100);
        struct count bruck = counted(COLL_ALLTOALL, "bruck", p, 100);
        EQUAL(spread.rounds, p - 1);
        EQUAL(spread.bytes.most, 100 * (p - 1));
        EQUAL(bruck.rounds, log2_up(p));
        EQUAL(bruck.messages.most, log2_up(p));
        double blocks = 0; /* i travels once per bit of i */
        for (int i = 0; i < p; i++)
            blocks += __builtin_popcount((unsigned)i);
        EQUAL(bruck.bytes.most, 100 * blocks);
        EQUAL(bruck.scratch.most, 2 * 100 * blocks);
    }
}
END_TEST

START_TEST(gathers_and_scatters)
{
    for (int p = 2; p <= 64; p++) {
        struct count binomial = counted(COLL_SCATTER, "binomial", p, 100);
        struct count linear = counted(COLL_GATHER, "linear", p, 100);
        EQUAL(binomial.rounds, log2_up(p));
        EQUAL(binomial.bytes.most, 100 * (p - 1));
        EQUAL(linear.rounds, p - 1);
        EQUAL(linear.bytes.most, 100);
        EQUAL(linear.bytes.sum, 100 * (p - 1));
    }
}
END_TEST

START_TEST(barriers_and_scans)
{
    for (int p = 2; p <= 64; p++) {
        struct count barrier = counted(COLL_BARRIER, "dissemination", p, 0);
        struct count scan = counted(COLL_SCAN, "doubling", p, 64);
        EQUAL(barrier.rounds, log2_up(p));
        EQUAL(barrier.bytes.sum, 0);
        EQUAL(scan.rounds, log2_up(p));
        EQUAL(counted(COLL_SCAN, "chain", p, 64).rounds, p - 1);
    }
}
END_TEST

START_TEST(reductions)
{
    for (int p = 2; p <= 64; p++) {
        struct count binomial = counted(COLL_REDUCE, "binomial", p, 1000);
        EQUAL(binomial.rounds, log2_up(p));
        EQUAL(binomial.folds.most, 1000.0 * log2_up(p));
        EQUAL(counted(COLL_REDUCE, "linear", p, 1000).rounds, p - 1);
    }
}
END_TEST

/* ---- prices ---- */

static const struct price_model model = {
    .link = { [DISTANCE_CACHE] = { 1e-6, 0.2e-6, 0.1e-6, 1e-9, 0 },
              [DISTANCE_NET] = { 5e-6, 0.5e-6, 0.3e-6, 2e-9, 0 } },
    .fold = 3e-9,
};

static double seconds(const struct price_query *q)
{
    struct price price;
    ck_assert_msg(price_of(&model, q, PLENTY, &price) == 0, "%s", fail_text());
    return price_seconds(price);
}

/* One message: o + L + g + n G + o. */
START_TEST(one_message)
{
    struct price_query q = query(COLL_BCAST, "binomial", 2, 1000);
    int p = 2;
    EQUAL(seconds(&q), 0.2e-6 + 1e-6 + 0.1e-6 + 1000e-9 + 0.2e-6);
    q.seats.per_node = 1;
    EQUAL(seconds(&q), 0.5e-6 + 5e-6 + 0.3e-6 + 2000e-9 + 0.5e-6);
}
END_TEST

/* Each hop of the ring costs a message; in the first tour its folding as well.  Per hop a CPU
 * receives, folds and sends, and all wait for each other. */
START_TEST(rings_are_hops)
{
    for (int p = 2; p <= 40; p++) {
        struct price_query q = query(COLL_ALLREDUCE, "ring", p, 1000 * (size_t)p);
        double hop = 0.2e-6 + 1e-6 + 0.1e-6 + 1000e-9 + 0.2e-6;
        EQUAL(seconds(&q), 2 * (p - 1) * hop + (p - 1) * 3e-9 * 1000);
    }
}
END_TEST

/* Four ranks of a node share its way out. */
START_TEST(a_network_interface_is_shared)
{
    struct price_query q = query(COLL_ALLREDUCE, "doubling", 8, 1000);
    double inside = 0.2e-6 + 1e-6 + 0.1e-6 + 1000e-9 + 0.2e-6 + 3e-6;
    double across = 0.5e-6 + 5e-6 + 4 * (0.3e-6 + 2000e-9) + 0.5e-6 + 3e-6;
    int p = q.p;
    q.seats.per_node = 4;
    EQUAL(seconds(&q), 2 * inside + across);
}
END_TEST

START_TEST(long_messages_wait_for_their_receive)
{
    struct price_model waits = model;
    struct price_query q = query(COLL_BCAST, "binomial", 2, 1000);
    struct price price;
    int p = 2;
    waits.link[DISTANCE_CACHE].eager = 999;
    ck_assert_int_eq(price_of(&waits, &q, 0, &price), 0);
    EQUAL(price_seconds(price), seconds(&q) + 2 * 1e-6);
}
END_TEST

/* ---- few for many ---- */

static struct sim all_on(const struct price_model *machine, const struct price_query *q)
{
    struct cast cast;
    struct sim sim = { .acts = 0 };
    ck_assert_int_eq(cast_open(&cast, q, 1, (struct grouping){ 0, 0 }, PLENTY), 0);
    ck_assert_int_eq(cast.nactors, q->p);
    ck_assert_int_eq(sim_perform(&cast, machine, &q->seats, NULL, &sim.price), 0);
    cast_close(&cast);
    return sim;
}

static struct sim all_of(const struct price_query *q)
{
    return all_on(&model, q);
}

START_TEST(few_ranks_stand_for_many)
{
    static const struct {
        enum collective what;
        const char *name;
        int p, per_node;
        enum symmetry symmetry;
    } cases[] = {
        { COLL_ALLREDUCE, "doubling", 64, 8, SYMMETRY_FLIP },
        { COLL_ALLREDUCE, "doubling", 64, 0, SYMMETRY_FLIP },
        { COLL_ALLREDUCE, "ring", 60, 6, SYMMETRY_SHIFT },
        { COLL_ALLTOALL, "spread", 60, 5, SYMMETRY_SHIFT },
        { COLL_ALLTOALL, "bruck", 60, 5, SYMMETRY_SHIFT },
        { COLL_BARRIER, "dissemination", 60, 12, SYMMETRY_SHIFT },
        { COLL_BCAST, "binomial", 60, 12, SYMMETRY_NONE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct price_query q = query(cases[i].what, cases[i].name, cases[i].p, 9600);
        struct sim few;
        int p = q.p;
        q.seats.per_node = cases[i].per_node;
        ck_assert_int_eq(sim_run(&model, &q, NULL, PLENTY, &few), 0);
        ck_assert_int_eq(few.symmetry, cases[i].symmetry);
        EQUAL(price_seconds(few.price), price_seconds(all_of(&q).price));
    }
}
END_TEST

/* A bound of 0 is one; there is none for ranks that are only looked at where they do alike. */
START_TEST(a_cast_has_so_many_acts_at_most)
{
    const struct grouping shift = { .shift = 1 };
    struct price_query ring = query(COLL_ALLGATHER, "ring", 1000, 8),
                       tree = query(COLL_REDUCE, "binomial", 8, 8);
    struct cast cast;
    ck_assert_int_eq(cast_open(&cast, &ring, 1, shift, 0), MPI_ERR_UNSUPPORTED_OPERATION);
    cast_close(&cast);
    ck_assert_int_eq(cast_open_alike(&cast, &ring, 1, shift), 0);
    ck_assert_int_eq(cast.symmetry, SYMMETRY_SHIFT);
    int64_t acts = cast.acts;
    cast_close(&cast);
    ck_assert_int_eq(cast_open(&cast, &ring, 1, shift, (size_t)acts), 0);
    cast_close(&cast);
    ck_assert_int_eq(cast_open(&cast, &ring, 1, shift, (size_t)acts - 1),
                     MPI_ERR_UNSUPPORTED_OPERATION);
    cast_close(&cast);
    ck_assert_int_eq(cast_open_alike(&cast, &tree, 1, shift), MPI_ERR_UNSUPPORTED_OPERATION);
    cast_close(&cast);
    ck_assert_int_eq(cast_open(&cast, &tree, 1, shift, PLENTY), 0);
    ck_assert_int_eq(cast.symmetry, SYMMETRY_NONE);
    cast_close(&cast);
    fail_clear();
}
END_TEST

/* All ranks, their ranges in as many messages as the one role that stands for all has them in. */
static double all_as_one(const struct price_query *q, const struct role *role)
{
    struct cast cast;
    struct price price;
    ck_assert_int_eq(cast_open(&cast, q, 1, (struct grouping){ 0, 0 }, PLENTY), 0);
    for (int r = 0; r < q->p; r++) {
        ck_assert_int_eq(cast.role[r].nacts, role->nacts);
        for (int i = 0; i < role->nacts; i++) {
            ck_assert_int_le(cast.role[r].act[i].parts, role->act[i].parts);
            cast.role[r].act[i].parts = role->act[i].parts;
        }
    }
    ck_assert_int_eq(sim_perform(&cast, &model, &q->seats, NULL, &price), 0);
    cast_close(&cast);
    return price_seconds(price);
}

/* Ranges that pass the last block do so on some ranks only.  One rank for all sends the two messages of
 * these: its time is exactly theirs if all do, and almost if not; with one message it would be a
 * quarter less. */
START_TEST(one_rank_stands_for_those_whose_ranges_wrap)
{
    static const struct {
        enum collective what;
        const char *name;
    } wrapping[] = { { COLL_ALLREDUCE, "circulant" }, { COLL_ALLGATHER, "bruck" } };
    for (int i = 0; i < 2; i++)
        for (int p = 8; p <= 100; p += 4)
            for (int per_node = 0; per_node <= 4; per_node += 4) {
                struct price_query q = query(wrapping[i].what, wrapping[i].name, p, 8);
                struct cast cast;
                q.seats.per_node = per_node;
                ck_assert_int_eq(cast_open(&cast, &q, 1, (struct grouping){ 1, 0 }, PLENTY), 0);
                ck_assert_int_eq(cast.symmetry, SYMMETRY_SHIFT);
                EQUAL(seconds(&q), all_as_one(&q, cast.role));
                cast_close(&cast);
                double all = price_seconds(all_of(&q).price);
                ck_assert_msg(seconds(&q) >= 0.93 * all && seconds(&q) <= 1.1 * all,
                              "%s on %d ranks, %d per node: %g, and %g of all",
                              wrapping[i].name, p, per_node, seconds(&q), all);
            }
}
END_TEST

/* Messages are those of all ranks' plans, whoever stands for whom. */
START_TEST(messages_are_all_of_them)
{
    int wrapped = 0, counts = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int p = 2; p <= 40; p++) {
            struct price_query q = { .algorithm = a, .p = p, .bytes = 8 };
            struct count c;
            struct cast cast;
            if (count_of(&q, PLENTY, &c)) {
                fail_clear();
                continue;
            }
            double most = 0, sum = 0;
            ck_assert_int_eq(cast_open(&cast, &q, 1, (struct grouping){ 0, 0 }, PLENTY), 0);
            for (int r = 0; r < p; r++) {
                double mine = 0;
                for (int i = 0; i < cast.role[r].nacts; i++)
                    if (cast.role[r].act[i].verb == VERB_SEND) {
                        mine += cast.role[r].act[i].parts;
                        wrapped += cast.role[r].act[i].parts > 1;
                    }
                most = fmax(most, mine);
                sum += mine;
            }
            cast_close(&cast);
            EQUAL(c.messages.most, most);
            EQUAL(c.messages.sum, sum);
            counts++;
        }
    ck_assert_int_gt(wrapped, 1000);
    ck_assert_int_gt(counts, 2000);
}
END_TEST

/* What is extrapolated is what is performed. */
START_TEST(a_ring_becomes_steady)
{
    for (int per_node = 0; per_node <= 32; per_node += 16) {
        struct price_query q = query(COLL_ALLREDUCE, "ring", 512, 1 << 20);
        struct sim steady;
        int p = q.p;
        q.seats.per_node = per_node;
        ck_assert_int_eq(sim_run(&model, &q, NULL, PLENTY, &steady), 0);
        ck_assert_int_eq(steady.rounds > 0, per_node > 0);
        ck_assert_int_lt(steady.rounds, 512);
        EQUAL(price_seconds(steady.price), price_seconds(all_of(&q).price));
    }
    int p = 1 << 20;
    struct count c = counted(COLL_ALLREDUCE, "ring", p, 8 * (size_t)p);
    EQUAL(c.rounds, 2.0 * (p - 1));
    EQUAL(c.bytes.most, 16.0 * (p - 1));
    EQUAL(c.bytes.sum, 16.0 * (p - 1) * p);
}
END_TEST

static uint64_t drawn = 15;

static int draw(int n)
{
    drawn = drawn * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((drawn >> 33) % (uint64_t)n);
}

static double some(double least, double most)
{
    return least * pow(most / least, draw(1000) / 999.0);
}

/* Anything from a machine whose CPUs are in the way to one whose wires are. */
static struct price_model any_model(void)
{
    struct price_model m = { .fold = some(1e-11, 1e-8), .copy = some(1e-11, 1e-8) };
    for (int d = 0; d < DISTANCES; d++)
        m.link[d] =
            (struct link_price){ some(1e-8, 1e-5), some(1e-8, 1e-6), some(1e-9, 1e-6),
                                 some(1e-11, 1e-8), draw(3) ? 0 : (size_t)some(1, 10000) };
    return m;
}

static const struct {
    enum collective what;
    const char *name;
} marching[] = { { COLL_ALLREDUCE, "ring" },
                 { COLL_ALLGATHER, "ring" },
                 { COLL_REDUCE_SCATTER_BLOCK, "ring" } };

/* What the rounds of a few ranks tell is what the events of all tell: any ranks per node, any model. */
START_TEST(a_ring_is_its_rounds)
{
    int marched = 0;
    for (int i = 0; i < 40; i++) {
        int unit = 1 + draw(i % 3 ? 16 : 64), cache = 1 + draw(4);
        int p = unit * (1 + (130 + draw(130)) / unit), what = draw(3);
        struct price_query q = query(marching[what].what, marching[what].name, p,
                                     (size_t)some(1, 1e4) * (what ? 1 : (size_t)p));
        q.seats = (struct seats){ draw(5) ? unit : 0, unit % cache || draw(2) ? 0 : cache };
        struct price_model any = any_model();
        int group = q.seats.per_node ? unit : q.seats.per_cache ? cache : 1;
        struct march march;
        ck_assert_int_eq(march_run(&any, &q, group, PLENTY, &march), 0);
        marched += march.found;
        if (march.found)
            EQUAL(price_seconds(march.price), price_seconds(all_on(&any, &q).price));
    }
    ck_assert_int_gt(marched, 30);
}
END_TEST

/* A million ranks, however many of them on a node: so many acts are some milliseconds. */
START_TEST(a_ring_of_a_million_takes_few_rounds)
{
    for (int unit = 1; unit <= 256; unit += 1 + unit / 8) {
        struct price_query q = query(COLL_ALLREDUCE, "ring", unit * ((1 << 20) / unit), 8);
        struct sim sim;
        q.seats.per_node = unit;
        ck_assert_int_eq(sim_run(&price_standard, &q, NULL, PLENTY, &sim), 0);
        ck_assert_int_gt(sim.rounds, 0);
        ck_assert_int_le(sim.acts, 1 << 18);
    }
}
END_TEST

/* Ranks know residues of ranks, first those half a ring away, a message for each block. */
static void residues(struct plan *plan, int me, int p)
{
    int far = 1;
    plan_rooms(plan, 1, p, 0);
    plan_copy(plan, out(me, 1), in(0, 1));
    while (2 * far < p)
        far *= 2;
    for (; far > 0; far /= 2) {
        for (int i = 0; i + far < p; i += 2 * far)
            plan_send(plan, mod(me + far, p), out(mod(me - i, p), 1));
        for (int i = 0; i + far < p; i += 2 * far)
            plan_recv(plan, mod(me - far, p), out(mod(me - i - far, p), 1));
    }
}

static void residues_summed(struct plan *plan, int me, int p)
{
    plan_mirror_all(plan, me, p, residues);
}

/* Peers are up to half a ring away, so no small one shows what a large one does.  Long messages once
 * made the two ends of one disagree whether it has to wait. */
START_TEST(what_only_looks_like_a_ring_has_no_price)
{
    static const struct algorithm algorithm = { COLL_ALLREDUCE, "residues", residues_summed,
                                                .pipelines = true };
    struct price_query q = { .algorithm = &algorithm, .p = 320, .bytes = 8 << 20 };
    struct price price;
    q.seats.per_node = 32;
    ck_assert_int_eq(price_of(&price_standard, &q, 1 << 14, &price),
                     MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "no steady state"));
}
END_TEST

START_TEST(what_has_no_price_says_so)
{
    struct price price;
    struct price_query q = query(COLL_ALLREDUCE, "tiny", 8, 8);
    ck_assert_int_eq(price_of(&model, &q, 0, &price), MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "no plan"));
    q = query(COLL_NEIGHBOR_ALLGATHER, "direct", 8, 8);
    q.dims = (const int[]){ 3, 3 };
    q.ndims = 2;
    ck_assert_int_eq(price_of(&model, &q, 0, &price), MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "torus"));
    q = (struct price_query){ .algorithm = algorithm_find(COLL_BCAST, true, "tree"), .p = 1 };
    ck_assert_int_eq(price_of(&model, &q, 0, &price), MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "two groups"));
    q.p = 1 << 20;
    ck_assert_int_eq(price_of(&model, &q, 0, &price), MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "1048576 ranks"));
}
END_TEST

/* What rank 0 has to do by itself is never more than what all take together. */
START_TEST(no_price_is_below_its_least)
{
    static const int per_node[] = { 0, 4, 16 };
    int priced = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int i = 0; i < 27; i++) {
            struct price_query q = { .algorithm = a,
                                     .p = 16 * (1 + i / 9),
                                     .pieces = algorithm_cuts(a) ? 1 + i % 4 : 1,
                                     .bytes = (size_t)1 << 7 * (i / 3 % 3),
                                     .seats = { .per_node = per_node[i % 3] } };
            struct price price;
            if (price_of(&price_standard, &q, PLENTY, &price)) {
                fail_clear();
                continue;
            }
            priced++;
            ck_assert_msg(price_least(&price_standard, &q) <= price_seconds(price) * (1 + 1e-9),
                          "%s on %d ranks, %zu bytes", a->name, q.p, q.bytes);
        }
    ck_assert_int_gt(priced, 1000);
}
END_TEST

/* Whatever is cut, and where ranges wrap: both ends of every message are found. */
START_TEST(what_is_cut_has_a_price)
{
    static const int cuts[] = { 2, 3, 5 };
    int priced = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int i = 0; algorithm_cuts(a) && i < 3 * 12; i++) {
            struct price_query q = { .algorithm = a,
                                     .p = 2 + i / 3,
                                     .pieces = cuts[i % 3],
                                     .bytes = 1 << 20,
                                     .seats = { .per_node = i % 2 ? 3 : 0 } };
            struct price price;
            int error = price_of(&price_standard, &q, PLENTY, &price);
            ck_assert_msg(!error || error == MPI_ERR_UNSUPPORTED_OPERATION,
                          "%s on %d ranks in %d pieces: %s", a->name, q.p, q.pieces,
                          fail_text());
            priced += !error;
            fail_clear();
        }
    ck_assert_int_gt(priced, 500);
}
END_TEST

UNIT_MAIN("price", a_cast_has_so_many_acts_at_most, ring_allreduce, doubling_allreduce,
          circulant_allreduce, circulant_reduce_scatter, binomial_broadcast,
          pipelined_broadcast, double_tree_broadcast, scatter_allgather_broadcast, allgathers,
          alltoalls, gathers_and_scatters, barriers_and_scans, reductions, one_message,
          rings_are_hops, a_network_interface_is_shared, long_messages_wait_for_their_receive,
          few_ranks_stand_for_many, one_rank_stands_for_those_whose_ranges_wrap,
          messages_are_all_of_them, a_ring_becomes_steady, a_ring_is_its_rounds,
          a_ring_of_a_million_takes_few_rounds, what_only_looks_like_a_ring_has_no_price,
          what_has_no_price_says_so, no_price_is_below_its_least, what_is_cut_has_a_price)
