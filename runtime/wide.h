/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machine types that C has no portable name for: integers and IEEE binary128 numbers of 16 bytes,
 * which Fortran's INTEGER(16) and REAL(16) are, and the complex numbers of 2 x 2 and 2 x 16 bytes.
 */
#ifndef XMPI_WIDE_H
#define XMPI_WIDE_H

#include <float.h>
#include <stdint.h>

typedef __int128 int128;

#if LDBL_MANT_DIG == 113
typedef long double float128;
#else
typedef __float128 float128;
#endif
enum { FLOAT128_DIGITS = 33, FLOAT128_RANGE = 4931 }; /* decimal, as Fortran counts them */

/* The same wherever they lie: the items of a datatype may be at multiples of 8 only, and the
 * compiler would else load 16 bytes at once. */
#define ANYWHERE __attribute__((aligned(1)))
typedef int128 any_int128 ANYWHERE;
typedef unsigned __int128 any_uint128 ANYWHERE;
typedef float128 any_float128 ANYWHERE;
#undef ANYWHERE

struct float16_complex {
    uint16_t re, im;
};
struct float128_complex {
    float128 re, im;
};

#endif
