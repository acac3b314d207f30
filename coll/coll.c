/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives: blocking, nonblocking and persistent are three ways to run one plan.
 *
 *     choose a rule  ->  get the plan  ->  bind it to the call  ->  run
 *
 * Blocking calls with small messages run in program order (run_inline.c), the others through
 * the executor (run.c), which needs a request: on the stack here, an object of the user there.
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
#include "coll/run.h"
#include "coll/tell.h"
#include "coll/tiny.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

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

static int plan_for(struct team *team, const struct call *call, enum mode mode,
                    const struct choice *choice, struct cached **cached)
{
    bool fresh;
    struct plan_key key = key_of(team, call, choice);
    int error = cache_get(&team->cache, choice->algorithm, &key, cached, &fresh);
    if (!error && fresh && team->channel.rank == 0 && explain_wanted(call->what))
        explain_call(team, call, mode, choice, &(*cached)->plan);
    return error;
}

static void explain_planless(struct team *team, const struct call *call, enum mode mode,
                             const struct choice *choice)
{
    if (__builtin_expect(explain_wanted(call->what), 0) && team->channel.rank == 0 &&
        cache_first_time(&team->cache, choice->algorithm, mode))
        explain_call(team, call, mode, choice, NULL);
}

/* ---- blocking ---- */

static int run_to_end(struct team *team, const struct bound *bound,
                      const struct telling *telling)
{
    static const struct request_ops ops = { .name = "collective" };
    struct execution run = { .request = { .ops = &ops },
                             .tag = (int)(telling->number & COLL_NUMBERS),
                             .signature = telling->signature };
    int error = run_open(&run, team, bound);
    if (error)
        return error;
    run_begin(&run);
    progress_until(&run.request.done, run_tell, &run);
    run_close(&run);
    return request_failure(&run.request);
}

/* Takes over the binding. */
static int perform(struct team *team, struct bound *bound, bool sized,
                   const struct telling *telling)
{
    int tag = (int)(telling->number & COLL_NUMBERS);
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
    bool gathers = rest.what == COLL_GATHERV, root = rest.root == team->channel.rank;
    struct part *all = gathers ? &rest.recv : &rest.send;
    if (root) {
        (gathers ? &rest.send : &rest.recv)->count = 0; /* the own one is where it belongs */
        all->counts = (struct counts){ .wide = unfit->counts };
    }
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
    explain_planless(team, call, BLOCKING, choice);
    if (__builtin_expect(is_amount_known(call->what), 1))
        return tiny_run(team->tiny, telling, NULL);
    struct unfit unfit; /* its counts are for what is noted there */
    unfit.error = 0;
    unfit.any = false;
    int error = tiny_run(team->tiny, telling, &unfit);
    return error ? error : coll_unfit(team, telling, &unfit);
}

static int run(struct team *team, const struct telling *telling);

/* Elements [first, first + count) of a vector; of all else the whole. */
static struct telling telling_rest(const struct telling *telling, size_t first, size_t count,
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
    struct telling part_telling = telling_rest(telling, first, count, &part);
    return run(team, &part_telling);
}

static int run_attached(struct team *team, const struct call *call, const struct choice *choice,
                        const struct telling *telling)
{
    struct rest rest;
    explain_planless(team, call, BLOCKING, choice);
    int error = attach_run(team, telling, &rest);
    team->away = rest.away;
    if (rest.n > 0 && !rest.away)
        choose_forget(team); /* attach serves it no more */
    for (int i = 0; i < rest.n && !error; i++)
        error = run_rest(team, telling, rest.part[i].first, rest.part[i].count);
    team->away = false;
    return error;
}

static int run_chosen(struct team *team, const struct choice *choice,
                      const struct telling *telling)
{
    const struct call *call = telling->call;
    if (choice->algorithm->attaches)
        return run_attached(team, call, choice, telling);
    if (!choice->algorithm->program)
        return run_tiny(team, call, choice, telling);
    struct cached *cached;
    int error = plan_for(team, call, BLOCKING, choice, &cached);
    return error ? error : run_plan(team, choice, telling, cached);
}

static int run(struct team *team, const struct telling *telling)
{
    struct choice choice;
    int error = channel_check(&team->channel);
    if (!error)
        error = choose(team, telling->call, BLOCKING, &choice);
    return error ? error : run_chosen(team, &choice, telling);
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
    error = run_chosen(team, &choice, &telling);
    if (!error)
        staging_out(&staging);
    staging_close(&staging);
    return error ? error : staging_check(user->call);
}

/* Without memory this rank may not even have begun. */
static __attribute__((noinline)) int ended(const struct team *team, int error, int stray)
{
    if (error == MPI_ERR_NO_MEM)
        mismatch_give_up(team, team->said[team->calls % TEAM_SAID], error);
    return mismatch_end(team, error, stray);
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
    return ended(team, error, stray);
}

