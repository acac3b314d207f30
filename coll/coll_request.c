/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives with a request: nonblocking and persistent ones.  A plan's request is made here, those of slots
 * and attach in later.c.
 *
 * Whatever may fail on one rank alone fails after the collective is numbered, so that the next one has the same
 * number on all.
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
    int error = channel_check_of(&c->run.team->channel, c->run.tag);
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
    error = call_keep_arrays(&c->call, team, &c->arrays);
    if (error)
        goto undo_staging;
    error = coll_plan(team, &c->call, mode, choice, &c->cached);
    if (error)
        goto undo_arrays;
    c->run.signature = telling->signature;
    c->run.tag = telling_tag(telling);
    if (mode == PERSISTENT)
        c->run.tag |= COLL_PERSISTENT;
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
        return mismatch_end(team, error, 0);
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
        coll_explain(team, call, NONBLOCKING, &choice);
        return later_start(team, &telling, choice.algorithm->attaches, request);
    }
    return start_plan(team, &telling, &choice, request);
}

int coll_start_rest(struct team *team, const struct telling *telling, size_t first,
                    size_t count, struct request **request)
{
    struct call part;
    struct choice choice;
    struct telling part_telling = coll_rest(telling, first, count, &part);
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
    coll_explain(team, telling->call, PERSISTENT, choice);
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
