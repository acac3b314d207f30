/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How kernels are written, and how reduce.c finds them.  A kernel is one loop over items; the
 * macros below make a function of it from a type and an expression of p (in a) and q (in b):
 *
 *     KERNEL(band8, uint8_t, (p & q))        one function, for the machine's baseline
 *     KERNELS(sum_float, float, p + q)       one per vector width: sum_float, _avx2
 *     KERNELS_TO_AVX512(sum_bfloat, ...)     and one more: sum_bfloat_avx512
 *     KERNEL_SCALAR(sum_long_double, ...)    one function for what has no vectors
 *
 * Vectors of 512 bits are for what has a lot to compute per item.  Elsewhere memory decides, and a
 * CPU that has met them runs the program's own code slower for a while: 50 us of computation after
 * a sum of 32 KiB took 54 us on an Intel Xeon.
 *
 * The loop may be vectorised without looking for overlap, because `to` is a, or b, or apart
 * from both: item i is read before it is written and never needed again.
 *
 * Widths are chosen by a look at the CPU, not by load-time resolvers: those would cost a
 * relocation each in every process, and not all compilers have them.
 *
 * With REDUCE_DEVICE the same macros make kernels of a device (reduce_device.h), and there are no
 * tables of them.
 */
#ifndef XMPI_REDUCE_KERNELS_H
#define XMPI_REDUCE_KERNELS_H

/* Products and sums are rounded one by one: fused, they would differ among CPUs of one job. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#define KERNEL_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define KERNEL_LOOP _Pragma("GCC ivdep")
#pragma GCC optimize("O3", "fp-contract=off")
#endif

#if defined(REDUCE_DEVICE)
#include "runtime/reduce_device.h"
#else
#include "runtime/reduce.h"

enum reduce_width { REDUCE_BASELINE, REDUCE_AVX2, REDUCE_AVX512, REDUCE_WIDTHS };

/* The widest kernels this CPU runs. */
enum reduce_width reduce_width(void);

/* The kernel for a width, or a narrower one where that has none; NULL where the standard does
 * not define the operation.  One function per family of operations. */
reduce_kernel *reduce_find_wide(enum reduce_op op, enum basic basic, enum reduce_width width);
reduce_kernel *reduce_find_arith(enum reduce_op op, enum basic basic, enum reduce_width width);
reduce_kernel *reduce_find_half(enum reduce_op op, enum basic basic, enum reduce_width width);
reduce_kernel *reduce_find_logic(enum reduce_op op, enum basic basic, enum reduce_width width);
reduce_kernel *reduce_find_loc(enum reduce_op op, enum basic basic, enum reduce_width width);
reduce_kernel *reduce_find_rare(enum reduce_op op, enum basic basic); /* no vectors */

/* Of one row of a table: the kernel of this width, or the next narrower one that there is. */
static inline reduce_kernel *reduce_widest(reduce_kernel *const *widths,
                                           enum reduce_width width)
{
    while (width > REDUCE_BASELINE && !widths[width])
        width--;
    return widths[width];
}

#define KERNEL_FOR(name, type, expression, attribute, loop)                                    \
    attribute static void name(void *to, const void *a, const void *b, size_t n)               \
    {                                                                                          \
        type *t = to;                                                                          \
        const type *x = a, *y = b;                                                             \
        loop for (size_t i = 0; i < n; i++)                                                    \
        {                                                                                      \
            type p = x[i], q = y[i];                                                           \
            t[i] = (type)(expression);                                                         \
        }                                                                                      \
    }

#define KERNEL(name, type, expression)        KERNEL_FOR(name, type, expression, , KERNEL_LOOP)
#define KERNEL_SCALAR(name, type, expression) KERNEL_FOR(name, type, expression, , )

#if defined(__x86_64__)
#define AVX2_CODE   __attribute__((target("avx2")))
#define AVX512_CODE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define KERNELS(name, type, expression)                                                        \
    KERNEL(name, type, expression)                                                             \
    KERNEL_FOR(name##_avx2, type, expression, AVX2_CODE, KERNEL_LOOP)
#define KERNELS_TO_AVX512(name, type, expression)                                              \
    KERNELS(name, type, expression)                                                            \
    KERNEL_FOR(name##_avx512, type, expression, AVX512_CODE, KERNEL_LOOP)
#define WIDTHS(name)                                                                           \
    {                                                                                          \
        name, name##_avx2, NULL                                                                \
    }
#define WIDTHS_TO_AVX512(name)                                                                 \
    {                                                                                          \
        name, name##_avx2, name##_avx512                                                       \
    }
#else
#define KERNELS(name, type, expression)           KERNEL(name, type, expression)
#define KERNELS_TO_AVX512(name, type, expression) KERNEL(name, type, expression)
#define WIDTHS(name)                                                                           \
    {                                                                                          \
        name, NULL, NULL                                                                       \
    }
#define WIDTHS_TO_AVX512(name) WIDTHS(name)
#endif

#endif /* REDUCE_DEVICE */
#endif