/* ---- with a request ---- */

struct coll_request {
    struct execution run; /* begins with the request */
    struct telling telling;
    struct call call;
    struct staging staging; /* of the call */
    struct cached *cached;
    struct sized *sized; /* goes first; NULL: nothing does */
    void *arrays;        /* copies of the call's */
};

/* The sizes are known, for all starts: go on. */
static void coll_go_on(struct request *request)
{
    struct coll_request *c = request->owner;
    int error = sized_take(c->sized, &c->run.bound);
    c->sized->known = !request->result.error;
    if (error)
        run_fail(&c->run, error);
    else
        run_begin(&c->run);
}

static void coll_begin(struct coll_request *c)
{
    if (!c->sized) {
        run_begin(&c->run);
    } else if (c->sized->known) {
        coll_go_on(&c->sized->run.request);
    } else {
        c->sized->run.request.done = 0;
        run_begin(&c->sized->run);
    }
}

static int coll_restart(struct request *request)
{
    struct coll_request *c = (struct coll_request *)request;
    int error = channel_check(&c->run.team->channel);
    if (error)
        return error;
    request->done = 0;
    request->active = true;
    coll_begin(c);
    return coll_begun(c->run.team, 0);
}

static void coll_release(struct request *request)
{
    struct coll_request *c = (struct coll_request *)request;
    run_close(&c->run);
    if (c->sized)
        sized_close(c->sized);
    free(c->sized);
    cache_drop(c->cached);
    free(c->arrays);
    staging_close(&c->staging);
    object_delete(c);
}

static void coll_tell(const struct request *request, struct record_wait *wait)
{
    const struct coll_request *c = (const struct coll_request *)request;
    telling_tell(&c->telling, wait);
    run_tell(c->sized && !c->sized->run.request.done ? &c->sized->run : &c->run, wait);
}

static const struct request_ops coll_ops = {
    .name = "collective",
    .start = coll_restart,
    .release = coll_release,
    .tell = coll_tell,
};

/* How many blocks a part with counts has on this rank. */
static size_t part_blocks(const struct team *team, const struct call *call,
                          const struct part *part)
{
    const struct neighbours *near = team->neighbours;
    int size = team->channel.size, split = team->split;
    if (!part->vector)
        return 0;
    if (is_neighbourhood(call->what))
        return (size_t)(part == &call->send ? near->ndestinations : near->nsources);
    if (split == 0)
        return (size_t)size;
    bool first = team->channel.rank < split, own = call->what == COLL_REDUCE_SCATTER;
    return (size_t)(first == own ? split : size - split);
}

/* Copy an array of n numbers to `place` and use the copy; returns where the next one goes. */
static char *array_copy(struct counts *array, size_t n, char *place)
{
    size_t bytes = n * (array->wide ? sizeof *array->wide : sizeof *array->narrow);
    const void *from = array->wide ? (const void *)array->wide : array->narrow;
    if (!from)
        return place;
    memcpy(place, from, bytes);
    if (array->wide)
        array->wide = (const int64_t *)place;
    else
        array->narrow = (const int *)place;
    return place + bytes + bytes % sizeof(int64_t);
}

/* The user's arrays of counts and displacements are copied.  The standard lets us look at them
 * until the operation is over, or until a persistent request is freed; programs that give them
 * away earlier are many, because others have copied them for years. */
static int own_arrays(struct coll_request *c, const struct team *team)
{
    struct call *call = &c->call;
    size_t nsend = part_blocks(team, call, &call->send);
    size_t nrecv = part_blocks(team, call, &call->recv);
    c->arrays = NULL;
    if (nsend + nrecv == 0)
        return 0;
    char *place = c->arrays = malloc(2 * (nsend + nrecv) * sizeof(int64_t));
    if (!place)
        return fail(MPI_ERR_NO_MEM, "no memory for the counts of %zu blocks", nsend + nrecv);
    place = array_copy(&call->send.counts, nsend, place);
    place = array_copy(&call->send.displs, nsend, place);
    place = array_copy(&call->recv.counts, nrecv, place);
    array_copy(&call->recv.displs, nrecv, place);
    return 0;
}

static int sizes_first(struct coll_request *c)
{
    struct execution *run = &c->run;
    struct sized *sized = malloc(sizeof *sized);
    if (!sized)
        return fail(MPI_ERR_NO_MEM, "no memory for the sizes of a collective");
    int error = sized_open(sized, run->team, &run->bound, run->tag, run->signature);
    if (error) {
        free(sized);
        return error;
    }
    sized->run.request.on_done = coll_go_on;
    sized->run.request.owner = c;
    c->sized = sized;
    return 0;
}

