/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every algorithm of the table, symbolically: 1 to 64 ranks, all roots up to 16 ranks and a
 * choice of them above, in place and not, whole and in pieces, with several radices, and with
 * ranks in several places, up to 17 ranks throttled; between groups every split of 2 to 12 ranks; between neighbours
 * random graphs of 1 to 16.  Above 16 ranks one order in which nothing is buffered, and program
 * order; it is the number of ranks that algorithms get wrong there.
 *
 * An algorithm cannot be forgotten: the table that rules choose from is walked.
 *
 *     plans_test                  all of this, in seconds
 *     plans_test NAME             the algorithms of that name only
 *     plans_test --random 600     for 600 seconds, random ones on up to 4096 ranks
 */
#include "coll/algorithms.h"
#include "coll/check.h"
#include "coll/rules.h"
#include "test/plan/graph.h"
#include "test/plan/spots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
enum {
    SMALL = 9,
    MOST_RANKS = 20
}; /* it looks at our code, ten times slower, not at the plans */
#else
enum { SMALL = 16, MOST_RANKS = 64 };
#endif
enum { MOST_BLOCKS = 1 << 20, FEW = 7 };

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

static bool root_worth_trying(int root, int p)
{
    return p <= SMALL || root < 2 || root == p / 2 || root == p - 1;
}

static bool has_in_place(enum collective what)
{
    return what != COLL_BCAST && what != COLL_BARRIER;
}

static struct world world_of(const struct algorithm *a, int p)
{
    return (struct world){ .what = a->what,
                           .program = a->program,
                           .p = p,
                           .pieces = 1,
                           .radix = a->radix,
                           .ordered = a->ordered,
                           .program_order = true,
                           .brief = p > SMALL };
}

/* Few messages at a time, in some order without buffering: no plan depends on many. */
static void throttled(const struct algorithm *a, struct world world)
{
    world.brief = true;
    for (world.throttle = 1; world.throttle <= 2 && world.p <= SMALL + 1; world.throttle++)
        try(a, &world);
}

/* Whole and in pieces, in place and not. */
static void in_pieces(const struct algorithm *a, struct world world)
{
    int most = algorithm_cuts(a) && world.p <= SMALL ? 3 : 1, step = a->pipelines ? 1 : 2;
    for (world.pieces = 1; world.pieces <= most; world.pieces += step)
        for (int in_place = 0; in_place <= has_in_place(a->what); in_place++) {
            world.in_place = in_place;
            try(a, &world);
            if (!in_place && (world.pieces == 1 || a->pipelines || world.p <= FEW))
                throttled(a, world);
        }
}

static void within(const struct algorithm *a, int p, int root)
{
    struct world world = world_of(a, p);
    world.root = root;
    bool several = a->radix && p <= 33;
    int first = several ? 2 : a->radix, last = several ? 6 : a->radix;
    for (int kind = 0; kind < (a->needs == NEEDS_PLACES ? SPOTS_KINDS : 1); kind++)
        for (world.radix = first; world.radix <= last; world.radix++) {
            world.places = spots_make(kind, p);
            if (!algorithm_objection(a, p, world.places))
                in_pieces(a, world);
        }
}

static void between(const struct algorithm *a, int p, int split)
{
    struct world world = world_of(a, p);
    world.split = split;
    for (int root = 0; root < (is_rooted(a->what) ? p : 1); root++) {
        world.root = root;
        for (world.pieces = 1; world.pieces <= (algorithm_cuts(a) ? 3 : 1); world.pieces += 2) {
            try(a, &world);
            throttled(a, world);
        }
    }
}

static void along_edges(const struct algorithm *a, int p)
{
    const struct neighbours *near[GRAPH_RANKS];
    struct world world = world_of(a, p);
    graph_make(p, near);
    world.neighbours = near;
    for (world.pieces = 1; world.pieces <= 2; world.pieces++) {
        try(a, &world);
        throttled(a, world);
    }
    graph_free(p, near);
}

static bool rolls_on(const struct algorithm *a, int p)
{
    struct plan plan;
    struct plan_key key = { .me = 1, .size = p, .pieces = 1, .radix = a->radix };
    plan_make(&plan, &key, a->program);
    bool rolls = plan.rolls;
    plan_free(&plan);
    return rolls;
}

