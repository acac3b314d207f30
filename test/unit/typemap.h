/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of the layout tests: a datatype as the standard defines it (MPI 5.0, 5.1), a plain
 * list of (basic type, displacement) with lower and upper bound markers, and random datatypes
 * made twice, as such a list and as a layout.
 */
#ifndef XMPI_TYPEMAP_H
#define XMPI_TYPEMAP_H

#include "runtime/layout.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum entry_kind { ENTRY_DATA, ENTRY_LB, ENTRY_UB };

struct entry {
    enum entry_kind kind;
    enum basic basic;
    size_t size, align;
    ptrdiff_t at;
};

struct typemap {
    size_t n, room;
    struct entry *entries;
};

struct twin { /* one datatype, made twice */
    struct layout *layout;
    struct typemap map;
};

/* ---- chance ---- */

static uint64_t chance_state;

static inline uint64_t chance_seed(void)
{
    const char *text = getenv("XMPI_TEST_SEED");
    uint64_t seed =
        text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
    printf("XMPI_TEST_SEED=%llu\n", (unsigned long long)seed);
    chance_state = seed * 2 + 1;
    return seed;
}

static inline uint64_t chance_bits(void)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state * 0x2545f4914f6cdd1du >> 16;
}

/* Any of low .. high. */
static inline ptrdiff_t chance(ptrdiff_t low, ptrdiff_t high)
{
    return low + (ptrdiff_t)(chance_bits() % (uint64_t)(high - low + 1));
}

/* ---- type maps ---- */

static inline void map_add(struct typemap *map, struct entry entry)
{
    if (map->n == map->room) {
        map->room = map->room ? 2 * map->room : 16;
        map->entries = realloc(map->entries, map->room * sizeof *map->entries);
    }
    map->entries[map->n++] = entry;
}

static inline void map_add_copy(struct typemap *map, const struct typemap *old, ptrdiff_t at)
{
    for (size_t i = 0; i < old->n; i++) {
        struct entry entry = old->entries[i];
        entry.at += at;
        map_add(map, entry);
    }
}

static inline size_t map_bytes(const struct typemap *map)
{
    size_t bytes = 0;
    for (size_t i = 0; i < map->n; i++)
        bytes += map->entries[i].size;
    return bytes;
}

/* Lowest start (or highest end) over the entries of a kind; false when there is none. */
static inline bool map_outermost(const struct typemap *map, enum entry_kind kind, bool upper,
                                 ptrdiff_t *at)
{
    bool any = false;
    *at = 0;
    for (size_t i = 0; i < map->n; i++) {
        const struct entry *e = &map->entries[i];
        ptrdiff_t here = e->at + (upper ? (ptrdiff_t)e->size : 0);
        if (e->kind != kind)
            continue;
        if (!any || (upper ? here > *at : here < *at))
            *at = here;
        any = true;
    }
    return any;
}

static inline ptrdiff_t map_true_lb(const struct typemap *map)
{
    ptrdiff_t at;
    map_outermost(map, ENTRY_DATA, false, &at);
    return at;
}

static inline ptrdiff_t map_true_extent(const struct typemap *map)
{
    ptrdiff_t at;
    map_outermost(map, ENTRY_DATA, true, &at);
    return at - map_true_lb(map);
}

static inline ptrdiff_t map_lb(const struct typemap *map)
{
    ptrdiff_t at;
    return map_outermost(map, ENTRY_LB, false, &at) ? at : map_true_lb(map);
}

static inline ptrdiff_t map_extent(const struct typemap *map)
{
    ptrdiff_t ub, lb = map_lb(map);
    if (map_outermost(map, ENTRY_UB, true, &ub))
        return ub - lb;
    ptrdiff_t align = 1, extent = map_true_extent(map);
    for (size_t i = 0; i < map->n; i++)
        if ((ptrdiff_t)map->entries[i].align > align)
            align = (ptrdiff_t)map->entries[i].align;
    while (extent % align)
        extent++;
    return extent;
}

/* Are the bytes in a row, in type map order? */
static inline bool map_is_piece(const struct typemap *map)
{
    ptrdiff_t next = map_true_lb(map);
    for (size_t i = 0; i < map->n; i++) {
        if (map->entries[i].kind != ENTRY_DATA)
            continue;
        if (map->entries[i].at != next)
            return false;
        next += (ptrdiff_t)map->entries[i].size;
    }
    return true;
}

/* ---- random datatypes ---- */

enum { TWIN_ENTRIES = 400 };

