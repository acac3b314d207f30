/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank map: position in a group -> process of the job (its rank in MPI_COMM_WORLD, the
 * "world rank").  Regular maps are {first, stride}, the rest one shared list of 32-bit numbers.
 * Groups, communicators and channels share a map by reference.
 */
#ifndef XMPI_RANKS_H
#define XMPI_RANKS_H

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

/* Position of a world rank, -1 when it is not in the map.  O(1) regular, O(n) otherwise. */
int ranks_find(const struct ranks *r, int world);

#endif
