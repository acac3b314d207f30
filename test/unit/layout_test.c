/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layouts against type maps written out in full, and the shapes they must collapse to.
 */
#include "typemap.h"

#include <errno.h>

static struct layout *basic_int, *basic_double, *basic_char;

static void open_basics(void)
{
    basic_int = layout_basic(BASIC_INT32, 4, 4);
    basic_double = layout_basic(BASIC_DOUBLE, 8, 8);
    basic_char = layout_basic(BASIC_CHAR, 1, 1);
}

static void close_basics(void)
{
    layout_drop(basic_int);
    layout_drop(basic_double);
    layout_drop(basic_char);
}

/* ---- against the oracle ---- */

static void check_items(const struct twin *t, size_t count)
{
    size_t per_element = map_bytes(&t->map), at = 0;
    int64_t parts = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < t->map.n; i++) {
            const struct entry *e = &t->map.entries[i];
            if (e->kind != ENTRY_DATA)
                continue;
            ck_assert_int_eq(layout_items_in(t->layout, count, at), parts);
            ck_assert_uint_eq(layout_bytes_in(t->layout, (size_t)parts), at);
            for (size_t cut = 1; cut < e->size; cut++)
                ck_assert_int_eq(layout_items_in(t->layout, count, at + cut), -1);
            at += e->size;
            parts++;
        }
    ck_assert_uint_eq(at, count * per_element);
    ck_assert_int_eq(layout_items_in(t->layout, count, at), parts);
    ck_assert_int_eq(layout_items_in(t->layout, count, at + 1), -1);
}

static void check_bounds(const struct twin *t)
{
    const struct layout *l = t->layout;
    ck_assert_uint_eq(l->size, map_bytes(&t->map));
    ck_assert_int_eq(l->true_lb, map_true_lb(&t->map));
    ck_assert_int_eq(l->true_extent, map_true_extent(&t->map));
    ck_assert_int_eq(l->lb, map_lb(&t->map));
    ck_assert_int_eq(l->extent, map_extent(&t->map));
    ck_assert_int_eq(l->piece, map_is_piece(&t->map));
    ck_assert_int_eq(l->dense, l->piece && l->extent == (ptrdiff_t)l->size);
}

static void check_span(const struct twin *t, size_t count)
{
    struct typemap all = { 0, 0, NULL };
    for (size_t i = 0; i < count; i++)
        map_add_copy(&all, &t->map, (ptrdiff_t)i * map_extent(&t->map));
    ptrdiff_t low;
    ck_assert_int_eq(layout_span(t->layout, count, &low), map_true_extent(&all));
    ck_assert_int_eq(low, map_true_lb(&all));
    free(all.entries);
}

START_TEST(random_types_match_their_type_map)
{
    open_basics();
    chance_seed();
    for (int round = 0; round < 4000; round++) {
        struct twin t = twin_random(round % 5);
        ck_assert_ptr_nonnull(t.layout);
        check_bounds(&t);
        check_span(&t, (size_t)chance(0, 4));
        if (t.map.n < 100) {
            check_items(&t, (size_t)chance(0, 3));
        }
        twin_drop(&t);
    }
    close_basics();
}
END_TEST

/* ---- shapes ---- */

static void check_run(const struct layout *l, ptrdiff_t offset, size_t length, size_t count,
                      ptrdiff_t stride)
{
    ck_assert_uint_eq(l->nruns, 1);
    ck_assert_int_eq(l->runs[0].offset, offset);
    ck_assert_uint_eq(l->runs[0].length, length);
    ck_assert_uint_eq(l->runs[0].count, count);
    ck_assert_ptr_null(l->runs[0].inner);
    if (count > 1)
        ck_assert_int_eq(l->runs[0].stride, stride);
}

static void check_run_and_drop(struct layout *l, ptrdiff_t offset, size_t length, size_t count,
                               ptrdiff_t stride)
{
    check_run(l, offset, length, count, stride);
    layout_drop(l);
}

START_TEST(regular_types_are_one_run)
{
    open_basics();
    check_run_and_drop(layout_contiguous(5, basic_double), 0, 40, 1, 0);
    check_run_and_drop(layout_vector(7, 1, 24, basic_double), 0, 8, 7, 24);
    check_run_and_drop(layout_vector(7, 3, 24, basic_double), 0, 168, 1, 0);
    check_run_and_drop(layout_vector(7, 2, -24, basic_double), 0, 16, 7, -24);
    struct layout *column = layout_vector(4, 1, 80, basic_double);
    struct layout *wide = layout_resized(column, 0, 320);
    check_run_and_drop(layout_contiguous(3, wide), 0, 8, 12, 80);
    struct layout *next = layout_resized(column, 0, 8);
    struct layout *columns = layout_contiguous(10, next);
    ck_assert_uint_eq(columns->nruns, 1);
    ck_assert_uint_eq(columns->runs[0].count, 10);
    ck_assert_ptr_nonnull(columns->runs[0].inner);
    layout_drop(column);
    layout_drop(wide);
    layout_drop(next);
    layout_drop(columns);
    close_basics();
}
END_TEST

