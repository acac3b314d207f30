/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SUM, PROD, MIN and MAX over integers, floating point and complex numbers (MPI 5.0, 6.9.2:
 * complex numbers have no order, so SUM and PROD alone).
 *
 * Integers wrap at their width; sums and products are computed unsigned, which gives the same
 * bits for both signs and is defined on overflow.  MIN and MAX compare once, `p < q ? p : q`:
 * with a NaN in either place the second operand wins.  A complex product is the four
 * multiplications of the textbook, without the repair of infinities that C's Annex G adds;
 * AVX-512 forms would have to be written by hand, as compilers fuse it there even when told not to.
 */
#include "runtime/reduce_kernels.h"

/* (a + bi)(c + di); `real` is the type of the parts. */
#define COMPLEX_PRODUCT(real, p, q)                                                            \
    __builtin_complex((real)(__real__(p) * __real__(q) - __imag__(p) * __imag__(q)),           \
                      (real)(__real__(p) * __imag__(q) + __imag__(p) * __real__(q)))

#define SUM_PROD(name, type)                                                                   \
    KERNELS(sum_##name, type, p + q)                                                           \
    KERNELS(prod_##name, type, 1u * p * q)
#define MIN_MAX(name, type)                                                                    \
    KERNELS(min_##name, type, p < q ? p : q)                                                   \
    KERNELS(max_##name, type, p > q ? p : q)

KERNELS(sum_8, uint8_t, p + q)
KERNELS(prod_8, uint8_t, 1u * p * q)
SUM_PROD(16, uint16_t)
SUM_PROD(32, uint32_t)
SUM_PROD(64, uint64_t)
KERNELS(sum_float, float, p + q)
KERNELS(prod_float, float, (p * q))
KERNELS(sum_double, double, p + q)
KERNELS(prod_double, double, (p * q))
KERNEL_SCALAR(sum_long_double, long double, p + q)
KERNEL_SCALAR(prod_long_double, long double, (p * q))
KERNELS(sum_float_complex, float _Complex, p + q)
KERNELS(prod_float_complex, float _Complex, COMPLEX_PRODUCT(float, p, q))
KERNELS(sum_double_complex, double _Complex, p + q)
KERNELS(prod_double_complex, double _Complex, COMPLEX_PRODUCT(double, p, q))
KERNEL_SCALAR(sum_long_double_complex, long double _Complex, p + q)
KERNEL_SCALAR(prod_long_double_complex, long double _Complex,
              COMPLEX_PRODUCT(long double, p, q))

MIN_MAX(int8, int8_t)
MIN_MAX(int16, int16_t)
MIN_MAX(int32, int32_t)
MIN_MAX(int64, int64_t)
MIN_MAX(uint8, uint8_t)
MIN_MAX(uint16, uint16_t)
MIN_MAX(uint32, uint32_t)
MIN_MAX(uint64, uint64_t)
MIN_MAX(float, float)
MIN_MAX(double, double)
KERNEL_SCALAR(min_long_double, long double, p < q ? p : q)
KERNEL_SCALAR(max_long_double, long double, p > q ? p : q)

#if !defined(REDUCE_DEVICE)
enum { ARITH_OPS = REDUCE_PROD + 1 };

#define INTEGER(basic, width, name)                                                            \
    [BASIC_##basic] = { [REDUCE_SUM] = WIDTHS(sum_##width),                                    \
                        [REDUCE_MIN] = WIDTHS(min_##name),                                     \
                        [REDUCE_MAX] = WIDTHS(max_##name),                                     \
                        [REDUCE_PROD] = WIDTHS(prod_##width) }
#define REAL(basic, name) INTEGER(basic, name, name)
#define COMPLEX(basic, name)                                                                   \
    [BASIC_##basic] = { [REDUCE_SUM] = WIDTHS(sum_##name), [REDUCE_PROD] = WIDTHS(prod_##name) }

static reduce_kernel *const arith[][ARITH_OPS][REDUCE_WIDTHS] = {
    INTEGER(INT8, 8, int8),
    INTEGER(INT16, 16, int16),
    INTEGER(INT32, 32, int32),
    INTEGER(INT64, 64, int64),
    INTEGER(UINT8, 8, uint8),
    INTEGER(UINT16, 16, uint16),
    INTEGER(UINT32, 32, uint32),
    INTEGER(UINT64, 64, uint64),
    REAL(FLOAT, float),
    REAL(DOUBLE, double),
    [BASIC_LONG_DOUBLE] = { [REDUCE_SUM] = { sum_long_double },
                            [REDUCE_MIN] = { min_long_double },
                            [REDUCE_MAX] = { max_long_double },
                            [REDUCE_PROD] = { prod_long_double } },
    COMPLEX(FLOAT_COMPLEX, float_complex),
    COMPLEX(DOUBLE_COMPLEX, double_complex),
    [BASIC_LONG_DOUBLE_COMPLEX] = { [REDUCE_SUM] = { sum_long_double_complex },
                                    [REDUCE_PROD] = { prod_long_double_complex } },
};

reduce_kernel *reduce_find_arith(enum reduce_op op, enum basic basic, enum reduce_width width)
{
    if ((int)op >= ARITH_OPS || basic >= sizeof arith / sizeof arith[0])
        return NULL;
    return reduce_widest(arith[basic][op], width);
}
#endif
