/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list form of irregular layouts.  What MPI_Type_indexed makes of scattered blocks is many
 * runs of one or two pieces; going through them run by run costs more than copying the bytes.
 * Such a layout gets the same once more as a plain list, a third as long:
 *
 *     runs      { offset, length, count, stride, packed, inner } ...
 *     spots     { offset, packed } ...  and one more where the last one ends
 *
 * Loops that know the length of pieces are twice as fast, so when a few pieces touch that are
 * otherwise equal, they are cut again.
 */
#include "runtime/layout_inside.h"

#include <stdlib.h>

enum {
    LIST_RUNS = 8,  /* more than that, or loops over runs do as well */
    LIST_COUNT = 4, /* pieces per run, on average; where there are more the loop is the run's */
    LIST_CUTS = 2   /* spots per piece: equal lengths are worth that much */
};

/* How many pieces there are, 0 where a list is no use. */
static size_t pieces_count(const struct layout *l)
{
    size_t n = 0;
    if (l->nruns <= LIST_RUNS)
        return 0;
    for (size_t i = 0; i < l->nruns; i++) {
        if (l->runs[i].inner)
            return 0;
        n += l->runs[i].count;
        if (n / LIST_COUNT > l->nruns)
            return 0;
    }
    return n;
}

/* The largest length that all pieces are multiples of. */
static size_t pieces_unit(const struct layout *l)
{
    size_t unit = l->runs[0].length;
    for (size_t i = 1; i < l->nruns && unit > 1; i++)
        for (size_t length = l->runs[i].length; length > 0;) {
            size_t rest = unit % length;
            unit = length;
            length = rest;
        }
    return unit;
}

/* A spot for every `unit` bytes, or for every piece when that is 0. */
static void list_fill(struct spot_list *list, const struct layout *l, size_t unit)
{
    struct spot *spot = list->at;
    list->length = unit;
    for (size_t i = 0; i < l->nruns; i++) {
        const struct run *run = &l->runs[i];
        size_t step = unit ? unit : run->length;
        for (size_t j = 0; j < run->count; j++)
            for (size_t k = 0; k < run->length; k += step, spot++) {
                spot->offset = run->offset + (ptrdiff_t)j * run->stride + (ptrdiff_t)k;
                spot->packed = run->packed + j * run->length + k;
            }
    }
    list->n = (size_t)(spot - list->at);
    spot->offset = 0;
    spot->packed = l->size;
}

bool layout_make_list(struct layout *l)
{
    size_t n = pieces_count(l);
    if (n == 0)
        return true;
    size_t unit = pieces_unit(l);
    if (l->size / unit <= LIST_CUTS * n)
        n = l->size / unit;
    else
        unit = 0;
    l->list = malloc(sizeof *l->list + (n + 1) * sizeof *l->list->at);
    if (!l->list)
        return false;
    l->list->refs = 1;
    list_fill(l->list, l, unit);
    return true;
}

void list_drop(struct spot_list *list)
{
    if (list && --list->refs == 0)
        free(list);
}
