/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of runs while a layout is made.  Pieces come in type map order and are merged with
 * what is already there, never with what comes later, so making a list is linear:
 *
 *     [....]            + adjacent piece           -> [........]        one longer piece
 *     [..]  [..]        same length                -> run of 2, stride = distance
 *     [..]  [..]  +  [..] where the stride says    -> run of 3
 *
 * The last run stays open for adjacent pieces until another one follows; only then it is folded
 * into the run before it.  Merging never changes the order of bytes, so pieces that go
 * backwards become a run with a negative stride.
 */
#include "runtime/layout_inside.h"

#include <stdlib.h>

/* Elements of at most this many runs are copied into the list instead of being referred to. */
enum { RUNS_SPLICE = 8 };

static bool run_is_piece(const struct run *r)
{
    return r->count == 1 && !r->inner;
}

/* Pieces that touch are one piece. */
static struct run run_tidy(struct run r)
{
    if (!r.inner && r.count > 1 && r.stride == (ptrdiff_t)r.length) {
        r.length *= r.count;
        r.count = 1;
    }
    return r;
}

bool run_repeat(const struct run *run, size_t n, ptrdiff_t step, struct run *all)
{
    *all = *run;
    if (n == 1)
        return true;
    if (run->count == 1)
        all->stride = step;
    else if (step != (ptrdiff_t)run->count * run->stride)
        return false;
    all->count *= n;
    *all = run_tidy(*all);
    return true;
}

/* Fold the last run into the one before it when it goes on where that one ends. */
static void runs_settle(struct run_list *list)
{
    if (list->n < 2)
        return;
    struct run *a = &list->at[list->n - 2], *b = &list->at[list->n - 1];
    if (a->length != b->length || a->inner != b->inner)
        return;
    ptrdiff_t step = b->offset - a->offset;
    ptrdiff_t stride = a->count > 1 ? a->stride : b->count > 1 ? b->stride : step;
    if ((b->count > 1 && b->stride != stride) || step != (ptrdiff_t)a->count * stride)
        return;
    a->stride = stride;
    a->count += b->count;
    list->n--;
}

static bool runs_grow(struct run_list *list)
{
    size_t room = list->room ? 2 * list->room : 4;
    struct run *at = realloc(list->at, room * sizeof *at);
    if (!at)
        return false;
    list->at = at;
    list->room = room;
    return true;
}

void runs_append(struct run_list *list, struct run run)
{
    if (run.count == 0 || run.length == 0)
        return;
    run = run_tidy(run);
    struct run *last = list->n ? &list->at[list->n - 1] : NULL;
    if (last && run_is_piece(last) && run_is_piece(&run) &&
        run.offset == last->offset + (ptrdiff_t)last->length) {
        last->length += run.length;
        return;
    }
    runs_settle(list);
    if (list->n == list->room && !runs_grow(list)) {
        list->no_memory = true;
        return;
    }
    list->at[list->n++] = run;
}

/* An item that is not one piece (BASIC_SHORT_INT) is never taken apart: reductions need to see
 * where it starts. */
static bool layout_may_splice(const struct layout *l)
{
    return l->nruns == 1 || (l->nruns <= RUNS_SPLICE && l->nitems > 1);
}

void runs_append_elements(struct run_list *list, const struct layout *old, ptrdiff_t offset,
                          size_t count, ptrdiff_t step)
{
    if (old->size == 0 || count == 0)
        return;
    struct run all;
    if (old->nruns == 1 && run_repeat(old->runs, count, step, &all)) {
        all.offset += offset;
        runs_append(list, all);
    } else if (count == 1 && layout_may_splice(old)) {
        for (size_t i = 0; i < old->nruns; i++) {
            struct run run = old->runs[i];
            run.offset += offset;
            runs_append(list, run);
        }
    } else {
        runs_append(list, (struct run){ .offset = offset,
                                        .length = old->size,
                                        .count = count,
                                        .stride = step,
                                        .inner = old });
    }
}

/* Give back the room that was not needed. */
static void runs_shrink(struct run_list *list)
{
    if (list->n == list->room || list->n == 0)
        return;
    struct run *at = realloc(list->at, list->n * sizeof *at);
    list->at = at ? at : list->at;
    list->room = list->n;
}

void runs_close(struct run_list *list)
{
    runs_settle(list);
    runs_shrink(list);
    size_t packed = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct run *run = &list->at[i];
        run->packed = packed;
        packed += run->length * run->count;
        if (run->inner)
            layout_hold((struct layout *)run->inner);
    }
}
