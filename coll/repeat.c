/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/repeat.h"

#include "coll/choose.h"
#include "coll/rules.h"
#include "coll/tiny_slot.h"
#include "pml/failure.h"
#include "runtime/record.h"

bool repeat_keep(struct repeat *repeat, struct team *team, const struct call *call)
{
    const struct algorithm *algorithm = choose_known(team, call, &repeat->bytes);
    bool is_tiny = algorithm && !algorithm->program && !algorithm->attaches;
    repeat->stamp = choose_stamp(team);
    if (!is_tiny || !is_amount_known(call->what) || call_is_away(call))
        return false;
    repeat->call = *call;
    repeat->algorithm = algorithm;
    repeat->told = told_of(team, call);
    return true;
}

bool repeat_holds(const struct repeat *repeat, const struct team *team)
{
    return repeat->stamp == choose_stamp(team) && !repeat->busy;
}

/* What nobody waits for is counted while the others' words are on their way. */
static int perform(struct repeat *repeat, struct team *team, const struct telling *telling)
{
    struct round round;
    round.unfit = NULL;
    int error = tiny_say(&round, team->tiny, telling);
    choose_note(team, repeat->call.what, repeat->bytes, repeat->algorithm);
    if (!error)
        error = tiny_take(&round, telling);
    if (!error)
        tiny_fetch(&round);
    return error;
}

int repeat_run(struct repeat *repeat, struct team *team)
{
    struct telling telling;
    telling_repeat(&telling, team, &repeat->call, &repeat->told);
    repeat->busy = true;
    record_now.inside = &telling.scope;
    int stray = stray_check(team, &telling);
    int error = channel_check(&team->channel);
    if (!error)
        error = perform(repeat, team, &telling);
    record_now.inside = NULL;
    repeat->busy = false;
    if (__builtin_expect((stray | error) == 0, 1))
        return 0;
    return mismatch_end(team, error, stray);
}
