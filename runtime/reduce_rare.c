/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations on what no processor calculates with: integers, logicals and real numbers of 16 bytes
 * (wide.h), which the compiler puts together, and the complex numbers made of them and of binary16.
 * The rules are those of reduce_arith.c and reduce_logic.c; nothing here is a vector, and a sum of
 * REAL*16 takes some 30 ns.
 */
#include "runtime/reduce_half.h"
#include "runtime/reduce_kernels.h"
#include "runtime/wide.h"

/* ---- integers and logicals ---- */

#define INTEGER(name, expression) KERNEL_SCALAR(name##_int, any_uint128, expression)
#define LOGICAL(name, expression) KERNEL_SCALAR(name##_logical, any_uint128, expression)

INTEGER(sum, p + q)
INTEGER(prod, (p * q))
KERNEL_SCALAR(min_int, any_int128, p < q ? p : q)
KERNEL_SCALAR(max_int, any_int128, p > q ? p : q)
INTEGER(band, (p & q))
INTEGER(bor, p | q)
INTEGER(bxor, p ^ q)
INTEGER(land, (p != 0) & (q != 0))
INTEGER(lor, (p != 0) | (q != 0))
INTEGER(lxor, (p != 0) ^ (q != 0))
LOGICAL(land, p ? q : 0)
LOGICAL(lor, p ? p : q)
LOGICAL(lxor, !q ? p : !p ? q : 0)

/* ---- real and complex numbers ---- */

KERNEL_SCALAR(sum_float, any_float128, p + q)
KERNEL_SCALAR(prod_float, any_float128, (p * q))
KERNEL_SCALAR(min_float, any_float128, p < q ? p : q)
KERNEL_SCALAR(max_float, any_float128, p > q ? p : q)
KERNEL_SCALAR(sum_half, uint16_t, half_rounded(half_value(p) + half_value(q)))

/* `wide` is what is calculated in; value and rounded go there and back. */
#define COMPLEX(name, part, wide, value, rounded)                                              \
    static void sum_##name##_complex(void *to, const void *a, const void *b, size_t n)         \
    {                                                                                          \
        sum_##name(to, a, b, 2 * n);                                                           \
    }                                                                                          \
    static void prod_##name##_complex(void *to, const void *a, const void *b, size_t n)        \
    {                                                                                          \
        part *t = to;                                                                          \
        const part *x = a, *y = b;                                                             \
        for (size_t i = 0; i < 2 * n; i += 2) {                                                \
            wide re = value(x[i]), im = value(x[i + 1]);                                       \
            wide other_re = value(y[i]), other_im = value(y[i + 1]);                           \
            t[i] = rounded(re * other_re - im * other_im);                                     \
            t[i + 1] = rounded(re * other_im + im * other_re);                                 \
        }                                                                                      \
    }

COMPLEX(half, uint16_t, float, half_value, half_rounded)
COMPLEX(float, any_float128, float128, , )

/* ---- finding ---- */

static reduce_kernel *const rare[BASIC_COUNT][REDUCE_LXOR + 1] = {
    [BASIC_INT128] = { sum_int, min_int, max_int, prod_int, band_int, bor_int, bxor_int,
                       land_int, lor_int, lxor_int },
    [BASIC_LOGICAL128] = { [REDUCE_LAND] = land_logical,
                           [REDUCE_LOR] = lor_logical,
                           [REDUCE_LXOR] = lxor_logical },
    [BASIC_FLOAT128] = { sum_float, min_float, max_float, prod_float },
    [BASIC_FLOAT16_COMPLEX] = { [REDUCE_SUM] = sum_half_complex,
                                [REDUCE_PROD] = prod_half_complex },
    [BASIC_FLOAT128_COMPLEX] = { [REDUCE_SUM] = sum_float_complex,
                                 [REDUCE_PROD] = prod_float_complex },
};

reduce_kernel *reduce_find_rare(enum reduce_op op, enum basic basic)
{
    return op <= REDUCE_LXOR ? rare[basic][op] : NULL;
}
