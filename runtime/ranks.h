/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank map: position in a group -> process of the job (its rank in MPI_COMM_WORLD, the
 * "world rank").  Regular maps are {first, stride}, the rest one shared list of 32-bit numbers.
 * Groups, communicators and channels share a map by reference.
 */
#ifndef XMPI_RANKS_H
#define XMPI_RANKS_H

#include <stdbool.h>
#include <stdint.h>

struct ranks {
    int32_t refs;
    int32_t n;             /* positions */
    int32_t first, stride; /* map(i) = first + i * stride when list is NULL */
    int32_t *list;
};

/* n positions mapping to first, first + stride, ...  NULL when memory is out. */
struct ranks *ranks_range(int n, int first, int stride);

/* Copy a list; detects the regular case and then keeps no list. */
struct ranks *ranks_list(int n, const int *world);

/* Both, one after the other. */
struct ranks *ranks_join(const struct ranks *a, const struct ranks *b);

static inline struct ranks *ranks_hold(struct ranks *r)
{
    r->refs++;
    return r;
}
void ranks_drop(struct ranks *r);

/* World rank of position i, 0 <= i < n. */
static inline int ranks_world(const struct ranks *r, int i)
{
    return r->list ? r->list[i] : r->first + i * r->stride;
}

/* A map in the making, from { 0 }: ranks are added at its end, and only when they stop being
 * regular is there a list. */
struct ranks_draft {
    int32_t n, first, stride; /* while `made` is NULL */
    struct ranks *made;       /* with a list of room for `room` */
    int32_t room;
    bool failed; /* memory was out */
};

void ranks_add(struct ranks_draft *draft, int world);

/* Add first, first + stride, ..., n of them, in O(1) where that goes on regularly. */
void ranks_add_range(struct ranks_draft *draft, int n, int first, int stride);

/* Add positions at, at + step, ... of another map, n of them. */
void ranks_add_part(struct ranks_draft *draft, const struct ranks *from, int n, int at,
                    int step);

/* The map; NULL when memory was out.  The draft is empty again. */
struct ranks *ranks_finish(struct ranks_draft *draft);

/* Same ranks in the same order?  O(1) when both are regular. */
bool ranks_are_equal(const struct ranks *a, const struct ranks *b);

/* Position of a world rank, -1 when it is not in the map.  O(1) regular, O(n) otherwise. */
int ranks_find(const struct ranks *r, int world);

#endif
