/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums and products of 16-bit numbers over many vectors, in float:
 *
 *     start    floats = v1 op v2
 *     more     floats = floats op v3 ...
 *     finish   to = floats op vn, rounded      of a mean: more, and a quotient that is rounded
 *
 * Twice as many bytes are read and written between vectors, but of n numbers one is rounded, not
 * n - 1: together it takes as long as folding two by two.
 */
#include "runtime/folding.h"

#include "runtime/reduce_kernels.h"

/* Selections compute all their cases, see reduce_half.c. */
#if !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif
#include "runtime/reduce_half.h"

struct float_kernels {
    void (*start)(float *to, const uint16_t *a, const uint16_t *b, size_t n);
    void (*more)(float *to, const uint16_t *b, size_t n);
    void (*finish)(uint16_t *to, const float *a, const uint16_t *b, size_t n);
};

#define LOOP(statement) KERNEL_LOOP for (size_t i = 0; i < n; i++) statement

/* `code` is what the compiler may use; `format` and `sign` are half or bfloat, + or *. */
#define KERNELS_IN_FLOAT(name, code, format, sign)                                             \
    code static void start_##name(float *to, const uint16_t *a, const uint16_t *b, size_t n)   \
    {                                                                                          \
        LOOP(to[i] = format##_value(a[i]) sign format##_value(b[i]);)                          \
    }                                                                                          \
    code static void more_##name(float *to, const uint16_t *b, size_t n)                       \
    {                                                                                          \
        LOOP(to[i] = to[i] sign format##_value(b[i]);)                                         \
    }                                                                                          \
    code static void finish_##name(uint16_t *to, const float *a, const uint16_t *b, size_t n)  \
    {                                                                                          \
        LOOP(to[i] = format##_rounded(a[i] sign format##_value(b[i]));)                        \
    }
#define ROW(name)                                                                              \
    {                                                                                          \
        start_##name, more_##name, finish_##name                                               \
    }

KERNELS_IN_FLOAT(sum_half, , half, +)
KERNELS_IN_FLOAT(prod_half, , half, *)
KERNELS_IN_FLOAT(sum_bfloat, , bfloat, +)
KERNELS_IN_FLOAT(prod_bfloat, , bfloat, *)

#if defined(__x86_64__)
#include <immintrin.h>

KERNELS_IN_FLOAT(sum_bfloat_avx2, AVX2_CODE, bfloat, +)
KERNELS_IN_FLOAT(prod_bfloat_avx2, AVX2_CODE, bfloat, *)
KERNELS_IN_FLOAT(sum_bfloat_avx512, AVX512_CODE, bfloat, +)
KERNELS_IN_FLOAT(prod_bfloat_avx512, AVX512_CODE, bfloat, *)

/* All processors with AVX2 convert binary16 by themselves, eight at a time. */
#define F16C_CODE __attribute__((target("avx2,f16c")))
#define EIGHT(at) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at)))
#define EIGHTS                                                                                 \
    size_t i = 0;                                                                              \
    for (; i + 8 <= n; i += 8)

#define KERNELS_F16C(name, combine)                                                            \
    F16C_CODE static void start_##name##_f16c(float *to, const uint16_t *a, const uint16_t *b, \
                                              size_t n)                                        \
    {                                                                                          \
        EIGHTS _mm256_storeu_ps(to + i, combine(EIGHT(a + i), EIGHT(b + i)));                  \
        start_##name(to + i, a + i, b + i, n - i);                                             \
    }                                                                                          \
    F16C_CODE static void more_##name##_f16c(float *to, const uint16_t *b, size_t n)           \
    {                                                                                          \
        EIGHTS _mm256_storeu_ps(to + i, combine(_mm256_loadu_ps(to + i), EIGHT(b + i)));       \
        more_##name(to + i, b + i, n - i);                                                     \
    }                                                                                          \
    F16C_CODE static void finish_##name##_f16c(uint16_t *to, const float *a,                   \
                                               const uint16_t *b, size_t n)                    \
    {                                                                                          \
        EIGHTS _mm_storeu_si128((__m128i *)(to + i),                                           \
                                _mm256_cvtps_ph(combine(_mm256_loadu_ps(a + i), EIGHT(b + i)), \
                                                _MM_FROUND_TO_NEAREST_INT));                   \
        finish_##name(to + i, a + i, b + i, n - i);                                            \
    }

KERNELS_F16C(sum_half, _mm256_add_ps)
KERNELS_F16C(prod_half, _mm256_mul_ps)
#define ROWS_HALF(name)                                                                        \
    {                                                                                          \
        ROW(name), ROW(name##_f16c), ROW(name##_f16c)                                          \
    }
#define ROWS_BFLOAT(name)                                                                      \
    {                                                                                          \
        ROW(name), ROW(name##_avx2), ROW(name##_avx512)                                        \
    }
#else
#define ROWS_HALF(name)                                                                        \
    {                                                                                          \
        ROW(name)                                                                              \
    }
#define ROWS_BFLOAT(name)                                                                      \
    {                                                                                          \
        ROW(name)                                                                              \
    }
#endif

static const struct float_kernels kernels[2][2][REDUCE_WIDTHS] = {
    { ROWS_HALF(sum_half), ROWS_HALF(prod_half) },
    { ROWS_BFLOAT(sum_bfloat), ROWS_BFLOAT(prod_bfloat) },
};

const struct float_kernels *folding_in_float(enum reduce_op op, enum basic basic)
{
    if ((op != REDUCE_SUM && op != REDUCE_PROD) ||
        (basic != BASIC_FLOAT16 && basic != BASIC_BFLOAT16))
        return NULL;
    return &kernels[basic == BASIC_BFLOAT16][op == REDUCE_PROD][reduce_width()];
}

void folding_add_float(struct folding *f, const void *vector)
{
    const struct float_kernels *k = f->r->in_float;
    if (f->n == 2)
        k->start(f->floats, f->first, vector, f->items);
    else if (f->n == f->all && !f->r->mean)
        k->finish(f->to, f->floats, vector, f->items);
    else
        k->more(f->floats, vector, f->items);
}

void folding_divide_float(const struct folding *f)
{
    bool bfloat = f->r->layout->basic == BASIC_BFLOAT16;
    uint16_t *to = f->to;
    for (size_t i = 0; i < f->items; i++) {
        float mean = f->floats[i] / (float)f->n;
        to[i] = bfloat ? bfloat_rounded(mean) : half_rounded(mean);
    }
}