static int coll_new(struct team *team, const struct telling *telling, enum mode mode,
                    const struct choice *choice, struct coll_request **made)
{
    struct coll_request *c = object_new(OBJECT_REQUEST, sizeof(*c));
    if (!c)
        return fail(MPI_ERR_NO_MEM, "no memory for a collective request");
    c->run.request.ops = &coll_ops;
    c->call = *telling->call;
    c->telling = *telling;
    c->telling.call = &c->call;
    int error = staging_open(&c->staging, team, &c->call, true);
    if (error)
        goto undo_object;
    if (c->staging.send.user.layout || c->staging.recv.user.layout)
        c->call.staging = &c->staging;
    error = own_arrays(c, team);
    if (error)
        goto undo_staging;
    error = plan_for(team, &c->call, mode, choice, &c->cached);
    if (error)
        goto undo_arrays;
    uint32_t number = telling->number & COLL_NUMBERS;
    c->run.signature = telling->signature;
    c->run.tag = (int)(mode == PERSISTENT ? number | COLL_PERSISTENT : number);
    struct bound bound;
    error = bind_open(&bound, &c->cached->plan, &c->call);
    if (!error)
        error = run_open(&c->run, team, &bound);
    if (error)
        goto undo_plan;
    error = choice->algorithm->sized ? sizes_first(c) : 0;
    if (error)
        goto undo_run;
    *made = c;
    return 0;

undo_run:
    run_close(&c->run);
undo_plan:
    cache_drop(c->cached);
undo_arrays:
    free(c->arrays);
undo_staging:
    staging_close(&c->staging);
undo_object:
    object_delete(c);
    return error;
}

/* Whatever may fail on one rank alone comes after the telling: the next one has the same number
 * on all. */
static int tell_and_choose(struct team *team, const struct call *call, enum mode mode,
                           struct telling *telling, struct choice *choice)
{
    telling_begin(telling, team, call, mode);
    if (mode == PERSISTENT)
        team->said[telling->number % TEAM_SAID] |= (uint64_t)COLL_PERSISTENT << 32;
    if (__builtin_expect(team->asked != 0, 0))
        mismatch_recall(team);
    int error = channel_check(&team->channel);
    return error ? error : choose(team, call, mode, choice);
}

int coll_begun(const struct team *team, int error)
{
    if (error)
        return ended(team, error, 0);
    mismatch_settle();
    return 0;
}

static int start_plan(struct team *team, const struct telling *telling,
                      const struct choice *choice, struct request **request)
{
    struct coll_request *c;
    int error = coll_new(team, telling, NONBLOCKING, choice, &c);
    if (error)
        return error;
    c->run.request.active = true;
    *request = &c->run.request;
    coll_begin(c);
    return 0;
}

int coll_start(struct team *team, const struct call *call, struct request **request)
{
    struct telling telling;
    struct choice choice;
    int error = tell_and_choose(team, call, NONBLOCKING, &telling, &choice);
    if (error)
        return error;
    if (!choice.algorithm->program) {
        explain_planless(team, call, NONBLOCKING, &choice);
        return later_start(team, &telling, choice.algorithm->attaches, request);
    }
    return start_plan(team, &telling, &choice, request);
}

int coll_start_rest(struct team *team, const struct telling *telling, size_t first,
                    size_t count, struct request **request)
{
    struct call part;
    struct choice choice;
    struct telling part_telling = telling_rest(telling, first, count, &part);
    int error = choose_plan(team, &part, "attach could not reach all memory", &choice);
    return error ? error : start_plan(team, &part_telling, &choice, request);
}

/* Slots of its own, if there is room for more.  If not, *request is NULL and another algorithm is
 * chosen. */
static int init_tiny(struct team *team, const struct telling *telling, struct choice *choice,
                     struct request **request)
{
    uint64_t name;
    int error = later_draw(team, telling, &name);
    *request = NULL;
    if (error)
        return error;
    if (!name)
        return choose_no_tiny(team, telling->call, PERSISTENT,
                              "there is no room for more shared slots", choice);
    explain_planless(team, telling->call, PERSISTENT, choice);
    return later_init(team, telling, name, request);
}

static int init_plan(struct team *team, const struct telling *telling,
                     const struct choice *choice, struct request **request)
{
    struct coll_request *c;
    int error = coll_new(team, telling, PERSISTENT, choice, &c);
    if (error)
        return error;
    run_reserve(&c->run);
    c->run.request.persistent = true;
    c->run.request.done = 1;
    *request = &c->run.request;
    return 0;
}

int coll_init(struct team *team, const struct call *call, struct request **request)
{
    struct telling telling;
    struct choice choice;
    int error = tell_and_choose(team, call, PERSISTENT, &telling, &choice);
    if (!error && !choice.algorithm->program) {
        error = init_tiny(team, &telling, &choice, request);
        if (error || *request)
            return error;
    }
    return error ? error : init_plan(team, &telling, &choice, request);
}
