/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last act of an arithmetic mean: a sum over n contributions, divided by n in place.  The
 * division is done in a wider type and rounded once; complex numbers are two real ones.
 */
#include "runtime/reduce_half.h"

#if defined(REDUCE_DEVICE)
#include "runtime/reduce_device.h"
#else
#include "runtime/reduce.h"
#include "runtime/wide.h"

#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define DIVIDE_FOR(name, type, wide, quotient)                                                 \
    static void divide_##name(type *items, size_t n, int64_t by)                               \
    {                                                                                          \
        wide divisor = (wide)by;                                                               \
        for (size_t i = 0; i < n; i++) {                                                       \
            type item = items[i];                                                              \
            items[i] = (quotient);                                                             \
        }                                                                                      \
    }
#endif

#define DIVIDE(name, type, wide) DIVIDE_FOR(name, type, wide, (type)((wide)item / divisor))
#define DIVIDE_HALF(name)                                                                      \
    DIVIDE_FOR(name, uint16_t, float, name##_rounded(name##_value(item) / divisor))

DIVIDE(float, float, double)
DIVIDE(double, double, double)
DIVIDE_HALF(half)
DIVIDE_HALF(bfloat)

#if !defined(REDUCE_DEVICE)
DIVIDE(long_double, long double, long double)
DIVIDE(float128, any_float128, float128)

void reduce_divide(const struct reduction *r, void *to, size_t count, int64_t by)
{
    size_t n = count * r->layout->nitems;
    switch (r->layout->basic) {
    case BASIC_FLOAT16:
        divide_half(to, n, by);
        return;
    case BASIC_BFLOAT16:
        divide_bfloat(to, n, by);
        return;
    case BASIC_FLOAT:
        divide_float(to, n, by);
        return;
    case BASIC_DOUBLE:
        divide_double(to, n, by);
        return;
    case BASIC_LONG_DOUBLE:
        divide_long_double(to, n, by);
        return;
    case BASIC_FLOAT128:
        divide_float128(to, n, by);
        return;
    case BASIC_FLOAT16_COMPLEX:
        divide_half(to, 2 * n, by);
        return;
    case BASIC_FLOAT_COMPLEX:
        divide_float(to, 2 * n, by);
        return;
    case BASIC_DOUBLE_COMPLEX:
        divide_double(to, 2 * n, by);
        return;
    case BASIC_LONG_DOUBLE_COMPLEX:
        divide_long_double(to, 2 * n, by);
        return;
    case BASIC_FLOAT128_COMPLEX:
        divide_float128(to, 2 * n, by);
        return;
    default: /* reduce_has_mean says no */
        return;
    }
}

bool reduce_has_mean(enum basic basic)
{
    return basic >= BASIC_FLOAT16 && basic <= BASIC_FLOAT128_COMPLEX;
}
#endif
