/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SUM, PROD, MIN and MAX over the two 16-bit floating-point types.  Neither is arithmetic in C
 * everywhere, so items are unsigned integers, widened to float, combined, and rounded back to
 * the nearest, ties to even:
 *
 *     IEEE binary16    sign | 5 exponent | 10 fraction
 *     bfloat16         sign | 8 exponent |  7 fraction      the upper half of a float
 *
 * A float has more than twice their digits and two, so sum and product come out as if rounded
 * once.  Conversions are selections without branches, which compilers turn into vectors; no
 * intermediate value is a subnormal float, so they do not depend on the processor's mode.
 * MIN and MAX keep the bits of an operand and follow the rule of reduce_arith.c for NaNs.
 */
#include "runtime/reduce_kernels.h"

/* Selections compute all their cases; the flags that the unwanted ones raise say nothing. */
#if !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif
#include "runtime/reduce_half.h"

/* ---- sums and products ---- */

#define ARITHMETIC(name, operator)                                                             \
    KERNEL(name##_half, uint16_t, half_rounded(half_value(p) operator half_value(q)))          \
    KERNELS_TO_AVX512(name##_bfloat, uint16_t,                                                 \
                      bfloat_rounded(bfloat_value(p) operator bfloat_value(q)))

ARITHMETIC(sum, +)
ARITHMETIC(prod, *)

/* All processors with AVX2 convert binary16 by themselves, eight at a time. */
#if defined(__x86_64__) && !defined(REDUCE_DEVICE)
#include <immintrin.h>

#define F16C_CODE __attribute__((target("avx2,f16c")))

F16C_CODE static inline __m256 eight_values(const uint16_t *halves)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)halves));
}

#define F16C(name, combine)                                                                    \
    F16C_CODE static void name##_f16c(void *to, const void *a, const void *b, size_t n)        \
    {                                                                                          \
        uint16_t *t = to;                                                                      \
        const uint16_t *x = a, *y = b;                                                         \
        size_t i = 0;                                                                          \
        for (; i + 8 <= n; i += 8) {                                                           \
            __m256 eight = combine(eight_values(x + i), eight_values(y + i));                  \
            _mm_storeu_si128((__m128i *)(t + i),                                               \
                             _mm256_cvtps_ph(eight, _MM_FROUND_TO_NEAREST_INT));               \
        }                                                                                      \
        name(t + i, x + i, y + i, n - i);                                                      \
    }

F16C(sum_half, _mm256_add_ps)
F16C(prod_half, _mm256_mul_ps)
#define WIDTHS_HALF(name)                                                                      \
    {                                                                                          \
        name, name##_f16c, NULL                                                                \
    }
#else
#define WIDTHS_HALF(name)                                                                      \
    {                                                                                          \
        name, NULL, NULL                                                                       \
    }
#endif

/* ---- extremes ---- */

/* Patterns in the order of the numbers, as far as there is one. */
static inline int16_t half_key(uint16_t p)
{
    return (int16_t)(p & 0x8000 ? p ^ 0x7fff : p);
}

/* p < q: neither is a NaN, which lie above the infinity, and they are not both zero. */
static inline bool half_less(uint16_t p, uint16_t q, uint16_t infinity)
{
    return (half_key(p) < half_key(q)) & ((p & 0x7fff) <= infinity) &
           ((q & 0x7fff) <= infinity) & (((p | q) & 0x7fff) != 0);
}

#define EXTREMES(name, infinity)                                                               \
    KERNELS_TO_AVX512(min_##name, uint16_t, half_less(p, q, infinity) ? p : q)                 \
    KERNELS_TO_AVX512(max_##name, uint16_t, half_less(q, p, infinity) ? p : q)

EXTREMES(half, 0x7c00)
EXTREMES(bfloat, 0x7f80)

/* ---- finding ---- */

#if !defined(REDUCE_DEVICE)
static reduce_kernel *const halves[2][REDUCE_PROD + 1][REDUCE_WIDTHS] = {
    { [REDUCE_SUM] = WIDTHS_HALF(sum_half),
      [REDUCE_MIN] = WIDTHS_TO_AVX512(min_half),
      [REDUCE_MAX] = WIDTHS_TO_AVX512(max_half),
      [REDUCE_PROD] = WIDTHS_HALF(prod_half) },
    { [REDUCE_SUM] = WIDTHS_TO_AVX512(sum_bfloat),
      [REDUCE_MIN] = WIDTHS_TO_AVX512(min_bfloat),
      [REDUCE_MAX] = WIDTHS_TO_AVX512(max_bfloat),
      [REDUCE_PROD] = WIDTHS_TO_AVX512(prod_bfloat) },
};

reduce_kernel *reduce_find_half(enum reduce_op op, enum basic basic, enum reduce_width width)
{
    if (op > REDUCE_PROD || (basic != BASIC_FLOAT16 && basic != BASIC_BFLOAT16))
        return NULL;
    return reduce_widest(halves[basic - BASIC_FLOAT16][op], width);
}
#endif
