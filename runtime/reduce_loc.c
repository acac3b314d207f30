/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MINLOC and MAXLOC over pairs (MPI 5.0, 6.9.4): the smaller (larger) value with its index, the
 * lower index where values are equal.  An item is the C struct of the pair, padding included,
 * so kernels step by sizeof; they write the two members and never the padding.
 *
 * REPLACE and NO_OP of the pairs with padding are here for the same reason.
 */
#include "runtime/reduce_kernels.h"

/* Is p the answer, or else q?  Without branches, which vectors do not have. */
#define BEFORE(compare) (p compare q) | ((p == q) & (j < k))

#if !defined(REDUCE_DEVICE)
#define PAIR_KERNEL(name, type, attribute, loop, first)                                        \
    attribute static void name(void *to, const void *a, const void *b, size_t n)               \
    {                                                                                          \
        struct type *t = to;                                                                   \
        const struct type *x = a, *y = b;                                                      \
        loop for (size_t i = 0; i < n; i++)                                                    \
        {                                                                                      \
            __typeof__(t->value) p = x[i].value, q = y[i].value;                               \
            __typeof__(t->index) j = x[i].index, k = y[i].index;                               \
            bool is_first = first;                                                             \
            t[i].value = is_first ? p : q;                                                     \
            t[i].index = is_first ? j : k;                                                     \
        }                                                                                      \
    }
#endif

#define STRUCT(name, value_type, index_type)                                                   \
    struct name {                                                                              \
        value_type value;                                                                      \
        index_type index;                                                                      \
    };

/* Pairs of equal members make vectors, others do not gain. */
#if defined(__x86_64__) && !defined(REDUCE_DEVICE)
#define PAIR_WIDTHS(name, type, first)                                                         \
    PAIR_KERNEL(name, type, , KERNEL_LOOP, first)                                              \
    PAIR_KERNEL(name##_avx2, type, AVX2_CODE, KERNEL_LOOP, first)
#else
#define PAIR_WIDTHS(name, type, first) PAIR_KERNEL(name, type, , KERNEL_LOOP, first)
#endif
#define TWINS(name, member)                                                                    \
    STRUCT(name, member, member)                                                               \
    PAIR_WIDTHS(minloc_##name, name, BEFORE(<))                                                \
    PAIR_WIDTHS(maxloc_##name, name, BEFORE(>))
#define PAIR(name, value_type, index_type)                                                     \
    STRUCT(name, value_type, index_type)                                                       \
    PAIR_KERNEL(minloc_##name, name, , , BEFORE(<))                                            \
    PAIR_KERNEL(maxloc_##name, name, , , BEFORE(>))
#if defined(REDUCE_DEVICE)
#define PAIR_WITH_HOLE PAIR
#else
#define PAIR_WITH_HOLE(name, value_type, index_type)                                           \
    PAIR(name, value_type, index_type)                                                         \
    PAIR_KERNEL(replace_##name, name, , , ((void)p, (void)q, (void)j, (void)k, false))         \
    PAIR_KERNEL(no_op_##name, name, , , ((void)p, (void)q, (void)j, (void)k, true))
#endif

PAIR(float_int, float, int)
TWINS(two_int, int)
TWINS(two_float, float)
TWINS(two_double, double)
PAIR_WITH_HOLE(double_int, double, int)
PAIR_WITH_HOLE(long_int, long, int)
PAIR_WITH_HOLE(short_int, short, int)
PAIR_WITH_HOLE(int32_int64, int32_t, int64_t)
TWINS(int64_int64, int64_t)
PAIR_WITH_HOLE(float_int64, float, int64_t)
PAIR(double_int64, double, int64_t)

#if !defined(REDUCE_DEVICE)
PAIR_WITH_HOLE(long_double_int, long double, int)
PAIR_WITH_HOLE(long_double_int64, long double, int64_t)

#define TWIN_ROWS(name)                                                                        \
    [REDUCE_MINLOC] = WIDTHS(minloc_##name), [REDUCE_MAXLOC] = WIDTHS(maxloc_##name)
#define LOC_ROWS(name)  [REDUCE_MINLOC] = { minloc_##name }, [REDUCE_MAXLOC] = { maxloc_##name }
#define MOVE_ROWS(name) [REDUCE_REPLACE] = { replace_##name }, [REDUCE_NO_OP] = { no_op_##name }

static reduce_kernel *const loc[BASIC_COUNT][REDUCE_OPS][REDUCE_WIDTHS] = {
    [BASIC_FLOAT_INT] = { LOC_ROWS(float_int) },
    [BASIC_2INT] = { TWIN_ROWS(two_int) },
    [BASIC_2FLOAT] = { TWIN_ROWS(two_float) },
    [BASIC_2DOUBLE] = { TWIN_ROWS(two_double) },
    [BASIC_DOUBLE_INT] = { LOC_ROWS(double_int), MOVE_ROWS(double_int) },
    [BASIC_LONG_INT] = { LOC_ROWS(long_int), MOVE_ROWS(long_int) },
    [BASIC_SHORT_INT] = { LOC_ROWS(short_int), MOVE_ROWS(short_int) },
    [BASIC_LONG_DOUBLE_INT] = { LOC_ROWS(long_double_int), MOVE_ROWS(long_double_int) },
    [BASIC_INT32_INT64] = { LOC_ROWS(int32_int64), MOVE_ROWS(int32_int64) },
    [BASIC_INT64_INT64] = { TWIN_ROWS(int64_int64) },
    [BASIC_FLOAT_INT64] = { LOC_ROWS(float_int64), MOVE_ROWS(float_int64) },
    [BASIC_DOUBLE_INT64] = { LOC_ROWS(double_int64) },
    [BASIC_LONG_DOUBLE_INT64] = { LOC_ROWS(long_double_int64), MOVE_ROWS(long_double_int64) },
};

reduce_kernel *reduce_find_loc(enum reduce_op op, enum basic basic, enum reduce_width width)
{
    return reduce_widest(loc[basic][op], width);
}
#endif
