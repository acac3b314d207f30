/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making layouts.  Every constructor is the same act: a draft collects `count` elements of some
 * layout at `offset`, `step` apart, as often as needed, and is closed into a new layout.
 *
 *     contiguous, vector   one addition (a vector adds copies of a contiguous block), or none
 *                          (layout_scale.c)
 *     indexed, struct      one addition per block
 *
 * Each addition costs O(1): the runs merge with the last one, the bounds are the outermost of
 * the first and the last copy, the items extend the last span.
 */
#include "runtime/layout.h"
#include "runtime/layout_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct bounds {
    ptrdiff_t low, high;
    bool any;
};

struct draft {
    struct layout_items *items;
    struct bounds data, marks; /* of the bytes; of explicit lower and upper bounds */
    enum basic basic;
    bool mixed, overflow, no_memory;
    uint32_t align;
    size_t size, nitems;
    struct run_list runs;
};

/* ---- arithmetic that notices ---- */

static ptrdiff_t draft_add(struct draft *d, ptrdiff_t a, ptrdiff_t b)
{
    ptrdiff_t sum = 0;
    d->overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

static size_t draft_product(struct draft *d, size_t a, size_t b)
{
    ptrdiff_t product = 0;
    d->overflow |= __builtin_mul_overflow(a, b, &product);
    return (size_t)product;
}

static ptrdiff_t draft_distance(struct draft *d, ptrdiff_t steps, ptrdiff_t step)
{
    ptrdiff_t distance = 0;
    d->overflow |= __builtin_mul_overflow(steps, step, &distance);
    return distance;
}

/* ---- collecting ---- */

static void bounds_include(struct bounds *b, ptrdiff_t low, ptrdiff_t high)
{
    if (!b->any || low < b->low)
        b->low = low;
    if (!b->any || high > b->high)
        b->high = high;
    b->any = true;
}

static void draft_bound(struct draft *d, const struct layout *old, ptrdiff_t offset,
                        ptrdiff_t distance)
{
    ptrdiff_t end = draft_add(d, offset, distance);
    ptrdiff_t first = offset < end ? offset : end;
    ptrdiff_t last = offset < end ? end : offset;
    if (old->size) {
        ptrdiff_t true_ub = old->true_lb + old->true_extent;
        bounds_include(&d->data, draft_add(d, first, old->true_lb),
                       draft_add(d, last, true_ub));
    }
    if (old->marked)
        bounds_include(&d->marks, draft_add(d, first, old->lb),
                       draft_add(d, last, old->lb + old->extent));
}

static void draft_count(struct draft *d, const struct layout *old, size_t count)
{
    if (old->size == 0)
        return;
    size_t bytes = draft_product(d, old->size, count);
    if (d->size == 0)
        d->basic = old->basic;
    d->mixed |= d->basic != old->basic || old->basic == BASIC_NONE;
    d->size = (size_t)draft_add(d, (ptrdiff_t)d->size, (ptrdiff_t)bytes);
    d->nitems += old->nitems * count;
    if (old->align > d->align)
        d->align = old->align;
}

/* Field by field: gcc clears larger structs with `rep stos`, which takes 20 ns to begin. */
static bool draft_open(struct draft *d)
{
    const struct bounds none = { 0, 0, false };
    d->items = items_new(1);
    d->data = d->marks = none;
    d->basic = BASIC_NONE;
    d->mixed = d->overflow = d->no_memory = false;
    d->align = 1;
    d->size = d->nitems = 0;
    runs_open(&d->runs);
    if (!d->items)
        errno = ENOMEM;
    return d->items != NULL;
}

/* Add `count` elements of `old`, the first at `offset`, `step` apart. */
static void draft_elements(struct draft *d, const struct layout *old, ptrdiff_t offset,
                           size_t count, ptrdiff_t step)
{
    if (count == 0 || d->overflow || d->no_memory)
        return;
    draft_bound(d, old, offset, draft_distance(d, (ptrdiff_t)count - 1, step));
    draft_count(d, old, count);
    if (d->overflow)
        return;
    runs_append_elements(&d->runs, old, offset, count, step);
    d->no_memory = d->runs.no_memory || !items_append_copies(d->items, old->items, count);
}

/* ---- finishing ---- */

/* lb and extent: explicit marks alone, or else the data, padded to the alignment. */
static bool layout_set_bounds(struct layout *l, const struct draft *d)
{
    l->true_lb = d->data.low;
    l->true_extent = d->data.high - d->data.low;
    l->marked = d->marks.any;
    l->lb = d->marks.any ? d->marks.low : d->data.low;
    l->extent = d->marks.any ? d->marks.high - d->marks.low : l->true_extent;
    return d->marks.any || extent_pad(&l->extent, (ptrdiff_t)d->align);
}

void layout_set_shape(struct layout *l)
{
    const struct run *first = l->runs;
    l->piece =
        !l->list && (l->nruns == 0 || (l->nruns == 1 && first->count == 1 && !first->inner));
    l->dense = l->piece && l->extent == (ptrdiff_t)l->size;
    l->solid =
        l->dense && l->size > 0 && l->lb == 0 && l->true_lb == 0 && items_are_alike(l->items);
}

/* A byte range that no pointer difference can express is an overflow, too. */
static bool bounds_fit(const struct bounds *b)
{
    ptrdiff_t span;
    return !__builtin_sub_overflow(b->high, b->low, &span);
}

static struct layout *draft_drop(struct draft *d, int error)
{
    runs_drop(&d->runs);
    items_drop(d->items);
    errno = error;
    return NULL;
}

static struct layout *draft_close(struct draft *d)
{
    if (d->overflow || !bounds_fit(&d->data) || !bounds_fit(&d->marks))
        return draft_drop(d, EOVERFLOW);
    struct layout like;
    layout_clear(&like);
    like.basic = d->mixed ? BASIC_NONE : d->basic;
    like.size = d->size;
    like.align = d->align;
    like.nitems = d->nitems;
    like.nparts = d->items->parts;
    like.items = d->items;
    if (!layout_set_bounds(&like, d))
        return draft_drop(d, EOVERFLOW);
    struct layout *l = d->no_memory ? NULL : runs_close(&d->runs, &like);
    if (!l)
        return draft_drop(d, ENOMEM);
    if (!layout_make_list(l)) {
        layout_drop(l);
        errno = ENOMEM;
        return NULL;
    }
    layout_set_shape(l);
    return l;
}

static struct layout *layout_copies(size_t count, ptrdiff_t step, const struct layout *old)
{
    struct draft d;
    if (!draft_open(&d))
        return NULL;
    draft_elements(&d, old, 0, count, step);
    return draft_close(&d);
}

struct layout *layout_contiguous(size_t count, const struct layout *old)
{
    struct layout *simple = layout_scale(old, count, 1, 0);
    return simple ? simple : layout_copies(count, old->extent, old);
}

struct layout *layout_vector(size_t count, size_t block, ptrdiff_t stride_bytes,
                             const struct layout *old)
{
    struct layout *simple = layout_scale(old, block, count, stride_bytes);
    if (simple)
        return simple;
    if (block == 1)
        return layout_copies(count, stride_bytes, old);
    struct layout *one = layout_contiguous(block, old);
    if (!one)
        return NULL;
    struct layout *all = layout_copies(count, stride_bytes, one);
    layout_drop(one);
    return all;
}

/* The general way. */
static struct layout *layout_collect(const struct layout *const *old, bool same,
                                     const struct block_list *b)
{
    struct draft d;
    if (!draft_open(&d))
        return NULL;
    runs_expect(&d.runs, b->n);
    for (size_t i = 0; i < b->n; i++) {
        const struct layout *of = old[same ? 0 : i];
        draft_elements(&d, of, draft_distance(&d, blocks_place(b, i), b->unit),
                       blocks_length(b, i), of->extent);
    }
    return draft_close(&d);
}

struct layout *layout_indexed(const struct layout *old, const struct block_list *b)
{
    struct layout *simple = layout_scatter(old, b);
    return simple ? simple : layout_collect(&old, true, b);
}

struct layout *layout_struct(const struct layout *const *old, const struct block_list *b)
{
    struct layout *simple = layout_members(old, b);
    return simple ? simple : layout_collect(old, false, b);
}

struct layout *layout_blocks(size_t n, const size_t *lengths, const ptrdiff_t *offsets,
                             const struct layout *const *old, bool same)
{
    struct block_list b = { .n = n, .unit = 1 };
    b.lengths.wide = (const int64_t *)lengths;
    b.places.wide = offsets;
    return same && n > 0 ? layout_indexed(old[0], &b) : layout_struct(old, &b);
}

struct layout *layout_resized(const struct layout *old, ptrdiff_t lb, ptrdiff_t extent)
{
    ptrdiff_t ub;
    if (__builtin_add_overflow(lb, extent, &ub)) {
        errno = EOVERFLOW;
        return NULL;
    }
    size_t behind = old->nruns > 1 ? old->nruns * sizeof *old->runs : 0;
    struct layout *l = malloc(sizeof *l + behind);
    if (!l)
        return NULL;
    *l = *old;
    l->refs = 1;
    l->form = NULL;
    l->runs = behind ? (struct run *)(l + 1) : &l->only;
    if (old->nruns > 0)
        memcpy(l->runs, old->runs, old->nruns * sizeof *l->runs);
    for (size_t i = 0; i < l->nruns; i++)
        if (l->runs[i].inner)
            layout_hold((struct layout *)l->runs[i].inner);
    l->items->refs++;
    if (l->list)
        l->list->refs++;
    l->lb = lb;
    l->extent = extent;
    l->marked = true;
    layout_set_shape(l);
    return l;
}

/* Everything `offset` bytes further; only this reference must be there.  False: too far. */
static bool layout_shift(struct layout *l, ptrdiff_t offset)
{
    ptrdiff_t high;
    if (__builtin_add_overflow(l->true_lb, offset, &l->true_lb) ||
        __builtin_add_overflow(l->true_lb, l->true_extent, &high))
        return false;
    for (size_t i = 0; i < l->nruns; i++)
        l->runs[i].offset += offset;
    for (size_t i = 0; l->list && i < l->list->n; i++)
        l->list->at[i].offset += offset;
    return true;
}

struct layout *layout_slice(const struct layout *old, size_t count, ptrdiff_t offset,
                            ptrdiff_t extent)
{
    struct layout *l = layout_contiguous(count, old);
    if (!l)
        return NULL;
    if (l->size > 0 && !layout_shift(l, offset)) {
        layout_drop(l);
        errno = EOVERFLOW;
        return NULL;
    }
    l->lb = 0;
    l->extent = extent;
    l->marked = true;
    layout_set_shape(l);
    return l;
}

void layout_free(struct layout *layout)
{
    for (size_t i = 0; i < layout->nruns; i++)
        layout_drop((struct layout *)layout->runs[i].inner);
    layout_free_runs(layout);
    list_drop(layout->list);
    items_drop(layout->items);
    gpu_form_drop(layout->form);
    free(layout);
}

/* ---- asking ---- */

size_t layout_span(const struct layout *layout, size_t count, ptrdiff_t *low)
{
    *low = 0;
    if (count == 0 || layout->size == 0)
        return 0;
    ptrdiff_t distance = (ptrdiff_t)(count - 1) * layout->extent;
    *low = layout->true_lb + (distance < 0 ? distance : 0);
    return (size_t)(layout->true_extent + (distance < 0 ? -distance : distance));
}

int64_t layout_items_in(const struct layout *layout, size_t count, size_t bytes)
{
    if (bytes == 0)
        return 0;
    if (layout->size == 0 || bytes / layout->size + (bytes % layout->size > 0) > count)
        return -1;
    int64_t rest = items_within(layout->items, bytes % layout->size);
    return rest < 0 ? -1 : (int64_t)(bytes / layout->size * layout->nparts) + rest;
}

size_t layout_bytes_in(const struct layout *layout, size_t parts)
{
    if (layout->nparts == 0)
        return 0;
    return parts / layout->nparts * layout->size +
           items_bytes(layout->items, parts % layout->nparts);
}
