/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a team are.  All of them know it alike, without a word said: the boot segment
 * has the node of every process of the job, and where each process of this node may run.
 *
 *     ranks    0 1 2 3 4 5        nodes a a b b a b
 *     first    0 0 2 2 0 2        one level: who shares a node with whom
 *
 *     one node                    package 0 0 0 0 1 1       L3 0 0 1 1 2 2
 *     first    0 0 0 0 4 4        two levels: packages,
 *              0 0 2 2 4 4        caches inside them; what divides nothing is no level
 *
 * Costs four bytes a rank and level, and a pass over the groups per rank, when a communicator is
 * made; duplicates share them.  Ranks of one node that are not bound, or all in one place, have no
 * places.  Of ranks on other nodes only the node is known.
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

/* What divides a node, outermost first. */
enum { DIVISIONS = 3 };
_Static_assert((int)DIVISIONS <= (int)PLACES_LEVELS, "each may be a level");
static int division(int world, int which)
{
    const struct boot_place *place = &boot_record(boot_local(world))->place;
    return which == 0 ? place->package : which == 1 ? place->numa : place->l3;
}

/* Groups of one division inside those of `outer` (NULL: all are one); how many, 0: somebody's place is
 * not known. */
static int divide(const struct ranks *members, int which, const int *outer, int *first)
{
    int groups = 0;
    for (int r = 0; r < members->n; r++) {
        int mine = division(ranks_world(members, r), which), f = 0;
        if (mine < 0)
            return 0;
        while (f < r && (first[f] != f || (outer && outer[f] != outer[r]) ||
                         division(ranks_world(members, f), which) != mine))
            f++;
        first[r] = f;
        groups += f == r;
    }
    return groups;
}

bool on_one_node(const struct ranks *members)
{
    if (boot.nnodes == 1)
        return true;
    for (int i = 0; i < members->n; i++)
        if (boot_local(ranks_world(members, i)) < 0)
            return false;
    return true;
}

/* first[r] becomes the lowest rank on the node of r; *known: everybody's node is known. */
static int group_by_node(const struct ranks *members, int *first, bool *known)
{
    int *of_node = malloc((size_t)boot.nnodes * sizeof *of_node);
    if (!first || !of_node) {
        free(of_node);
        return fail(MPI_ERR_NO_MEM, "no memory for the nodes of %d ranks", members->n);
    }
    for (int node = 0; node < boot.nnodes; node++)
        of_node[node] = -1;
    *known = true;
    for (int r = 0; r < members->n && *known; r++) {
        int node = boot_node(ranks_world(members, r));
        *known = node >= 0;
        if (*known && of_node[node] < 0)
            of_node[node] = r;
        first[r] = *known ? of_node[node] : 0;
    }
    free(of_node);
    return 0;
}

int nodes_find(const struct ranks *members, int **first)
{
    bool known = false;
    *first = NULL;
    if (on_one_node(members))
        return 0;
    *first = malloc((size_t)members->n * sizeof **first);
    int error = group_by_node(members, *first, &known);
    if (!known) {
        free(*first);
        *first = NULL;
    }
    return error;
}

/* The levels of one node; none: *places stays as it is. */
static int find_within(const struct ranks *members, struct places **places)
{
    int n = members->n, known = 1;
    if (n < 3 || division(ranks_world(members, 0), 0) < 0)
        return 0; /* two are together or both alone */
    struct team_places *found =
        malloc(sizeof *found + DIVISIONS * (size_t)n * sizeof found->first[0]);
    if (!found)
        return fail(MPI_ERR_NO_MEM, "no memory for the places of %d ranks", n);
    found->places = (struct places){ .levels = 0 };
    for (int which = 0; which < DIVISIONS; which++) {
        int level = found->places.levels, *first = found->first + level * n;
        int groups =
            divide(members, which, level ? found->places.first[level - 1] : NULL, first);
        if (groups <= known || groups == n)
            continue;
        known = groups;
        found->places.first[found->places.levels++] = first;
    }
    if (found->places.levels == 0)
        free(found);
    else
        *places = &found->places;
    return 0;
}

int places_find(const struct ranks *members, struct places **places, int *nodes)
{
    if (on_one_node(members))
        return find_within(members, places);
    struct team_places *found =
        malloc(sizeof *found + (size_t)members->n * sizeof found->first[0]);
    bool known = false;
    int error = group_by_node(members, found ? found->first : NULL, &known);
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

struct places *places_share(struct places *places)
{
    if (places)
        places->shared++;
    return places;
}

void places_drop(struct places *places)
{
    if (places && places->shared-- == 0)
        free(places);
}
