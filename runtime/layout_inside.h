/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the layout share and nobody else needs: the list of runs while it grows,
 * and the compressed sequence of basic items.
 *
 *     layout.c        a draft collects elements of other layouts; bounds; finishing
 *     layout_scale.c  copies of what is one run of like items, without a draft
 *     layout_runs.c   where the bytes lie, merged as they come
 *     layout_list.c   the same as a list, for irregular layouts
 *     layout_blocks.c scattered blocks of one layout, without a draft
 *     layout_members.c  members of machine types, likewise
 *     layout_items.c  what the bytes are: items and parts
 *     layout_basic.c  the machine types, where every layout starts
 */
#ifndef XMPI_LAYOUT_INSIDE_H
#define XMPI_LAYOUT_INSIDE_H

#include "runtime/layout.h"

/* ---- runs ---- */

enum { RUNS_FEW = 4 };

struct run_list {   /* stays where it is */
    struct run *at; /* NULL, few, or malloced */
    size_t n, room;
    bool no_memory; /* sticky; the list is useless then */
    struct run few[RUNS_FEW];
};

static inline void runs_open(struct run_list *list)
{
    list->at = NULL;
    list->n = list->room = 0;
    list->no_memory = false;
}

/* Can n copies of `run`, `step` apart, be one run again?  Then *all is that run. */
bool run_repeat(const struct run *run, size_t n, ptrdiff_t step, struct run *all);

/* Add a piece behind the others in type map order.  O(1). */
void runs_append_piece(struct run_list *list, ptrdiff_t offset, size_t length);

/* Up to n runs are coming: make room once. */
void runs_expect(struct run_list *list, size_t n);

/* Add `count` elements of a layout, `step` apart, the first at `offset`. */
void runs_append_elements(struct run_list *list, const struct layout *old, ptrdiff_t offset,
                          size_t count, ptrdiff_t step);

/* The run that holds packed byte `skip` of an element, which has so many. */
const struct run *run_at(const struct layout *layout, size_t skip);

/* A buffer as a run of elements; of plain pieces when its layout allows. */
struct run run_of(const struct buffer *buffer);

/* No more runs: a layout like this one, with these runs, `packed` filled in and a reference taken
 * on every inner layout.  NULL when memory is out; then nothing was taken. */
struct layout *runs_close(struct run_list *list, const struct layout *like);

/* The list is not wanted any more. */
void runs_drop(struct run_list *list);

/* Give back the memory of the runs of a layout. */
void layout_free_runs(struct layout *layout);

/* ---- lists ---- */

/* Is a list better than so many runs?  Are equal lengths worth so many cuts? */
bool list_is_of_use(size_t pieces, size_t runs);
bool list_is_cut(size_t cuts, size_t pieces);

/* Room for n spots and the end, which the caller writes; NULL when memory is out. */
struct spot_list *list_new(size_t n, size_t length);
void list_drop(struct spot_list *list);

/* The piece that holds packed byte `skip`; one behind the last where it ends. */
size_t spot_at(const struct spot_list *list, size_t skip);

/* A layout like this one, with this list.  NULL when memory is out; then the list is gone. */
struct layout *list_close(struct spot_list *list, const struct layout *like);

/* What writes a list. */
struct pen {
    struct spot *spot;
    size_t packed;
    ptrdiff_t end; /* of the last piece */
};

/* Spots of `unit` bytes each. */
static inline void pen_cut(struct pen *pen, ptrdiff_t offset, size_t bytes, size_t unit)
{
    for (size_t k = 0; k < bytes; k += unit, pen->packed += unit)
        *pen->spot++ = (struct spot){ offset + (ptrdiff_t)k, pen->packed };
}

/* A spot where a piece begins; it may touch the one before. */
static inline void pen_write(struct pen *pen, ptrdiff_t offset, size_t bytes)
{
    if (offset != pen->end || pen->packed == 0)
        *pen->spot++ = (struct spot){ offset, pen->packed };
    pen->end = offset + (ptrdiff_t)bytes;
    pen->packed += bytes;
}

