/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce_apply: builtin operations over derived types, item by item against the type map, and
 * user functions with every permitted aliasing.
 */
#include "runtime/layout_inside.h"
#include "runtime/reduce.h"

#include "items.h"

/* ---- builtin operations over derived types ---- */

/* Three vectors of the same datatype and where their items lie: of pairs, the first part. */
struct vectors {
    const struct twin *type;
    size_t count, span, items;
    ptrdiff_t low, *where;
    char *memory[3], *wanted;
};

static void vectors_locate(struct vectors *v)
{
    const struct typemap *map = &v->type->map;
    size_t parts = family_of(v->type->layout->basic) == PAIRS ? 2 : 1, data = 0;
    v->where = calloc(map->n * v->count + 1, sizeof *v->where);
    for (size_t k = 0; k < v->count; k++)
        for (size_t i = 0; i < map->n; i++)
            if (map->entries[i].kind == ENTRY_DATA && data++ % parts == 0)
                v->where[v->items++] =
                    (ptrdiff_t)k * v->type->layout->extent + map->entries[i].at - v->low;
}

static void vectors_fill(struct vectors *v)
{
    enum basic basic = v->type->layout->basic;
    size_t size = v->type->layout->size / v->type->layout->nitems;
    struct layout *one = layout_basic(basic, size, basic_extent(basic));
    for (int j = 0; j < 3; j++) {
        v->memory[j] = malloc(v->span);
        memset(v->memory[j], j, v->span);
        for (size_t i = 0; j < 2 && i < v->items; i++) {
            char item[ITEM_BYTES];
            chance_item(basic, item);
            buffer_copy(&(struct buffer){ v->memory[j] + v->where[i], 1, one, HERE },
                        &(struct buffer){ item, 1, one, HERE });
        }
    }
    layout_drop(one);
}

/* What the third vector must hold: one item after the other, through aligned copies. */
static void vectors_reduce(struct vectors *v, reduce_kernel *kernel)
{
    size_t extent = basic_extent(v->type->layout->basic);
    _Alignas(32) char a[ITEM_BYTES], b[ITEM_BYTES], c[ITEM_BYTES];
    v->wanted = malloc(v->span);
    memcpy(v->wanted, v->memory[2], v->span);
    for (size_t i = 0; i < v->items; i++) {
        memcpy(a, v->memory[0] + v->where[i], extent);
        memcpy(b, v->memory[1] + v->where[i], extent);
        memcpy(c, v->wanted + v->where[i], extent);
        kernel(c, a, b, 1);
        memcpy(v->wanted + v->where[i], c, extent);
    }
}

static void check_layout(const struct twin *t, enum reduce_op op)
{
    struct vectors v = { .type = t, .count = (size_t)chance(1, 3) };
    v.span = layout_span(t->layout, v.count, &v.low) + 2 * ITEM_BYTES;
    reduce_kernel *kernel = reduce_find(op, t->layout->basic);
    vectors_locate(&v);
    vectors_fill(&v);
    vectors_reduce(&v, kernel);
    struct reduction r = { .layout = t->layout, .kernel = kernel, .commutes = true };
    int rc = reduce_apply(&r, v.memory[2] - v.low, v.memory[0] - v.low, v.memory[1] - v.low,
                          v.count);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(memcmp(v.wanted, v.memory[2], v.span), 0);
    for (int i = 0; i < 3; i++)
        free(v.memory[i]);
    free(v.wanted);
    free(v.where);
}

/* Blocks with and without gaps. */
static struct twin twin_spread(const struct twin *old)
{
    ptrdiff_t extent = map_extent(&old->map), step = extent * chance(1, 2);
    size_t count = (size_t)chance(1, 3), block = (size_t)chance(1, 2);
    struct twin t = { layout_vector(count, block, (ptrdiff_t)block * step, old->layout),
                      { 0, 0, NULL } };
    for (size_t i = 0; i < count * block; i++)
        map_add_copy(&t.map, &old->map,
                     (ptrdiff_t)(i / block * block) * step + (ptrdiff_t)(i % block) * extent);
    return t;
}

/* Two single elements behind a gap. */
static struct twin twin_shifted(const struct twin *old)
{
    ptrdiff_t extent = map_extent(&old->map);
    const ptrdiff_t offsets[] = { 3 * extent, extent };
    const struct layout *const layouts[] = { old->layout };
    struct twin t = { layout_blocks(2, (size_t[]){ 1, 1 }, offsets, layouts, true),
                      { 0, 0, NULL } };
    for (int i = 0; i < 2; i++)
        map_add_copy(&t.map, &old->map, offsets[i]);
    return t;
}

/* So many blocks with gaps of any size that they become a list. */
static struct twin twin_scattered(const struct twin *old)
{
    enum { BLOCKS = 20 };
    size_t lengths[BLOCKS];
    ptrdiff_t offsets[BLOCKS], extent = map_extent(&old->map), at = 0;
    const struct layout *const layouts[] = { old->layout };
    struct twin t = { NULL, { 0, 0, NULL } };
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = (size_t)chance(0, 2);
        offsets[i] = at;
        for (size_t j = 0; j < lengths[i]; j++)
            map_add_copy(&t.map, &old->map, at + (ptrdiff_t)j * extent);
        at += ((ptrdiff_t)lengths[i] + chance(0, 3)) * extent;
    }
    t.layout = layout_blocks(BLOCKS, lengths, offsets, layouts, true);
    return t;
}