START_TEST(irregular_types_merge_neighbours)
{
    open_basics();
    const struct layout *const ints[] = { basic_int };
    const size_t ones[] = { 1, 1, 1, 1, 1 };
    check_run_and_drop(layout_blocks(5, ones, (ptrdiff_t[]){ 40, 32, 24, 16, 8 }, ints, true),
                       40, 4, 5, -8);
    check_run_and_drop(layout_blocks(5, ones, (ptrdiff_t[]){ 8, 12, 16, 20, 24 }, ints, true),
                       8, 20, 1, 0);
    check_run_and_drop(layout_blocks(4, ones, (ptrdiff_t[]){ 0, 4, 16, 20 }, ints, true), 0, 8,
                       2, 16);
    const struct layout *const mixed[] = { basic_int, basic_char, basic_char, basic_double };
    struct layout *dense =
        layout_blocks(4, (size_t[]){ 1, 2, 2, 1 }, (ptrdiff_t[]){ 0, 4, 6, 8 }, mixed, false);
    ck_assert(dense->dense);
    check_run_and_drop(dense, 0, 16, 1, 0);
    struct layout *two =
        layout_blocks(2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ 4, 0 }, ints, true);
    ck_assert(!two->piece); /* packed order is type map order */
    check_run_and_drop(two, 4, 4, 2, -4);
    close_basics();
}
END_TEST

/* Blocks of unlike items, which are written as a list without a look at their neighbours, and one
 * that lies apart, whose layout is a list indeed. */
START_TEST(unlike_items_in_a_row_are_one_piece)
{
    open_basics();
    struct layout *other = layout_basic(BASIC_FLOAT, 4, 4);
    const struct layout *const members[] = { basic_int, other };
    struct layout *pair =
        layout_blocks(2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ 0, 4 }, members, false);
    ck_assert(pair->dense && !pair->solid);
    enum { BLOCKS = 22 };
    size_t lengths[BLOCKS], total = 0;
    ptrdiff_t offsets[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++, total += lengths[i - 1]) {
        lengths[i] = 1 + i * i % 3;
        offsets[i] = 16 + 8 * (ptrdiff_t)total;
    }
    const struct layout *const pairs[] = { pair };
    check_run_and_drop(layout_blocks(BLOCKS, lengths, offsets, pairs, true), 16, 8 * total, 1,
                       0);
    offsets[BLOCKS - 1] += 8;
    struct layout *apart = layout_blocks(BLOCKS, lengths, offsets, pairs, true);
    ck_assert(apart->list && !apart->piece);
    layout_drop(apart);
    layout_drop(pair);
    layout_drop(other);
    close_basics();
}
END_TEST

START_TEST(counts_beyond_32_bits_cost_nothing)
{
    open_basics();
    size_t huge = (size_t)1 << 33;
    struct layout *l = layout_contiguous(huge, basic_char);
    check_run(l, 0, huge, 1, 0);
    ck_assert_int_eq(layout_items_in(l, 1, huge), (int64_t)huge);
    struct layout *v = layout_vector(huge, 1, 3, basic_char);
    ck_assert_uint_eq(v->nruns, 1);
    ck_assert_uint_eq(v->runs[0].count, huge);
    layout_drop(v);
    layout_drop(l);

    const struct layout *const parts[] = { basic_int, basic_double };
    struct layout *holey =
        layout_blocks(2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ 0, 8 }, parts, false);
    struct layout *many = layout_contiguous(huge, holey);
    ck_assert_uint_eq(many->nruns, 1);
    ck_assert_uint_eq(many->size, 12 * huge);
    ck_assert_int_eq(many->extent, 16 * (ptrdiff_t)huge);
    ck_assert_int_eq(layout_items_in(many, 1, 12 * huge - 8), 2 * (int64_t)huge - 1);
    layout_drop(many);
    layout_drop(holey);
    close_basics();
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    open_basics();
    errno = 0;
    ck_assert_ptr_null(layout_contiguous((size_t)1 << 62, basic_int));
    ck_assert_int_eq(errno, EOVERFLOW);
    errno = 0;
    ck_assert_ptr_null(layout_vector(3, 1, PTRDIFF_MAX - 5, basic_int));
    ck_assert_int_eq(errno, EOVERFLOW);
    errno = 0;
    ck_assert_ptr_null(layout_resized(basic_int, PTRDIFF_MAX, 2));
    ck_assert_int_eq(errno, EOVERFLOW);
    errno = 0;
    const struct layout *const ints[] = { basic_int };
    ck_assert_ptr_null(layout_blocks(
        2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ PTRDIFF_MIN, PTRDIFF_MAX - 8 }, ints, true));
    ck_assert_int_eq(errno, EOVERFLOW);
    close_basics();
}
END_TEST

