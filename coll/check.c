/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does this algorithm work?  All ranks' plans are performed in one process.  Blocks hold
 * symbols instead of bytes, in units (one per block, but where the two groups of an
 * intercommunicator cut one vector differently, as many as both cuts need).
 *
 * Symbols and what must become of them: check_law.h.
 *
 * Worlds are performed in several orders: first come first served, last first, two shuffles
 * with sends that complete only when taken (zero buffering), and one shuffle in which they
 * complete at once; those that may be performed in program order also so, with sends of both
 * kinds.  Folds have one landing buffer per rank, the least that run.c may have, or, in two
 * orders, plenty.
 * A receive spoils its target when posted, and a send reads when taken, so that a missing
 * dependency shows in some order.  Everything is done twice, on new input and used scratch,
 * as persistent collectives do.
 *
 * Found: incomplete or wrong results, wrong order, sums that not all ranks add up alike (so that
 * their bits may differ), deadlock without buffering, messages that nobody takes or sends,
 * lengths that differ, blocks that may be longer than their place, input written, buffers touched
 * that a rank does not have, blocks out of bounds.  Not found: what depends on bytes (coll/bind.c, run.c).
 */
#include "coll/check.h"

#include "coll/bind.h"
#include "coll/check_stage.h"
#include "coll/effort.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool stage_wrong(struct stage *g, const char *format, ...)
{
    static const char *const orders[ORDERS] = {
        [NO_ORDER] = "",
        [FIRST_COME] = ", first come first served",
        [LAST_FIRST] = ", last first",
        [SHUFFLED] = ", shuffled",
        [SHUFFLED_AGAIN] = ", shuffled again",
        [EAGER] = ", sends over at once",
        [WINDOWED] = ", through a window",
        [IN_PROGRAM_ORDER] = ", in program order",
        [IN_ORDER_AS_TAKEN] = ", in program order, sends over when taken",
    };
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const struct world *w = g->world;
    snprintf(g->verdict->text, sizeof(g->verdict->text),
             "p %d root %d split %d pieces %d radix %d throttle %d in place %d%s: %s", w->p,
             w->root, w->split, w->pieces, w->radix, w->throttle, w->in_place, orders[g->order],
             text);
    return false;
}

bool stage_no_memory(struct stage *g)
{
    g->verdict->undecided = true;
    return stage_wrong(g, "no memory to verify it");
}

/* Where the blocks of a room begin, if they are not as many units. */
static bool cut_units(struct stage *g, int r, enum room room, struct memory *m)
{
    m->nunits = m->nblocks;
    if (!law_cuts_blocks(g->world))
        return true;
    m->start = calloc((size_t)m->nblocks + 1, sizeof(int));
    if (!m->start)
        return stage_no_memory(g);
    for (int b = 0; b < m->nblocks; b++)
        m->start[b + 1] = m->start[b] + law_units(g->world, r, room, b);
    m->nunits = m->start[m->nblocks];
    return true;
}

static bool measure(struct stage *g, int r, size_t *units)
{
    const struct world *w = g->world;
    struct actor *a = &g->actor[r];
    const char *complaint = law_complaint(w, r, a->plan->nblocks, g->actor[0].plan->nblocks);
    if (complaint)
        return stage_wrong(g, "rank %d %s", r, complaint);
    for (int room = 0; room < ROOMS; room++) {
        struct memory *m = &a->room[room];
        int n = a->plan->nblocks[room], must = law_blocks(w, r, (enum room)room);
        m->there = law_has_room(w, r, (enum room)room);
        if (m->there && must && n != must)
            return stage_wrong(g, "rank %d cuts %s in %d blocks instead of %d", r,
                               room_name(room), n, must);
        m->nblocks = n;
        if (!cut_units(g, r, (enum room)room, m))
            return false;
        if (room == ROOM_OUT || room == ROOM_IN)
            g->law.nsums = g->law.nsums > m->nunits ? g->law.nsums : m->nunits;
        *units += (size_t)m->nunits + 1;
    }
    return true;
}

/* Each rank its part of what has been allocated for all. */
static void lay_out(struct stage *g)
{
    struct symbol *unit = g->units;
    size_t step = 0;
    for (int r = 0; r < g->world->p; r++) {
        struct actor *a = &g->actor[r];
        for (int room = 0; room < ROOMS; room++) {
            a->room[room].unit = unit;
            unit += a->room[room].nunits + 1;
        }
        a->step = g->steps + step;
        a->partner = g->partners + step;
        step += (size_t)a->plan->nsteps;
    }
}

/* ---- before and after ---- */

static void fill(struct memory *m, int first, int n, uint64_t salt, int rank)
{
    for (int u = 0; u < n; u++)
        m->unit[first + u] = symbol_atom(salt, rank, u);
}

/* In the library's barriers block t of TMP says that rank me - t has come; those of users need not say so. */
static bool has_tokens(const struct world *w)
{
    return w->what == COLL_BARRIER && w->p > 1 && !w->script;
}