/* Random type around one basic type, without overlap between items. */
static struct twin twin_uniform(int basic)
{
    const struct twin_basic *b = &twin_basics[basic];
    struct twin t = { layout_basic(b->basic, b->size, b->extent), { 0, 0, NULL } };
    for (int i = 0; i < 2; i++)
        if (b->sizes[i])
            map_add(&t.map, (struct entry){ ENTRY_DATA, b->parts[i], b->sizes[i], b->sizes[i],
                                            i ? (ptrdiff_t)b->second : 0 });
    for (int depth = (int)chance(0, 3); depth > 0; depth--) {
        struct twin next = depth == 1 && chance(0, 1) ? twin_scattered(&t)
                           : chance(0, 2)             ? twin_spread(&t)
                                                      : twin_shifted(&t);
        twin_drop(&t);
        t = next;
    }
    return t;
}

START_TEST(derived_types_are_reduced_item_by_item)
{
    chance_seed();
    for (int round = 0; round < 3000; round++) {
        struct twin t = twin_uniform(round % (int)(sizeof twin_basics / sizeof *twin_basics));
        enum family family = family_of(t.layout->basic);
        check_layout(&t, family == PAIRS   ? REDUCE_MINLOC
                         : family == BYTES ? REDUCE_BXOR
                                           : REDUCE_SUM);
        twin_drop(&t);
    }
}
END_TEST

/* ---- user functions ---- */

static size_t user_calls, user_skewed; /* skewed: a result vector not aligned to 16 */

/* Does not commute: a op b = 2a + b on the two ints of an element at 4 and 12. */
static void user_double_first(const struct reduction *r, const void *in, void *inout,
                              size_t count)
{
    user_calls++;
    user_skewed += (uintptr_t)inout % 16 != 0;
    for (size_t i = 0; i < count; i++)
        for (int at = 4; at <= 12; at += 8) {
            ptrdiff_t where = (ptrdiff_t)i * r->layout->extent + at;
            const int *p = (const int *)((const char *)in + where);
            int *q = (int *)((char *)inout + where);
            *q += 2 * *p;
        }
}

static struct layout *make_two_ints(ptrdiff_t lb, ptrdiff_t extent)
{
    struct layout *one = layout_basic(BASIC_INT32, 4, 4);
    const struct layout *const ints[] = { one };
    struct layout *two =
        layout_blocks(2, (size_t[]){ 1, 1 }, (ptrdiff_t[]){ 4, 12 }, ints, true);
    struct layout *all = layout_resized(two, lb, extent);
    layout_drop(two);
    layout_drop(one);
    return all;
}

static void check_user(ptrdiff_t extent, size_t count, enum alias alias, bool commutes)
{
    struct layout *l = make_two_ints(0, extent);
    ptrdiff_t low;
    size_t span = layout_span(l, count, &low), ints = span / 4 + 2;
    int *memory[3];
    for (int i = 0; i < 3; i++) {
        memory[i] = malloc(ints * sizeof(int));
        for (size_t j = 0; j < ints; j++)
            memory[i][j] = (int)chance(-1000, 1000);
    }
    int target = alias == ONTO_A ? 0 : alias == ONTO_B ? 1 : 2;
    int *wanted = malloc(ints * sizeof(int));
    memcpy(wanted, memory[target], ints * sizeof(int));
    int p = alias == ONTO_A && commutes ? 1 : 0; /* operands may then change places */
    for (size_t i = 0; i < count; i++)
        for (int at = 4; at <= 12; at += 8) {
            ptrdiff_t j = ((ptrdiff_t)i * extent + at - low) / 4;
            wanted[j] = 2 * memory[p][j] + memory[!p][j];
        }
    struct reduction r = { .layout = l, .user = user_double_first, .commutes = commutes };
    char *base[3];
    for (int i = 0; i < 3; i++)
        base[i] = (char *)memory[i] - low;
    user_calls = user_skewed = 0;
    ck_assert_int_eq(reduce_apply(&r, base[target], base[0], base[1], count), 0);
    ck_assert_int_eq(memcmp(wanted, memory[target], ints * sizeof(int)), 0);
    ck_assert_int_eq(user_calls > 0, count > 0);
    if (alias == ONTO_A && !commutes)
        ck_assert_uint_eq(user_skewed, 0);
    for (int i = 0; i < 3; i++)
        free(memory[i]);
    free(wanted);
    layout_drop(l);
}

START_TEST(user_functions_see_their_operands_in_order)
{
    chance_seed();
    static const ptrdiff_t extents[] = { 16, 20, -16, 48, 100000 };
    static const size_t counts[] = { 0, 1, 2, 7, 300, 9000 };
    for (enum alias alias = 0; alias < ALIASES; alias++)
        for (size_t e = 0; e < 5; e++)
            for (size_t c = 0; c < 6; c++)
                if (extents[e] < 1000 || counts[c] < 300)
                    for (int commutes = 0; commutes < 2; commutes++)
                        check_user(extents[e], counts[c], alias, commutes);
}
END_TEST

UNIT_MAIN("reduce_apply", derived_types_are_reduced_item_by_item,
          user_functions_see_their_operands_in_order)
