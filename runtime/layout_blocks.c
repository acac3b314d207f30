/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scattered blocks of one layout: what MPI_Type_indexed and its family make of predefined types and
 * of small structs.  The blocks are looked at twice,
 *
 *     scan    bounds, elements, how many pieces there are when those that touch are one, how often
 *             length or distance change, and the length that all are multiples of
 *     write   a list (layout_list.c) when they change often, else runs, which collapse
 *
 * so that nothing is written that is not kept.  A block costs some three nanoseconds.  An element
 * that is more than its bytes in a row comes into the list piece by piece, which makes packing
 * several times faster, as long as the list is not much longer than the description:
 *
 *     2 blocks of { int, double }    offset 0: [4]    8: [8]    offset 48: [4]    56: [8]
 *
 * What is regular, long or does not fit into 63 bits is left to the general way (layout.c).
 */
#include "runtime/layout_inside.h"

#include <stdlib.h>

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif

#define INLINE static inline __attribute__((always_inline))

enum {
    ELEMENT_PIECES = 8, /* of an element that is taken apart, at most */
    LIST_LONGEST = 8    /* spots per block, on average */
};

/* ---- what an element consists of ---- */

struct element {
    size_t n;
    struct {
        ptrdiff_t offset;
        size_t length;
    } piece[ELEMENT_PIECES];
    size_t step; /* to the next element of a block */
    bool solid;  /* elements in a row are nothing but their bytes in a row */
};

static bool element_add(struct element *e, const struct run *run)
{
    if (run->inner || run->count > ELEMENT_PIECES - e->n)
        return false;
    for (size_t i = 0; i < run->count; i++, e->n++) {
        e->piece[e->n].offset = run->offset + (ptrdiff_t)i * run->stride;
        e->piece[e->n].length = run->length;
    }
    return true;
}

/* False for what has no data or too many pieces, and for one item of several pieces, which
 * reductions need to see whole. */
static bool element_open(struct element *e, const struct layout *l)
{
    if (l->size == 0 || l->nruns == 0 || l->extent < 0 || (l->nitems == 1 && l->nruns > 1))
        return false;
    e->n = 0;
    e->step = (size_t)l->extent;
    e->solid = l->solid;
    for (size_t i = 0; i < l->nruns; i++)
        if (!element_add(e, &l->runs[i]))
            return false;
    return true;
}

/* ---- scan ---- */

struct scan {
    size_t total;       /* elements */
    ptrdiff_t low, top; /* origins of the outermost ones */
    size_t pieces, changes;
    size_t unit; /* every length is a multiple, in elements */
    bool overflow;
};

/* The piece that the last block lies in. */
struct tail {
    ptrdiff_t offset, end, step;
    size_t length; /* elements */
};

INLINE void scan_piece(struct scan *s, struct tail *tail, ptrdiff_t offset, size_t length)
{
    ptrdiff_t step = (ptrdiff_t)((size_t)offset - (size_t)tail->offset);
    s->changes += (step != tail->step) | (length != tail->length);
    s->pieces++;
    if (length != tail->length && s->unit != 1)
        s->unit = common_divisor(s->unit, length);
    tail->offset = offset;
    tail->step = step;
    tail->length = length;
}

INLINE struct scan scan_blocks(struct block_list b, ptrdiff_t extent, bool solid)
{
    struct scan s = { .low = PTRDIFF_MAX, .top = PTRDIFF_MIN };
    struct tail tail = { 0 };
    for (size_t i = 0; i < b.n; i++) {
        size_t length = blocks_length(&b, i);
        ptrdiff_t offset, bytes;
        if (length == 0)
            continue;
        ptrdiff_t end = tail.end;
        if (__builtin_mul_overflow(blocks_place(&b, i), b.unit, &offset) ||
            __builtin_mul_overflow(length, extent, &bytes) ||
            __builtin_add_overflow(offset, bytes, &tail.end) ||
            __builtin_add_overflow(s.total, length, &s.total)) {
            s.overflow = true;
            return s;
        }
        s.low = offset < s.low ? offset : s.low;
        s.top = tail.end > s.top ? tail.end : s.top;
        if (!solid || offset != end || s.pieces == 0)
            scan_piece(&s, &tail, offset, length);
        else if (s.unit != 1)
            s.unit = common_divisor(s.unit, length);
    }
    s.top -= s.total > 0 ? extent : 0;
    return s;
}

