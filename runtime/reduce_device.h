/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the kernels of reduce_kernels.h are written for a device.  The files that say what an
 * operation does (reduce_arith.c, _half, _logic, _loc, _mean) are compiled twice, from the same
 * expressions: for processors; and for GPUs, where a kernel is an entry that many threads run.
 *
 *     thread 0  packet 0, packet 0 + threads, ...      a packet is 8 bytes: of small items several,
 *     thread 1  packet 1, packet 1 + threads, ...      so that enough bytes are on their way
 *
 * Where an address is no multiple of 8, and behind the last whole packet, threads take single items.
 * Bits are those of the host, but NaNs made of infinities have the sign and payload of the device.
 *
 * Without: long double and 16-byte numbers, which no device has; REPLACE and NO_OP, which are
 * copies; moves of pairs.
 */
#ifndef XMPI_REDUCE_DEVICE_H
#define XMPI_REDUCE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENTRY    extern "C" __attribute__((global)) void
#define UNROLLED _Pragma("unroll")
#define ROLLED   _Pragma("unroll 1")

static inline size_t thread_number(void)
{
    return (size_t)(uint32_t)__nvvm_read_ptx_sreg_ctaid_x() *
               (uint32_t)__nvvm_read_ptx_sreg_ntid_x() +
           (uint32_t)__nvvm_read_ptx_sreg_tid_x();
}

static inline size_t threads(void)
{
    return (size_t)(uint32_t)__nvvm_read_ptx_sreg_nctaid_x() *
           (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
}

typedef uint64_t __attribute__((may_alias)) packet;

static inline bool are_packets(const void *to, const void *a, const void *b)
{
    return (((uintptr_t)to | (uintptr_t)a | (uintptr_t)b) & (sizeof(packet) - 1)) == 0;
}

#define KERNEL(name, type, expression)                                                         \
    static inline type name##_of(type p, type q)                                               \
    {                                                                                          \
        return (type)(expression);                                                             \
    }                                                                                          \
    static inline packet name##_of_packets(packet a, packet b)                                 \
    {                                                                                          \
        enum { ITEMS = sizeof(packet) / sizeof(type) };                                        \
        type x[ITEMS + 1], y[ITEMS + 1];                                                       \
        __builtin_memcpy(x, &a, sizeof a);                                                     \
        __builtin_memcpy(y, &b, sizeof b);                                                     \
        UNROLLED for (int i = 0; i < ITEMS; i++) x[i] = name##_of(x[i], y[i]);                 \
        __builtin_memcpy(&a, x, sizeof a);                                                     \
        return a;                                                                              \
    }                                                                                          \
    ENTRY name(void *to, const void *a, const void *b, size_t n)                               \
    {                                                                                          \
        size_t first = thread_number(), step = threads(), done = 0;                            \
        if (sizeof(type) < sizeof(packet) && are_packets(to, a, b)) {                          \
            size_t packets = n * sizeof(type) / sizeof(packet);                                \
            ROLLED for (size_t i = first; i < packets; i += step)((packet *)to)[i] =           \
                name##_of_packets(((const packet *)a)[i], ((const packet *)b)[i]);             \
            done = packets * sizeof(packet) / sizeof(type);                                    \
        }                                                                                      \
        ROLLED for (size_t i = done + first; i < n; i += step)((type *)to)[i] =                \
            name##_of(((const type *)a)[i], ((const type *)b)[i]);                             \
    }

#define KERNELS(name, type, expression)           KERNEL(name, type, expression)
#define KERNELS_TO_AVX512(name, type, expression) KERNEL(name, type, expression)
#define KERNEL_SCALAR(name, type, expression)

/* As reduce_loc.c has it for processors. */
#define PAIR_KERNEL(name, type, attribute, loop, first)                                        \
    ENTRY name(void *to, const void *a, const void *b, size_t n)                               \
    {                                                                                          \
        struct type *t = (struct type *)to;                                                    \
        const struct type *x = (const struct type *)a, *y = (const struct type *)b;            \
        ROLLED for (size_t i = thread_number(); i < n; i += threads())                         \
        {                                                                                      \
            __typeof__(t->value) p = x[i].value, q = y[i].value;                               \
            __typeof__(t->index) j = x[i].index, k = y[i].index;                               \
            bool is_first = first;                                                             \
            t[i].value = is_first ? p : q;                                                     \
            t[i].index = is_first ? j : k;                                                     \
        }                                                                                      \
    }

/* Of reduce_mean.c. */
#define DIVIDE_FOR(name, type, wide, quotient)                                                 \
    ENTRY divide_##name(void *to, size_t n, int64_t by)                                        \
    {                                                                                          \
        wide divisor = (wide)by;                                                               \
        ROLLED for (size_t i = thread_number(); i < n; i += threads())                         \
        {                                                                                      \
            type item = ((type *)to)[i];                                                       \
            ((type *)to)[i] = (quotient);                                                      \
        }                                                                                      \
    }

#endif
