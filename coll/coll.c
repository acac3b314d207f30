/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives: blocking, nonblocking and persistent are three ways to run one plan.
 *
 *     choose a rule  ->  get the plan  ->  bind it to the call  ->  run
 *
 * Blocking calls with small messages run in program order (run_inline.c), the others through
 * the executor (run.c), which needs a request: one of its own here, an object of the user in coll_request.c.
 *
 * What is chosen may also have no plan: tiny and attach (tiny.h), which are done when they return, or
 * have a request of their own (later.c).
 *
 * Messages carry the number of their collective.  Blocking and nonblocking ones are numbered in
 * the order of the calls.  A persistent one keeps the number of its making, from a range of its
 * own: its starts may come in any order among others, and successive starts of one keep their
 * order because messages with the same number do.
 */
#include "coll/coll.h"

#include "coll/cache.h"
#include "coll/choose.h"
#include "coll/rival.h"
#include "coll/run.h"
#include "coll/tell.h"
#include "coll/tiny.h"
#include "pml/failure.h"
#include "mpi.h"

#include <stdlib.h>

static struct plan_key key_of(const struct team *team, const struct call *call,
                              const struct choice *choice)
{
    return (struct plan_key){ .me = team->channel.rank,
                              .size = team->channel.size,
                              .root = is_rooted(call->what) ? root_of(team, call) : 0,
                              .split = team->split,
                              .alias = bind_alias(call->what, call->in_place),
                              .pieces = choice->pieces,
                              .radix = choice->radix,
                              .throttle = choice->throttle,
                              .places = team->places,
                              .script = choice->algorithm->script,
                              .neighbours =
                                  is_neighbourhood(call->what) ? team->neighbours : NULL };
}

int coll_plan(struct team *team, const struct call *call, enum mode mode,
              const struct choice *choice, struct cached **cached)
{
    bool fresh;
    struct plan_key key = key_of(team, call, choice);
    int error = cache_get(&team->cache, choice->algorithm, &key, cached, &fresh);
    if (!error && fresh && team->channel.rank == 0 && explain_wanted(call->what))
        explain_call(team, call, mode, choice, &(*cached)->plan);
    return error;
}

void coll_explain(struct team *team, const struct call *call, enum mode mode,
                  const struct choice *choice)
{
    if (__builtin_expect(explain_wanted(call->what), 0) && team->channel.rank == 0 &&
        cache_first_time(&team->cache, choice->algorithm, mode))
        explain_call(team, call, mode, choice, NULL);
}

/* ---- blocking ---- */

int run_through(struct execution *run, const struct telling *telling)
{
    static const struct request_ops ops = { .name = "collective" };
    run->request.ops = &ops;
    run->request.done = 0;
    run->tag = telling_tag(telling);
    run->signature = telling->signature;
    run_begin(run);
    progress_until(&run->request.done, run_tell, run);
    return request_failure(&run->request);
}

int run_to_end(struct team *team, const struct bound *bound, const struct telling *telling)
{
    struct execution run = { .error = 0 };
    int error = run_open(&run, team, bound);
    if (error)
        return error;
    error = run_through(&run, telling);
    run_close(&run);
    return error;
}

/* Takes over the binding. */
static int perform(struct team *team, struct bound *bound, bool sized,
                   const struct telling *telling)
{
    int tag = telling_tag(telling);
    int error = sized ? sized_run(team, bound, tag, telling->signature) : 0;
    if (!error && !run_is_inline(bound))
        return run_to_end(team, bound, telling);
    if (!error)
        error = run_inline(team, bound, tag, telling->signature);
    bind_close(bound);
    return error;
}

/* The plan of this algorithm. */
static int run_plan(struct team *team, const struct choice *choice,
                    const struct telling *telling, struct cached *cached)
{
    struct bound bound;
    int error = bind_open(&bound, &cached->plan, telling->call);
    if (!error)
        error = perform(team, &bound, choice->algorithm->sized, telling);
    cache_drop(cached);
    return error;
}

/* The blocks of a gatherv or scatterv that fit no slot, as messages: of each pair of ranks both know
 * whether there is one. */
static int run_unfit(struct team *team, const struct telling *telling, struct unfit *unfit)
{
    struct telling rest_telling = *telling;
    struct call rest = *telling->call;
    rest_telling.call = &rest;
    int me = team->channel.rank;
    bool gathers = rest.what == COLL_GATHERV, root = rest.root == me;
    struct part *all = gathers ? &rest.recv : &rest.send;
    if (root)
        all->counts = (struct counts){ .wide = unfit->counts };
    if (root && unfit->counts[me] == 0) /* the own one is where it belongs */
        (gathers ? &rest.send : &rest.recv)->count = 0;
    struct choice choice;
    choose_unfit(rest.what, &choice);
    struct plan_key key = key_of(team, &rest, &choice);
    struct cached *cached;
    bool fresh;
    int error = cache_get(&team->cache, choice.algorithm, &key, &cached, &fresh);
    return error ? error : run_plan(team, &choice, &rest_telling, cached);
}

