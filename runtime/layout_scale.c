/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies of a simple layout: one run of plain pieces, and one basic item again and again, as the
 * predefined types are and what MPI_Type_contiguous and MPI_Type_vector make of them.
 *
 *     [....]  [....]  [....]      the same run with another count, or one longer piece;
 *                                 size, items and bounds multiplied
 *
 * This is what programs make most often, on the fly and for one message, so it is done on a copy
 * of the old layout, without a draft.  Two allocations.
 */
#include "runtime/layout.h"
#include "runtime/layout_inside.h"

#include <stdlib.h>

static bool layout_is_simple(const struct layout *l)
{
    return l->nruns == 1 && !l->runs->inner && items_are_alike(l->items);
}

/* The outermost bounds over copies that reach up to `distance` from the first. */
static bool bounds_stretch(ptrdiff_t *low, ptrdiff_t *extent, ptrdiff_t distance)
{
    ptrdiff_t reach = distance < 0 ? -distance : distance, high;
    return !__builtin_add_overflow(*low, distance < 0 ? distance : 0, low) &&
           !__builtin_add_overflow(*extent, reach, extent) &&
           !__builtin_add_overflow(*low, *extent, &high);
}

bool extent_pad(ptrdiff_t *extent, ptrdiff_t align)
{
    ptrdiff_t over = *extent & (align - 1);
    return !__builtin_add_overflow(*extent, over ? align - over : 0, extent);
}

/* Make of *l, a copy of a simple layout, `count` copies of it. */
static bool scale(struct layout *l, size_t count, ptrdiff_t step)
{
    struct run one = l->only;
    ptrdiff_t distance, size;
    if (count == 1)
        return true;
    if (count == 0 || !run_repeat(&one, count, step, &l->only) ||
        __builtin_mul_overflow(count - 1, step, &distance) || distance == PTRDIFF_MIN ||
        __builtin_mul_overflow(count, l->size, &size))
        return false;
    l->size = (size_t)size;
    l->nitems *= count;
    l->nparts *= count;
    if (!bounds_stretch(&l->true_lb, &l->true_extent, distance))
        return false;
    if (l->marked)
        return bounds_stretch(&l->lb, &l->extent, distance);
    l->lb = l->true_lb;
    l->extent = l->true_extent;
    return extent_pad(&l->extent, (ptrdiff_t)l->align);
}

struct layout *layout_scale(const struct layout *old, size_t block, size_t count,
                            ptrdiff_t stride)
{
    struct layout *l = layout_is_simple(old) ? malloc(sizeof *l) : NULL;
    if (!l)
        return NULL;
    *l = *old;
    l->refs = 1;
    l->form = NULL;
    l->only = *old->runs;
    l->runs = &l->only;
    if (!scale(l, block, old->extent) || !scale(l, count, stride))
        goto free_layout;
    l->items = items_repeated(old->items, block * count);
    if (!l->items)
        goto free_layout;
    layout_set_shape(l);
    return l;

free_layout:
    free(l);
    return NULL;
}
