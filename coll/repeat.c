/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/repeat.h"

#include "coll/choose.h"
#include "coll/replay.h"
#include "coll/rules.h"
#include "coll/tell.h"
#include "coll/tiny_slot.h"
#include "pml/failure.h"
#include "runtime/record.h"

#include <stdlib.h>

/* Ready to be said, but for what counts it. */
struct performing {
    struct telling telling;
    size_t bytes;          /* as the rules count them */
    int algorithm;         /* its number in the table */
    struct replay *replay; /* by messages of a plan; NULL: through slots, */
    struct round round;
    struct unfit unfit; /* of each time anew */
};

static void replay_drop(struct performing *p)
{
    replay_free(p->replay);
    p->replay = NULL;
}

static bool keep_as(struct performing *p, struct team *team, const struct choice *choice)
{
    p->algorithm = (int)(choice->algorithm - algorithms);
    if (choice->algorithm->program) {
        p->replay = replay_new(team, p->telling.call, choice);
        return p->replay;
    }
    p->unfit.error = 0;
    p->unfit.any = false;
    tiny_prepare(&p->round, team->tiny, &p->telling);
    p->round.unfit = &p->unfit;
    return true;
}

static bool is_kept(const struct algorithm *algorithm, const struct call *call)
{
    return algorithm->program ? is_neighbourhood(call->what) && !algorithm->script
                              : !algorithm->attaches;
}

bool repeat_keep(struct repeat *repeat, struct team *team, const struct call *call)
{
    size_t bytes;
    const struct choice *choice = choose_known(team, call, &bytes);
    struct performing *p = repeat->performing;
    repeat->stamp = team_stamp(team);
    if (p)
        replay_drop(p);
    if (!choice || !is_kept(choice->algorithm, call) || call_is_away(call))
        return false;
    if (!p)
        p = repeat->performing = calloc(1, sizeof *p);
    if (!p)
        return false;
    repeat->call = *call;
    p->telling = telling_of(team, &repeat->call, BLOCKING);
    p->bytes = bytes;
    return keep_as(p, team, choice);
}

void repeat_forget(struct repeat *repeat)
{
    if (repeat->performing)
        replay_drop(repeat->performing);
    free(repeat->performing);
    repeat->performing = NULL;
}

/* Of a gatherv or scatterv there are blocks for which slots have no room; of any, places no room for blocks.  After
 * an error there may be such, too, but no plan is begun. */
static __attribute__((noinline)) int perform_unfit(struct performing *p, struct team *team,
                                                   int error)
{
    if (!error)
        error = coll_unfit(team, &p->telling, &p->unfit);
    p->unfit.error = 0;
    p->unfit.any = false;
    return error;
}

static inline void count(const struct performing *p, struct team *team)
{
    telling_record(&p->telling);
    choose_count(team, p->telling.call->what, p->bytes, p->algorithm);
}

/* Through slots.  What nobody waits for is done while the others' words are on their way. */
static inline int perform(struct performing *p, struct team *team)
{
    int error = tiny_say(&p->round, &p->telling);
    count(p, team);
    if (!error)
        error = tiny_take(&p->round, &p->telling);
    if (!error)
        tiny_fetch(&p->round);
    if (__builtin_expect(p->unfit.any | p->unfit.error, 0))
        error = perform_unfit(p, team, error);
    return error;
}

static inline int perform_plan(const struct performing *p, struct team *team)
{
    count(p, team);
    return replay_run(p->replay, team, &p->telling);
}

int repeat_run(struct repeat *repeat, struct team *team)
{
    struct performing *p = repeat->performing;
    telling_next(&p->telling, team);
    repeat->busy = true;
    record_now.inside = &p->telling.scope;
    int stray = stray_check(team, &p->telling);
    int error = channel_check(&team->channel);
    if (!error)
        error = p->replay ? perform_plan(p, team) : perform(p, team);
    record_now.inside = NULL;
    repeat->busy = false;
    if (__builtin_expect((stray | error) == 0, 1))
        return 0;
    return mismatch_end(team, error, stray);
}
