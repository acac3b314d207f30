/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every operation on every basic type it is defined for, at every vector width of this CPU and
 * with every permitted aliasing, against plain loops.
 */
#include "runtime/layout_inside.h"
#include "runtime/reduce_kernels.h"

#include "items.h"

#include <float.h>

enum { ITEMS = 70 };

/* ---- the standard's table, MPI 5.0, 6.9.2 and 6.9.4 ---- */

static bool is_legal(enum reduce_op op, enum basic basic)
{
    enum family f = family_of(basic);
    switch (op) {
    case REDUCE_SUM:
    case REDUCE_PROD:
        return f == INTEGERS || f == REALS || f == COMPLEXES;
    case REDUCE_MIN:
    case REDUCE_MAX:
        return f == INTEGERS || f == REALS;
    case REDUCE_BAND:
    case REDUCE_BOR:
    case REDUCE_BXOR:
        return f == INTEGERS || f == BYTES;
    case REDUCE_LAND:
    case REDUCE_LOR:
    case REDUCE_LXOR:
        return f == INTEGERS || f == LOGICALS;
    case REDUCE_MINLOC:
    case REDUCE_MAXLOC:
        return f == PAIRS;
    default:
        return basic != BASIC_NONE;
    }
}

START_TEST(operations_exist_where_the_standard_says)
{
    for (enum reduce_op op = 0; op < REDUCE_OPS; op++)
        for (enum basic b = BASIC_NONE; b < BASIC_COUNT; b++)
            ck_assert_msg((reduce_find(op, b) != NULL) == is_legal(op, b),
                          "operation %d on basic %d", (int)op, (int)b);
}
END_TEST

/* ---- one item, the plain way ---- */

static int128 integer_at(const void *p, size_t bytes, bool is_signed)
{
    int128 v = 0;
    memcpy(&v, p, bytes);
    int shift = 128 - 8 * (int)bytes;
    return is_signed ? (int128)((unsigned __int128)v << shift) >> shift : v;
}

static unsigned __int128 integer_op(enum reduce_op op, int128 p, int128 q, bool is_signed)
{
    unsigned __int128 x = (unsigned __int128)p, y = (unsigned __int128)q;
    bool less = is_signed ? p < q : x < y;
    switch (op) {
    case REDUCE_SUM:
        return x + y;
    case REDUCE_PROD:
        return x * y;
    case REDUCE_MIN:
        return less ? x : y;
    case REDUCE_MAX:
        return less ? y : x;
    case REDUCE_BAND:
        return x & y;
    case REDUCE_BOR:
        return x | y;
    case REDUCE_BXOR:
        return x ^ y;
    case REDUCE_LAND:
        return x && y;
    case REDUCE_LOR:
        return x || y;
    default:
        return !x != !y;
    }
}

static bool is_signed(enum basic b)
{
    return b <= BASIC_INT64 || b == BASIC_INT128;
}

/* Fortran truth: only whether the result is zero is certain, and that it is no new pattern. */
static void expect_logical(enum reduce_op op, const char *got, const char *a, const char *b,
                           size_t bytes)
{
    int128 p = integer_at(a, bytes, false), q = integer_at(b, bytes, false);
    int128 r = integer_at(got, bytes, false);
    ck_assert((r != 0) == (integer_op(op, p, q, false) != 0));
    ck_assert(r == 0 || r == p || r == q);
}

#define EXPECT_REAL(type)                                                                      \
    do {                                                                                       \
        type p, q, r;                                                                          \
        memcpy(&p, a, sizeof p);                                                               \
        memcpy(&q, b, sizeof q);                                                               \
        memcpy(&r, got, sizeof r);                                                             \
        type s = op == REDUCE_SUM    ? p + q                                                   \
                 : op == REDUCE_PROD ? p * q                                                   \
                 : op == REDUCE_MIN  ? (p < q ? p : q)                                         \
                                     : (p > q ? p : q);                                         \
        ck_assert((isnan(s) && isnan(r)) || (r == s && !signbit(r) == !signbit(s)));           \
    } while (0)

/* ---- 16 bits: values by their definition, and the nearest of all, ties to even ---- */

struct small { /* a format: the digits of the fraction, the bias of the exponent */
    int digits, bias;
};
static const struct small binary16 = { 10, 15 }, bfloat16 = { 7, 127 };

