/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan list, show, check: which algorithms there are, what a rank does in one, and the proof
 * that it works.
 */
#include "tools/plan.h"

#include "coll/bind.h"
#include "coll/check.h"
#include "coll/effort.h"
#include "coll/forced.h"
#include "coll/own.h"
#include "coll/script.h"
#include "runtime/fail.h"
#include "tools/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_STEPS = 40,
    MOST_WRITTEN = 10000000,
    MOST_CHECKED = 10000000,
    MOST_BLOCKS = 400000000
};

static void list_row(const struct algorithm *a)
{
    char name[80];
    snprintf(name, sizeof name, "%s:%s", collective_name(a->what), a->name);
    printf("%-36s%s%s%s", name, a->inter ? "  between two groups" : "",
           a->ordered && is_reduction(a->what) ? "  any operation" : "",
           algorithm_cuts(a) ? "  may be cut" : "");
    if (a->radix)
        printf("  radix %d", a->radix);
    if (a->script)
        printf("  %s", a->script->path);
    printf("%s\n", a->program    ? ""
                   : a->attaches ? "  no plan: each other's memory on one node"
                                 : "  no plan: shared flags on one node");
}

int plan_list(const struct plan_args *args)
{
    int only = args->output ? collective_find(args->output) : -1;
    const struct algorithm *own;
    if (args->output && only < 0)
        return plan_wrong("%s", names_no_collective(args->output));
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (only < 0 || a->what == (enum collective)only)
            list_row(a);
    for (int i = 0; (own = own_each(i)); i++)
        if (only < 0 || own->what == (enum collective)only)
            list_row(own);
    return *own_complaint() ? plan_wrong("XMPI_PLAN: %s", own_complaint()) : 0;
}

/* ---- show ---- */

static void print_steps(const struct plan *plan, char *text, bool all)
{
    char *at = text;
    for (int i = 0; *at && (all || plan->roll || i < SHOWN_STEPS); i++) {
        char *end = strchr(at, '\n');
        end = end ? end + 1 : at + strlen(at);
        fwrite(at, 1, (size_t)(end - at), stdout);
        at = end;
    }
    if (*at)
        printf("  ... %d more; --expand shows all\n", plan->nsteps - SHOWN_STEPS);
    if (plan->roll && plan->in_flight)
        printf("At most %d sends and as many receives are under way at a time.\n",
               plan->in_flight);
    if (plan->roll)
        printf(
            "Blocks and ranks are counted round and round; steps wait for those among the 64 "
            "before\nthem that use the same blocks.  --expand shows every step.\n");
}

/* Where ranks are, when the algorithm wants to know; --nodes, else two halves. */
struct whereabouts {
    struct places places;
    const struct places *known; /* NULL: all in one place */
    int *group;
};

static void whereabouts(const struct plan_args *args, int p, struct whereabouts *w)
{
    int nodes = args->nodes ? args->nodes : 2;
    int each = (p + nodes - 1) / nodes;
    *w = (struct whereabouts){ .places.levels = 1 };
    w->group = malloc((size_t)p * sizeof *w->group);
    for (int r = 0; w->group && r < p; r++)
        w->group[r] = r - r % each;
    w->places.first[0] = w->group;
    bool apart = args->nodes > 1 || (args->algorithm->needs == NEEDS_PLACES && p > 1);
    w->known = w->group && apart ? &w->places : NULL;
}

static int radix_of(const struct plan_args *args)
{
    return args->radix ? args->radix : args->algorithm->radix;
}

/* On the torus that was asked for, or a ring; NULL: the algorithm knows none, or no memory. */
static struct neighbours *neighbours_of(const struct plan_args *args, int p, int rank)
{
    bool ring = args->ndims == 0;
    if (!is_neighbourhood(args->algorithm->what))
        return NULL;
    return neighbours_torus(ring ? 1 : args->ndims, ring ? &p : args->dims, rank);
}

static int no_memory(int p)
{
    plan_wrong("no memory for the neighbours of %d ranks", p);
    return 1;
}

static void free_neighbours(struct neighbours **all, int p)
{
    for (int r = 0; all && r < p; r++)
        free(all[r]);
    free(all);
}

