/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A layout as a table for devices: numbers of 64 bits, a node for each layout that is part of it.
 *
 *     layout            node { n, each, runs } then n spots { offset, packed }
 *       a list          each: the length of all pieces, or 0; runs: 0
 *       runs            runs: where n of { length, stride, node of the inner layout or 0 } are
 *
 * Numbers instead of pointers, so that it may lie anywhere; a layout that occurs twice is written once.
 * The table grows as the description of a type does, not with its counts.
 */
#include "runtime/gpu_form.h"

#include "runtime/gpu.h"
#include "runtime/gpu_reduce.h"
#include "runtime/layout_inside.h"

#include <stdlib.h>

enum { NODE_WORDS = 3, SPOT_WORDS = 2, RUN_WORDS = 3, MOST_WORDS = 8 << 20 };

struct gpu_table {
    struct gpu_table *next;
    cuda_context context;
    void *at; /* a room */
};

/* ---- writing ---- */

struct node {
    const struct layout *layout;
    size_t at; /* its first word */
    size_t copies;
};

struct writer {
    uint64_t *words;
    size_t n, room;
    struct node *nodes;
    size_t nnodes;
    uintptr_t bits;
    bool full; /* sticky: memory is out, or it is too large */
};

/* Zeros at the end; the place of the first one. */
static size_t words_add(struct writer *w, size_t n)
{
    size_t at = w->n;
    if (w->full || n > MOST_WORDS - at) {
        w->full = true;
        return 0;
    }
    if (at + n > w->room) {
        size_t room = 2 * (at + n);
        uint64_t *words = realloc(w->words, room * sizeof *words);
        if (!words) {
            w->full = true;
            return 0;
        }
        w->words = words;
        w->room = room;
    }
    memset(w->words + at, 0, n * sizeof *w->words);
    w->n += n;
    return at;
}

static size_t node_add(struct writer *w, const struct layout *l, size_t at)
{
    struct node *nodes = realloc(w->nodes, (w->nnodes + 1) * sizeof *nodes);
    if (!nodes) {
        w->full = true;
        return 0;
    }
    w->nodes = nodes;
    nodes[w->nnodes] = (struct node){ l, at, 0 };
    return w->nnodes++;
}

static void spot_write(struct writer *w, size_t node, size_t i, ptrdiff_t offset, size_t packed)
{
    uint64_t *spot = w->words + node + NODE_WORDS + SPOT_WORDS * i;
    spot[0] = (uint64_t)offset;
    spot[1] = packed;
    w->bits |= (uintptr_t)offset | packed;
}

static void list_write(struct writer *w, const struct spot_list *list, size_t node)
{
    w->words[node + 1] = list->length;
    for (size_t i = 0; i < list->n; i++)
        spot_write(w, node, i, list->at[i].offset, list->at[i].packed);
    w->bits |= list->at[list->n].packed;
}

