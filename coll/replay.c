/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/replay.h"

#include "coll/cache.h"
#include "coll/run.h"
#include "coll/tell.h"

#include <stdlib.h>

struct replay {
    struct cached *cached;
    struct bound bound;
};

/* Blocks that are cut in pieces may lie apart from the buffers. */
static bool bind_whole(struct replay *replay, const struct call *call)
{
    if (replay->cached->plan.key.pieces > 1)
        return false;
    if (bind_open(&replay->bound, &replay->cached->plan, call) != 0)
        return false;
    if (run_is_inline(&replay->bound))
        return true;
    bind_close(&replay->bound);
    return false;
}

struct replay *replay_new(struct team *team, const struct call *call,
                          const struct choice *choice)
{
    struct replay *replay = malloc(sizeof *replay);
    bool planned = replay && coll_plan(team, call, BLOCKING, choice, &replay->cached) == 0;
    if (planned && bind_whole(replay, call))
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
    bind_close(&replay->bound);
    cache_drop(replay->cached);
    free(replay);
}

static void place(struct area *area, const struct part *part)
{
    area->base = part->base;
    area->counts = part->counts;
    area->displs = part->displs;
}

/* Blocks that are too long this time, or since XMPI_EAGER was changed. */
static int run_anew(const struct replay *replay, struct team *team,
                    const struct telling *telling)
{
    struct bound bound;
    int error = bind_open(&bound, &replay->cached->plan, telling->call);
    return error ? error : run_to_end(team, &bound, telling);
}

int replay_run(struct replay *replay, struct team *team, const struct telling *telling)
{
    const struct call *call = telling->call;
    place(&replay->bound.room[ROOM_IN], &call->send);
    place(&replay->bound.room[ROOM_OUT], &call->recv);
    if (!run_is_inline(&replay->bound))
        return run_anew(replay, team, telling);
    return run_inline(team, &replay->bound, telling_tag(telling), telling->signature);
}
