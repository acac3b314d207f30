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
    struct team *team;
    size_t bytes; /* as the rules count them */
    struct choice choice;
    int stray;             /* of this run, see stray_check */
    struct replay *replay; /* of a plan; NULL: there is none (slots, attach) */
    bool in_slots;         /* then the round says it; what fits none is noted each time anew */
    struct round round;
    struct unfit unfit;
};

static void replay_drop(struct performing *p)
{
    replay_free(p->replay);
    p->replay = NULL;
}

static bool keep_as(struct performing *p, struct team *team, const struct choice *choice)
{
    p->choice = *choice;
    p->in_slots = false;
    if (choice->algorithm->attaches)
        return true;
    if (choice->algorithm->program) {
        p->replay = replay_new(team, p->telling.call, choice);
        return p->replay;
    }
    p->in_slots = true;
    p->unfit.error = 0;
    p->unfit.any = false;
    tiny_prepare(&p->round, team->tiny, &p->telling);
    p->round.unfit = &p->unfit;
    return true;
}

bool repeat_keep(struct repeat *repeat, struct team *team, const struct call *call)
{
    size_t bytes;
    const struct choice *choice = choose_known(team, call, &bytes);
    struct performing *p = repeat->performing;
    repeat->stamp = team_stamp(team);
    if (p)
        replay_drop(p);
    if (!choice || choice->algorithm->script || call_is_away(call))
        return false;
    if (!p)
        p = repeat->performing = calloc(1, sizeof *p);
    if (!p)
        return false;
    repeat->call = *call;
    p->telling = telling_of(team, &repeat->call, BLOCKING);
    p->team = team;
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
static __attribute__((noinline)) int perform_unfit(struct performing *p, int error)
{
    if (!error)
        error = coll_unfit(p->team, &p->telling, &p->unfit);
    p->unfit.error = 0;
    p->unfit.any = false;
    return error;
}

static inline void count(const struct performing *p)
{
    telling_record(&p->telling);
    choose_count(p->team, p->telling.call->what, p->bytes,
                 (int)(p->choice.algorithm - algorithms));
}

/* Through slots.  What nobody waits for is done while the others' words are on their way. */
static inline int perform(struct performing *p)
{
    const struct telling *t = &p->telling;
    int error = tiny_say(&p->round, t->call, telling_word(t), t->before);
    count(p);
    if (!error)
        error = tiny_take(&p->round, t->call);
    if (!error)
        tiny_fetch(&p->round);
    if (__builtin_expect(p->unfit.any | p->unfit.error, 0))
        error = perform_unfit(p, error);
    return error;
}

static __attribute__((noinline)) int perform_otherwise(const struct performing *p)
{
    count(p);
    return p->replay ? replay_run(p->replay, p->team, &p->telling)
                     : coll_chosen(p->team, &p->choice, &p->telling);
}

/* A message of an earlier collective may have come, or somebody may be lost: then the error. */
static __attribute__((noinline)) int examine(struct performing *p)
{
    p->stray = stray_check(p->team, &p->telling);
    return channel_check(&p->team->channel);
}

static __attribute__((noinline)) int end_badly(struct performing *p, int error)
{
    int stray = p->stray;
    p->stray = 0;
    return mismatch_end(p->team, error, stray);
}

/* What is rare is done elsewhere: registers would be saved for it. */
int repeat_run(struct repeat *repeat, struct team *team)
{
    struct performing *p = repeat->performing;
    telling_next(&p->telling, team);
    repeat->busy = true;
    record_now.inside = &p->telling.scope;
    int error = strays_are_none(team) && channels_are_sound() ? 0 : examine(p);
    if (!error)
        error = p->in_slots ? perform(p) : perform_otherwise(p);
    record_now.inside = NULL;
    repeat->busy = false;
    return __builtin_expect((error | p->stray) == 0, 1) ? 0 : end_badly(p, error);
}