int coll_unfit(struct team *team, const struct telling *telling, struct unfit *unfit)
{
    int error = unfit->any ? run_unfit(team, telling, unfit) : 0;
    return error ? error : unfit->error;
}

static int run_tiny(struct team *team, const struct call *call, const struct choice *choice,
                    const struct telling *telling)
{
    coll_explain(team, call, BLOCKING, choice);
    if (__builtin_expect(is_amount_known(call->what), 1))
        return tiny_run(team->tiny, telling, NULL);
    struct unfit unfit; /* its counts are for what is noted there */
    unfit.error = 0;
    unfit.any = false;
    int error = tiny_run(team->tiny, telling, &unfit);
    return error ? error : coll_unfit(team, telling, &unfit);
}

static int run(struct team *team, const struct telling *telling);

struct telling coll_rest(const struct telling *telling, size_t first, size_t count,
                         struct call *part)
{
    struct telling part_telling = *telling;
    *part = *telling->call;
    if (is_reduction(part->what) && !is_reduce_scatter(part->what)) {
        ptrdiff_t skip = (ptrdiff_t)first * part->reduction.layout->extent;
        part->recv.count = count;
        if (part->recv.base) /* else there is no result here */
            part->recv.base = buffer_at(part->recv.base, skip);
        if (part->send.base)
            part->send.base = buffer_at(part->send.base, skip);
        part_telling.bytes = unit_bytes(&part->recv);
    }
    part_telling.call = part;
    return part_telling;
}

static int run_rest(struct team *team, const struct telling *telling, size_t first,
                    size_t count)
{
    struct call part;
    struct telling part_telling = coll_rest(telling, first, count, &part);
    return run(team, &part_telling);
}

/* *whole: nothing was left to messages. */
static int attach_all(struct team *team, const struct telling *telling, bool *whole)
{
    struct rest rest;
    int error = attach_run(team, telling, &rest);
    team->away = rest.away;
    if (rest.n > 0 && !rest.away)
        choose_forget(team); /* attach serves it no more */
    for (int i = 0; i < rest.n && !error; i++)
        error = run_rest(team, telling, rest.part[i].first, rest.part[i].count);
    team->away = false;
    *whole = rest.n == 0;
    return error;
}

/* Or by its rival. */
static int run_attached(struct team *team, const struct choice *choice,
                        const struct telling *telling)
{
    struct choice way = *choice;
    struct rival rival;
    bool whole = true;
    int error = rival_begin(&rival, team, telling, &way);
    if (error)
        return error;
    coll_explain(team, telling->call, BLOCKING, &way);
    error = way.algorithm->attaches ? attach_all(team, telling, &whole)
                                    : coll_chosen(team, &way, telling);
    if (whole)
        rival_end(&rival);
    return error;
}

int coll_chosen(struct team *team, const struct choice *choice, const struct telling *telling)
{
    const struct call *call = telling->call;
    if (choice->algorithm->attaches)
        return run_attached(team, choice, telling);
    if (!choice->algorithm->program)
        return run_tiny(team, call, choice, telling);
    struct cached *cached;
    int error = coll_plan(team, call, BLOCKING, choice, &cached);
    return error ? error : run_plan(team, choice, telling, cached);
}

static int run(struct team *team, const struct telling *telling)
{
    struct choice choice;
    int error = channel_check(&team->channel);
    if (!error)
        error = choose(team, telling->call, BLOCKING, &choice);
    return error ? error : coll_chosen(team, &choice, telling);
}

/* Reductions of data on a device may work on copies.  Where attach finds such data it leaves all to
 * messages, unless it is forced. */
static __attribute__((noinline)) int run_away(struct team *team, const struct telling *user)
{
    struct call call = *user->call;
    struct telling telling = *user;
    struct staging staging;
    struct choice choice;
    int error = channel_check(&team->channel);
    if (!error)
        error = choose(team, &call, BLOCKING, &choice);
    if (error)
        return error;
    const struct algorithm *a = choice.algorithm;
    error = staging_open(&staging, team, &call,
                         a->program || (a->attaches && choice.by != BY_FORCE));
    if (error)
        return error;
    telling.call = &call;
    staging_in(&staging);
    error = coll_chosen(team, &choice, &telling);
    if (!error)
        staging_out(&staging);
    staging_close(&staging);
    return error ? error : staging_check(user->call);
}

int coll_run(struct team *team, const struct call *call)
{
    struct telling telling;
    telling_begin(&telling, team, call, BLOCKING);
    record_now.inside = &telling.scope;
    int stray = stray_check(team, &telling);
    int error = __builtin_expect(call_is_away(call), 0) ? run_away(team, &telling)
                                                        : run(team, &telling);
    record_now.inside = NULL;
    if (__builtin_expect((stray | error) == 0, 1))
        return 0;
    return mismatch_end(team, error, stray);
}