static void check_empty(struct layout *l)
{
    ck_assert_uint_eq(l->size, 0);
    ck_assert_int_eq(l->lb, 0);
    ck_assert_int_eq(l->extent, 0);
    ck_assert_int_eq(l->true_lb, 0);
    ck_assert_int_eq(l->true_extent, 0);
    ck_assert_uint_eq(l->nruns, 0);
    ck_assert(l->dense);
    ck_assert_int_eq(layout_items_in(l, 7, 0), 0);
    ck_assert_int_eq(layout_items_in(l, 7, 1), -1);
    layout_drop(l);
}

START_TEST(empty_types_are_types)
{
    open_basics();
    check_empty(layout_contiguous(0, basic_int));
    check_empty(layout_vector(0, 3, 7, basic_int));
    check_empty(layout_vector(3, 0, 7, basic_int));
    check_empty(layout_blocks(0, NULL, NULL, NULL, false));
    const struct layout *const ints[] = { basic_int };
    check_empty(layout_blocks(2, (size_t[]){ 0, 0 }, (ptrdiff_t[]){ 40, 90 }, ints, true));
    struct layout *none = layout_contiguous(0, basic_int);
    check_empty(layout_contiguous(9, none));
    struct layout *room = layout_resized(none, -4, 16);
    struct layout *rooms = layout_contiguous(3, room);
    ck_assert_int_eq(rooms->lb, -4);
    ck_assert_int_eq(rooms->extent, 48);
    ck_assert_uint_eq(rooms->size, 0);
    layout_drop(none);
    layout_drop(room);
    layout_drop(rooms);
    close_basics();
}
END_TEST

/* ---- bounds ---- */

START_TEST(set_bounds_decide_in_composites)
{
    open_basics();
    struct layout *marked = layout_resized(basic_int, -3, 9);
    struct layout *three = layout_contiguous(3, marked);
    ck_assert_int_eq(three->lb, -3);
    ck_assert_int_eq(three->extent, 27);
    ck_assert_int_eq(three->true_lb, 0);
    ck_assert_int_eq(three->true_extent, 22);
    const struct layout *const both[] = { marked, basic_double };
    struct layout *mix =
        layout_blocks(2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ 0, 16 }, both, false);
    ck_assert_int_eq(mix->lb, -3); /* the double at 16 lies outside and does not count */
    ck_assert_int_eq(mix->extent, 9);
    ck_assert_int_eq(mix->true_extent, 24);
    struct layout *back = layout_resized(basic_int, 6, -9);
    struct layout *backwards = layout_contiguous(3, back);
    ck_assert_int_eq(backwards->lb, -12);
    ck_assert_int_eq(backwards->extent, 9);
    layout_drop(backwards);
    layout_drop(back);
    layout_drop(mix);
    layout_drop(three);
    layout_drop(marked);
    close_basics();
}
END_TEST

START_TEST(structs_are_padded_like_c_structs)
{
    open_basics();
    const struct layout *const parts[] = { basic_double, basic_char };
    struct layout *l =
        layout_blocks(2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ 0, 8 }, parts, false);
    ck_assert_int_eq(l->extent, 16);
    ck_assert_int_eq(l->true_extent, 9);
    ck_assert_uint_eq(l->size, 9);
    ck_assert_int_eq(l->basic, BASIC_NONE);
    layout_drop(l);
    close_basics();
}
END_TEST

/* ---- more than there is memory for ---- */

/* A chain of vectors of vectors, in numbers that cannot overflow. */
struct huge {
    __int128 size, parts, low, high, extent;
    ptrdiff_t align;
};

static void huge_repeat(struct huge *h, size_t count, __int128 step)
{
    __int128 distance = (__int128)(count - 1) * step;
    h->size *= count;
    h->parts *= count;
    *(distance < 0 ? &h->low : &h->high) += distance;
    __int128 over = (h->high - h->low) % h->align;
    h->extent = h->high - h->low + (over ? h->align - over : 0);
}