static size_t times(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static size_t plus(size_t a, size_t b)
{
    return a + b < a ? SIZE_MAX : a + b;
}

/* Of an element; 0: not known. */
static size_t pieces_of(const struct layout *l)
{
    size_t pieces = 0;
    if (l->list)
        return l->list->n;
    for (size_t i = 0; i < l->nruns; i++) {
        if (l->runs[i].inner)
            return 0;
        pieces = plus(pieces, l->runs[i].count);
    }
    return pieces;
}

/* As gpu_move.c does it: element by element, or each piece of all elements at once. */
static size_t copies_of(const struct layout *l, size_t copies, size_t count)
{
    size_t all = times(count, copies), pieces = pieces_of(l);
    return pieces > 0 && pieces < all ? pieces : all;
}

static struct node *node_of(struct writer *w, const struct layout *l);

/* In how many copies it moves. */
static size_t run_write(struct writer *w, const struct run *run, size_t at)
{
    size_t inner = 0, copies = 1;
    if (run->inner) {
        const struct node *node = node_of(w, run->inner);
        if (w->full)
            return 0;
        inner = node->at;
        copies = copies_of(run->inner, node->copies, run->count);
    } else if (!gpu_rows_are_one_copy(run->stride, run->length)) {
        copies = run->count;
    }
    uint64_t words[RUN_WORDS] = { run->length, (uint64_t)run->stride, inner };
    memcpy(w->words + at, words, sizeof words);
    w->bits |= run->length | (run->count > 1 ? (uintptr_t)run->stride : 0);
    return copies;
}

static bool runs_are_spots(const struct layout *l)
{
    for (size_t i = 0; i < l->nruns; i++)
        if (l->runs[i].inner || l->runs[i].count > 1)
            return false;
    return true;
}

static size_t runs_write(struct writer *w, const struct layout *l, size_t node)
{
    for (size_t i = 0; i < l->nruns; i++) {
        spot_write(w, node, i, l->runs[i].offset, l->runs[i].packed);
        w->bits |= l->runs[i].length;
    }
    if (runs_are_spots(l))
        return l->nruns;
    size_t at = words_add(w, RUN_WORDS * l->nruns), copies = 0;
    if (!w->full)
        w->words[node + 2] = at;
    for (size_t i = 0; i < l->nruns && !w->full; i++)
        copies = plus(copies, run_write(w, &l->runs[i], at + RUN_WORDS * i));
    return copies;
}

static size_t node_write(struct writer *w, const struct layout *l, size_t node)
{
    w->words[node] = l->list ? l->list->n : l->nruns;
    if (!l->list)
        return runs_write(w, l, node);
    list_write(w, l->list, node);
    return l->list->n;
}

/* Valid until the next one is asked for; nothing when the writer is full. */
static struct node *node_of(struct writer *w, const struct layout *l)
{
    for (size_t i = w->nnodes; i-- > 0;)
        if (w->nodes[i].layout == l)
            return &w->nodes[i];
    size_t at = words_add(w, NODE_WORDS + SPOT_WORDS * (l->list ? l->list->n : l->nruns));
    size_t number = node_add(w, l, at);
    if (w->full)
        return NULL;
    size_t copies = node_write(w, l, at);
    w->nodes[number].copies = copies;
    return &w->nodes[number];
}

/* The words are to be freed.  The copies of an element; 0: it cannot be written. */
static size_t layout_write(struct writer *w, const struct layout *l)
{
    *w = (struct writer){ .full = false };
    const struct node *root = node_of(w, l);
    size_t copies = w->full ? 0 : root->copies;
    free(w->nodes);
    return copies;
}

/* ---- forms ---- */

struct gpu_form *gpu_form_of(const struct layout *layout)
{
    struct writer w;
    struct gpu_form *form = layout->form ? layout->form : malloc(sizeof *form);
    if (!form || layout->form)
        return form;
    size_t copies = layout_write(&w, layout);
    free(w.words);
    *form = (struct gpu_form){ copies, w.n, w.bits, NULL };
    ((struct layout *)layout)->form = form;
    return form;
}

size_t gpu_form_copies(const struct layout *layout, size_t count)
{
    return copies_of(layout, layout->form->copies, count);
}

void gpu_form_drop(struct gpu_form *form)
{
    while (form && form->tables) {
        struct gpu_table *table = form->tables;
        form->tables = table->next;
        gpu_room_give(table->at);
        free(table);
    }
    free(form);
}

/* ---- tables ---- */

/* The memory first: there may be none for a while. */
static struct gpu_table *table_new(const struct layout *layout, const void *near)
{
    struct writer w = { .full = false };
    size_t bytes = layout->form->words * sizeof *w.words;
    void *at = gpu_room_take_long(bytes, near);
    struct gpu_table *table = at ? malloc(sizeof *table) : NULL;
    bool good = table && layout_write(&w, layout) > 0 && driver_copy(at, w.words, bytes) == 0;
    free(w.words);
    if (!good) {
        gpu_room_give(at);
        free(table);
        return NULL;
    }
    table->at = at;
    return table;
}

const void *gpu_form_table(const struct layout *layout, cuda_context context, const void *near)
{
    struct gpu_form *form = layout->form;
    for (const struct gpu_table *table = form->tables; table; table = table->next)
        if (table->context == context)
            return table->at;
    struct gpu_table *table = cuda_queue_is_open() ? NULL : table_new(layout, near);
    if (!table)
        return NULL;
    table->context = context;
    table->next = form->tables;
    form->tables = table;
    return table->at;
}