static void prepare(struct stage *g, int r)
{
    const struct world *w = g->world;
    struct actor *a = &g->actor[r];
    enum alias alias = bind_alias(w->what, law_in_place(w, r));
    struct memory *in = &a->room[ROOM_IN], *out = &a->room[ROOM_OUT];
    fill(in, 0, in->nunits, g->law.salt, r);
    if (alias == ALIAS_SAME || (w->what == COLL_BCAST && r == w->root))
        fill(out, 0, out->nunits, g->law.salt, r);
    if (alias == ALIAS_MINE)
        fill(out, r * w->pieces, w->pieces, g->law.salt, r);
    if (w->what == COLL_BARRIER)
        fill(&a->room[ROOM_TMP], 0, has_tokens(w), g->law.salt, r);
    for (int i = 0; i < a->plan->nsteps; i++)
        a->step[i] = (struct progress){ .nwait = a->plan->step[i].nwait };
    a->next_fold = a->oldest = a->entered = 0;
    a->landing = false;
    memset(a->read, 0, sizeof a->read);
}

static bool judge(struct stage *g, int r)
{
    const struct world *w = g->world;
    struct actor *a = &g->actor[r];
    struct memory *out = &a->room[ROOM_OUT], *in = &a->room[ROOM_IN];
    struct symbol want;
    for (int u = 0; out->there && u < out->nunits; u++)
        if (law_expected(&g->law, r, u, &want) && !law_same(w, out->unit[u], want))
            return stage_wrong(g, "rank %d: unit %d of its result is %s", r, u,
                               out->unit[u].weight ? "wrong" : "undefined");
    for (int u = 0; in->there && u < in->nunits; u++)
        if (in->unit[u].hash != symbol_atom(g->law.salt, r, u).hash)
            return stage_wrong(g, "rank %d: unit %d of its input has changed", r, u);
    for (int u = 0; w->what == COLL_ALLREDUCE && !w->split && u < out->nunits; u++)
        if (out->unit[u].tree != g->actor[0].room[ROOM_OUT].unit[u].tree)
            return stage_wrong(
                g,
                "rank %d: unit %d is added up in another order than on rank 0, so "
                "bits may differ",
                r, u);
    for (int t = 0; has_tokens(w) && t < w->p; t++)
        if (a->room[ROOM_TMP].unit[t].hash !=
            symbol_atom(g->law.salt, mod(r - t, w->p), 0).hash)
            return stage_wrong(g, "rank %d: did not hear of rank %d", r, mod(r - t, w->p));
    return true;
}

/* Nobody leaves a barrier before all have come. */
static bool holds_back(struct stage *g)
{
    int rank, unheard;
    g->order = NO_ORDER;
    if (g->world->what != COLL_BARRIER)
        return true;
    if (!check_barrier(g, &rank, &unheard))
        return stage_no_memory(g);
    return unheard < 0 ||
           stage_wrong(g, "rank %d may leave before rank %d has come", rank, unheard);
}

static bool stuck(struct stage *g)
{
    static const char *const verbs[] = { "send to", "recv from", "fold from", "copy", "join" };
    for (int r = 0; r < g->world->p; r++)
        for (int i = 0; i < g->actor[r].plan->nsteps; i++)
            if (!g->actor[r].step[i].done)
                return stage_wrong(g, "deadlock: rank %d waits at step %d, %s %d", r, i,
                                   verbs[g->actor[r].plan->step[i].verb],
                                   g->actor[r].plan->step[i].peer);
    return true;
}

static bool all_belongs(struct stage *g)
{
    return g->misplaced.step < 0 ||
           stage_wrong(
               g,
               "rank %d step %d: writes into out what does not belong there, and may be longer "
               "than its place",
               g->misplaced.rank, g->misplaced.step);
}

static bool play(struct stage *g, enum order order)
{
    g->order = order;
    g->random = 76 + (uint64_t)order;
    for (int twice = 0; twice < 2; twice++) {
        g->law.salt++;
        g->head = g->tail = g->done = 0;
        g->nheld = 0;
        memset(g->law.sum, 0, ((size_t)g->law.nsums + 1) * sizeof(*g->law.sum));
        for (int r = 0; r < g->world->p; r++)
            prepare(g, r);
        stage_perform(g);
        if (!stuck(g) || !all_belongs(g))
            return false;
        for (int r = 0; r < g->world->p; r++)
            if (!judge(g, r))
                return false;
    }
    return true;
}

static void strike(struct stage *g)
{
    for (int r = 0; g->actor && r < g->world->p; r++) {
        struct actor *a = &g->actor[r];
        for (int room = 0; room < ROOMS; room++)
            free(a->room[room].start);
    }
    free(g->actor);
    free(g->units);
    free(g->steps);
    free(g->partners);
    free(g->queue);
    free(g->held);
    free(g->law.sum);
}

/* Plans that may be rolled are performed through a window, too, which deadlocks sooner. */
static bool is_wanted(const struct world *w, bool rolls, enum order order)
{
    bool windowed = rolls && w->pieces == 1;
    if (order == WINDOWED)
        return windowed;
    if (is_in_program_order(order))
        return w->program_order;
    return !w->brief || (order == SHUFFLED && !windowed);
}

