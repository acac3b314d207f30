/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/rival.h"

#include "coll/attach.h"
#include "coll/choose.h"
#include "coll/rules.h"
#include "coll/tell.h"
#include "runtime/clock.h"
#include "runtime/fail.h"

#include <stdlib.h>
#include <string.h>

/* Collectives of which what is learnt of one is good for the other share a table. */
enum rivalry {
    OF_GATHER,
    OF_ALLGATHER,
    OF_ALLTOALL,
    OF_REDUCE,
    OF_ALLREDUCE,
    OF_REDUCE_SCATTER,
    OF_SCAN,
    RIVALRIES,
    NO_RIVALRY = RIVALRIES
};

/* Attach is tried first, means.h. */
enum { BY_MESSAGES = MEANS_FIRST, BY_ATTACH = MEANS_SECOND };

struct rivals {
    struct means_table of[RIVALRIES];
};

static enum rivalry rivalry_of(enum collective what)
{
    static const uint8_t rivalries[COLL_KINDS] = {
        /* 1 + */
        [COLL_GATHER] = 1 + OF_GATHER,
        [COLL_ALLGATHER] = 1 + OF_ALLGATHER,
        [COLL_ALLGATHERV] = 1 + OF_ALLGATHER,
        [COLL_ALLTOALL] = 1 + OF_ALLTOALL,
        [COLL_REDUCE] = 1 + OF_REDUCE,
        [COLL_ALLREDUCE] = 1 + OF_ALLREDUCE,
        [COLL_REDUCE_SCATTER] = 1 + OF_REDUCE_SCATTER,
        [COLL_REDUCE_SCATTER_BLOCK] = 1 + OF_REDUCE_SCATTER,
        [COLL_SCAN] = 1 + OF_SCAN,
        [COLL_EXSCAN] = 1 + OF_SCAN,
    };
    return rivalries[what] ? (enum rivalry)(rivalries[what] - 1) : NO_RIVALRY;
}

struct rivals *rivals_new(void)
{
    return calloc(1, sizeof(struct rivals));
}

void rivals_log(const struct rivals *rivals)
{
    static const char *const whose[RIVALRIES] = {
        [OF_GATHER] = "gathers",       [OF_ALLGATHER] = "allgathers",
        [OF_ALLTOALL] = "alltoalls",   [OF_REDUCE] = "reduces",
        [OF_ALLREDUCE] = "allreduces", [OF_REDUCE_SCATTER] = "reduce_scatters",
        [OF_SCAN] = "scans",
    };
    static const char *const names[MEANS] = {
        [BY_MESSAGES] = "by messages", [BY_ATTACH] = "attached"
    };
    for (int i = 0; rivals && i < RIVALRIES; i++)
        means_log(&rivals->of[i], whose[i], names);
}

static struct means_table *table_of(const struct team *team, const struct call *call,
                                    size_t bytes)
{
    enum rivalry which = rivalry_of(call->what);
    if (!team->tiny->rivals || which == NO_RIVALRY || bytes > RIVAL_MOST ||
        (is_reduction(call->what) && team->tiny->n != 2))
        return NULL;
    return &team->tiny->rivals->of[which];
}

/* Of all ranks' times: where all leave together that of the last one to come is what the collective took.  Where the
 * others need not wait for the root, all that they spend there. */
static uint64_t judged(const struct round *round, enum collective what)
{
    bool rooted = is_rooted(what);
    uint64_t sum = 0, least = UINT64_MAX;
    for (int r = 0; r < round->tiny->n; r++) {
        uint64_t ticks;
        memcpy(&ticks, slot_of(round->tiny, r, round->sequence)->payload, sizeof ticks);
        least = ticks < least ? ticks : least;
        sum += ticks;
    }
    return rooted ? sum / (uint64_t)round->tiny->n : least;
}

/* The ranks tell each other what the run took. */
static int agree(struct team *team, const struct telling *telling, uint64_t *ticks)
{
    struct round round;
    tiny_all(&round, team->tiny);
    int lost = tiny_begin(&round, telling_word(telling), telling->before);
    if (lost)
        return lost;
    memcpy(round.mine->payload, ticks, sizeof *ticks);
    tiny_publish(&round);
    lost = attach_hear_all(&round);
    if (lost)
        return lost;
    if (round.error)
        fail_recall(team->tiny);
    else
        *ticks = judged(&round, telling->call->what);
    return round.error;
}

int rival_begin(struct rival *rival, struct team *team, const struct telling *telling,
                struct choice *choice)
{
    size_t bytes = choose_bytes(team, telling->call);
    *rival = (struct rival){ .bytes = bytes };
    struct means_table *table =
        choice->by == BY_RULE ? table_of(team, telling->call, bytes) : NULL;
    if (!table)
        return 0;
    uint64_t *run = means_over(table, bytes);
    int error = run ? agree(team, telling, run) : 0;
    if (error)
        return error;
    rival->way = means_take(table, bytes);
    if (rival->way == BY_MESSAGES)
        error = choose_rival(team, telling->call, choice);
    rival->table = table;
    rival->began = cpu_ticks();
    return error;
}

void rival_end(const struct rival *rival)
{
    if (rival->table)
        means_took(rival->table, (enum means)rival->way, rival->bytes,
                   cpu_ticks() - rival->began);
}