static const struct twin_basic {
    enum basic basic;
    size_t size, extent;
    enum basic parts[2];
    size_t sizes[2], second;
} twin_basics[] = {
    { BASIC_INT8, 1, 1, { BASIC_INT8 }, { 1 }, 0 },
    { BASIC_BYTE, 1, 1, { BASIC_BYTE }, { 1 }, 0 },
    { BASIC_UINT16, 2, 2, { BASIC_UINT16 }, { 2 }, 0 },
    { BASIC_INT32, 4, 4, { BASIC_INT32 }, { 4 }, 0 },
    { BASIC_DOUBLE, 8, 8, { BASIC_DOUBLE }, { 8 }, 0 },
    { BASIC_LONG_DOUBLE, 16, 16, { BASIC_LONG_DOUBLE }, { 16 }, 0 },
    { BASIC_2INT, 8, 8, { BASIC_INT32, BASIC_INT32 }, { 4, 4 }, 4 },
    { BASIC_SHORT_INT, 6, 8, { BASIC_INT16, BASIC_INT32 }, { 2, 4 }, 4 },
    { BASIC_DOUBLE_INT, 12, 16, { BASIC_DOUBLE, BASIC_INT32 }, { 8, 4 }, 8 },
    { BASIC_LONG_DOUBLE_INT, 20, 32, { BASIC_LONG_DOUBLE, BASIC_INT32 }, { 16, 4 }, 16 },
    { BASIC_FLOAT_INT64, 12, 16, { BASIC_FLOAT, BASIC_INT64 }, { 4, 8 }, 8 },
};

static inline void twin_drop(struct twin *t)
{
    layout_drop(t->layout);
    free(t->map.entries);
}

static inline struct twin twin_of_basic(void)
{
    const struct twin_basic *b =
        &twin_basics[chance(0, sizeof twin_basics / sizeof twin_basics[0] - 1)];
    struct twin t = { layout_basic(b->basic, b->size, b->extent), { 0, 0, NULL } };
    for (int i = 0; i < 2; i++)
        if (b->sizes[i])
            map_add(&t.map, (struct entry){ ENTRY_DATA, b->parts[i], b->sizes[i], b->sizes[i],
                                            i ? (ptrdiff_t)b->second : 0 });
    return t;
}

/* A count that keeps the map small. */
static inline size_t chance_count(const struct typemap *old, size_t copies, ptrdiff_t most)
{
    size_t n = (size_t)chance(0, most);
    while (n * copies * old->n > TWIN_ENTRIES)
        n /= 2;
    return n;
}

static inline struct twin twin_contiguous(const struct twin *old)
{
    size_t count = chance_count(&old->map, 1, 6);
    struct twin t = { layout_contiguous(count, old->layout), { 0, 0, NULL } };
    for (size_t i = 0; i < count; i++)
        map_add_copy(&t.map, &old->map, (ptrdiff_t)i * map_extent(&old->map));
    return t;
}

static inline struct twin twin_vector(const struct twin *old)
{
    size_t block = chance_count(&old->map, 1, 4), count = chance_count(&old->map, block, 5);
    ptrdiff_t extent = map_extent(&old->map);
    ptrdiff_t stride = chance(0, 2) ? extent * chance(-5, 5) : chance(-90, 90);
    struct twin t = { layout_vector(count, block, stride, old->layout), { 0, 0, NULL } };
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < block; j++)
            map_add_copy(&t.map, &old->map, (ptrdiff_t)i * stride + (ptrdiff_t)j * extent);
    return t;
}

static inline struct twin twin_resized(const struct twin *old)
{
    ptrdiff_t lb = chance(-20, 20), extent = chance(-40, 80);
    if (chance(0, 1)) {
        lb = map_true_lb(&old->map);
        extent = map_true_extent(&old->map);
    }
    struct twin t = { layout_resized(old->layout, lb, extent), { 0, 0, NULL } };
    for (size_t i = 0; i < old->map.n; i++)
        if (old->map.entries[i].kind == ENTRY_DATA)
            map_add(&t.map, old->map.entries[i]);
    map_add(&t.map, (struct entry){ .kind = ENTRY_LB, .at = lb });
    map_add(&t.map, (struct entry){ .kind = ENTRY_UB, .at = lb + extent });
    return t;
}

enum { TWIN_BLOCKS = 12 };