/* Solid blocks of one length, which needs to ask less.  Places are in units until the end. */
INLINE struct scan scan_equal(struct block_list b, ptrdiff_t extent)
{
    struct scan s = { .unit = b.length, .pieces = b.n };
    ptrdiff_t low = blocks_place(&b, 0), high = low, last = low, length, over;
    size_t step = 0, touch;
    if (__builtin_mul_overflow(b.length, extent, &length) ||
        __builtin_mul_overflow(b.length, b.n, &s.total))
        s.overflow = true;
    touch = length % b.unit == 0 ? (size_t)(length / b.unit) : 0;
    for (size_t i = 1; i < b.n; i++) {
        ptrdiff_t place = blocks_place(&b, i);
        size_t next = (size_t)place - (size_t)last;
        s.changes += next != step;
        s.pieces -= next == touch;
        low = place < low ? place : low;
        high = place > high ? place : high;
        step = next;
        last = place;
    }
    s.overflow |= __builtin_mul_overflow(low, b.unit, &s.low) ||
                  __builtin_mul_overflow(high, b.unit, &s.top) ||
                  __builtin_add_overflow(s.top, length, &over);
    s.top += s.overflow ? 0 : length - extent;
    return s;
}

/* Loops for the forms of arrays that programs mostly have, without questions inside. */
static struct scan blocks_scan(const struct block_list *b, const struct element *e)
{
    struct block_list known = *b;
    ptrdiff_t extent = (ptrdiff_t)e->step;
    if (!e->solid || !blocks_are_equal(b) || b->length == 0)
        return scan_blocks(known, extent, e->solid);
    known.lengths = (struct counts){ NULL, NULL };
    if (b->places.wide)
        return scan_equal(known, extent);
    known.places.wide = NULL;
    return scan_equal(known, extent);
}

/* ---- write ---- */

/* Elements of several pieces, which are not asked whether they touch. */
INLINE void pen_elements(struct pen *pen, const struct element *e, ptrdiff_t offset,
                         size_t count)
{
    for (size_t i = 0; i < count; i++, offset += (ptrdiff_t)e->step)
        for (size_t j = 0; j < e->n; j++) {
            *pen->spot++ = (struct spot){ offset + e->piece[j].offset, pen->packed };
            pen->packed += e->piece[j].length;
        }
}

static void solid_write(struct pen *pen, const struct element *e, const struct block_list *b,
                        size_t unit)
{
    for (size_t i = 0; i < b->n; i++) {
        size_t bytes = blocks_length(b, i) * e->step;
        ptrdiff_t offset = blocks_place(b, i) * b->unit;
        if (unit)
            pen_cut(pen, offset, bytes, unit);
        else if (bytes > 0)
            pen_write(pen, offset, bytes);
    }
}

/* All blocks are of `bytes` bytes: one spot each. */
INLINE void equal_write(struct pen *pen, struct block_list b, size_t bytes)
{
    for (size_t i = 0; i < b.n; i++)
        pen->spot[i] = (struct spot){ blocks_place(&b, i) * b.unit, i * bytes };
    pen->spot += b.n;
    pen->packed = b.n * bytes;
}

static void parts_write(struct pen *pen, const struct element *e, const struct block_list *b)
{
    for (size_t i = 0; i < b->n; i++)
        pen_elements(pen, e, blocks_place(b, i) * b->unit, blocks_length(b, i));
}

static void blocks_write(struct pen *pen, const struct element *e, const struct block_list *b,
                         size_t unit)
{
    struct block_list narrow = *b;
    narrow.places.wide = NULL;
    if (!e->solid)
        parts_write(pen, e, b);
    else if (!unit || !blocks_are_equal(b) || unit != b->length * e->step)
        solid_write(pen, e, b, unit);
    else if (b->places.wide)
        equal_write(pen, *b, unit);
    else
        equal_write(pen, narrow, unit);
}

