/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a plan to a role: steps with the bytes of their blocks, in as few messages as the two ends see.
 *
 * One plan is made, translated and dropped after the other, so that at no time more than one
 * lies in memory in full.  A role keeps 48 bytes per step.
 */
#include "coll/cast.h"

#include "coll/effort.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

int cast_no_memory(const struct cast *cast)
{
    return fail(MPI_ERR_NO_MEM, "no memory for the plans of %d ranks, %lld steps", cast->p,
                (long long)cast->acts);
}

struct plan_key cast_key(const struct cast *cast, const struct price_query *query, int me)
{
    return (struct plan_key){
        .me = me,
        .size = query->p,
        .root = query->root,
        .split = price_split(query),
        .pieces = query->pieces > 1 ? query->pieces : 1,
        .radix = price_radix(query),
        .throttle = query->throttle,
        .places = cast->places.levels ? &cast->places : NULL,
        .script = query->algorithm->script,
    };
}

/* Is `bytes` a vector that a program cuts, or one of its blocks? */
static bool is_vector(enum collective what)
{
    return what == COLL_BCAST || is_reduction(what);
}

/* Bytes of a block.  Two groups that cut one vector differently (reduce_scatter) have others in OUT and
 * in TMP behind two vectors. */
struct lengths {
    double block, part;
};

static double block_bytes(const struct price_query *query, const struct plan *plan,
                          double scale)
{
    int in = plan->nblocks[ROOM_IN], out = plan->nblocks[ROOM_OUT];
    int blocks = in > out ? in : out, pieces = plan->key.pieces;
    if (query->algorithm->what == COLL_BARRIER)
        return 0;
    if (!is_vector(query->algorithm->what))
        return (double)query->bytes / pieces;
    double cut = blocks > pieces ? blocks * scale : blocks;
    return cut > 0 ? (double)query->bytes / cut : 0;
}

static struct lengths lengths_of(const struct price_query *query, const struct plan *plan,
                                 double scale)
{
    double block = block_bytes(query, plan, scale);
    int split = plan->split, own = plan->key.me < split ? split : plan->key.size - split;
    bool cuts = split > 0 && is_reduce_scatter(query->algorithm->what);
    return (struct lengths){ block, cuts ? block / own : block };
}

static double span_bytes(struct span s, const struct lengths *lengths)
{
    bool part = s.room == ROOM_OUT || (s.room == ROOM_TMP && s.first >= 2);
    return s.n * (part ? lengths->part : lengths->block);
}

/* Are they one range, which passes the last block here, or at the other end of the message?  There it does where
 * they are all of TMP here: what a subtree sends to the root, or gets from it (gather.c, scatter.c). */
static bool is_one_range(const struct plan *plan, struct span there, struct span here)
{
    int behind = there.first + there.n, all = plan->nblocks[here.room];
    if (here.room != there.room)
        return false;
    if (here.first == 0)
        return there.first > 0 && behind == all;
    return here.room == ROOM_TMP && there.first == 0 && behind == here.first &&
           here.first + here.n == all && !plan->split;
}

/* Ranges that wrap are written down as two messages one after the other; here they are one.  Edges of
 * a graph are one each, and so are pieces: of two ranges that were cut, the pieces do not lie side by side. */
static bool continues(const struct plan *plan, int i)
{
    const struct step *s = &plan->step[i], *before = s - 1;
    if (i == 0 || s->peer < 0 || plan->neighbours || plan->key.pieces > 1 ||
        s->verb != before->verb || s->peer != before->peer)
        return false;
    for (int k = 0; k < before->nnext; k++)
        if (plan->next[before->first_next + k] == i)
            return false;
    return s->verb == VERB_SEND ? is_one_range(plan, before->from, s->from)
                                : is_one_range(plan, before->to, s->to);
}

void role_free(struct role *role)
{
    free(role->act);
    free(role->next);
}

