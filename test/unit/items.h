/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random items of every basic type, for the reduction tests: special values of floating point,
 * many ties among pairs, both truths.
 */
#ifndef XMPI_ITEMS_H
#define XMPI_ITEMS_H

#include "runtime/reduce_half.h"
#include "runtime/wide.h"

#include "typemap.h"

#include <complex.h>
#include <math.h>

enum { ITEM_BYTES = 32 };

enum alias { APART, ONTO_A, ONTO_B, ALIASES };

enum family { NOTHING, INTEGERS, REALS, COMPLEXES, LOGICALS, BYTES, PAIRS };

static inline enum family family_of(enum basic b)
{
    if (b >= BASIC_INT8 && b <= BASIC_INT128)
        return INTEGERS;
    if (b >= BASIC_FLOAT16 && b <= BASIC_FLOAT128)
        return REALS;
    if (b >= BASIC_FLOAT16_COMPLEX && b <= BASIC_FLOAT128_COMPLEX)
        return COMPLEXES;
    if (b >= BASIC_BOOL && b <= BASIC_LOGICAL128)
        return LOGICALS;
    if (b >= BASIC_FLOAT_INT && b <= BASIC_LONG_DOUBLE_INT64)
        return PAIRS;
    return b == BASIC_BYTE ? BYTES : NOTHING;
}

#define STORE(type, value)                                                                     \
    do {                                                                                       \
        type stored = (type)(value);                                                           \
        memcpy(p, &stored, sizeof stored);                                                     \
    } while (0)
#define STORE_PAIR(value_type, index_type)                                                     \
    do {                                                                                       \
        struct {                                                                               \
            value_type v;                                                                      \
            index_type i;                                                                      \
        } pair;                                                                                \
        memset(&pair, 0x77, sizeof pair);                                                      \
        pair.v = (value_type)chance(-2, 2);                                                    \
        pair.i = (index_type)chance(-5, 5);                                                    \
        memcpy(p, &pair, sizeof pair);                                                         \
    } while (0)

static inline double chance_real(void)
{
    static const double special[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0 };
    return chance(0, 4) ? (double)chance(-100000, 100000) / 64 : special[chance(0, 5)];
}

static inline void chance_pair(enum basic basic, char *p)
{
    switch (basic) {
    case BASIC_FLOAT_INT:
        STORE_PAIR(float, int);
        break;
    case BASIC_DOUBLE_INT:
        STORE_PAIR(double, int);
        break;
    case BASIC_LONG_INT:
        STORE_PAIR(long, int);
        break;
    case BASIC_2INT:
        STORE_PAIR(int, int);
        break;
    case BASIC_SHORT_INT:
        STORE_PAIR(short, int);
        break;
    case BASIC_LONG_DOUBLE_INT:
        STORE_PAIR(long double, int);
        break;
    case BASIC_2FLOAT:
        STORE_PAIR(float, float);
        break;
    case BASIC_INT32_INT64:
        STORE_PAIR(int32_t, int64_t);
        break;
    case BASIC_INT64_INT64:
        STORE_PAIR(int64_t, int64_t);
        break;
    case BASIC_FLOAT_INT64:
        STORE_PAIR(float, int64_t);
        break;
    case BASIC_DOUBLE_INT64:
        STORE_PAIR(double, int64_t);
        break;
    case BASIC_LONG_DOUBLE_INT64:
        STORE_PAIR(long double, int64_t);
        break;
    default:
        STORE_PAIR(double, double);
    }
}

static inline void chance_item(enum basic basic, char *p)
{
    double real = (double)chance(-1000, 1000) / 7, imag = (double)chance(-1000, 1000) / 7;
    switch (basic) {
    case BASIC_FLOAT16:
    case BASIC_BFLOAT16: /* all patterns: subnormals, infinities, NaNs of all kinds */
        STORE(uint16_t, chance_bits());
        break;
    case BASIC_FLOAT:
        STORE(float, chance_real());
        break;
    case BASIC_DOUBLE:
        STORE(double, chance_real());
        break;
    case BASIC_LONG_DOUBLE:
        STORE(long double, chance_real());
        break;
    case BASIC_FLOAT128:
        STORE(float128, chance_real());
        break;
    case BASIC_FLOAT16_COMPLEX:
        STORE(uint16_t, half_rounded((float)real));
        p += sizeof(uint16_t);
        STORE(uint16_t, half_rounded((float)imag));
        break;
    case BASIC_FLOAT128_COMPLEX:
        STORE(float128, real);
        p += sizeof(float128);
        STORE(float128, imag);
        break;
    case BASIC_FLOAT_COMPLEX:
        STORE(float complex, real + imag * I);
        break;
    case BASIC_DOUBLE_COMPLEX:
        STORE(double complex, real + imag * I);
        break;
    case BASIC_LONG_DOUBLE_COMPLEX:
        STORE(long double complex, real + imag * I);
        break;
    case BASIC_BOOL:
        STORE(bool, chance(0, 1));
        break;
    default:
        if (family_of(basic) == PAIRS) {
            chance_pair(basic, p);
        } else {
            int128 bits = chance(-1, 1);
            if (chance(0, 2))
                bits = (int128)chance_bits() << 73 | (int128)(chance_bits() * 0x10003);
            memcpy(p, &bits, basic_extent(basic));
        }
    }
}

#endif
