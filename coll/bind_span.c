/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spans of blocks to memory.  Blocks of a list that do not lie one behind the other get a layout of
 * their own, so that they are still one message; the other end need not know.
 *
 * Making a layout allocates.  A run that may begin again keeps what it has made, a list with an
 * entry per span, and begins without.
 */
#include "coll/bind.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

struct kept_span {
    struct kept_span *next;
    struct span span;
    struct layout *layout;
};

struct kept {
    struct kept_span *first;
};

int bind_keep(struct bound *bound)
{
    bool lists = false;
    for (int r = 0; r < ROOMS; r++)
        lists |= bound->room[r].how == CUT_LIST;
    if (!lists)
        return 0;
    bound->kept = calloc(1, sizeof *bound->kept);
    return bound->kept ? 0 : fail(MPI_ERR_NO_MEM, "no memory to keep layouts of a collective");
}

void bind_forget(struct bound *bound)
{
    while (bound->kept && bound->kept->first) {
        struct kept_span *gone = bound->kept->first;
        bound->kept->first = gone->next;
        layout_drop(gone->layout);
        free(gone);
    }
    free(bound->kept);
    bound->kept = NULL;
}

static struct layout *kept_layout(const struct kept *kept, struct span s)
{
    struct kept_span *k = kept ? kept->first : NULL;
    while (k && (k->span.room != s.room || k->span.first != s.first || k->span.n != s.n))
        k = k->next;
    return k ? k->layout : NULL;
}

/* Keep a layout if there is memory for that: then nobody else has to drop it. */
static bool keep(struct kept *kept, struct span s, struct layout *layout)
{
    struct kept_span *k = kept ? malloc(sizeof *k) : NULL;
    if (!k)
        return false;
    *k = (struct kept_span){ kept->first, s, layout };
    kept->first = k;
    return true;
}

/* Elements [first, last) of block b of a list, when it is cut in pieces. */
struct slice {
    int64_t first, count; /* in elements from the area's base */
};

static struct slice slice_at(const struct area *a, int piece)
{
    int block = piece / a->pieces, j = piece % a->pieces;
    size_t count = (size_t)counts_at(a->counts, block);
    size_t from = bind_cut(count, a->pieces, j), to = bind_cut(count, a->pieces, j + 1);
    return (struct slice){ counts_at(a->displs, block) + (int64_t)from, (int64_t)(to - from) };
}

static struct layout *scattered_layout(const struct area *a, struct span s)
{
    size_t *lengths = malloc((size_t)s.n * (sizeof(*lengths) + sizeof(ptrdiff_t)));
    if (!lengths)
        return NULL;
    ptrdiff_t *offsets = (ptrdiff_t *)(lengths + s.n);
    for (int i = 0; i < s.n; i++) {
        struct slice piece = slice_at(a, s.first + i);
        const struct layout *each = a->layouts ? a->layouts[s.first + i] : a->layout;
        lengths[i] = each->size ? (size_t)piece.count : 0;
        offsets[i] = 0; /* where nothing lies displacements mean nothing */
        if (lengths[i])
            offsets[i] = steps((ptrdiff_t)piece.first, a->layouts ? 1 : each->extent);
    }
    struct layout *made =
        layout_blocks((size_t)s.n, lengths, offsets,
                      a->layouts ? a->layouts + s.first : &a->layout, !a->layouts);
    free(lengths);
    return made;
}

static int span_scattered(const struct bound *bound, struct span s, struct buffer *buffer,
                          struct layout **made)
{
    const struct area *a = &bound->room[s.room];
    struct layout *layout = kept_layout(bound->kept, s);
    if (!layout) {
        layout = scattered_layout(a, s);
        if (!layout)
            return fail(MPI_ERR_NO_MEM, "no memory for the layout of %d blocks", s.n);
        *made = keep(bound->kept, s, layout) ? NULL : layout;
    }
    *buffer = (struct buffer){ a->base, 1, layout, a->where };
    return 0;
}

static int span_list(const struct bound *bound, struct span s, struct buffer *buffer,
                     struct layout **made)
{
    const struct area *a = &bound->room[s.room];
    struct slice all = slice_at(a, s.first);
    if (a->layouts && s.n > 1)
        return span_scattered(bound, s, buffer, made);
    if (a->layouts) { /* alltoallw: displacements are bytes */
        *buffer = (struct buffer){ buffer_at(a->base, (ptrdiff_t)all.first), (size_t)all.count,
                                   a->layouts[s.first], a->where };
        return 0;
    }
    for (int i = 1; i < s.n; i++) {
        struct slice next = slice_at(a, s.first + i);
        if (next.count && all.count && next.first != all.first + all.count)
            return span_scattered(bound, s, buffer, made);
        if (all.count == 0)
            all.first = next.first;
        all.count += next.count;
    }
    *buffer =
        (struct buffer){ buffer_at(a->base, steps((ptrdiff_t)all.first, a->layout->extent)),
                         (size_t)all.count, a->layout, a->where };
    return 0;
}

/* Where block i begins, in elements. */
static size_t each_at(const struct area *a, int i)
{
    if (a->pieces == 1)
        return (size_t)i * a->count;
    return (size_t)(i / a->pieces) * a->count + bind_cut(a->count, a->pieces, i % a->pieces);
}

int bind_span(const struct bound *bound, struct span s, struct buffer *buffer,
              struct layout **made)
{
    const struct area *a = &bound->room[s.room];
    size_t from, to;
    ptrdiff_t shift = 0;
    *made = NULL;
    if (a->how == CUT_LIST)
        return span_list(bound, s, buffer, made);
    if (a->how == CUT_EACH) {
        from = each_at(a, s.first);
        to = each_at(a, s.first + s.n);
    } else if (a->nblocks == 1) { /* the general case without its divisions */
        from = 0;
        to = a->count;
        shift = (ptrdiff_t)s.first * a->copies;
    } else {
        int first = s.first % a->nblocks;
        from = bind_cut(a->count, a->nblocks, first);
        to = bind_cut(a->count, a->nblocks, first + s.n);
        shift = (ptrdiff_t)(s.first / a->nblocks) * a->copies;
    }
    *buffer =
        (struct buffer){ buffer_at(a->base, steps((ptrdiff_t)from, a->layout->extent) + shift),
                         to - from, a->layout, a->where };
    return 0;
}

/* Bytes of the longest block. */
static size_t longest_block(const struct bound *bound, const struct area *a)
{
    size_t most = 0;
    if (a->how == CUT_EACH)
        return a->count * a->layout->size;
    if (a->how == CUT_WHOLE)
        return a->nblocks > 1 ? (a->count / (size_t)a->nblocks + 1) * a->layout->size
                              : a->count * a->layout->size;
    if (bound->plan->split) /* two kinds of blocks; not worth looking at */
        return SIZE_MAX;
    for (int i = 0; a->how == CUT_LIST && i < a->nblocks; i++) {
        const struct layout *layout = a->layouts ? a->layouts[i] : a->layout;
        size_t bytes = (size_t)counts_at(a->counts, i) * layout->size;
        most = bytes > most ? bytes : most;
    }
    return most;
}

size_t bind_longest(const struct bound *bound)
{
    size_t most = 0;
    for (int r = 0; r < ROOMS; r++) {
        size_t bytes = bound->plan->nblocks[r] ? longest_block(bound, &bound->room[r]) : 0;
        most = bytes > most ? bytes : most;
    }
    return most == SIZE_MAX ? most : most * (size_t)bound->plan->most;
}