static bool set_up(struct stage *g, const struct plan *plans)
{
    size_t steps = 1, units = 1, p = (size_t)g->world->p;
    g->actor = calloc(p, sizeof(*g->actor));
    if (!g->actor)
        return stage_no_memory(g);
    for (size_t r = 0; r < p; r++) {
        g->actor[r].plan = &plans[r];
        steps += (size_t)plans[r].nsteps;
        if (!measure(g, (int)r, &units))
            return false;
    }
    g->queue = malloc(2 * steps * sizeof(*g->queue));
    g->units = calloc(units, sizeof(*g->units));
    g->steps = calloc(steps, sizeof(*g->steps));
    g->partners = calloc(steps, sizeof(*g->partners));
    g->law.sum = calloc((size_t)g->law.nsums + 1, sizeof(*g->law.sum));
    if (!g->queue || !g->units || !g->steps || !g->partners || !g->law.sum)
        return stage_no_memory(g);
    lay_out(g);
    return true;
}

/* For what messages carry, in one performance: each send may carry once by itself, and each end, when it
 * is posted, may set one message in motion, of its own length.  (In a wrong plan two ends may have the same
 * other end.) */
static bool find_room(struct stage *g)
{
    size_t n = 1;
    for (int r = 0; r < g->world->p; r++)
        for (int i = 0; i < g->actor[r].plan->nsteps; i++) {
            const struct step *s = &g->actor[r].plan->step[i];
            if (s->verb == VERB_SEND)
                n += 2 * (size_t)count(&g->actor[r], s->from);
            else if (!step_is_local(s))
                n += (size_t)count(&g->actor[r], s->to);
        }
    g->held = malloc(n * sizeof *g->held);
    return g->held || stage_no_memory(g);
}

bool check_plans(const struct world *world, const struct plan *plans, struct verdict *verdict)
{
    struct stage g = {
        .world = world, .verdict = verdict, .law = { .world = world }, .misplaced = { -1, -1 }
    };
    verdict->text[0] = '\0';
    verdict->undecided = false;
    bool good = set_up(&g, plans) && stage_examine(&g) && find_room(&g);
    for (int order = FIRST_COME; good && order < ORDERS; order++)
        if (is_wanted(world, plans[0].rolls, (enum order)order))
            good = play(&g, (enum order)order);
    good = good && holds_back(&g);
    strike(&g);
    return good;
}

static struct plan_key key_of(const struct world *world, int r)
{
    return (struct plan_key){ .me = r,
                              .size = world->p,
                              .root = world->root,
                              .split = world->split,
                              .pieces = world->pieces,
                              .radix = world->radix,
                              .throttle = world->throttle,
                              .places = world->places,
                              .script = world->script,
                              .neighbours = world->neighbours ? world->neighbours[r] : NULL,
                              .alias = bind_alias(world->what, law_in_place(world, r)) };
}

/* Is this too much to be looked at?  Found before plans are made: a step takes some hundred bytes, and so does
 * a block. */
static bool is_too_much(const struct world *world, const struct effort *all,
                        struct verdict *verdict)
{
    bool steps = world->most && all->steps > (double)world->most;
    bool blocks = world->most_blocks && all->touched > (double)world->most_blocks;
    if (!steps && !blocks)
        return false;
    verdict->undecided = true;
    snprintf(verdict->text, sizeof(verdict->text),
             "its plans have more than %ld %s; ask for fewer ranks or pieces",
             steps ? world->most : world->most_blocks,
             steps ? "steps" : "blocks, those that steps name counted each time");
    return true;
}

bool check_make(const struct world *world, struct plan *plans, struct verdict *verdict)
{
    struct effort all = { .steps = 0 };
    int most = (int)(world->most / world->pieces) + 1; /* of one rank */
    verdict->undecided = false;
    for (int r = 0; r < world->p; r++) {
        struct plan_key key = key_of(world, r);
        if (world->most) {
            struct effort one = effort_glance(world->program, &key, most);
            all.steps += one.steps;
            all.touched += one.touched + one.blocks;
        }
        if (is_too_much(world, &all, verdict))
            return false;
        if (plan_make(&plans[r], &key, world->program)) {
            verdict->undecided = plans[r].error == MPI_ERR_NO_MEM;
            snprintf(verdict->text, sizeof(verdict->text), "rank %d has no plan: %s", r,
                     fail_text());
            return false;
        }
    }
    return true;
}

void check_free(const struct world *world, struct plan *plans)
{
    for (int r = 0; r < world->p; r++)
        plan_free(&plans[r]);
}

bool check_world(const struct world *world, struct verdict *verdict)
{
    struct plan *plans = calloc((size_t)world->p, sizeof(*plans));
    if (!plans) {
        verdict->undecided = true;
        snprintf(verdict->text, sizeof(verdict->text), "no memory for %d plans", world->p);
        return false;
    }
    bool good = check_make(world, plans, verdict) && check_plans(world, plans, verdict);
    check_free(world, plans);
    free(plans);
    return good;
}
