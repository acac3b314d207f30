/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Folding many vectors at one place: 16-bit numbers as if in float, rounded once at the end, with
 * results where the first or second vector was; all others as by their kernel, two by two.
 */
#include "runtime/folding.h"
#include "runtime/layout_inside.h"

#include "items.h"

enum { MOST = 1500, VECTORS = 6 };

struct format {
    enum basic basic;
    float (*value)(uint16_t);
    uint16_t (*rounded)(float);
    uint16_t infinity;
};
static const struct format formats[] = {
    { BASIC_FLOAT16, half_value, half_rounded, 0x7c00 },
    { BASIC_BFLOAT16, bfloat_value, bfloat_rounded, 0x7f80 },
};

static struct reduction reduction_of(enum reduce_op op, enum basic basic, bool mean)
{
    size_t bytes = basic_extent(basic);
    return (struct reduction){ .commutes = true,
                               .layout = layout_basic(basic, bytes, bytes),
                               .kernel = reduce_find(op, basic),
                               .in_float = folding_in_float(op, basic),
                               .mean = mean };
}

static void fold_all(const struct reduction *r, void *const *v, int n, size_t count, void *to)
{
    static float floats[MOST];
    struct folding f = folding_begin(r, n, to, count);
    f.floats = floats;
    for (int i = 0; i < n; i++)
        folding_add(&f, v[i]);
    folding_end(&f);
}

static bool is_nan(const struct format *f, uint16_t bits)
{
    return (bits & 0x7fff) > f->infinity;
}

static void check_halves(const struct format *f, enum reduce_op op, bool mean)
{
    static uint16_t v[VECTORS][MOST], apart[MOST], wanted[MOST];
    struct reduction r = reduction_of(op, f->basic, mean);
    int n = (int)chance(1, VECTORS), onto = (int)chance(-1, n > 1 ? 1 : 0);
    size_t count = chance(0, 1) ? (size_t)chance(0, 40) : (size_t)chance(0, MOST);
    void *all[VECTORS];
    for (int i = 0; i < n; i++) {
        all[i] = v[i];
        for (size_t k = 0; k < count; k++)
            chance_item(f->basic, (char *)&v[i][k]);
    }
    for (size_t k = 0; k < count; k++) {
        float sum = f->value(v[0][k]);
        for (int i = 1; i < n; i++)
            sum = op == REDUCE_SUM ? sum + f->value(v[i][k]) : sum * f->value(v[i][k]);
        wanted[k] = n == 1 ? v[0][k] : f->rounded(sum / (mean ? (float)n : 1));
    }
    uint16_t *to = onto < 0 ? apart : v[onto];
    fold_all(&r, all, n, count, to);
    for (size_t k = 0; k < count; k++)
        ck_assert_msg(to[k] == wanted[k] || (is_nan(f, to[k]) && is_nan(f, wanted[k])),
                      "%d vectors, item %zu: %04x, not %04x", n, k, to[k], wanted[k]);
    layout_drop((struct layout *)r.layout);
}

START_TEST(halves_are_rounded_once)
{
    chance_seed();
    for (int round = 0; round < 400; round++) {
        check_halves(&formats[round % 2], REDUCE_SUM, false);
        check_halves(&formats[round % 2], REDUCE_PROD, false);
        check_halves(&formats[round % 2], REDUCE_SUM, true);
    }
    uint16_t large = half_rounded(2048), one = half_rounded(1), sum;
    struct reduction r = reduction_of(REDUCE_SUM, BASIC_FLOAT16, false);
    fold_all(&r, (void *[]){ &large, &one, &one }, 3, 1, &sum);
    ck_assert_int_eq(sum, half_rounded(2050)); /* 2048 + 1 alone would stay 2048 */
    layout_drop((struct layout *)r.layout);
}
END_TEST

/* The mean of the largest numbers is no infinity. */
START_TEST(means_do_not_overflow)
{
    uint16_t v[3] = { 0x7bff, 0x7bff, 0x7bff };
    struct reduction r = reduction_of(REDUCE_SUM, BASIC_FLOAT16, true);
    fold_all(&r, (void *[]){ &v[0], &v[1], &v[2] }, 3, 1, v);
    ck_assert_int_eq(v[0], 0x7bff);
    layout_drop((struct layout *)r.layout);
}
END_TEST

/* x + -0 + -0 is x: all patterns come back, infinities and subnormals too, and NaNs as quiet ones
 * with their sign and payload. */
START_TEST(every_pattern_survives)
{
    static uint16_t x[0x10000], zero[0x10000], to[0x10000];
    static float floats[0x10000];
    for (size_t k = 0; k < 2; k++) {
        const struct format *f = &formats[k];
        struct reduction r = reduction_of(REDUCE_SUM, f->basic, false);
        uint16_t quiet = f->basic == BASIC_FLOAT16 ? 0x200 : 0x40;
        for (uint32_t i = 0; i < 0x10000; i++) {
            x[i] = (uint16_t)i;
            zero[i] = 0x8000;
        }
        struct folding fold = folding_begin(&r, 3, to, 0x10000);
        fold.floats = floats;
        folding_add(&fold, x);
        folding_add(&fold, zero);
        folding_add(&fold, zero);
        folding_end(&fold);
        for (uint32_t i = 0; i < 0x10000; i++)
            ck_assert_int_eq(to[i], is_nan(f, x[i]) ? x[i] | quiet : x[i]);
        layout_drop((struct layout *)r.layout);
    }
}
END_TEST

START_TEST(others_are_folded_two_by_two)
{
    float v[4] = { 0x1p24f, 1, 1, -0x1p24f }, sum = 0;
    struct reduction r = reduction_of(REDUCE_SUM, BASIC_FLOAT, false);
    ck_assert(!r.in_float);
    fold_all(&r, (void *[]){ &v[0], &v[1], &v[2], &v[3] }, 4, 1, &sum);
    ck_assert(sum == 0);
    r.mean = true;
    fold_all(&r, (void *[]){ &v[1], &v[2], &v[0], &v[0] }, 4, 1, &v[1]);
    ck_assert(v[1] == (0x1p25f + 2) / 4);
    layout_drop((struct layout *)r.layout);
}
END_TEST

UNIT_MAIN("folding", halves_are_rounded_once, means_do_not_overflow, every_pattern_survives,
          others_are_folded_two_by_two)
