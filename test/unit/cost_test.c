/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of every algorithm that has a published one, on 2 to 64 ranks: rounds, and the bytes that
 * the busiest rank sends.  A row is a formula; what price_test works out in detail is here, too, so
 * that the table is whole: algorithms that are in neither list below fail it.
 */
#include "coll/count.h"
#include "coll/forced.h"
#include "runtime/fail.h"

#include "test/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 840 }; /* of what moves blocks; vectors are p blocks */

/* ---- formulas: of p ranks, radix k ---- */

static double logs(int p, int k) /* ceil(log_k p) */
{
    double rounds = 0;
    for (long n = 1; n < p; n *= k)
        rounds++;
    return rounds;
}

static bool coprime(int a, int b)
{
    return b ? coprime(b, a % b) : a == 1;
}

static double log_2(int p, int k)
{
    (void)k;
    return logs(p, 2);
}

static double two_logs(int p, int k)
{
    (void)k;
    return 2 * logs(p, 2);
}

/* k - 1 messages in each of log_k p rounds; the same twice */
static double log_k(int p, int k)
{
    return (k - 1) * logs(p, k);
}

static double two_log_k(int p, int k)
{
    return 2 * log_k(p, k);
}

static double others(int p, int k) /* p - 1 */
{
    (void)k;
    return p - 1;
}

static double two_others(int p, int k)
{
    (void)k;
    return 2 * (p - 1);
}

static double half(int p, int k)
{
    (void)k;
    return p / 2;
}

/* X + Y - 2 of the widest grid of p */
static double grid(int p, int k)
{
    int width = 1;
    (void)k;
    for (int x = 2; x * x <= p; x++)
        if (p % x == 0)
            width = x;
    return width + p / width - 2;
}

static double two_grids(int p, int k)
{
    return 2 * grid(p, k);
}

static double one(int p, int k)
{
    (void)p;
    (void)k;
    return 1;
}

/* A whole vector, log_2 p times; bytes are in blocks. */
static double vector(int p, int k)
{
    (void)k;
    return p;
}

static double vectors(int p, int k)
{
    return p * log_2(p, k);
}

static double vectors_k(int p, int k)
{
    return p * log_k(p, k);
}

static double all_pairs(int p, int k)
{
    (void)k;
    return (double)p * (p - 1);
}

static double two(int p, int k)
{
    (void)p;
    (void)k;
    return 2;
}

static double nothing(int p, int k)
{
    (void)p;
    (void)k;
    return 0;
}

/* Block i travels once per digit of i that is not 0. */
static double digits(int p, int k)
{
    double sum = 0;
    for (int i = 0; i < p; i++)
        for (int rest = i; rest > 0; rest /= k)
            sum += rest % k != 0;
    return sum;
}

/* Of ranks that keep others' blocks each hands its own in, a block in a round of its own; up to three keep their own. */
static double kept(int p)
{
    return p > 3;
}

static double log_2_kept(int p, int k)
{
    return log_2(p, k) + kept(p);
}

static double others_kept(int p, int k)
{
    return others(p, k) + kept(p);
}

/* PAT: m blocks in log_2 m rounds, and the edges of trees over p / m ranges. */
static double edges_kept(int p, int k)
{
    int m = k < p ? k : p, power = 1;
    while (2 * power <= m)
        power *= 2;
    if ((p & (p - 1)) == 0)
        m = power;
    else
        while (m < p && !coprime(m, p))
            m++;
    return logs(m, 2) + (p + m - 1) / m - 1 + (kept(p) || m < p);
}

/* ---- the table ---- */

enum when {
    ALWAYS,
    POWERS,
    EVEN
}; /* at powers of the radix; elsewhere what is left over costs more */
typedef double formula(int p, int k);

/* ---- between two groups, of which the first has s = (p + 1) / 2 ranks and the root ---- */

static double other_half(int p, int k) /* the second */
{
    (void)k;
    return p / 2;
}

static double first_half(int p, int k)
{
    (void)k;
    return (p + 1) / 2;
}

static double tree_rounds(int p, int k) /* the root and the second */
{
    (void)k;
    return logs(1 + p / 2, 2);
}

static double tree_vectors(int p, int k)
{
    return p * tree_rounds(p, k);
}