/* Of all ranks; NULL as above. */
static struct neighbours **all_neighbours(const struct plan_args *args, int p)
{
    struct neighbours **all = NULL;
    if (is_neighbourhood(args->algorithm->what))
        all = calloc((size_t)p, sizeof *all);
    for (int r = 0; all && r < p; r++)
        if (!(all[r] = neighbours_of(args, p, r))) {
            free_neighbours(all, p);
            return NULL;
        }
    return all;
}

/* Of a collective with a root only the root is in place, as in law_in_place (check_law.c). */
static enum alias alias_of(const struct plan_args *args)
{
    enum collective what = args->algorithm->what;
    return bind_alias(what, args->in_place && (!is_rooted(what) || args->rank == args->root));
}

int plan_show(const struct plan_args *args)
{
    const struct algorithm *a = args->algorithm;
    struct plan plan;
    if (a->inter && args->in_place)
        return plan_wrong("%s:%s is between two groups, which are never in place; leave out "
                          "--in-place",
                          collective_name(a->what), a->name);
    struct whereabouts where;
    struct neighbours *near = neighbours_of(args, args->from, args->rank);
    if (is_neighbourhood(a->what) && !near)
        return no_memory(args->from);
    whereabouts(args, args->from, &where);
    int code = plan_objection(args, where.known);
    if (code) {
        free(where.group);
        free(near);
        return code;
    }
    struct plan_key key = { .me = args->rank,
                            .size = args->from,
                            .root = args->root,
                            .split = !a->inter     ? 0
                                     : args->split ? args->split
                                                   : (args->from + 1) / 2,
                            .neighbours = near,
                            .pieces = args->pieces ? args->pieces : 1,
                            .radix = radix_of(args),
                            .throttle = args->throttle,
                            .places = where.known,
                            .script = a->script,
                            .alias = alias_of(args) };
    struct price_query query = plan_query(args);
    struct effort effort = effort_one(&query, &key);
    if (effort.steps > MOST_WRITTEN && (args->expand || !effort.rolls)) {
        free(where.group);
        return plan_wrong(
            "%s:%s on %d ranks is about %.3g steps for one of them; at most %d are "
            "written down here: ask for fewer ranks",
            collective_name(a->what), a->name, args->from, effort.steps, MOST_WRITTEN);
    }
    int error =
        args->expand ? plan_make(&plan, &key, a->program) : plan_keep(&plan, &key, a->program);
    char *text = error ? NULL : plan_text(&plan);
    if (text) {
        printf("%s:%s, rank %d of %d: %d steps; blocks: in %d, out %d, tmp %d\n",
               collective_name(a->what), a->name, args->rank, args->from, plan.nsteps,
               plan.nblocks[ROOM_IN], plan.nblocks[ROOM_OUT], plan.nblocks[ROOM_TMP]);
        print_steps(&plan, text, args->expand);
    }
    free(where.group);
    free(near);
    plan_free(&plan);
    if (error)
        plan_wrong("%s", fail_text());
    else if (!text)
        plan_wrong("no memory to show a plan on %d ranks", args->from);
    free(text);
    return text ? 0 : 1;
}

/* ---- check ---- */

struct proof {
    const struct plan_args *args;
    int worlds, sizes, skipped;
    const char *why_skipped;
};

/* Every root of few ranks, the ends and the middle of many; every split in two groups. */
static bool worth_trying(int i, int p)
{
    return p <= 16 || i < 3 || i == p / 2 || i == p - 1;
}

static bool prove(struct proof *proof, struct world *world)
{
    struct verdict verdict;
    proof->worlds++;
    if (check_world(world, &verdict))
        return true;
    const struct algorithm *a = proof->args->algorithm;
    if (verdict.undecided) {
        plan_wrong("%s:%s cannot be verified on %d ranks: %s", collective_name(world->what),
                   a->name, world->p, verdict.text);
        return false;
    }
    const struct plan_key key = {
        .size = world->p, .root = world->root, .pieces = world->pieces, .radix = world->radix
    };
    char place[40] = "";
    int line = a->script ? own_line(a, &key, world->in_place, verdict.text) : 0;
    if (line)
        snprintf(place, sizeof place, "line %d: ", line);
    plan_wrong("%s:%s is wrong on %d ranks: %s%s", collective_name(world->what), a->name,
               world->p, place, verdict.text);
    return false;
}

