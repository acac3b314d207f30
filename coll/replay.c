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
static bool bind(struct replay *replay, const struct call *call)
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
    if (!replay || coll_plan(team, call, BLOCKING, choice, &replay->cached) != 0) {
        free(replay);
        return NULL;
    }
    if (bind(replay, call))
        return replay;
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

int replay_run(struct replay *replay, struct team *team, const struct telling *telling)
{
    replay->bound.room[ROOM_IN].base = telling->call->send.base;
    replay->bound.room[ROOM_OUT].base = telling->call->recv.base;
    int tag = (int)(telling->number & COLL_NUMBERS);
    return run_inline(team, &replay->bound, tag, telling->signature);
}
