/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a team are.
 */
#ifndef XMPI_PLACES_H
#define XMPI_PLACES_H

#include <stdbool.h>

struct ranks;  /* runtime/ranks.h */
struct places; /* coll/plan.h */

bool on_one_node(const struct ranks *members);

/* The places of ranks, to be dropped, and how many nodes these are on if on several.  Both stay as
 * they are where somebody's place is not known, or all are in one, for all members alike.
 * MPI_ERR_NO_MEM. */
int places_find(const struct ranks *members, struct places **places, int *nodes);

/* For another team of the same ranks; NULL is fine. */
struct places *places_share(struct places *places);
void places_drop(struct places *places);

/* The lowest of the ranks on the node of each, to be freed.  NULL: all are on one node, or somebody's
 * node is not known, for all members alike.  MPI_ERR_NO_MEM. */
int nodes_find(const struct ranks *members, int **first);

#endif
