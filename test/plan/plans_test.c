/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every algorithm of the table, symbolically: 1 to 33 ranks, all roots (a choice of them from 9
 * ranks on), in place and not, whole and in pieces; between groups every split of 2 to 12 ranks;
 * between neighbours random graphs of 1 to 16.
 * An algorithm cannot be forgotten: the table that rules choose from is walked.
 */
#include "coll/check.h"
#include "coll/rules.h"
#include "test/plan/graph.h"

#include <stdio.h>
#include <stdlib.h>

static int worlds, failures;

static void try(const struct algorithm *a, const struct world *world)
{
    struct verdict verdict;
    worlds++;
    if (check_world(world, &verdict))
        return;
    failures++;
    if (failures <= 20)
        fprintf(stderr, "%s %s: %s\n", collective_name(a->what), a->name, verdict.text);
}

static bool takes_root(enum collective what)
{
    return what == COLL_BCAST || what == COLL_GATHER || what == COLL_GATHERV ||
           what == COLL_SCATTER || what == COLL_SCATTERV || what == COLL_REDUCE;
}

static bool root_worth_trying(int root, int p)
{
    return p <= 8 || root < 3 || root == p / 2 || root == p - 1;
}

static void within(const struct algorithm *a, int p, int root)
{
    bool twice = a->what != COLL_BCAST && a->what != COLL_BARRIER;
    for (int pieces = 1; pieces <= (a->cut && p <= 16 ? 3 : 1); pieces++)
        for (int in_place = 0; in_place <= twice; in_place++)
            try(a, &(struct world){ .what = a->what,
                                    .program = a->program,
                                    .p = p,
                                    .root = root,
                                    .pieces = pieces,
                                    .in_place = in_place,
                                    .ordered = a->ordered,
                                    .program_order = true });
}

static void between(const struct algorithm *a, int p, int split)
{
    for (int root = 0; root < (takes_root(a->what) ? p : 1); root++)
        try(a, &(struct world){ .what = a->what,
                                .program = a->program,
                                .p = p,
                                .root = root,
                                .split = split,
                                .pieces = 1,
                                .ordered = a->ordered,
                                .program_order = true });
}

static void along_edges(const struct algorithm *a, int p)
{
    const struct neighbours *near[GRAPH_RANKS];
    graph_make(p, near);
    try(a, &(struct world){ .what = a->what,
                            .program = a->program,
                            .p = p,
                            .pieces = 1,
                            .neighbours = near,
                            .program_order = true });
    graph_free(p, near);
}

int main(void)
{
    for (const struct algorithm *a = algorithms; a->name; a++) {
        for (int i = 0; is_neighbourhood(a->what) && i < 20 * GRAPH_RANKS; i++)
            along_edges(a, 1 + i % GRAPH_RANKS);
        if (!a->program || is_neighbourhood(a->what))
            continue;
        for (int p = 1; p <= 33 && !a->inter; p++)
            for (int root = 0; root < (takes_root(a->what) ? p : 1); root++)
                if (root_worth_trying(root, p))
                    within(a, p, root);
        for (int p = 2; p <= 12 && a->inter; p++)
            for (int split = 1; split < p; split++)
                between(a, p, split);
    }
    printf("%d worlds, %d wrong\n", worlds, failures);
    return failures != 0 || worlds == 0;
}
