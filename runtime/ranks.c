/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank maps.  A map is immutable once made, so sharing one needs a count and nothing else.
 * The list of an irregular map lies behind the struct in the same allocation.
 *
 * Drafts grow a map at its end.  As long as what comes is regular, three numbers are all there
 * is, so a regular map of 10^6 ranks is made without ever being written down:
 *
 *     add 4, 6, 8     n 3, first 4, stride 2
 *     add 9           a list of 4 6 8 9, and it stays one; room doubles
 */
#include "runtime/ranks.h"

#include <stdlib.h>

struct ranks *ranks_range(int n, int first, int stride)
{
    struct ranks *r = malloc(sizeof *r);
    if (r)
        *r = (struct ranks){ .refs = 1, .n = n, .first = first, .stride = stride };
    return r;
}

struct ranks *ranks_list(int n, const int *world)
{
    struct ranks_draft draft = { 0 };
    for (int i = 0; i < n; i++)
        ranks_add(&draft, world[i]);
    return ranks_finish(&draft);
}

struct ranks *ranks_join(const struct ranks *a, const struct ranks *b)
{
    struct ranks_draft draft = { 0 };
    ranks_add_part(&draft, a, a->n, 0, 1);
    ranks_add_part(&draft, b, b->n, 0, 1);
    return ranks_finish(&draft);
}

void ranks_drop(struct ranks *r)
{
    if (r && --r->refs == 0)
        free(r);
}

static int range_find(const struct ranks *r, int world)
{
    int64_t distance = (int64_t)world - r->first;
    if (r->stride == 0)
        return r->n > 0 && distance == 0 ? 0 : -1;
    if (distance % r->stride != 0)
        return -1;
    int64_t i = distance / r->stride;
    return i >= 0 && i < r->n ? (int)i : -1;
}

int ranks_find(const struct ranks *r, int world)
{
    if (!r->list)
        return range_find(r, world);
    for (int i = 0; i < r->n; i++)
        if (r->list[i] == world)
            return i;
    return -1;
}

bool ranks_are_equal(const struct ranks *a, const struct ranks *b)
{
    if (a == b)
        return true;
    if (a->n != b->n)
        return false;
    if (!a->list && !b->list)
        return a->n == 0 || (a->first == b->first && (a->n == 1 || a->stride == b->stride));
    for (int i = 0; i < a->n; i++)
        if (ranks_world(a, i) != ranks_world(b, i))
            return false;
    return true;
}

/* ---- drafts ---- */

enum { LEAST_ROOM = 16 };

static bool draft_resize(struct ranks_draft *draft, int room)
{
    struct ranks *made = realloc(draft->made, sizeof *made + (size_t)room * sizeof *made->list);
    if (!made) {
        draft->failed = true;
        return false;
    }
    made->list = (int32_t *)(made + 1);
    draft->made = made;
    draft->room = room;
    return true;
}

/* From three numbers to a list, with room for `more`. */
static bool draft_write_down(struct ranks_draft *draft, int more)
{
    int room = draft->n + more > LEAST_ROOM ? draft->n + more : LEAST_ROOM;
    if (!draft_resize(draft, room))
        return false;
    *draft->made = (struct ranks){ .refs = 1, .n = draft->n, .list = draft->made->list };
    for (int i = 0; i < draft->n; i++)
        draft->made->list[i] = draft->first + i * draft->stride;
    return true;
}

static bool draft_makes_room(struct ranks_draft *draft, int more)
{
    if (draft->failed)
        return false;
    if (!draft->made)
        return draft_write_down(draft, more);
    int n = draft->made->n;
    if (n + more <= draft->room)
        return true;
    return draft_resize(draft, n + (more > n ? more : n));
}

/* Is this where a regular draft goes on? */
static bool draft_continues(const struct ranks_draft *draft, int world)
{
    return (int64_t)draft->first + (int64_t)draft->n * draft->stride == world;
}

void ranks_add(struct ranks_draft *draft, int world)
{
    if (!draft->made && draft->n == 1) {
        int64_t stride = (int64_t)world - draft->first;
        draft->stride = stride == (int32_t)stride ? (int32_t)stride : 0;
    }
    if (!draft->made && draft->n == 0)
        *draft = (struct ranks_draft){ .n = 1, .first = world, .stride = 1 };
    else if (!draft->made && draft_continues(draft, world))
        draft->n++;
    else if (draft_makes_room(draft, 1))
        draft->made->list[draft->made->n++] = world;
}

void ranks_add_range(struct ranks_draft *draft, int n, int first, int stride)
{
    int i = 0;
    for (; i < n && !draft->made && (draft->n < 2 || n == 1); i++)
        ranks_add(draft, first + i * stride);
    if (i < n && !draft->made && draft->stride == stride &&
        draft_continues(draft, first + i * stride))
        draft->n += n - i;
    else if (i < n && draft_makes_room(draft, n - i))
        for (; i < n; i++)
            ranks_add(draft, first + i * stride);
}

void ranks_add_part(struct ranks_draft *draft, const struct ranks *from, int n, int at,
                    int step)
{
    if (!from->list)
        ranks_add_range(draft, n, from->first + at * from->stride, step * from->stride);
    else
        for (int i = 0; i < n; i++)
            ranks_add(draft, from->list[at + i * step]);
}

struct ranks *ranks_finish(struct ranks_draft *draft)
{
    struct ranks *made = NULL;
    if (draft->failed)
        free(draft->made);
    else if (!draft->made)
        made = ranks_range(draft->n, draft->first, draft->n > 0 ? draft->stride : 1);
    else if (draft_resize(draft, draft->made->n))
        made = draft->made;
    else
        free(draft->made);
    *draft = (struct ranks_draft){ 0 };
    return made;
}
