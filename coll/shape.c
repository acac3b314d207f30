/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans made from plans.
 *
 *   plan_segment  cuts every block in k and every step with it.  The pieces of a block become
 *                 independent, so a chain of ranks works like a pipeline:
 *
 *                     whole        rank 1  ####....          in 4    rank 1  #.......
 *                                  rank 2  ....####                  rank 2  .#......   and so on
 *
 *                 Sends that follow each other take turns, and so do receives: who sends to
 *                 two sends both the first piece before either gets the second.  Folds do so
 *                 where plan->collects: they hold the landings of a run (run.c) until their
 *                 turn comes, so no send on its way to another fold may wait for them.
 *
 *   plan_call     embeds a program in a group of ranks and in spans of the caller's blocks.
 *                 Hazards are inferred after embedding, so the levels of a hierarchy overlap
 *                 without a line written for it.
 */
#include "coll/plan.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <assert.h>
#include <stdlib.h>

static struct span piece(struct span s, int k, int j)
{
    return (struct span){ s.room, s.first * k + j * s.n, s.n };
}

/* How many steps from step i on take turns. */
static int run_length(const struct plan *plan, int i)
{
    int n = 1;
    if (step_is_local(&plan->step[i]) || (plan->step[i].verb == VERB_FOLD && !plan->collects))
        return 1;
    while (i + n < plan->nsteps && plan->step[i + n].verb == plan->step[i].verb)
        n++;
    return n;
}

int plan_uncut(const struct plan *plan, int k, int i)
{
    int first = 0, run = 1;
    while (first < plan->nsteps && i / k >= first + (run = run_length(plan, first)))
        first += run;
    return first + (i - first * k) % run;
}

/* The steps were translated for in place already; cutting must not translate them again.  The two
 * ends of a message may take turns with different others, so it keeps a number of its own. */
void plan_segment(struct plan *plan, int k)
{
    int n = plan->nsteps;
    int64_t blocks = 0;
    for (int r = 0; r < ROOMS; r++)
        blocks += plan->nblocks[r];
    if ((n + blocks) * k > INT32_MAX) { /* they are counted in 31 bits */
        plan->error =
            fail(MPI_ERR_OTHER, "%d steps and %lld blocks are too many to be cut in %d pieces",
                 n, (long long)blocks, k);
        return;
    }
    struct step *cut = malloc(((size_t)n * (size_t)k + 1) * sizeof(*cut));
    if (!cut) {
        plan->error = fail(MPI_ERR_NO_MEM, "no memory to cut a plan of %d steps in %d", n, k);
        return;
    }
    struct step *s = cut;
    for (int first = 0, run; first < n; first += run) {
        run = run_length(plan, first);
        for (int at = 0; at < run * k; at++, s++) {
            int j = at / run;
            *s = plan->step[first + at % run];
            s->to = piece(s->to, k, j);
            s->from = piece(s->from, k, j);
            s->slot = s->slot * (uint32_t)k + (uint32_t)j;
        }
    }
    free(plan->step);
    plan->step = cut;
    plan->nsteps = plan->cap = n * k;
    plan->nfolds *= k;
    for (int r = 0; r < ROOMS; r++)
        plan->nblocks[r] *= k;
}

int *plan_members(struct plan *plan, int n)
{
    int *more = realloc(plan->member, ((size_t)n + 1) * sizeof(*more));
    if (!more)
        plan->error = fail(MPI_ERR_NO_MEM, "no memory for a group of %d ranks", n);
    else
        plan->member = more;
    return more;
}

/* Where a span of the called program lies in the caller's blocks. */
static struct span embed(struct span s, struct span home, int nblocks)
{
    if (s.n == 0)
        return s;
    assert(home.n % nblocks == 0);
    int each = home.n / nblocks;
    return (struct span){ home.room, home.first + s.first * each, s.n * each };
}

static int member_of(const struct group *group, int i)
{
    if (group->deputy && i == group->root)
        return group->deputy - 1;
    return group->member ? group->member[i] : group->first + i * group->stride;
}

void plan_call(struct plan *plan, const struct group *group, const struct homes *homes,
               program *f)
{
    struct plan sub = { .key = { .me = group->me, .size = group->n, .pieces = 1 },
                        .root = group->root,
                        .radix = group->radix,
                        .most_steps = plan->most_steps,
                        .roll_after = plan->roll_after };
    struct step space;
    if (plan->error)
        return;
    f(&sub, group->me, group->n);
    if (sub.error)
        plan->error = sub.error;
    const struct span home[ROOMS] = { homes->in, homes->out, homes->tmp };
    for (int i = 0; i < sub.nsteps; i++) {
        struct step s = *plan_step(&sub, i, &space);
        s.to = embed(s.to, home[s.to.room], sub.nblocks[s.to.room]);
        s.from = embed(s.from, home[s.from.room], sub.nblocks[s.from.room]);
        if (!step_is_local(&s))
            s.peer = member_of(group, s.peer);
        plan_emit(plan, &s);
    }
    plan_free(&sub);
}