static double small_value(const struct small *f, uint16_t bits)
{
    int exponent = (bits & 0x7fff) >> f->digits, fraction = bits & ((1 << f->digits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (0x7fff >> f->digits))
        return fraction ? NAN : sign * INFINITY;
    if (exponent > 0)
        fraction += 1 << f->digits;
    return sign * ldexp(fraction, (exponent ? exponent : 1) - f->bias - f->digits);
}

/* The magnitudes are in the order of their patterns: search, then choose between two. */
static uint16_t small_nearest(const struct small *f, double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0, infinite = 0x7fff >> f->digits << f->digits;
    uint16_t low = 0, high = infinite;
    double magnitude = fabs(value);
    double limit = ldexp(2 - ldexp(1, -f->digits - 1), f->bias); /* half a unit above all */
    if (magnitude >= limit)
        return sign | infinite;
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (small_value(f, middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double below = magnitude - small_value(f, low), above = small_value(f, high) - magnitude;
    bool up = above < below || (above == below && low & 1);
    return sign | (up ? high : low);
}

static void expect_small(enum reduce_op op, const struct small *f, const char *got,
                         const char *a, const char *b)
{
    uint16_t p, q, r;
    memcpy(&p, a, 2);
    memcpy(&q, b, 2);
    memcpy(&r, got, 2);
    double x = small_value(f, p), y = small_value(f, q);
    if (op == REDUCE_MIN || op == REDUCE_MAX) {
        bool first = op == REDUCE_MIN ? x < y : x > y;
        ck_assert_int_eq(r, first ? p : q);
        return;
    }
    double s = op == REDUCE_SUM ? x + y : x * y;
    if (isnan(s))
        ck_assert(isnan(small_value(f, r)));
    else
        ck_assert_msg(r == small_nearest(f, s), "%a %d %a: %04x", x, (int)op, y, r);
}

#define EXPECT_COMPLEX(type, real)                                                             \
    do {                                                                                       \
        type p, q, r;                                                                          \
        memcpy(&p, a, sizeof p);                                                               \
        memcpy(&q, b, sizeof q);                                                               \
        memcpy(&r, got, sizeof r);                                                             \
        volatile real ac = (real)(creall(p) * creall(q)), bd = (real)(cimagl(p) * cimagl(q));  \
        volatile real ad = (real)(creall(p) * cimagl(q)), bc = (real)(cimagl(p) * creall(q));  \
        bool sum = op == REDUCE_SUM;                                                           \
        ck_assert(creall(r) == (sum ? (real)(creall(p) + creall(q)) : (real)(ac - bd)));       \
        ck_assert(cimagl(r) == (sum ? (real)(cimagl(p) + cimagl(q)) : (real)(ad + bc)));       \
    } while (0)

/* The same of parts in an array; half numbers are calculated in float. */
#define EXPECT_PARTS(part, wide, value, rounded)                                               \
    do {                                                                                       \
        part p[2], q[2], r[2], s[2];                                                           \
        memcpy(p, a, sizeof p);                                                                \
        memcpy(q, b, sizeof q);                                                                \
        memcpy(r, got, sizeof r);                                                              \
        volatile wide ac = value(p[0]) * value(q[0]), bd = value(p[1]) * value(q[1]);          \
        volatile wide ad = value(p[0]) * value(q[1]), bc = value(p[1]) * value(q[0]);          \
        bool sum = op == REDUCE_SUM;                                                           \
        s[0] = rounded(sum ? value(p[0]) + value(q[0]) : ac - bd);                             \
        s[1] = rounded(sum ? value(p[1]) + value(q[1]) : ad + bc);                             \
        ck_assert(r[0] == s[0] && r[1] == s[1]);                                               \
    } while (0)

/* Both values are exact in long double. */
static void expect_pair(enum reduce_op op, const long double got[2], const long double a[2],
                        const long double b[2])
{
    bool first = op == REDUCE_MINLOC ? a[0] < b[0] : a[0] > b[0];
    const long double *winner = first ? a : b;
    long double index = a[0] != b[0] ? winner[1] : a[1] < b[1] ? a[1] : b[1];
    ck_assert(got[0] == winner[0]);
    ck_assert(got[1] == index);
}

#define PAIR_VALUES(basic, value_type, index_type)                                             \
    case BASIC_##basic: {                                                                      \
        struct {                                                                               \
            value_type v;                                                                      \
            index_type i;                                                                      \
        } pair;                                                                                \
        memcpy(&pair, p, sizeof pair);                                                         \
        out[0] = (long double)pair.v;                                                          \
        out[1] = (long double)pair.i;                                                          \
        break;                                                                                 \
    }

static void pair_values(enum basic basic, const void *p, long double out[2])
{
    switch (basic) {
        PAIR_VALUES(FLOAT_INT, float, int)
        PAIR_VALUES(DOUBLE_INT, double, int)
        PAIR_VALUES(LONG_INT, long, int)
        PAIR_VALUES(2INT, int, int)
        PAIR_VALUES(SHORT_INT, short, int)
        PAIR_VALUES(LONG_DOUBLE_INT, long double, int)
        PAIR_VALUES(2FLOAT, float, float)
        PAIR_VALUES(2DOUBLE, double, double)
        PAIR_VALUES(INT32_INT64, int32_t, int64_t)
        PAIR_VALUES(INT64_INT64, int64_t, int64_t)
        PAIR_VALUES(FLOAT_INT64, float, int64_t)
        PAIR_VALUES(DOUBLE_INT64, double, int64_t)
        PAIR_VALUES(LONG_DOUBLE_INT64, long double, int64_t)
    default:
        ck_abort();
    }
}

/* REPLACE and NO_OP: the data bytes of one operand; of pairs the members. */
static void expect_moved(enum basic basic, const char *got, const char *wanted)
{
    if (family_of(basic) != PAIRS) {
        ck_assert_int_eq(memcmp(got, wanted, basic_extent(basic)), 0);
        return;
    }
    long double g[2], w[2];
    pair_values(basic, got, g);
    pair_values(basic, wanted, w);
    ck_assert(g[0] == w[0] && g[1] == w[1]);
}

static void expect_float(enum reduce_op op, enum basic basic, const char *got, const char *a,
                         const char *b)
{
    switch (basic) {
    case BASIC_FLOAT16:
        expect_small(op, &binary16, got, a, b);
        break;
    case BASIC_BFLOAT16:
        expect_small(op, &bfloat16, got, a, b);
        break;
    case BASIC_FLOAT:
        EXPECT_REAL(float);
        break;
    case BASIC_DOUBLE:
        EXPECT_REAL(double);
        break;
    case BASIC_LONG_DOUBLE:
        EXPECT_REAL(long double);
        break;
    case BASIC_FLOAT128:
        EXPECT_REAL(float128);
        break;
    case BASIC_FLOAT16_COMPLEX:
        EXPECT_PARTS(uint16_t, float, half_value, half_rounded);
        break;
    case BASIC_FLOAT128_COMPLEX:
        EXPECT_PARTS(float128, float128, , );
        break;
    case BASIC_FLOAT_COMPLEX:
        EXPECT_COMPLEX(float complex, float);
        break;
    case BASIC_DOUBLE_COMPLEX:
        EXPECT_COMPLEX(double complex, double);
        break;
    default:
        EXPECT_COMPLEX(long double complex, long double);
    }
}

static void expect_item(enum reduce_op op, enum basic basic, const char *got, const char *a,
                        const char *b)
{
    size_t bytes = basic_extent(basic);
    enum family family = family_of(basic);
    if (op == REDUCE_REPLACE || op == REDUCE_NO_OP) {
        expect_moved(basic, got, op == REDUCE_REPLACE ? b : a);
    } else if (family == PAIRS) {
        long double g[2], x[2], y[2];
        pair_values(basic, got, g);
        pair_values(basic, a, x);
        pair_values(basic, b, y);
        expect_pair(op, g, x, y);
    } else if (basic >= BASIC_LOGICAL8 && basic <= BASIC_LOGICAL128) {
        expect_logical(op, got, a, b, bytes);
    } else if (family == INTEGERS || family == BYTES || family == LOGICALS) {
        bool with_sign = is_signed(basic);
        unsigned __int128 r = integer_op(op, integer_at(a, bytes, with_sign),
                                         integer_at(b, bytes, with_sign), with_sign);
        ck_assert_int_eq(memcmp(got, &r, bytes), 0);
    } else {
        expect_float(op, basic, got, a, b);
    }
}

/* ---- kernels ---- */

static void check_kernel(reduce_kernel *kernel, enum reduce_op op, enum basic basic,
                         enum alias alias)
{
    static _Alignas(64) char a[ITEM_BYTES * (ITEMS + 2)], b[sizeof a], c[sizeof a];
    static char old_a[sizeof a], old_b[sizeof a];
    size_t step = basic_extent(basic);
    size_t n = chance(0, 1) ? (size_t)chance(0, 9) : (size_t)chance(0, ITEMS);
    size_t start = (size_t)chance(0, 1) * step; /* vectors need not be aligned */
    char *x = a + start, *y = b + start;
    char *to = alias == ONTO_A ? x : alias == ONTO_B ? y : c + start;
    for (size_t i = 0; i <= n; i++) {
        chance_item(basic, x + i * step);
        chance_item(basic, y + i * step);
    }
    memset(c, 0x33, sizeof c);
    memcpy(old_a, a, sizeof a);
    memcpy(old_b, b, sizeof b);
    char behind[ITEM_BYTES];
    memcpy(behind, to + n * step, step);
    kernel(to, x, y, n);
    for (size_t i = 0; i < n; i++)
        expect_item(op, basic, to + i * step, old_a + start + i * step,
                    old_b + start + i * step);
    ck_assert_int_eq(memcmp(behind, to + n * step, step), 0);
}

START_TEST(kernels_agree_with_plain_loops)
{
    chance_seed();
    for (enum reduce_op op = 0; op < REDUCE_OPS; op++)
        for (enum basic b = BASIC_INT8; b < BASIC_COUNT; b++)
            for (enum reduce_width w = 0; is_legal(op, b) && w <= reduce_width(); w++)
                for (int round = 0; round < 24; round++)
                    check_kernel(reduce_find_wide(op, b, w), op, b, round % ALIASES);
}
END_TEST

START_TEST(small_integers_wrap)
{
    int8_t a[] = { 127, -128, 100 }, b[] = { 1, -1, 100 }, c[3];
    reduce_find(REDUCE_SUM, BASIC_INT8)(c, a, b, 3);
    ck_assert_int_eq(c[0], -128);
    ck_assert_int_eq(c[1], 127);
    ck_assert_int_eq(c[2], -56);
    reduce_find(REDUCE_PROD, BASIC_INT8)(c, a, b, 3);
    ck_assert_int_eq(c[2], 16);
}
END_TEST

/* Every pattern comes back, and halfway between neighbours the even one wins. */
static void check_rounding(const struct small *f, float (*value)(uint16_t),
                           uint16_t (*rounded)(float))
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float v = value((uint16_t)bits);
        if (isnan(small_value(f, (uint16_t)bits))) {
            ck_assert(isnan(v) && isnan(small_value(f, rounded(v))));
            continue;
        }
        ck_assert(v == small_value(f, (uint16_t)bits) && !signbit(v) == !(bits & 0x8000));
        ck_assert_int_eq(rounded(v), bits);
        float next = value((uint16_t)(bits + 1)), middle = v + (next - v) / 2;
        if (isinf(v) || isnan(next) || isinf(next) || middle == v || middle == next)
            continue;
        ck_assert_int_eq(rounded(middle), bits + (bits & 1));
        ck_assert_int_eq(rounded(nextafterf(middle, v)), bits);
        ck_assert_int_eq(rounded(nextafterf(middle, next)), bits + 1);
    }
}