/* Behind all others. */
static inline void pen_close(struct pen *pen)
{
    *pen->spot = (struct spot){ 0, pen->packed };
}

/* Make a list of all runs where that is of use.  False: no memory. */
bool layout_make_list(struct layout *layout);

/* Without a division, each of which would take as long as a member of a struct does otherwise. */
static inline size_t common_divisor(size_t a, size_t b)
{
    if (a == 0 || b == 0)
        return a | b;
    int twos = __builtin_ctzl(a | b);
    a >>= __builtin_ctzl(a);
    b >>= __builtin_ctzl(b);
    while (a != b) {
        size_t large = a > b ? a : b, small = a > b ? b : a;
        a = small;
        b = (large - small) >> __builtin_ctzl(large - small);
    }
    return a << twos;
}

/* ---- items ---- */

struct item_span {
    size_t bytes_before, parts_before; /* in the sequence */
    size_t count;                      /* repetitions */
    size_t bytes, parts;               /* of one repetition */
    enum basic basic;                  /* when inner is NULL: one item of `bytes` bytes */
    struct layout_items *inner;
};

struct layout_items {
    int32_t refs;
    size_t bytes, parts;
    size_t n, room;
    struct item_span *spans; /* `first`, or malloced when that was not enough */
    struct item_span first[];
};

/* An empty sequence with room for so many spans; NULL when memory is out. */
struct layout_items *items_new(size_t room);
void items_drop(struct layout_items *items);

/* Is it one item again and again? */
static inline bool items_are_alike(const struct layout_items *items)
{
    return items->n == 1 && !items->spans->inner;
}

/* Append an item of `bytes` bytes; `count` copies of a sequence.  Both return whether
 * there was memory. */
bool items_append(struct layout_items *items, enum basic basic, size_t bytes);
bool items_append_copies(struct layout_items *items, struct layout_items *old, size_t count);

/* A sequence of `count` copies of one that is not empty; NULL when memory is out. */
struct layout_items *items_repeated(struct layout_items *old, size_t count);

/* Parts in the first `bytes` bytes of the sequence, -1 when they end inside one. */
int64_t items_within(const struct layout_items *items, size_t bytes);

/* Bytes of the first `parts` parts of the sequence, which has at least as many. */
size_t items_bytes(const struct layout_items *items, size_t parts);

/* ---- copies of simple layouts ---- */

/* `count` blocks of `block` elements each, the blocks `stride` bytes apart, where that is one
 * run of like items again; NULL when it is not, when something does not fit into 63 bits or
 * when memory is out: the long way then finds out which. */
struct layout *layout_scale(const struct layout *old, size_t block, size_t count,
                            ptrdiff_t stride);

/* ---- scattered blocks of simple layouts ---- */

/* As layout_indexed; NULL when the general way has to do it, or to find out what is wrong. */
struct layout *layout_scatter(const struct layout *old, const struct block_list *blocks);

/* As layout_struct; NULL likewise. */
struct layout *layout_members(const struct layout *const *old, const struct block_list *blocks);

/* ---- what follows from the rest ---- */

/* Nothing but one reference; `only` is left as it is.  Field by field: gcc clears larger structs with
 * `rep stos`, which takes 20 ns to begin. */
static inline void layout_clear(struct layout *l)
{
    l->refs = 1;
    l->basic = BASIC_NONE;
    l->size = l->nitems = l->nparts = l->nruns = 0;
    l->lb = l->extent = l->true_lb = l->true_extent = 0;
    l->align = 1;
    l->marked = l->piece = l->dense = l->solid = false;
    l->runs = NULL;
    l->list = NULL;
    l->items = NULL;
    l->form = NULL;
}

/* `piece`, `dense` and `solid`. */
void layout_set_shape(struct layout *l);

/* Round up as MPI 5.0, 5.1.6 wants it where no bound is set; false when that does not fit. */
bool extent_pad(ptrdiff_t *extent, ptrdiff_t align);

/* ---- machine types ---- */

/* Bytes from one item to the next in an array: sizeof the C type.  Differs from the size of the
 * data for pairs with holes.  0 where `basic` alone does not say. */
size_t basic_extent(enum basic basic);

#endif
