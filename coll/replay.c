/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/replay.h"

#include "coll/cache.h"
#include "coll/choose.h"
#include "coll/rules.h"
#include "coll/run.h"
#include "coll/scratch.h"
#include "coll/tell.h"

#include <stdlib.h>

struct replay {
    struct cached *cached;
    struct execution *run; /* which has the binding; NULL: it is performed in program order, */
    struct bound bound;    /* bound like this */
};

static struct bound *bound_of(struct replay *replay)
{
    return replay->run ? &replay->run->bound : &replay->bound;
}

static bool is_buffer(const struct area *area, const struct part *part)
{
    return area->how == CUT_NOTHING || area->base == part->base;
}

/* The rooms are the buffers and lists of the call, which others may take the places of: no copies of them, no lists
 * that were made of theirs, and no scratch, which would be kept as long as the team. */
static bool is_plain(const struct bound *b)
{
    bool apart = b->scratch || b->sizes;
    for (int r = 0; r < ROOMS; r++)
        apart |= b->aside[r] || b->listed[r];
    return !apart && is_buffer(&b->room[ROOM_IN], &b->call->send) &&
           is_buffer(&b->room[ROOM_OUT], &b->call->recv);
}

/* A plain binding goes over to a run.  Layouts that are made of lists are not kept, as the lists are not.  0 or
 * MPI_ERR_NO_MEM. */
static int open_run(struct replay *replay, struct team *team)
{
    struct execution *run = calloc(1, sizeof *run);
    int error = run ? run_open(run, team, &replay->bound) : scratch_fail(sizeof *run);
    if (error) {
        free(run);
        return error;
    }
    bind_forget(&run->bound);
    replay->run = run;
    return 0;
}

static bool bind_whole(struct replay *replay, struct team *team, const struct call *call)
{
    if (bind_open(&replay->bound, &replay->cached->plan, call) != 0)
        return false;
    if (!is_plain(&replay->bound)) {
        bind_close(&replay->bound);
        return false;
    }
    return run_is_inline(&replay->bound) || open_run(replay, team) == 0;
}

struct replay *replay_new(struct team *team, const struct call *call,
                          const struct choice *choice)
{
    struct replay *replay = choice->algorithm->sized ? NULL : calloc(1, sizeof *replay);
    bool planned = replay && coll_plan(team, call, BLOCKING, choice, &replay->cached) == 0;
    if (planned && bind_whole(replay, team, call))
        return replay;
    if (planned)
        cache_drop(replay->cached);
    free(replay);
    return NULL;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    if (replay->run)
        run_close(replay->run);
    else
        bind_close(&replay->bound);
    free(replay->run);
    cache_drop(replay->cached);
    free(replay);
}

static void place(struct area *area, const struct part *part)
{
    area->base = part->base;
    area->counts = part->counts;
    area->displs = part->displs;
}

static int run_once_more(struct execution *run, const struct telling *telling)
{
    int error = run_through(run, telling);
    run_lighten(run);
    return error;
}

/* Blocks may be too long for program order this time, or since XMPI_EAGER was changed. */
int replay_run(struct replay *replay, struct team *team, const struct telling *telling)
{
    const struct call *call = telling->call;
    struct bound *bound = bound_of(replay);
    place(&bound->room[ROOM_IN], &call->send);
    place(&bound->room[ROOM_OUT], &call->recv);
    if (!replay->run && run_is_inline(bound))
        return run_inline(team, bound, telling_tag(telling), telling->signature);
    int error = replay->run ? 0 : open_run(replay, team);
    return error ? error : run_once_more(replay->run, telling);
}
