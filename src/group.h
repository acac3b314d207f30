/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A group is a rank map and my position in it.
 */
#ifndef XMPI_GROUP_H
#define XMPI_GROUP_H

#include "runtime/object.h"
#include "runtime/ranks.h"

struct group {
    struct object object; /* OBJECT_GROUP */
    struct ranks *ranks;
    int rank;         /* mine, or MPI_UNDEFINED */
    uint32_t session; /* number of the session it comes from, 0: the world model */
};

extern struct group group_empty; /* behind MPI_GROUP_EMPTY */

/* A group over `ranks` (the reference is taken over, also on failure); NULL when memory is out. */
struct group *group_new(struct ranks *ranks);
struct group *group_hold(struct group *group);
void group_drop(struct group *group);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.  O(n). */
int group_compare(const struct group *a, const struct group *b, int *result);

/* MPI_ERR_GROUP unless every member of `part` is one of `whole`.  O(n). */
int group_check_inside(const struct group *part, const struct group *whole);

#endif