/* Blocks of one type (indexed) or of several (struct), often one behind the other. */
static inline struct twin twin_blocks(const struct twin *old, size_t kinds)
{
    size_t n = (size_t)chance(0, TWIN_BLOCKS), lengths[TWIN_BLOCKS], entries = 0;
    ptrdiff_t offsets[TWIN_BLOCKS], next = chance(-50, 50), gap = chance(0, 8);
    const struct layout *layouts[TWIN_BLOCKS] = { old[0].layout };
    struct twin t = { NULL, { 0, 0, NULL } };
    for (size_t i = 0; i < n; i++) {
        const struct twin *of = &old[kinds == 1 ? 0 : (size_t)chance(0, (int)kinds - 1)];
        lengths[i] = (size_t)chance(0, 3);
        if (entries + lengths[i] * of->map.n > TWIN_ENTRIES)
            lengths[i] = 0;
        entries += lengths[i] * of->map.n;
        layouts[i] = of->layout;
        offsets[i] = chance(0, 3) ? next : chance(-200, 200);
        for (size_t j = 0; j < lengths[i]; j++)
            map_add_copy(&t.map, &of->map, offsets[i] + (ptrdiff_t)j * map_extent(&of->map));
        next = offsets[i] + (ptrdiff_t)lengths[i] * map_extent(&of->map) + gap;
    }
    t.layout = layout_blocks(n, lengths, offsets, layouts, kinds == 1);
    return t;
}

/* Places in elements or bytes, narrow or wide, lengths of their own or one for all: the forms that
 * the indexed family has. */
static inline struct twin twin_indexed(const struct twin *old)
{
    enum { MOST = 24 };
    int lengths[MOST], places[MOST], step = chance(0, 1) ? chance(-9, 9) : 0;
    int64_t wide_lengths[MOST], wide_places[MOST];
    bool equal = chance(0, 1);
    ptrdiff_t extent = map_extent(&old->map);
    struct block_list b = { .n = (size_t)chance(0, MOST), .length = (size_t)chance(0, 3) };
    b.unit = chance(0, 1) ? extent : 1;
    struct twin t = { NULL, { 0, 0, NULL } };
    size_t entries = 0;
    for (size_t i = 0; i < b.n; i++) {
        lengths[i] = equal ? (int)b.length : (int)chance(0, 3);
        places[i] = step ? step * (int)i : (int)chance(-60, 60);
        entries += (size_t)lengths[i] * old->map.n;
        if (entries > TWIN_ENTRIES)
            b.n = i;
        wide_lengths[i] = lengths[i];
        wide_places[i] = places[i];
        for (int j = 0; i < b.n && j < lengths[i]; j++)
            map_add_copy(&t.map, &old->map, places[i] * b.unit + j * extent);
    }
    if (!equal)
        b.lengths = chance(0, 1) ? (struct counts){ .narrow = lengths }
                                 : (struct counts){ .wide = wide_lengths };
    b.places = chance(0, 1) ? (struct counts){ .narrow = places }
                            : (struct counts){ .wide = wide_places };
    t.layout = layout_indexed(old->layout, &b);
    return t;
}

/* One dimension of a subarray. */
static inline struct twin twin_slice(const struct twin *old)
{
    size_t count = (size_t)chance(0, 3);
    ptrdiff_t offset = chance(-40, 40), extent = chance(-40, 200);
    struct twin t = { layout_slice(old->layout, count, offset, extent), { 0, 0, NULL } };
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < old->map.n; j++) {
            struct entry e = old->map.entries[j];
            e.at += offset + (ptrdiff_t)i * map_extent(&old->map);
            if (e.kind == ENTRY_DATA)
                map_add(&t.map, e);
        }
    map_add(&t.map, (struct entry){ .kind = ENTRY_LB, .at = 0 });
    map_add(&t.map, (struct entry){ .kind = ENTRY_UB, .at = extent });
    return t;
}

/* The parts of a datatype are dropped as soon as it is made: a layout keeps what it needs. */
static inline struct twin twin_random(int depth)
{
    if (depth == 0)
        return twin_of_basic();
    struct twin old[3] = { twin_random((int)chance(0, depth - 1)),
                           twin_random((int)chance(0, depth - 1)),
                           twin_random((int)chance(0, depth - 1)) };
    struct twin t;
    switch (chance(0, 8)) {
    case 0:
        t = twin_contiguous(old);
        break;
    case 1:
    case 2:
        t = twin_vector(old);
        break;
    case 3:
        t = twin_resized(old);
        break;
    case 4:
        t = twin_blocks(old, 1);
        break;
    case 5:
    case 6:
        t = twin_indexed(old);
        break;
    case 7:
        t = twin_slice(old);
        break;
    default:
        t = twin_blocks(old, 3);
    }
    for (int i = 0; i < 3; i++)
        twin_drop(&old[i]);
    return t;
}

#endif