static const struct row {
    enum collective what;
    const char *name;
    enum when when;
    formula *rounds, *bytes; /* bytes of the busiest rank, in blocks */
} between[] = {
    { COLL_BARRIER, "union", ALWAYS, log_2, nothing },
    { COLL_BCAST, "tree", ALWAYS, tree_rounds, tree_vectors },
    { COLL_GATHER, "linear", ALWAYS, other_half, one },
    { COLL_SCATTER, "linear", ALWAYS, other_half, other_half },
    { COLL_ALLGATHER, "spread", ALWAYS, first_half, first_half },
    { COLL_ALLTOALL, "spread", ALWAYS, first_half, first_half },
}, rows[] = {
    { COLL_NEIGHBOR_ALLGATHER, "direct", ALWAYS, two, two }, /* on a ring */
    { COLL_NEIGHBOR_ALLTOALL, "direct", ALWAYS, two, two },
    { COLL_BARRIER, "dissemination", ALWAYS, log_k, nothing },
    { COLL_BCAST, "binomial", ALWAYS, log_2, vectors },
    { COLL_BCAST, "knomial", POWERS, log_k, vectors_k },
    { COLL_BCAST, "chain", ALWAYS, others, vector },
    { COLL_BCAST, "bine", POWERS, log_2, vectors },
    { COLL_GATHER, "linear", ALWAYS, others, one },
    { COLL_GATHER, "binomial", POWERS, log_2, half },
    { COLL_SCATTER, "linear", ALWAYS, others, others },
    { COLL_SCATTER, "binomial", ALWAYS, log_2, others },
    { COLL_ALLGATHER, "ring", ALWAYS, others, others },
    { COLL_ALLGATHER, "ring-both", ALWAYS, others, others },
    { COLL_ALLGATHER, "neighbour", EVEN, half, others },
    { COLL_ALLGATHER, "bruck", ALWAYS, log_2, others },
    { COLL_ALLGATHER, "circulant", ALWAYS, log_2, others },
    { COLL_ALLGATHER, "spread", ALWAYS, others, others },
    { COLL_ALLGATHER, "multiplying", POWERS, log_2, others },
    { COLL_ALLGATHER, "nhr", ALWAYS, log_2_kept, others_kept },
    { COLL_ALLGATHER, "pat", ALWAYS, edges_kept, others_kept },
    { COLL_ALLGATHER, "swing", POWERS, log_2_kept, others_kept },
    { COLL_ALLGATHER, "torus", ALWAYS, grid, others },
    { COLL_ALLTOALL, "spread", ALWAYS, others, others },
    { COLL_ALLTOALL, "throttled", ALWAYS, others, others },
    { COLL_ALLTOALL, "pairwise", ALWAYS, others, others },
    { COLL_ALLTOALL, "bruck", ALWAYS, log_2, digits },
    { COLL_REDUCE, "binomial", ALWAYS, log_2, vector },
    { COLL_REDUCE, "knomial", POWERS, log_k, vector },
    { COLL_REDUCE, "chain", ALWAYS, others, vector },
    { COLL_REDUCE, "linear", ALWAYS, others, vector },
    { COLL_REDUCE, "bine", POWERS, log_2, vector },
    { COLL_ALLREDUCE, "doubling", POWERS, log_2, vectors },
    { COLL_ALLREDUCE, "knomial", POWERS, two_log_k, vectors_k },
    { COLL_ALLREDUCE, "multiplying", POWERS, log_k, vectors_k },
    { COLL_ALLREDUCE, "all-pairs", ALWAYS, others, all_pairs },
    { COLL_ALLREDUCE, "spread", ALWAYS, two_others, two_others },
    { COLL_ALLREDUCE, "circulant", ALWAYS, two_logs, two_others },
    { COLL_ALLREDUCE, "ring", ALWAYS, two_others, two_others },
    { COLL_ALLREDUCE, "ring-both", ALWAYS, two_others, two_others },
    { COLL_ALLREDUCE, "halving", POWERS, two_logs, two_others },
    { COLL_ALLREDUCE, "bcube", POWERS, two_log_k, two_others },
    { COLL_ALLREDUCE, "bruck", ALWAYS, two_logs, two_others },
    { COLL_ALLREDUCE, "nhr", ALWAYS, two_logs, two_others },
    { COLL_ALLREDUCE, "swing", POWERS, two_logs, two_others },
    { COLL_ALLREDUCE, "torus", ALWAYS, two_grids, two_others },
    { COLL_REDUCE_SCATTER, "circulant", ALWAYS, log_2, others },
    { COLL_REDUCE_SCATTER, "linear", ALWAYS, others, others },
    { COLL_REDUCE_SCATTER, "ring", ALWAYS, others, others },
    { COLL_REDUCE_SCATTER, "ring-both", ALWAYS, others, others },
    { COLL_REDUCE_SCATTER, "neighbour", EVEN, half, others },
    { COLL_REDUCE_SCATTER, "bruck", ALWAYS, log_2, others },
    { COLL_REDUCE_SCATTER, "halving", POWERS, log_2, others },
    { COLL_REDUCE_SCATTER, "nhr", ALWAYS, log_2_kept, others_kept },
    { COLL_REDUCE_SCATTER, "pat", ALWAYS, edges_kept, others_kept },
    { COLL_REDUCE_SCATTER, "swing", POWERS, log_2_kept, others_kept },
    { COLL_REDUCE_SCATTER, "torus", ALWAYS, grid, others },
    { COLL_SCAN, "doubling", ALWAYS, log_2, vectors },
    { COLL_SCAN, "chain", ALWAYS, others, vector },
};