static __int128 huge_largest(const struct huge *h)
{
    __int128 low = h->low < 0 ? -h->low : h->low, high = h->high < 0 ? -h->high : h->high;
    __int128 most = low > high ? low : high;
    most = h->extent > most ? h->extent : most;
    return h->size > most ? h->size : most;
}

static void check_huge(const struct layout *l, const struct huge *h)
{
    ck_assert(l->size == h->size && l->nparts == h->parts);
    ck_assert(l->true_lb == h->low && l->true_extent == h->high - h->low);
    ck_assert(l->lb == h->low && l->extent == h->extent);
    size_t half = l->nparts / 2, bytes = layout_bytes_in(l, half);
    ck_assert_int_eq(layout_items_in(l, 1, bytes), (int64_t)half);
    ck_assert_int_eq(layout_items_in(l, 1, l->size), (int64_t)l->nparts);
    ck_assert_int_eq(layout_items_in(l, 1, l->size + 1), -1);
}

/* One more level around *l; false when it does not fit any more. */
static bool huge_grow(struct layout **l, struct huge *h)
{
    size_t block = (size_t)chance(1, 1 << chance(0, 18)), count = (size_t)chance(1, 1 << 20);
    ptrdiff_t stride = chance(-1, 1) * chance(0, (ptrdiff_t)1 << chance(0, 50));
    struct layout *old = *l;
    *l = layout_vector(count, block, stride, old);
    bool made = *l != NULL;
    huge_repeat(h, block, h->extent);
    __int128 inner = huge_largest(h);
    huge_repeat(h, count, stride);
    __int128 most = huge_largest(h) > inner ? huge_largest(h) : inner;
    if (most < (__int128)1 << 61)
        ck_assert(made);
    if (most > INT64_MAX)
        ck_assert(!made && errno == EOVERFLOW);
    layout_drop(old);
    return made;
}

START_TEST(huge_types_add_up)
{
    int refused = 0;
    chance_seed();
    for (int round = 0; round < 2000; round++) {
        bool pair = chance(0, 1);
        struct layout *l =
            pair ? layout_basic(BASIC_DOUBLE_INT, 12, 16) : layout_basic(BASIC_INT32, 4, 4);
        struct huge h = { l->size, l->nparts, 0, l->true_extent, l->extent, pair ? 8 : 4 };
        check_huge(l, &h);
        while (l && huge_grow(&l, &h))
            check_huge(l, &h);
        refused += !l;
        layout_drop(l);
    }
    ck_assert_int_eq(refused, 2000);
}
END_TEST

/* ---- items ---- */

START_TEST(pairs_count_two_parts_and_one_item)
{
    struct layout *pair = layout_basic(BASIC_DOUBLE_INT, 12, 16);
    struct layout *four = layout_contiguous(4, pair);
    ck_assert_uint_eq(four->nitems, 4);
    ck_assert_uint_eq(four->nparts, 8);
    ck_assert_int_eq(four->basic, BASIC_DOUBLE_INT);
    ck_assert_int_eq(layout_items_in(four, 1, 20), 3);
    ck_assert_int_eq(layout_items_in(four, 1, 33), -1);
    layout_drop(four);
    layout_drop(pair);
}
END_TEST

START_TEST(making_a_million_blocks_is_linear)
{
    open_basics();
    size_t n = 1000000, *lengths = malloc(n * sizeof *lengths);
    ptrdiff_t *offsets = malloc(n * sizeof *offsets);
    for (size_t i = 0; i < n; i++) {
        lengths[i] = 1 + i % 3;
        offsets[i] = (ptrdiff_t)(i * i % 7 + 32 * i);
    }
    const struct layout *const ints[] = { basic_int };
    clock_t start = clock();
    struct layout *l = layout_blocks(n, lengths, offsets, ints, true);
    ck_assert(clock() - start < 2 * CLOCKS_PER_SEC); /* 30 ms; quadratic would be hours */
    ck_assert_uint_eq(l->nparts, 1999999);
    ck_assert_int_eq(layout_items_in(l, 1, l->size), (int64_t)l->nparts);
    layout_drop(l);
    free(lengths);
    free(offsets);
    close_basics();
}
END_TEST

UNIT_MAIN("layout", random_types_match_their_type_map, regular_types_are_one_run,
          irregular_types_merge_neighbours, unlike_items_in_a_row_are_one_piece,
          counts_beyond_32_bits_cost_nothing, what_does_not_fit_is_refused,
          empty_types_are_types, set_bounds_decide_in_composites,
          structs_are_padded_like_c_structs, pairs_count_two_parts_and_one_item,
          huge_types_add_up, making_a_million_blocks_is_linear)