/* Elements that are not solid are not asked whether they touch.  If all do, the layout is one piece,
 * and its form is a run. */
static bool list_is_piece(const struct spot_list *list)
{
    for (size_t i = 1; i < list->n; i++)
        if (list->at[i].offset - (ptrdiff_t)list->at[i].packed != list->at[0].offset)
            return false;
    return true;
}

/* NULL when memory is out, and where a list is the wrong form after all. */
static struct layout *list_write(const struct layout *like, const struct block_list *b,
                                 const struct element *e, const struct scan *s)
{
    size_t unit = s->unit * e->step, cuts = s->total / s->unit;
    bool cut = e->solid && list_is_cut(cuts, s->pieces);
    size_t n = !e->solid ? s->total * e->n : cut ? cuts : s->pieces;
    struct spot_list *list = list_new(n, cut ? unit : 0);
    if (!list)
        return NULL;
    struct pen pen = { .spot = list->at };
    blocks_write(&pen, e, b, cut ? unit : 0);
    pen_close(&pen);
    if (e->solid || !list_is_piece(list))
        return list_close(list, like);
    list_drop(list);
    return NULL;
}

static struct layout *runs_write(const struct layout *like, const struct block_list *b,
                                 const struct element *e)
{
    struct run_list runs;
    runs_open(&runs);
    for (size_t i = 0; i < b->n; i++)
        if (blocks_length(b, i) > 0)
            runs_append_piece(&runs, blocks_place(b, i) * b->unit,
                              blocks_length(b, i) * e->step);
    struct layout *l = runs_close(&runs, like);
    if (!l)
        runs_drop(&runs);
    return l;
}

/* ---- the whole ---- */

/* All but runs or list and items.  False when something does not fit. */
static bool layout_describe(struct layout *l, const struct layout *old, const struct scan *s)
{
    ptrdiff_t size, high, over;
    layout_clear(l);
    l->basic = old->basic;
    l->align = old->align;
    l->marked = old->marked;
    l->nitems = s->total * old->nitems;
    l->nparts = s->total * old->nparts;
    if (__builtin_mul_overflow(s->total, old->size, &size) ||
        __builtin_sub_overflow(s->top, s->low, &over) ||
        __builtin_add_overflow(s->low, old->true_lb, &l->true_lb) ||
        __builtin_add_overflow(over, old->true_extent, &l->true_extent) ||
        __builtin_add_overflow(l->true_lb, l->true_extent, &high))
        return false;
    l->size = (size_t)size;
    l->lb = l->true_lb;
    l->extent = l->true_extent;
    if (!l->marked)
        return extent_pad(&l->extent, (ptrdiff_t)l->align);
    return !__builtin_add_overflow(s->low, old->lb, &l->lb) &&
           !__builtin_add_overflow(over, old->extent, &l->extent) &&
           !__builtin_add_overflow(l->lb, l->extent, &high);
}

/* Is a list the form for these blocks?  Of solid elements runs can be made here, too. */
static bool scan_wants_list(const struct scan *s, const struct element *e)
{
    if (e->solid)
        return list_is_of_use(s->pieces, s->changes);
    return s->total <= LIST_LONGEST * s->pieces / e->n &&
           list_is_of_use(s->total * e->n, s->changes * e->n);
}

struct layout *layout_scatter(const struct layout *old, const struct block_list *b)
{
    struct element e;
    if (b->n == 0 || !element_open(&e, old))
        return NULL;
    struct scan s = blocks_scan(b, &e);
    bool wants_list = scan_wants_list(&s, &e);
    if (s.overflow || s.total == 0 || !(wants_list || e.solid))
        return NULL;
    struct layout like;
    if (!layout_describe(&like, old, &s))
        return NULL;
    like.items = items_repeated(old->items, s.total);
    struct layout *l = !like.items  ? NULL
                       : wants_list ? list_write(&like, b, &e, &s)
                                    : runs_write(&like, b, &e);
    if (l)
        layout_set_shape(l);
    else
        items_drop(like.items);
    return l;
}