/* Successors of step i lie behind those of step i - 1, so joined steps have one list. */
static void act_of(struct role *role, int *at, const struct plan *plan, int i,
                   const struct lengths *lengths)
{
    const struct step *s = &plan->step[i];
    struct span range = s->verb == VERB_SEND ? s->from : s->to;
    bool joined = continues(plan, i);
    at[i] = role->nacts - joined;
    struct act *act = &role->act[at[i]];
    if (!joined) {
        role->nacts++;
        *act = (struct act){ .verb = s->verb,
                             .peer = s->peer,
                             .partner = (int32_t)s->slot,
                             .first_next = s->first_next,
                             .first = plan->nblocks[range.room] == plan->key.size ? range.first
                                                                                  : -1 };
    }
    act->parts++;
    act->nwait += s->nwait;
    act->nnext += s->nnext;
    act->blocks += range.n;
    act->bytes = span_bytes((struct span){ range.room, range.first, act->blocks }, lengths);
}

static int by_number(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

static bool role_of(struct role *role, struct plan *plan, struct lengths lengths)
{
    size_t n = (size_t)plan->nsteps;
    int *at = malloc((n + 1) * sizeof *at), ntmp = plan->nblocks[ROOM_TMP],
        first = least(ntmp, 2);
    *role = (struct role){ .scratch = first * lengths.block + (ntmp - first) * lengths.part };
    role->act = malloc((n + 1) * sizeof *role->act);
    if (role->act && at) {
        for (int i = 0; i < plan->nsteps; i++)
            act_of(role, at, plan, i, &lengths);
        for (int k = 0; k < plan->nnext; k++)
            plan->next[k] = at[plan->next[k]];
        role->next = plan->next; /* taken over */
        plan->next = NULL;
        for (int i = 0; i < role->nacts;
             i++) /* what joined steps set free, in the order of the plan */
            if (role->act[i].parts > 1)
                qsort(role->next + role->act[i].first_next, (size_t)role->act[i].nnext,
                      sizeof *role->next, by_number);
    }
    bool good = role->act && at;
    free(at);
    return good;
}

/* `number`: blocks are numbers of eight bytes, their sizes. */
static int make_once(struct cast *cast, const struct price_query *query, double scale,
                     const struct plan_key *key, bool number, struct role *role)
{
    struct plan plan;
    int error = plan_make(&plan, key, query->algorithm->program);
    cast->touched += effort_of(&plan).touched;
    struct lengths lengths = { sizeof(int64_t), sizeof(int64_t) };
    if (!error && !number)
        lengths = lengths_of(query, &plan, scale);
    if (!error && !role_of(role, &plan, lengths))
        error = cast_no_memory(cast);
    plan_free(&plan);
    return error;
}

static int make_twice(struct cast *cast, const struct price_query *query,
                      const struct plan_key *key, struct role *role)
{
    struct role sizes = { 0 }, blocks = { 0 };
    int error = make_once(cast, query, 1, key, true, &sizes);
    if (!error)
        error = make_once(cast, query, 1, key, false, &blocks);
    if (!error && !role_twice(&sizes, &blocks, role)) {
        role_free(role);
        error = cast_no_memory(cast);
    }
    role_free(&sizes);
    role_free(&blocks);
    return error;
}

bool cast_edges(const struct price_query *query, struct plan_key *key, struct neighbours **near)
{
    *near = NULL;
    if (!is_neighbourhood(query->algorithm->what))
        return true;
    *near = neighbours_torus(query->dims ? query->ndims : 1,
                             query->dims ? query->dims : &query->p, key->me);
    key->neighbours = *near;
    return *near;
}

int role_make(struct cast *cast, const struct price_query *query, double scale, int me,
              struct role *role)
{
    struct plan_key key = cast_key(cast, query, me);
    struct neighbours *near;
    if (!cast_edges(query, &key, &near))
        return cast_no_memory(cast);
    int error = query->algorithm->sized ? make_twice(cast, query, &key, role)
                                        : make_once(cast, query, scale, &key, false, role);
    free(near);
    return error;
}
