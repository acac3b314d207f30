/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list form of irregular layouts.  What MPI_Type_indexed makes of scattered blocks would be many
 * runs of one or two pieces; going through them run by run costs more than copying the bytes.
 * Such a layout has no runs but a plain list, a third as long:
 *
 *     runs      { offset, length, count, stride, packed, inner } ...
 *     spots     { offset, packed } ...  and one more where the last one ends
 *
 * Loops that know the length of pieces are twice as fast, so when a few pieces touch that are
 * otherwise equal, they are cut again.  Here a list is made of runs; layout_blocks.c writes one
 * directly.
 */
#include "runtime/layout_inside.h"

#include <stdlib.h>

enum {
    LIST_RUNS = 8,  /* more than that, or loops over runs do as well */
    LIST_COUNT = 4, /* pieces per run, on average; where there are more the loop is the run's */
    LIST_CUTS = 2   /* spots per piece: equal lengths are worth that much */
};

bool list_is_of_use(size_t pieces, size_t runs)
{
    return runs > LIST_RUNS && pieces / LIST_COUNT <= runs;
}

bool list_is_cut(size_t cuts, size_t pieces)
{
    return cuts / LIST_CUTS <= pieces;
}

struct spot_list *list_new(size_t n, size_t length)
{
    struct spot_list *list = malloc(sizeof *list + (n + 1) * sizeof *list->at);
    if (!list)
        return NULL;
    list->refs = 1;
    list->length = length;
    list->n = n;
    return list;
}

void list_drop(struct spot_list *list)
{
    if (list && --list->refs == 0)
        free(list);
}

struct layout *list_close(struct spot_list *list, const struct layout *like)
{
    struct layout *l = malloc(sizeof *l);
    if (!l) {
        list_drop(list);
        return NULL;
    }
    *l = *like;
    l->runs = &l->only;
    l->list = list;
    return l;
}

/* How many pieces there are, 0 where a list is no use. */
static size_t pieces_count(const struct layout *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->nruns; i++) {
        if (l->runs[i].inner)
            return 0;
        n += l->runs[i].count;
        if (!list_is_of_use(n, l->nruns))
            return 0;
    }
    return n;
}

/* The largest length that all pieces are multiples of. */
static size_t pieces_unit(const struct layout *l)
{
    size_t unit = l->runs[0].length;
    for (size_t i = 1; i < l->nruns && unit > 1; i++)
        if (l->runs[i].length != l->runs[i - 1].length)
            unit = common_divisor(unit, l->runs[i].length);
    return unit;
}

/* A spot for every `unit` bytes, or for every piece when that is 0. */
static void list_fill(struct spot_list *list, const struct layout *l, size_t unit)
{
    struct spot *spot = list->at;
    for (size_t i = 0; i < l->nruns; i++) {
        const struct run *run = &l->runs[i];
        size_t step = unit ? unit : run->length;
        for (size_t j = 0; j < run->count; j++)
            for (size_t k = 0; k < run->length; k += step, spot++) {
                spot->offset = run->offset + (ptrdiff_t)j * run->stride + (ptrdiff_t)k;
                spot->packed = run->packed + j * run->length + k;
            }
    }
    *spot = (struct spot){ 0, l->size };
}

bool layout_make_list(struct layout *l)
{
    size_t pieces = pieces_count(l);
    if (pieces == 0)
        return true;
    size_t unit = pieces_unit(l), cuts = l->size / unit;
    bool cut = list_is_cut(cuts, pieces);
    l->list = list_new(cut ? cuts : pieces, cut ? unit : 0);
    if (!l->list)
        return false;
    list_fill(l->list, l, l->list->length);
    layout_free_runs(l);
    l->runs = &l->only;
    l->nruns = 0;
    return true;
}
