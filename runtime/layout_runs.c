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
#include <string.h>

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

/* Are `count` strides of the run `distance` bytes?  Strides may be anything. */
static bool run_ends_after(const struct run *run, ptrdiff_t stride, ptrdiff_t distance)
{
    ptrdiff_t end;
    return !__builtin_mul_overflow(run->count, stride, &end) && end == distance;
}

bool run_repeat(const struct run *run, size_t n, ptrdiff_t step, struct run *all)
{
    *all = *run;
    if (n == 1)
        return true;
    if (run->count == 1)
        all->stride = step;
    else if (!run_ends_after(run, run->stride, step))
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
    ptrdiff_t step;
    if (__builtin_sub_overflow(b->offset, a->offset, &step))
        return;
    ptrdiff_t stride = a->count > 1 ? a->stride : b->count > 1 ? b->stride : step;
    if ((b->count > 1 && b->stride != stride) || !run_ends_after(a, stride, step))
        return;
    a->stride = stride;
    a->count += b->count;
    list->n--;
}

/* Room for `room` runs, which is more than there is. */
static bool runs_resize(struct run_list *list, size_t room)
{
    bool inside = list->at == list->few;
    struct run *at = room <= SIZE_MAX / sizeof *at
                         ? realloc(inside ? NULL : list->at, room * sizeof *at)
                         : NULL;
    if (!at)
        return false;
    if (inside)
        memcpy(at, list->few, sizeof list->few);
    list->at = at;
    list->room = room;
    return true;
}

static bool runs_grow(struct run_list *list)
{
    if (list->at)
        return runs_resize(list, 2 * list->room);
    list->at = list->few;
    list->room = RUNS_FEW;
    return true;
}

void runs_expect(struct run_list *list, size_t n)
{
    if (n > RUNS_FEW && n > list->room)
        list->no_memory |= !runs_resize(list, n);
}

static inline void runs_add(struct run_list *list, const struct run *run)
{
    runs_settle(list);
    if (list->n == list->room && !runs_grow(list))
        list->no_memory = true;
    else
        list->at[list->n++] = *run;
}

void runs_append_piece(struct run_list *list, ptrdiff_t offset, size_t length)
{
    struct run *last = list->n ? &list->at[list->n - 1] : NULL;
    if (last && run_is_piece(last) && offset == last->offset + (ptrdiff_t)last->length) {
        last->length += length;
        return;
    }
    runs_add(list, &(struct run){ .offset = offset, .length = length, .count = 1 });
}

static void runs_append(struct run_list *list, const struct run *run)
{
    if (run->count == 0 || run->length == 0)
        return;
    if (!run->inner && (run->count == 1 || run->stride == (ptrdiff_t)run->length)) {
        runs_append_piece(list, run->offset, run->length * run->count);
        return;
    }
    runs_add(list, run);
}

/* An item that is not one piece (BASIC_SHORT_INT) is never taken apart: reductions need to see
 * where it starts. */
static bool layout_may_splice(const struct layout *l)
{
    return l->nruns == 1 || (l->nruns <= RUNS_SPLICE && l->nitems > 1 && !l->list);
}

void runs_append_elements(struct run_list *list, const struct layout *old, ptrdiff_t offset,
                          size_t count, ptrdiff_t step)
{
    if (old->size == 0 || count == 0)
        return;
    struct run all;
    if (old->nruns == 1 && run_repeat(old->runs, count, step, &all)) {
        all.offset += offset;
        runs_append(list, &all);
    } else if (count == 1 && layout_may_splice(old)) {
        for (size_t i = 0; i < old->nruns; i++) {
            struct run run = old->runs[i];
            run.offset += offset;
            runs_append(list, &run);
        }
    } else {
        runs_append(list, &(struct run){ .offset = offset,
                                         .length = old->size,
                                         .count = count,
                                         .stride = step,
                                         .inner = old });
    }
}

/* A single run lives in the layout, a few lie behind it, many stay where they are. */
static struct layout *layout_with(struct run_list *list, const struct layout *like)
{
    size_t bytes = list->n * sizeof *list->at;
    bool behind = list->n > 1 && list->at == list->few;
    struct layout *l = malloc(sizeof *l + (behind ? bytes : 0));
    if (!l)
        return NULL;
    *l = *like;
    l->nruns = list->n;
    l->runs = behind ? (struct run *)(l + 1) : list->n > 1 ? list->at : &l->only;
    if (list->n == 1)
        l->only = list->at[0];
    else if (behind)
        memcpy(l->runs, list->at, bytes);
    return l;
}

/* No more room than needed. */
static void runs_shrink(struct run_list *list)
{
    struct run *at = NULL;
    if (list->n > 1 && list->at != list->few && list->n < list->room)
        at = realloc(list->at, list->n * sizeof *at);
    if (at)
        list->at = at;
}

struct layout *runs_close(struct run_list *list, const struct layout *like)
{
    runs_settle(list);
    runs_shrink(list);
    struct layout *l = list->no_memory ? NULL : layout_with(list, like);
    if (!l)
        return NULL;
    size_t packed = 0;
    for (size_t i = 0; i < l->nruns; i++) {
        struct run *run = &l->runs[i];
        run->packed = packed;
        packed += run->length * run->count;
        if (run->inner)
            layout_hold((struct layout *)run->inner);
    }
    if (l->runs != list->at)
        runs_drop(list);
    return l;
}

void runs_drop(struct run_list *list)
{
    if (list->at != list->few)
        free(list->at);
    list->at = NULL;
}

void layout_free_runs(struct layout *l)
{
    if (l->runs != &l->only && l->runs != (struct run *)(l + 1))
        free(l->runs);
}
