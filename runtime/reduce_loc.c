/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MINLOC and MAXLOC over pairs (MPI 5.0, 6.9.4): the smaller (larger) value with its index, the
 * lower index where values are equal.  An item is the C struct of the pair, padding included,
 * so kernels step by sizeof; they write the two members and never the padding.
 *
 * REPLACE and NO_OP of the pairs with padding are here for the same reason.
 */
#include "runtime/reduce_kernels.h"

#define PAIR_KERNEL(name, type, pick)                                                          \
    static void name(void *to, const void *a, const void *b, size_t n)                         \
    {                                                                                          \
        struct type *t = to;                                                                   \
        const struct type *x = a, *y = b;                                                      \
        for (size_t i = 0; i < n; i++) {                                                       \
            struct type p = { x[i].value, x[i].index }, q = { y[i].value, y[i].index };        \
            struct type r = pick;                                                              \
            t[i].value = r.value;                                                              \
            t[i].index = r.index;                                                              \
        }                                                                                      \
    }

#define LOWER_INDEX(p, q) ((p).index < (q).index ? (p) : (q))
#define FIRST_BY(compare)                                                                      \
    (p.value compare q.value ? p : p.value == q.value ? LOWER_INDEX(p, q) : q)

#define PAIR(name, value_type, index_type)                                                     \
    struct name {                                                                              \
        value_type value;                                                                      \
        index_type index;                                                                      \
    };                                                                                         \
    PAIR_KERNEL(minloc_##name, name, FIRST_BY(<))                                              \
    PAIR_KERNEL(maxloc_##name, name, FIRST_BY(>))
#define PAIR_WITH_HOLE(name, value_type, index_type)                                           \
    PAIR(name, value_type, index_type)                                                         \
    PAIR_KERNEL(replace_##name, name, ((void)p, q))                                            \
    PAIR_KERNEL(no_op_##name, name, ((void)q, p))

PAIR(float_int, float, int)
PAIR(two_int, int, int)
PAIR(two_float, float, float)
PAIR(two_double, double, double)
PAIR_WITH_HOLE(double_int, double, int)
PAIR_WITH_HOLE(long_int, long, int)
PAIR_WITH_HOLE(short_int, short, int)
PAIR_WITH_HOLE(long_double_int, long double, int)
PAIR_WITH_HOLE(int32_int64, int32_t, int64_t)
PAIR(int64_int64, int64_t, int64_t)
PAIR_WITH_HOLE(float_int64, float, int64_t)
PAIR(double_int64, double, int64_t)
PAIR_WITH_HOLE(long_double_int64, long double, int64_t)

#define LOC_ROWS(name)  [REDUCE_MINLOC] = minloc_##name, [REDUCE_MAXLOC] = maxloc_##name
#define MOVE_ROWS(name) [REDUCE_REPLACE] = replace_##name, [REDUCE_NO_OP] = no_op_##name

static reduce_kernel *const loc[BASIC_COUNT][REDUCE_OPS] = {
    [BASIC_FLOAT_INT] = { LOC_ROWS(float_int) },
    [BASIC_2INT] = { LOC_ROWS(two_int) },
    [BASIC_2FLOAT] = { LOC_ROWS(two_float) },
    [BASIC_2DOUBLE] = { LOC_ROWS(two_double) },
    [BASIC_DOUBLE_INT] = { LOC_ROWS(double_int), MOVE_ROWS(double_int) },
    [BASIC_LONG_INT] = { LOC_ROWS(long_int), MOVE_ROWS(long_int) },
    [BASIC_SHORT_INT] = { LOC_ROWS(short_int), MOVE_ROWS(short_int) },
    [BASIC_LONG_DOUBLE_INT] = { LOC_ROWS(long_double_int), MOVE_ROWS(long_double_int) },
    [BASIC_INT32_INT64] = { LOC_ROWS(int32_int64), MOVE_ROWS(int32_int64) },
    [BASIC_INT64_INT64] = { LOC_ROWS(int64_int64) },
    [BASIC_FLOAT_INT64] = { LOC_ROWS(float_int64), MOVE_ROWS(float_int64) },
    [BASIC_DOUBLE_INT64] = { LOC_ROWS(double_int64) },
    [BASIC_LONG_DOUBLE_INT64] = { LOC_ROWS(long_double_int64), MOVE_ROWS(long_double_int64) },
};

reduce_kernel *reduce_find_loc(enum reduce_op op, enum basic basic)
{
    return loc[basic][op];
}