START_TEST(halves_round_to_nearest_even)
{
    check_rounding(&binary16, half_value, half_rounded);
    check_rounding(&bfloat16, bfloat_value, bfloat_rounded);
    ck_assert_int_eq(half_rounded(65519), 0x7bff);
    ck_assert_int_eq(half_rounded(65520), 0x7c00);
    ck_assert_int_eq(half_rounded(-1e30f), 0xfc00);
    ck_assert_int_eq(bfloat_rounded(FLT_MAX), 0x7f80);
}
END_TEST

/* ---- means ---- */

START_TEST(means_exist_for_real_and_complex_numbers)
{
    for (enum basic b = BASIC_NONE; b < BASIC_COUNT; b++)
        ck_assert(reduce_has_mean(b) == (family_of(b) == REALS || family_of(b) == COMPLEXES));
}
END_TEST

START_TEST(means_are_quotients)
{
    struct layout *layout = layout_basic(BASIC_FLOAT_COMPLEX, 8, 8);
    struct reduction r = { .layout = layout, .mean = true };
    float complex z[2] = { 3 - 6 * I, 1 + 2 * I };
    reduce_divide(&r, z, 2, 3);
    ck_assert(crealf(z[0]) == 1 && cimagf(z[0]) == -2);
    ck_assert(crealf(z[1]) == 1.0f / 3 && cimagf(z[1]) == 2.0f / 3);
    layout_drop(layout);
    r.layout = layout = layout_basic(BASIC_BFLOAT16, 2, 2);
    uint16_t h[2] = { bfloat_rounded(10), bfloat_rounded(-1) };
    reduce_divide(&r, h, 2, 3);
    ck_assert_int_eq(h[0], small_nearest(&bfloat16, 10.0 / 3));
    ck_assert_int_eq(h[1], small_nearest(&bfloat16, -1.0 / 3));
    layout_drop(layout);
}
END_TEST

START_TEST(padding_of_pairs_is_not_written)
{
    struct {
        double v;
        int i, hole;
    } a = { 1, 1, 11 }, b = { 2, 2, 22 };
    static const enum reduce_op ops[] = { REDUCE_MINLOC, REDUCE_MAXLOC, REDUCE_REPLACE,
                                          REDUCE_NO_OP };
    for (size_t i = 0; i < 4; i++) {
        reduce_find(ops[i], BASIC_DOUBLE_INT)(&b, &a, &b, 1);
        ck_assert_int_eq(b.hole, 22);
    }
}
END_TEST

UNIT_MAIN("reduce", operations_exist_where_the_standard_says, kernels_agree_with_plain_loops,
          small_integers_wrap, halves_round_to_nearest_even,
          means_exist_for_real_and_complex_numbers, means_are_quotients,
          padding_of_pairs_is_not_written)
