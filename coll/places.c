/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a team are.  All of them know it alike, without a word said: the boot segment
 * has the node of every process of the job.
 *
 *     ranks    0 1 2 3 4 5        nodes a a b b a b
 *     first    0 0 2 2 0 2        one level: who shares a node with whom
 *
 * Costs four bytes a rank and one pass when a communicator over several nodes is made; those that
 * lie on one node have no places.
 */
#include "coll/places.h"

#include "coll/plan.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/ranks.h"
#include "mpi.h"

#include <stdlib.h>

struct team_places {
    struct places places;
    int first[];
};

bool on_one_node(const struct ranks *members)
{
    if (boot.nnodes == 1)
        return true;
    for (int i = 0; i < members->n; i++)
        if (boot_local(ranks_world(members, i)) < 0)
            return false;
    return true;
}

/* The first rank of every node, by `of_node`; false: somebody's node is not known. */
static bool group_by_node(const struct ranks *members, int *first, int *of_node)
{
    for (int node = 0; node < boot.nnodes; node++)
        of_node[node] = -1;
    for (int r = 0; r < members->n; r++) {
        int node = boot_node(ranks_world(members, r));
        if (node < 0)
            return false;
        if (of_node[node] < 0)
            of_node[node] = r;
        first[r] = of_node[node];
    }
    return true;
}

int places_find(const struct ranks *members, const struct places **places, int *nodes)
{
    struct team_places *found =
        malloc(sizeof *found + (size_t)members->n * sizeof found->first[0]);
    int *of_node = malloc((size_t)boot.nnodes * sizeof *of_node);
    int error = found && of_node
                    ? 0
                    : fail(MPI_ERR_NO_MEM, "no memory for the nodes of %d ranks", members->n);
    bool known = !error && group_by_node(members, found->first, of_node);
    free(of_node);
    if (!known) {
        free(found);
        return error;
    }
    found->places = (struct places){ .levels = 1, .first = { found->first } };
    *places = &found->places;
    *nodes = 0;
    for (int r = 0; r < members->n; r++)
        *nodes += found->first[r] == r;
    return 0;
}
