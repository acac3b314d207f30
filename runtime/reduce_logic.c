/* SPDX-License-Identifier: BSD-3-Clause
 *
 * BAND, BOR, BXOR over integers and bytes; LAND, LOR, LXOR over integers and logicals; REPLACE
 * and NO_OP over everything (MPI 5.0, 6.9.2 and 12.3.4).  Signs do not matter here, so kernels
 * are made per width.
 *
 * C truth is nonzero and the result 0 or 1.  Fortran compilers differ in what .TRUE. looks
 * like, but agree that zero is .FALSE.: LOGICAL results are therefore one of the operands or
 * zero, so that they keep the form of truth the program came with.
 */
#include "runtime/reduce_kernels.h"

#define BITS(width)                                                                            \
    KERNELS(band##width, uint##width##_t, (p & q))                                             \
    KERNELS(bor##width, uint##width##_t, p | q)                                                \
    KERNELS(bxor##width, uint##width##_t, p ^ q)
#define TRUTH(width)                                                                           \
    KERNELS(land##width, uint##width##_t, (p != 0) & (q != 0))                                 \
    KERNELS(lor##width, uint##width##_t, (p != 0) | (q != 0))                                  \
    KERNELS(lxor##width, uint##width##_t, (p != 0) ^ (q != 0))
#define FORTRAN(width)                                                                         \
    KERNELS(fland##width, uint##width##_t, p ? q : 0)                                          \
    KERNELS(flor##width, uint##width##_t, p ? p : q)                                           \
    KERNELS(flxor##width, uint##width##_t, !q ? p : !p ? q : 0)

BITS(8)
BITS(16)
BITS(32)
BITS(64)
TRUTH(8)
TRUTH(16)
TRUTH(32)
TRUTH(64)
FORTRAN(8)
FORTRAN(16)
FORTRAN(32)
FORTRAN(64)

#if !defined(REDUCE_DEVICE)
#include <string.h>

/* REPLACE takes b, NO_OP keeps a.  Pairs with holes have their own form in reduce_loc.c. */
#define MOVES(bytes)                                                                           \
    static void replace##bytes(void *to, const void *a, const void *b, size_t n)               \
    {                                                                                          \
        (void)a;                                                                               \
        if (to != b)                                                                           \
            memcpy(to, b, n *bytes);                                                           \
    }                                                                                          \
    static void no_op##bytes(void *to, const void *a, const void *b, size_t n)                 \
    {                                                                                          \
        (void)b;                                                                               \
        if (to != a)                                                                           \
            memcpy(to, a, n *bytes);                                                           \
    }

MOVES(1)
MOVES(2)
MOVES(4)
MOVES(8)
MOVES(16)
MOVES(32)

#define MOVE_ROWS(bytes)                                                                       \
    [REDUCE_REPLACE] = { replace##bytes }, [REDUCE_NO_OP] = { no_op##bytes }
#define TRUTH_ROWS(width)                                                                      \
    [REDUCE_LAND] = WIDTHS(land##width), [REDUCE_LOR] = WIDTHS(lor##width),                    \
    [REDUCE_LXOR] = WIDTHS(lxor##width)
#define BIT_ROWS(width)                                                                        \
    [REDUCE_BAND] = WIDTHS(band##width), [REDUCE_BOR] = WIDTHS(bor##width),                    \
    [REDUCE_BXOR] = WIDTHS(bxor##width)

#define INTEGER(basic, width, bytes)                                                           \
    [BASIC_##basic] = { BIT_ROWS(width), TRUTH_ROWS(width), MOVE_ROWS(bytes) }
#define LOGICAL(width, bytes)                                                                  \
    [BASIC_LOGICAL##width] = { [REDUCE_LAND] = WIDTHS(fland##width),                           \
                               [REDUCE_LOR] = WIDTHS(flor##width),                             \
                               [REDUCE_LXOR] = WIDTHS(flxor##width),                           \
                               MOVE_ROWS(bytes) }
#define MOVED(basic, bytes) [BASIC_##basic] = { MOVE_ROWS(bytes) }

static reduce_kernel *const logic[BASIC_COUNT][REDUCE_OPS][REDUCE_WIDTHS] = {
    INTEGER(INT8, 8, 1),
    INTEGER(INT16, 16, 2),
    INTEGER(INT32, 32, 4),
    INTEGER(INT64, 64, 8),
    INTEGER(UINT8, 8, 1),
    INTEGER(UINT16, 16, 2),
    INTEGER(UINT32, 32, 4),
    INTEGER(UINT64, 64, 8),
    [BASIC_BOOL] = { TRUTH_ROWS(8), MOVE_ROWS(1) },
    LOGICAL(8, 1),
    LOGICAL(16, 2),
    LOGICAL(32, 4),
    LOGICAL(64, 8),
    [BASIC_BYTE] = { BIT_ROWS(8), MOVE_ROWS(1) },
    MOVED(FLOAT16, 2),
    MOVED(BFLOAT16, 2),
    MOVED(FLOAT, 4),
    MOVED(DOUBLE, 8),
    MOVED(LONG_DOUBLE, 16),
    MOVED(FLOAT_COMPLEX, 8),
    MOVED(DOUBLE_COMPLEX, 16),
    MOVED(LONG_DOUBLE_COMPLEX, 32),
    MOVED(CHAR, 1),
    MOVED(WCHAR, 4),
    MOVED(PACKED, 1),
    MOVED(FLOAT_INT, 8),
    MOVED(2INT, 8),
    MOVED(2FLOAT, 8),
    MOVED(2DOUBLE, 16),
    MOVED(INT64_INT64, 16),
    MOVED(DOUBLE_INT64, 16),
    MOVED(INT128, 16),
    MOVED(LOGICAL128, 16),
    MOVED(FLOAT128, 16),
    MOVED(FLOAT16_COMPLEX, 4),
    MOVED(FLOAT128_COMPLEX, 32),
};

reduce_kernel *reduce_find_logic(enum reduce_op op, enum basic basic, enum reduce_width width)
{
    return reduce_widest(logic[basic][op], width);
}
#endif
