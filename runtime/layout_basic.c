/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The machine types: one row each with the C type that decides extent and alignment and, for
 * the pairs of MINLOC and MAXLOC, the two parts.  Here every layout starts.
 */
#include "runtime/layout.h"
#include "runtime/layout_inside.h"
#include "runtime/wide.h"

#include <errno.h>
#include <stdlib.h>
#include <wchar.h>

struct part {
    enum basic basic;
    size_t size, offset;
};

static const struct basic_row {
    size_t extent, align; /* 0: the number of bytes is the caller's choice */
    struct part parts[2]; /* of a pair */
} basic_rows[BASIC_COUNT] = {
#define ITEM(basic, type) [BASIC_##basic] = { sizeof(type), _Alignof(type), { { 0, 0, 0 } } }
#define PAIR(basic, value, value_type, index, index_type)                                      \
    [BASIC_##basic] = { sizeof(struct {                                                        \
                            value_type v;                                                      \
                            index_type i;                                                      \
                        }),                                                                    \
                        _Alignof(struct {                                                      \
                            value_type v;                                                      \
                            index_type i;                                                      \
                        }),                                                                    \
                        { { BASIC_##value, sizeof(value_type), 0 },                            \
                          { BASIC_##index, sizeof(index_type),                                 \
                            __builtin_offsetof(                                                \
                                struct {                                                       \
                                    value_type v;                                              \
                                    index_type i;                                              \
                                },                                                             \
                                i) } } }
    ITEM(INT8, int8_t),
    ITEM(INT16, int16_t),
    ITEM(INT32, int32_t),
    ITEM(INT64, int64_t),
    ITEM(UINT8, uint8_t),
    ITEM(UINT16, uint16_t),
    ITEM(UINT32, uint32_t),
    ITEM(UINT64, uint64_t),
    ITEM(INT128, int128),
    ITEM(FLOAT16, uint16_t),
    ITEM(BFLOAT16, uint16_t),
    ITEM(FLOAT, float),
    ITEM(DOUBLE, double),
    ITEM(LONG_DOUBLE, long double),
    ITEM(FLOAT128, float128),
    ITEM(FLOAT16_COMPLEX, struct float16_complex),
    ITEM(FLOAT_COMPLEX, float _Complex),
    ITEM(DOUBLE_COMPLEX, double _Complex),
    ITEM(LONG_DOUBLE_COMPLEX, long double _Complex),
    ITEM(FLOAT128_COMPLEX, struct float128_complex),
    ITEM(BOOL, bool),
    ITEM(LOGICAL8, int8_t),
    ITEM(LOGICAL16, int16_t),
    ITEM(LOGICAL32, int32_t),
    ITEM(LOGICAL64, int64_t),
    ITEM(LOGICAL128, int128),
    ITEM(BYTE, char),
    ITEM(CHAR, char),
    ITEM(WCHAR, wchar_t),
    ITEM(PACKED, char),
    PAIR(FLOAT_INT, FLOAT, float, INT32, int),
    PAIR(DOUBLE_INT, DOUBLE, double, INT32, int),
    PAIR(LONG_INT, INT64, long, INT32, int),
    PAIR(2INT, INT32, int, INT32, int),
    PAIR(SHORT_INT, INT16, short, INT32, int),
    PAIR(LONG_DOUBLE_INT, LONG_DOUBLE, long double, INT32, int),
    PAIR(2FLOAT, FLOAT, float, FLOAT, float),
    PAIR(2DOUBLE, DOUBLE, double, DOUBLE, double),
    PAIR(INT32_INT64, INT32, int32_t, INT64, int64_t),
    PAIR(INT64_INT64, INT64, int64_t, INT64, int64_t),
    PAIR(FLOAT_INT64, FLOAT, float, INT64, int64_t),
    PAIR(DOUBLE_INT64, DOUBLE, double, INT64, int64_t),
    PAIR(LONG_DOUBLE_INT64, LONG_DOUBLE, long double, INT64, int64_t),
#undef ITEM
#undef PAIR
};

_Static_assert(sizeof(long) == 8, "BASIC_LONG_INT holds a 64-bit value");

size_t basic_extent(enum basic basic)
{
    return basic_rows[basic].extent;
}

/* The largest power of two up to 16 that divides the extent: for types without a C type. */
static size_t align_guess(size_t extent)
{
    size_t align = 1;
    while (align < 16 && extent && extent % (2 * align) == 0)
        align *= 2;
    return align;
}

static bool basic_is_pair(enum basic basic)
{
    return basic_rows[basic].parts[0].size > 0;
}

static bool layout_add_parts(const struct layout *l, struct run_list *runs)
{
    const struct part *parts = basic_rows[l->basic].parts;
    for (int i = 0; i < 2; i++) {
        runs_append_piece(runs, (ptrdiff_t)parts[i].offset, parts[i].size);
        if (!items_append(l->items, parts[i].basic, parts[i].size))
            return false;
    }
    return true;
}

static bool layout_add_item(const struct layout *l, struct run_list *runs)
{
    if (l->size > 0)
        runs_append_piece(runs, 0, l->size);
    return items_append(l->items, l->basic, l->size);
}

static void layout_describe(struct layout *l)
{
    l->nitems = l->size > 0;
    l->nparts = l->items->parts;
    if (l->nruns) {
        const struct run *last = &l->runs[l->nruns - 1];
        l->true_extent = last->offset + (ptrdiff_t)last->length;
    }
    layout_set_shape(l);
}

struct layout *layout_basic(enum basic basic, size_t size, size_t extent)
{
    struct layout *l = NULL, like = { .refs = 1,
                                      .basic = basic,
                                      .size = size,
                                      .extent = (ptrdiff_t)extent,
                                      .items = items_new(2) };
    size_t align = basic_rows[basic].align;
    like.align = (uint32_t)(align ? align : align_guess(extent));
    struct run_list runs;
    runs_open(&runs);
    if (like.items &&
        (basic_is_pair(basic) ? layout_add_parts(&like, &runs) : layout_add_item(&like, &runs)))
        l = runs_close(&runs, &like);
    if (l) {
        layout_describe(l);
        return l;
    }
    runs_drop(&runs);
    items_drop(like.items);
    errno = ENOMEM;
    return NULL;
}

/* ---- bytes, without making ---- */

static struct run bytes_run = { .length = 1, .count = 1 };
static struct item_span bytes_span = {
    .count = 1, .bytes = 1, .parts = 1, .basic = BASIC_BYTE
};
static struct layout_items bytes_items = {
    .refs = 1, .bytes = 1, .parts = 1, .n = 1, .room = 1, .spans = &bytes_span
};
struct layout layout_bytes = { .refs = 1,
                               .basic = BASIC_BYTE,
                               .size = 1,
                               .extent = 1,
                               .true_extent = 1,
                               .align = 1,
                               .piece = true,
                               .dense = true,
                               .nitems = 1,
                               .nparts = 1,
                               .nruns = 1,
                               .runs = &bytes_run,
                               .items = &bytes_items };
