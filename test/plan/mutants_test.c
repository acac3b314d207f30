/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does the verifier see mistakes?  One step of one rank of a right set of plans is damaged, and
 * the verifier must object.  Every algorithm, 2 to 7 ranks, each kind of damage at random steps.
 *
 * No mutant may survive.  A dependency that other steps of the rank imply is not taken away, for
 * without it the plan is the same; one that only messages imply is missed by the verifier, for a
 * plan has to be right by itself (check_hazards.c).
 */
#include "coll/check.h"
#include "coll/rules.h"
#include "test/plan/graph.h"
#include "test/plan/spots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum damage {
    DROPPED,
    OTHER_PEER,
    OTHER_TARGET,
    OTHER_SOURCE,
    OTHER_SIDE,
    OTHER_SLOT,
    NO_EDGE,
    DAMAGES
};

static const char *const names[DAMAGES] = {
    [DROPPED] = "step dropped",
    [OTHER_PEER] = "peer changed",
    [OTHER_TARGET] = "target block changed",
    [OTHER_SOURCE] = "source block changed",
    [OTHER_SIDE] = "fold on the other side",
    [OTHER_SLOT] = "message misnumbered",
    [NO_EDGE] = "dependency lost",
};
static int tried[DAMAGES], survived[DAMAGES];

static uint64_t state = 1;
static int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (uint64_t)below);
}

static void infer_again(struct plan *plan)
{
    for (int i = 0; i < plan->nsteps; i++)
        plan->step[i].nwait = plan->step[i].nnext = 0;
    free(plan->next);
    plan->next = NULL;
    plan_infer(plan);
}

static bool shift(const struct plan *plan, struct span *s)
{
    int room = plan->nblocks[s->room];
    if (s->n == 0 || s->n >= room)
        return false;
    s->first = (s->first + 1) % (room - s->n + 1);
    return true;
}

/* Does `to` wait for `from` through other steps? */
static bool implied(const struct plan *plan, int from, int to, bool directly)
{
    const struct step *s = &plan->step[from];
    for (int k = 0; k < s->nnext; k++) {
        int next = plan->next[s->first_next + k];
        if ((next == to && directly) || (next < to && implied(plan, next, to, true)))
            return true;
    }
    return false;
}

enum { RANKS = 8 };

static bool lose_edge(struct plan *plan, struct step *s)
{
    if (plan->in_flight) /* nothing needs the dependencies that only throttle */
        return false;
    if (s->nnext == 0 ||
        implied(plan, (int)(s - plan->step), plan->next[s->first_next + s->nnext - 1], false))
        return false;
    plan->step[plan->next[s->first_next + s->nnext - 1]].nwait--;
    s->nnext--;
    return true;
}

/* Damage step i; false when this damage does not apply to it. */
static bool damage(struct plan *plan, int i, enum damage kind, bool ordered)
{
    struct step *s = &plan->step[i];
    bool message = !step_is_local(s), done = true;
    switch (kind) {
    case DROPPED:
        memmove(s, s + 1, (size_t)(plan->nsteps - i - 1) * sizeof(*s));
        plan->nsteps--;
        break;
    case OTHER_PEER:
        if (!message || plan->key.size < 3)
            return false;
        do
            s->peer = mod(s->peer + 1, plan->key.size);
        while (s->peer == plan->key.me);
        break;
    case OTHER_TARGET:
        done = shift(plan, &s->to);
        break;
    case OTHER_SOURCE:
        done = shift(plan, &s->from);
        break;
    case OTHER_SIDE:
        if ((s->verb != VERB_FOLD && s->verb != VERB_JOIN) || !ordered)
            return false;
        s->side = s->side == INCOMING_FIRST ? INCOMING_LAST : INCOMING_FIRST;
        return true;
    case OTHER_SLOT:
        s->slot++;
        return message;
    default:
        return lose_edge(plan, s);
    }
    if (done)
        infer_again(plan);
    return done;
}

static void try(const struct algorithm *a, const struct world *world, enum damage kind)
{
    struct plan plans[RANKS];
    struct verdict verdict;
    memset(plans, 0, sizeof(plans));
    check_make(world, plans, &verdict);
    int r = draw(world->p);
    struct plan *victim = &plans[r];
    if (victim->nsteps && damage(victim, draw(victim->nsteps), kind, a->ordered)) {
        bool passed = check_plans(world, plans, &verdict);
        tried[kind]++;
        survived[kind] += passed;
        if (passed)
            printf("survivor: %s %s on %d: %s\n", collective_name(a->what), a->name, world->p,
                   names[kind]);
    }
    check_free(world, plans);
}

int main(void)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int p = 2; a->program && p <= 7; p++)
            for (int i = 0; i < 60; i++) {
                struct world world = { .what = a->what,
                                       .program = a->program,
                                       .p = p,
                                       .root = draw(p),
                                       .pieces = algorithm_cuts(a) ? 1 + draw(2) : 1,
                                       .split = a->inter ? 1 + draw(p - 1) : 0,
                                       .radix = a->radix ? 2 + draw(3) : 0,
                                       .throttle = draw(4) ? 0 : 1 + draw(3),
                                       .ordered = a->ordered };
                world.places = spots_make(a->needs == NEEDS_PLACES ? 1 + draw(3) : 0, p);
                if (algorithm_objection(a, p, world.places))
                    continue;
                const struct neighbours *near[GRAPH_RANKS];
                graph_make(p, near);
                if (is_neighbourhood(a->what))
                    world.neighbours = near;
                try(a, &world, (enum damage)(i % DAMAGES));
                graph_free(p, near);
            }
    int bad = 0;
    for (int k = 0; k < DAMAGES; k++) {
        bool fine = tried[k] > 100 && survived[k] == 0;
        printf("%-24s %5d mutants, %4d survived%s\n", names[k], tried[k], survived[k],
               fine ? "" : ": too many");
        bad += !fine;
    }
    return bad != 0;
}
