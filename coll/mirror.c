/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Backwards: a program that spreads data, performed from its end to its beginning with every
 * arrow turned round, collects sums.
 *
 *     allgather    recv out[b] <- q         send out[b] -> q
 *     mirrored     send sum of b -> q       fold into the sum of b <- q
 *
 * What a rank passed on to many it hears from many; what it took last it gives first.  So every
 * allgather without scratch makes a reduce_scatter, both together an allreduce, and every bcast
 * a reduce, with as many rounds and bytes.  Sums meet in no particular order: operations that
 * commute.  A block must arrive once at every rank.
 *
 * A sum is IN until something is folded, then it is in `sums`.  Of a message that has blocks of
 * both kinds those still in IN are copied first.
 */
#include "coll/plan.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <assert.h>
#include <stdlib.h>

struct mirror {
    struct plan *plan;
    struct span in, sums;
    bool *summed; /* of each block */
};

static struct span within(struct span home, int first, int n)
{
    return (struct span){ home.room, home.first + first, n };
}

/* Where the sums of these blocks are; afterwards all are in the same room. */
static struct span gathered(struct mirror *m, struct span s)
{
    int summed = 0;
    for (int b = s.first; b < s.first + s.n; b++)
        summed += m->summed[b];
    if (summed == 0)
        return within(m->in, s.first, s.n);
    for (int b = s.first; b < s.first + s.n; b++)
        if (!m->summed[b])
            plan_copy(m->plan, within(m->sums, b, 1), within(m->in, b, 1));
    return within(m->sums, s.first, s.n);
}

static void reflect(struct mirror *m, const struct step *s)
{
    if (s->verb == VERB_RECV) {
        plan_send(m->plan, s->peer, gathered(m, s->to));
        return;
    }
    assert(s->verb == VERB_SEND); /* there is no scratch to copy or fold in */
    struct span with = gathered(m, s->from);
    plan_fold(m->plan, s->peer, within(m->sums, s->from.first, s->from.n), with, INCOMING_LAST);
    for (int b = s->from.first; b < s->from.first + s->from.n; b++)
        m->summed[b] = true;
}

/* Collects sums of the blocks of `in`.  Where something is summed up, the sum is in `sums`. */
static void mirror(struct plan *plan, struct span in, struct span sums, program *f)
{
    struct plan sub = {
        .key = plan->key,
        .root = plan->root,
        .radix = plan->radix,
        .places = plan->places,
        .most_steps = plan->most_steps,
        .roll_after = plan->roll_after,
    };
    struct step space;
    struct mirror m = { plan, in, sums, calloc((size_t)in.n + 1, sizeof(bool)) };
    sub.key.alias = ALIAS_MINE; /* IN[0] of an allgather is just one more block of OUT */
    f(&sub, plan->key.me, plan->key.size);
    if (!m.summed || sub.error)
        plan->error = fail(MPI_ERR_NO_MEM, "no memory to turn a plan of %d steps", sub.nsteps);
    plan->rolls = sub.rolls; /* its order, backwards, is that of what it becomes */
    for (int i = sub.nsteps - 1; i >= 0 && !plan->error; i--)
        reflect(&m, plan_step(&sub, i, &space));
    free(m.summed);
    plan_free(&sub);
}

void plan_mirror_scatter(struct plan *plan, int me, int p, program *f)
{
    plan_rooms(plan, p, 1, p);
    mirror(plan, in(0, p), tmp(0, p), f);
    plan_copy(plan, out(0, 1), p > 1 ? tmp(me, 1) : in(0, 1));
}

void plan_mirror_all(struct plan *plan, int me, int nblocks, program *f)
{
    int p = plan->key.size;
    struct group all = { .stride = 1, .n = p, .me = me, .radix = plan->radix };
    plan_rooms(plan, nblocks, nblocks, 0);
    mirror(plan, in(0, nblocks), out(0, nblocks), f);
    if (p == 1)
        plan_copy(plan, out(0, nblocks), in(0, nblocks));
    plan_call(plan, &all, &(struct homes){ .in = out(me, 1), .out = out(0, nblocks) }, f);
}

void plan_mirror_root(struct plan *plan, int me, int nblocks, program *f)
{
    bool root = me == plan->root;
    plan_rooms(plan, nblocks, root ? nblocks : 0, root ? 0 : nblocks);
    plan->collects = true;
    mirror(plan, in(0, nblocks), blocks(root ? ROOM_OUT : ROOM_TMP, 0, nblocks), f);
    if (plan->key.size == 1)
        plan_copy(plan, out(0, nblocks), in(0, nblocks));
}