/* Bounds, not formulas, or compositions whose cost is that of their parts; price_test has some. */
static const char *const others_known[] = {
    "bcast:double-tree",     "bcast:scatter-allgather", "bcast:levels",
    "reduce:scatter-gather", "reduce:double-tree",      "reduce:in-order",
    "reduce:ordered",        "reduce:levels",           "allreduce:dual-root",
    "allreduce:double-tree", "allreduce:levels",        "allreduce:factored",
    "alltoall:leaders",      "exscan:doubling",         "exscan:chain",
};

static bool is_power(int p, int k)
{
    while (p % k == 0)
        p /= k;
    return p == 1;
}

static void check_row(const struct row *row, bool inter)
{
    const struct algorithm *a = algorithm_find(row->what, inter, row->name);
    ck_assert_msg(a != NULL, "there is no %s:%s", collective_name(row->what), row->name);
    int k = a->radix ? a->radix : 2;
    bool blocks = row->what != COLL_BCAST && !is_reduction(row->what);
    for (int p = 2; p <= 64; p++) {
        if ((row->when == POWERS && !is_power(p, k)) || (row->when == EVEN && p % 2))
            continue;
        struct price_query q = { .algorithm = a,
                                 .p = p,
                                 .bytes = blocks ? BLOCK : (size_t)p * BLOCK };
        struct count c;
        ck_assert_msg(count_of(&q, 1000000, &c) == 0, "%s", fail_text());
        double rounds = row->rounds(p, k), bytes = row->bytes(p, k) * BLOCK;
        ck_assert_msg(c.rounds == rounds && fabs(c.bytes.most - bytes) < 1e-6 * bytes + 1e-9,
                      "%s:%s, p %d: %g rounds instead of %g, %g bytes instead of %g",
                      collective_name(row->what), row->name, p, c.rounds, rounds, c.bytes.most,
                      bytes);
    }
}

START_TEST(published_costs)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i], false);
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        check_row(&between[i], true);
}
END_TEST

static struct count counted_radix(const struct algorithm *a, int p, size_t bytes, int radix)
{
    struct price_query q = { .algorithm = a, .p = p, .bytes = bytes, .radix = radix };
    struct count c;
    ck_assert_msg(count_of(&q, 1000000, &c) == 0, "%s", fail_text());
    return c;
}

static struct count counted(const struct algorithm *a, int p, size_t bytes)
{
    return counted_radix(a, p, bytes, 0);
}

/* As many messages as rounds where the ranks are a power of two; else a range may go as two.  No block is copied on its
 * way, but for one's own. */
START_TEST(a_round_is_a_message)
{
    static const enum collective what[] = { COLL_ALLGATHER, COLL_REDUCE_SCATTER,
                                            COLL_ALLREDUCE };
    static const char *const name[] = { "swing", "nhr", "pat" };
    int n = 0;
    for (int i = 0; i < 9; i++) {
        const struct algorithm *a = algorithm_find(what[i / 3], false, name[i % 3]);
        for (int p = 2; a && p <= 64; p++)
            for (int k = 2; k <= (a->radix ? 64 : 2); k++) {
                if (algorithm_objection(a, p, NULL))
                    continue;
                struct count c = counted_radix(a, p, BLOCK * (size_t)p, a->radix ? k : 0);
                double ways = what[i / 3] == COLL_ALLREDUCE ? 2 : 1;
                double rounds = a->radix   ? edges_kept(p, k)
                                : ways > 1 ? two_logs(p, 2)
                                           : log_2_kept(p, 2);
                bool even = (p & (p - 1)) == 0;
                ck_assert_double_eq(c.rounds, rounds);
                ck_assert_double_le(c.messages.most, even ? rounds : 2 * rounds);
                ck_assert_double_le(c.messages.sum,
                                    p * (rounds + (even ? 0 : logs(p, 2) * ways)));
                n++;
            }
    }
    ck_assert_int_eq(n, 3 * 6 + 3 * 63 + 2 * 63 * 63);
}
END_TEST

