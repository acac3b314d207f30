/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank maps.  A map is immutable once made, so sharing one needs a count and nothing else.
 * The list of an irregular map lies behind the struct in the same allocation.
 */
#include "runtime/ranks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct ranks *ranks_new(int n, bool with_list)
{
    size_t list_bytes = with_list ? (size_t)n * sizeof(int32_t) : 0;
    struct ranks *r = malloc(sizeof *r + list_bytes);
    if (!r)
        return NULL;
    *r = (struct ranks){ .refs = 1, .n = n, .list = with_list ? (int32_t *)(r + 1) : NULL };
    return r;
}

struct ranks *ranks_range(int n, int first, int stride)
{
    struct ranks *r = ranks_new(n, false);
    if (!r)
        return NULL;
    r->first = first;
    r->stride = stride;
    return r;
}

static bool list_is_regular(int n, const int *world)
{
    for (int i = 2; i < n; i++)
        if ((int64_t)world[i] - world[i - 1] != (int64_t)world[1] - world[0])
            return false;
    return true;
}

struct ranks *ranks_list(int n, const int *world)
{
    if (list_is_regular(n, world))
        return ranks_range(n, n > 0 ? world[0] : 0, n > 1 ? world[1] - world[0] : 1);
    struct ranks *r = ranks_new(n, true);
    if (r)
        memcpy(r->list, world, (size_t)n * sizeof *world);
    return r;
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
