/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A struct whose members are machine types or arrays of them: what MPI_Type_create_struct is mostly
 * given.  Like scattered blocks (layout_blocks.c) the members are looked at twice and written once,
 *
 *     scan    bounds, bytes, alignment, and how many pieces there are when members that touch are one
 *     write   a list of many pieces or runs of few, and the sequence of items
 *
 * Members that are structs themselves, have bounds of their own or do not fit into 63 bits are left
 * to the general way (layout.c).
 */
#include "runtime/layout_inside.h"

struct members {
    const struct layout *const *old;
    const struct block_list *blocks;
    size_t size, nitems;
    ptrdiff_t low, high;
    uint32_t align;
    enum basic basic;
    bool mixed;
    size_t unit; /* every length is a multiple, in bytes */
    size_t pieces;
};

/* False: not of this kind, or too large. */
static bool member_scan(struct members *m, size_t i, ptrdiff_t *end)
{
    const struct layout *l = m->old[i];
    size_t count = blocks_length(m->blocks, i), bytes;
    ptrdiff_t at = blocks_place(m->blocks, i), last = *end;
    if (count == 0 || (l->size == 0 && !l->marked))
        return true;
    if (!l->solid || l->marked || __builtin_mul_overflow(count, l->size, &bytes) ||
        __builtin_add_overflow(at, bytes, end) ||
        __builtin_add_overflow((ptrdiff_t)m->size, bytes, (ptrdiff_t *)&m->size))
        return false;
    m->low = at < m->low ? at : m->low;
    m->high = *end > m->high ? *end : m->high;
    m->align = l->align > m->align ? l->align : m->align;
    if (m->pieces == 0)
        m->basic = l->basic;
    m->mixed |= m->basic != l->basic;
    m->nitems += count * l->nitems;
    m->pieces += at != last || m->pieces == 0;
    if (m->unit != bytes && m->unit != 1)
        m->unit = common_divisor(m->unit, bytes);
    return true;
}

/* Is there data, of machine types alone, that fits? */
static bool members_scan(struct members *m)
{
    ptrdiff_t end = 0, span;
    for (size_t i = 0; i < m->blocks->n; i++)
        if (!member_scan(m, i, &end))
            return false;
    return m->size > 0 && !__builtin_sub_overflow(m->high, m->low, &span);
}

static struct layout *members_write_list(const struct members *m, const struct layout *like)
{
    size_t cuts = m->size / m->unit;
    bool cut = list_is_cut(cuts, m->pieces);
    struct spot_list *list = list_new(cut ? cuts : m->pieces, cut ? m->unit : 0);
    if (!list)
        return NULL;
    struct pen pen = { .spot = list->at };
    for (size_t i = 0; i < m->blocks->n; i++) {
        size_t bytes = blocks_length(m->blocks, i) * m->old[i]->size;
        ptrdiff_t at = blocks_place(m->blocks, i);
        if (cut)
            pen_cut(&pen, at, bytes, m->unit);
        else if (bytes > 0)
            pen_write(&pen, at, bytes);
    }
    pen_close(&pen);
    return list_close(list, like);
}

static struct layout *members_write_runs(const struct members *m, const struct layout *like)
{
    struct run_list runs;
    runs_open(&runs);
    for (size_t i = 0; i < m->blocks->n; i++) {
        size_t bytes = blocks_length(m->blocks, i) * m->old[i]->size;
        if (bytes > 0)
            runs_append_piece(&runs, blocks_place(m->blocks, i), bytes);
    }
    struct layout *l = runs_close(&runs, like);
    if (!l)
        runs_drop(&runs);
    return l;
}

static struct layout_items *members_items(const struct members *m)
{
    struct layout_items *items = items_new(m->mixed ? m->blocks->n : 1);
    for (size_t i = 0; items && i < m->blocks->n; i++)
        if (!items_append_copies(items, m->old[i]->items, blocks_length(m->blocks, i))) {
            items_drop(items);
            return NULL;
        }
    return items;
}

/* All but runs or list and items; false when the extent does not fit. */
static bool members_describe(const struct members *m, struct layout *l)
{
    layout_clear(l);
    l->basic = m->mixed ? BASIC_NONE : m->basic;
    l->size = m->size;
    l->nitems = m->nitems;
    l->align = m->align;
    l->lb = l->true_lb = m->low;
    l->extent = l->true_extent = m->high - m->low;
    return extent_pad(&l->extent, (ptrdiff_t)l->align);
}

/* Places in bytes, as a struct has them. */
struct layout *layout_members(const struct layout *const *old, const struct block_list *b)
{
    struct members m = { .old = old, .blocks = b, .low = PTRDIFF_MAX, .high = PTRDIFF_MIN };
    if (b->unit != 1 || !members_scan(&m))
        return NULL;
    struct layout like;
    if (!members_describe(&m, &like))
        return NULL;
    like.items = members_items(&m);
    if (!like.items)
        return NULL;
    like.nparts = like.items->parts;
    struct layout *l = list_is_of_use(m.pieces, m.pieces) ? members_write_list(&m, &like)
                                                          : members_write_runs(&m, &like);
    if (l)
        layout_set_shape(l);
    else
        items_drop(like.items);
    return l;
}