/* Runs that are longer by a rank than others cost up to k rounds of one message, by 2 one; nobody hears anything twice. */
START_TEST(what_multiplies_takes_any_number_of_ranks)
{
    static const enum collective what[] = { COLL_ALLGATHER, COLL_REDUCE_SCATTER };
    for (int i = 0; i < 2; i++) {
        const struct algorithm *a =
            algorithm_find(what[i], false, i == 0 ? "multiplying" : "halving");
        for (int p = 2; p <= 64; p++)
            for (int k = 2; k <= 16; k++) {
                size_t bytes = BLOCK * (size_t)(i == 0 ? 1 : p);
                ck_assert_ptr_null(algorithm_objection(a, p, NULL));
                struct count c = counted_radix(a, p, bytes, k);
                ck_assert_double_eq(c.bytes.sum, (double)p * (p - 1) * BLOCK);
                ck_assert_double_le(c.rounds, log_k(p, k) + (k == 2 ? 1 : k));
                ck_assert_double_le(c.messages.most, log_k(p, k) + k - 2);
            }
    }
}
END_TEST

/* What passes on blocks whose sizes its ranks do not know sends numbers of 8 bytes first. */
START_TEST(twice_is_once_with_numbers_and_once_with_blocks)
{
    int n = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int p = 2; a->sized && p <= 33; p++, n++) {
            enum collective even = a->what == COLL_GATHERV    ? COLL_GATHER
                                   : a->what == COLL_SCATTERV ? COLL_SCATTER
                                                              : COLL_ALLTOALL;
            const struct algorithm *once = algorithm_find(even, false, a->name);
            struct count twice = counted(a, p, BLOCK), blocks = counted(once, p, BLOCK);
            ck_assert_double_eq(twice.bytes.sum, blocks.bytes.sum * (BLOCK + 8) / BLOCK);
            ck_assert_double_eq(twice.bytes.most, blocks.bytes.most * (BLOCK + 8) / BLOCK);
            ck_assert_double_eq(twice.messages.sum, 2 * blocks.messages.sum);
            ck_assert_double_eq(twice.messages.most, 2 * blocks.messages.most);
            ck_assert(twice.rounds > blocks.rounds && twice.rounds <= 2 * blocks.rounds);
        }
    ck_assert_int_eq(n, 4 * 32);
}
END_TEST

/* Both groups add up a vector of their own, the first ranks swap them, and each hands out blocks as
 * long as its group is large. */
START_TEST(groups_cut_one_vector_differently)
{
    const struct algorithm *a = algorithm_find(COLL_REDUCE_SCATTER, true, "leaders");
    struct price_query q = { .algorithm = a, .p = 5, .bytes = 600, .split = 2 };
    struct count c;
    ck_assert_int_eq(count_of(&q, 1000, &c), 0);
    ck_assert_double_eq(c.bytes.sum, (1 + 2) * 600 + 2 * 600 + 300 + 2 * 200);
    ck_assert_double_eq(c.folds.sum, (1 + 2) * 600);
}
END_TEST

static bool is_listed(const struct algorithm *a)
{
    char name[80];
    snprintf(name, sizeof name, "%s:%s", collective_name(a->what), a->name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].what == a->what && strcmp(rows[i].name, a->name) == 0)
            return true;
    for (size_t i = 0; i < sizeof others_known / sizeof *others_known; i++)
        if (strcmp(others_known[i], name) == 0)
            return true;
    return false;
}

/* v, w and _block forms are the same programs. */
static bool is_variant(enum collective what)
{
    return what == COLL_GATHERV || what == COLL_SCATTERV || what == COLL_ALLGATHERV ||
           what == COLL_ALLTOALLV || what == COLL_ALLTOALLW ||
           what == COLL_REDUCE_SCATTER_BLOCK || is_neighbourhood(what);
}

START_TEST(no_algorithm_is_left_out)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        ck_assert_msg(!a->program || a->inter || is_variant(a->what) || is_listed(a),
                      "%s:%s has no formula here", collective_name(a->what), a->name);
}
END_TEST

UNIT_MAIN("cost", published_costs, no_algorithm_is_left_out, a_round_is_a_message,
          what_multiplies_takes_any_number_of_ranks,
          twice_is_once_with_numbers_and_once_with_blocks, groups_cut_one_vector_differently)
