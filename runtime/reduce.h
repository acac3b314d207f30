/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions: operation x basic type -> a function over arrays, compiled for several vector
 * widths and chosen by the CPU the process runs on; and the act of folding two vectors of any
 * datatype with such a function or with one of the user's.
 */
#ifndef XMPI_REDUCE_H
#define XMPI_REDUCE_H

#include "runtime/layout.h"

enum reduce_op {
    REDUCE_SUM,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_PROD,
    REDUCE_BAND,
    REDUCE_BOR,
    REDUCE_BXOR,
    REDUCE_LAND,
    REDUCE_LOR,
    REDUCE_LXOR,
    REDUCE_MINLOC,
    REDUCE_MAXLOC,
    REDUCE_REPLACE,
    REDUCE_NO_OP,
    REDUCE_OPS
};

/* to[i] = a[i] op b[i] for n items; `to` may be a or b, other overlap is not allowed.  Items
 * are C objects: of the pairs, structs with their padding, which is never written.  REPLACE
 * takes b, NO_OP keeps a. */
typedef void reduce_kernel(void *to, const void *a, const void *b, size_t n);

/* NULL when the standard does not define the operation for the type (MPI 5.0, 6.9.2); REPLACE
 * and NO_OP exist for every basic type but BASIC_NONE. */
reduce_kernel *reduce_find(enum reduce_op op, enum basic basic);

/* Of sums and products of 16-bit floating-point numbers: how many of them are folded in float
 * (folding.h).  NULL for all others. */
struct float_kernels;
const struct float_kernels *folding_in_float(enum reduce_op op, enum basic basic);

/* An operation bound to a datatype: what coll needs to fold two vectors. */
struct reduction {
    bool commutes;
    uint8_t name;                /* of the operation, for all ranks to compare; 0 = not said */
    const struct layout *layout; /* of one element */
    reduce_kernel *kernel;       /* builtin: the layout consists of one basic type */
    const struct float_kernels *in_float; /* folding_in_float, or NULL: folded two by two */
    void (*user)(const struct reduction *r, const void *in, void *inout, size_t count);
    void *function, *datatype; /* the user's function and datatype handle, for `user` */
    bool wide;                 /* the function takes MPI_Count */
    bool mean;                 /* whoever holds the final result calls reduce_divide */
};

/* What reduction.name says: enum reduce_op + 1, or that it is a mean, or some function. */
enum { REDUCE_NAME_MEAN = REDUCE_REPLACE + 1, REDUCE_NAME_USER, REDUCE_NAME_BITS = 4 };

/* Real and complex floating-point numbers have a mean; of integers it would not be one. */
bool reduce_has_mean(enum basic basic);

/* Divide count elements of a sum by the number of contributions, in place. */
void reduce_divide(const struct reduction *r, void *to, size_t count, int64_t by);

/* Pairs with padding, one behind the other, over which a kernel steps as over what has no gaps? */
bool reduce_is_padded(const struct layout *layout);

/* to = a op b over count elements; `to` may be a or b.  Elements lie at layout->extent.  Only
 * data is written, never gaps.  A user function may be called several times, each with a part
 * of the elements.  Fails with MPI_ERR_NO_MEM only, and only for a user function that does not
 * commute when `to` is a and count elements span more than 4 KiB. */
int reduce_apply(const struct reduction *r, void *to, const void *a, const void *b,
                 size_t count);

#endif
