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
 * both kinds those still in IN are copied first.  The two parts of a range that wraps keep their
 * order, so that they are one message to whoever counts (cast.c).
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

/* Are the sums of all blocks of n spans still in IN?  Else all of them are in `sums` afterwards. */
static bool still_in(struct mirror *m, const struct span *span, int n)
{
    bool any = false;
    for (int k = 0; k < n; k++)
        for (int b = span[k].first; b < span[k].first + span[k].n; b++)
            any |= m->summed[b];
    for (int k = 0; k < n && any; k++)
        for (int b = span[k].first; b < span[k].first + span[k].n; b++)
            if (!m->summed[b])
                plan_copy(m->plan, within(m->sums, b, 1), within(m->in, b, 1));
    return !any;
}

static struct span moved(const struct step *s)
{
    assert(s->verb <= VERB_RECV); /* there is no scratch to copy or fold in */
    return s->verb == VERB_SEND ? s->from : s->to;
}

/* One step, or the two parts of a range that wraps. */
static void reflect(struct mirror *m, const struct step *s, int n)
{
    struct span span[2] = { moved(&s[0]), moved(&s[n - 1]) };
    struct span home = still_in(m, span, n) ? m->in : m->sums;
    for (int k = 0; k < n; k++) {
        struct span at = within(home, span[k].first, span[k].n);
        if (s[k].verb == VERB_RECV) {
            plan_send(m->plan, s[k].peer, at);
            continue;
        }
        plan_fold(m->plan, s[k].peer, within(m->sums, at.first - home.first, at.n), at,
                  INCOMING_LAST);
        for (int b = span[k].first; b < span[k].first + span[k].n; b++)
            m->summed[b] = true;
    }
}

/* Two steps one behind the other: the end of all blocks and their beginning, one message but for that. */
static bool is_wrapped(const struct mirror *m, const struct step *s)
{
    if (s[0].verb != s[1].verb || s[0].peer != s[1].peer)
        return false;
    struct span end = moved(&s[0]), start = moved(&s[1]);
    return start.first == 0 && end.first > start.n && end.first + end.n == m->in.n;
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
    for (int i = sub.nsteps - 1, n; i >= 0 && !plan->error; i -= n) {
        struct step s[2] = { *plan_step(&sub, i > 0 ? i - 1 : 0, &space) };
        s[1] = *plan_step(&sub, i, &space);
        n = i > 0 && is_wrapped(&m, s) ? 2 : 1; /* at both ends of the message alike */
        reflect(&m, &s[2 - n], n);
    }
    free(m.summed);
    plan_free(&sub);
}

void plan_mirror_hand_over(struct plan *plan, int p, int kept, int keeper, program *f)
{
    plan_rooms(plan, p, 1, p);
    mirror(plan, in(0, p), tmp(0, p), f);
    if (kept == plan->key.me) {
        plan_copy(plan, out(0, 1), p > 1 ? tmp(kept, 1) : in(0, 1));
        return;
    }
    plan_send(plan, kept, tmp(kept, 1));
    plan_recv(plan, keeper, out(0, 1));
}

void plan_mirror_scatter(struct plan *plan, int me, int p, program *f)
{
    plan_mirror_hand_over(plan, p, me, me, f);
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