/* Some are written down otherwise for very many ranks. */
static void among_many(const struct algorithm *a)
{
    struct world world = world_of(a, WIDE + 1);
    if (a->needs == NEEDS_NOTHING && !is_rooted(a->what) && rolls_on(a, WIDE + 1) &&
        !rolls_on(a, WIDE - 1))
        try(a, &world);
}

/* In symbols, which have no sizes, a v form is what it is a form of. */
static enum collective plain(enum collective what)
{
    switch (what) {
    case COLL_GATHERV:
        return COLL_GATHER;
    case COLL_SCATTERV:
        return COLL_SCATTER;
    case COLL_ALLGATHERV:
        return COLL_ALLGATHER;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return COLL_ALLTOALL;
    case COLL_REDUCE_SCATTER_BLOCK:
        return COLL_REDUCE_SCATTER;
    default:
        return what;
    }
}

/* Has the same program been proven for the same collective? */
static bool is_proven(const struct algorithm *a)
{
    const struct algorithm *b = algorithms;
    while (b != a && (b->program != a->program || plain(b->what) != plain(a->what) ||
                      b->radix != a->radix || b->ordered != a->ordered || b->inter != a->inter))
        b++;
    return b != a;
}

static void everything_about(const struct algorithm *a)
{
    if (a->program && is_proven(a))
        return;
    for (int i = 0; is_neighbourhood(a->what) && i < 20 * GRAPH_RANKS; i++)
        along_edges(a, 1 + i % GRAPH_RANKS);
    if (!a->program || is_neighbourhood(a->what))
        return;
    for (int p = 1; p <= MOST_RANKS && !a->inter; p++)
        for (int root = 0; root < (is_rooted(a->what) ? p : 1); root++)
            if (root_worth_trying(root, p))
                within(a, p, root);
    if (!a->inter)
        among_many(a);
    for (int p = 2; p <= 12 && a->inter; p++)
        for (int split = 1; split < p; split++)
            between(a, p, split);
}

/* Blocks that rank `me` has and touches. */
static long blocks_of(const struct world *world, int me)
{
    struct plan plan;
    struct plan_key key = { .me = me,
                            .size = world->p,
                            .root = world->root,
                            .pieces = world->pieces,
                            .radix = world->radix,
                            .places = world->places };
    plan_make(&plan, &key, world->program);
    long blocks = plan.nblocks[ROOM_IN] + plan.nblocks[ROOM_OUT] + plan.nblocks[ROOM_TMP];
    for (int i = 0; i < plan.nsteps; i++)
        blocks += plan.step[i].to.n + plan.step[i].from.n;
    plan_free(&plan);
    return blocks;
}

/* Few enough for memory and patience, as far as two ranks tell. */
static bool fits(const struct world *world)
{
    return blocks_of(world, world->p / 2) * world->p < MOST_BLOCKS &&
           blocks_of(world, 0) < MOST_BLOCKS / 16;
}

/* Any algorithm on any number of ranks that fits in memory. */
static void at_random(const struct algorithm *a)
{
    int p = 1 + graph_draw(1 << (6 + graph_draw(7)));
    struct world world = world_of(a, p);
    world.places = spots_make(a->needs == NEEDS_PLACES ? graph_draw(SPOTS_KINDS) : 0, p);
    world.radix = a->radix ? 2 + graph_draw(8) : 0;
    world.root = is_rooted(a->what) ? graph_draw(p) : 0;
    world.in_place = has_in_place(a->what) && graph_draw(2);
    world.pieces = algorithm_cuts(a) ? 1 + graph_draw(4) : 1;
    world.throttle = graph_draw(2) ? 0 : 1 + graph_draw(4);
    world.brief = true;
    if (!algorithm_objection(a, p, world.places) && fits(&world))
        try(a, &world);
}

static void for_seconds(int seconds)
{
    int n = 0;
    graph_state = (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)graph_state);
    fflush(stdout);
    while (algorithms[n].name)
        n++;
    for (time_t end = time(NULL) + seconds; time(NULL) < end;) {
        const struct algorithm *a = &algorithms[graph_draw(n)];
        if (a->program && !a->inter && !is_neighbourhood(a->what))
            at_random(a);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--random") == 0)
        for_seconds(atoi(argv[2]));
    else
        for (const struct algorithm *a = algorithms; a->name; a++)
            if (argc < 2 || strcmp(argv[1], a->name) == 0)
                everything_about(a);
    printf("%d worlds, %d wrong\n", worlds, failures);
    return failures != 0 || worlds == 0;
}