/* Roots, in place or not. */
static bool prove_each(struct proof *proof, struct world *world)
{
    enum collective what = world->what;
    bool good = true, twice = what != COLL_BCAST && what != COLL_BARRIER &&
                              !is_neighbourhood(what) && !world->split;
    for (int root = 0; good && root < (is_rooted(what) ? world->p : 1); root++)
        for (int in_place = 0; good && in_place <= twice; in_place++) {
            world->root = root;
            world->in_place = in_place;
            good = !worth_trying(root, world->p) || prove(proof, world);
        }
    return good;
}

/* Every split in two groups, or the one that was asked for. */
static bool prove_splits(struct proof *proof, struct world *world)
{
    const struct plan_args *args = proof->args;
    bool good = true;
    if (!args->algorithm->inter)
        return prove_each(proof, world);
    for (int split = 1; good && split < world->p; split++) {
        world->split = split;
        if (args->split ? split == args->split : worth_trying(split - 1, world->p - 1))
            good = prove_each(proof, world);
    }
    return good;
}

static bool prove_size(struct proof *proof, int p)
{
    const struct plan_args *args = proof->args;
    const struct algorithm *a = args->algorithm;
    struct whereabouts where;
    struct neighbours **near = all_neighbours(args, p);
    if (is_neighbourhood(a->what) && !near)
        return no_memory(p) == 0;
    whereabouts(args, p, &where);
    const char *why = plan_why_not(a, p, where.known);
    if (why && a->script)
        why = "a \"require\" of its text says that it does not serve";
    *(why ? &proof->skipped : &proof->sizes) += 1;
    proof->why_skipped = why ? why : proof->why_skipped;
    struct world world = { .what = a->what,
                           .program = a->program,
                           .p = p,
                           .pieces = args->pieces ? args->pieces : 1,
                           .radix = radix_of(args),
                           .throttle = args->throttle,
                           .places = where.known,
                           .neighbours = (const struct neighbours *const *)near,
                           .script = a->script,
                           .ordered = a->ordered,
                           .program_order = true,
                           .most = MOST_CHECKED,
                           .most_blocks = MOST_BLOCKS };
    bool good = why || prove_splits(proof, &world);
    free_neighbours(near, p);
    free(where.group);
    return good;
}

static void say_proof(const struct proof *proof)
{
    const struct algorithm *a = proof->args->algorithm;
    printf("%s:%s is right on all of %d to %d ranks\n", collective_name(a->what), a->name,
           proof->args->from, proof->args->to);
    printf("  %d worlds: %s%severy one performed twice, in several orders\n", proof->worlds,
           is_rooted(a->what) ? "roots, " : "",
           a->inter                    ? "two groups, "
           : is_neighbourhood(a->what) ? "neighbours on a torus or ring, "
                                       : "in place or not, ");
    printf(
        "  every result complete%s; no deadlock without buffering; no message lost, doubled\n"
        "  or of the wrong length; input never written; nothing used that is not there\n",
        a->ordered && is_reduction(a->what) ? " and in rank order" : "");
    if (proof->skipped)
        printf("  left out: %d numbers of ranks, since there %s\n", proof->skipped,
               proof->why_skipped);
}

int plan_check(const struct plan_args *args)
{
    struct proof proof = { .args = args };
    char near[40];
    enum { MOST = 4096 };
    if (args->to > MOST)
        return plan_wrong("-n %d: the verifier performs every rank; at most %d", args->to,
                          MOST);
    bool good = true;
    for (int p = args->from; good && p <= args->to; p++)
        good = prove_size(&proof, p);
    if (good && proof.sizes == 0) {
        algorithm_ranks_near(args->algorithm, args->from, args->to, near, sizeof near);
        return plan_wrong("nothing to check on %d to %d ranks: %s%s%s", args->from, args->to,
                          proof.why_skipped, *near ? "; take " : "", near);
    }
    if (good)
        say_proof(&proof);
    return good ? 0 : 1;
}
