/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What attach_run does, by one who comes again instead of waiting:
 *
 *     FRESH       say where our buffers are
 *     OFFERED     have all said it?
 *     WORKING     a piece of our part, each time
 *     SAID        say what is done; have all said it?
 *     LEAVING     somebody is lost, or in another collective: until nobody touches our memory any more
 *     RESTING     messages do what could not be reached
 *
 * So who computes in between has to come three times, and others wait for two of its words; the same work
 * as messages takes more rounds, and folds or copies more.
 *
 * What the ranks learn of each other's memory they may not use at once, as blocking calls do (tiny->apart of the
 * team): one of them may have begun the next call before this one was over.  But on one track each begins after the
 * one before is over, everywhere; so each track learns for itself.
 */
#include "coll/attach_later.h"

#include "coll/attach.h"
#include "coll/tell.h"
#include "pml/failure.h"
#include "runtime/fail.h"

#include <stddef.h>
#include <stdlib.h>

enum stage { FRESH, OFFERED, WORKING, SAID, LEAVING, RESTING };

struct attach_later {
    struct team *team;
    const struct telling *telling;
    const struct attach_way *way;
    struct attached a;
    enum stage stage;
    int heard;        /* the ranks below it have spoken in this round */
    int error;        /* LEAVING: because of it */
    bool is_open;     /* the way's state */
    bool is_here;     /* somebody goes on with it, and polls on the way */
    struct told told; /* of our part */
    struct rest rest;
    int part;             /* of the rest, under way */
    struct request *plan; /* which performs it */
    _Alignas(max_align_t) char state[ATTACH_STATE];
};

struct attach_later *attach_later_new(struct team *team, struct tiny *track,
                                      const struct telling *telling)
{
    struct attach_later *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->team = team;
    x->telling = telling;
    x->way = attach_way_of(telling->call->what);
    attach_begin(&x->a, team, track, telling);
    return x;
}

void attach_later_free(struct attach_later *x)
{
    free(x);
}

/* ---- hearing ---- */

static const struct round *round_of(const struct attach_later *x)
{
    return x->stage == SAID ? &x->a.over : &x->a.met;
}

static bool has_heard(struct attach_later *x)
{
    return tiny_has_heard(round_of(x), &x->heard);
}

bool attach_later_can(struct attach_later *x)
{
    return (x->stage != OFFERED && x->stage != SAID) || has_heard(x);
}

bool attach_later_works(const struct attach_later *x)
{
    return x->stage == WORKING;
}

const struct round *attach_later_round(const struct attach_later *x)
{
    return x->stage == FRESH || x->stage == RESTING ? NULL : round_of(x);
}

const struct request *attach_later_rest(const struct attach_later *x)
{
    return x->plan;
}

/* ---- the end ---- */

/* Give back what the way has; afterwards x->rest says what is left. */
static int way_close(struct attach_later *x, int error)
{
    if (x->is_open)
        error = x->way->close(x->state, &x->a, error, &x->rest);
    x->is_open = false;
    if (!error && !x->a.is_open) /* of data on a device, too: they are a plan's this time */
        rest_whole(&x->rest, x->telling->call, false);
    return error;
}

static enum stage leave(struct attach_later *x, int error)
{
    x->error = error;
    attach_say_leave(&x->a);
    return LEAVING;
}

/* The text of the error, which may be of long ago. */
static int error_of(struct attach_later *x)
{
    if (x->error == x->a.met.error || x->error == x->a.over.error)
        fail_recall(x->a.tiny);
    else
        channel_check_of(&x->team->channel, telling_number(x->telling));
    return way_close(x, x->error);
}

/* ---- the rest ---- */

/* True: all of it is done, or failed. */
static bool rest_go_on(struct attach_later *x, int *error)
{
    while (!*error) {
        if (x->plan && !x->plan->done)
            return false;
        if (x->plan) {
            struct request *plan = x->plan;
            *error = request_failure(plan);
            x->plan = NULL;
            plan->ops->release(plan);
        } else if (x->part < x->rest.n) {
            int i = x->part++;
            x->team->away = x->a.away; /* of this choice */
            *error = coll_start_rest(x->team, x->telling, x->rest.part[i].first,
                                     x->rest.part[i].count, &x->plan);
            x->team->away = false;
        } else {
            return true;
        }
    }
    return true;
}

/* All know alike what could not be reached. */
static bool rest_begin(struct attach_later *x, int *error)
{
    struct attached *a = &x->a;
    *error = way_close(x, 0);
    if (x->rest.n > 0 && !a->away && !a->other_way)
        a->tiny->apart |= 1u << x->telling->call->what;
    x->stage = RESTING;
    return rest_go_on(x, error);
}

/* ---- from the beginning ---- */

static int offer(struct attach_later *x)
{
    const struct call *call = x->telling->call;
    struct offer offer = { .openness = ON_DEVICE };
    x->is_open = !(is_reduction(call->what) && call_is_away(call));
    if (x->is_open)
        x->way->open(x->state, &x->a, call, &offer);
    offer.is_outside = true;
    int lost = attach_offer(&x->a, &offer);
    if (!lost && x->is_open && x->way->own)
        x->way->own(x->state);
    x->stage = OFFERED;
    x->heard = 0;
    return lost ? way_close(x, lost) : 0;
}

/* What the round is worth that all have spoken in.  Who has left may be in another collective there. */
static int error_in(struct round *round)
{
    int lost = attach_hear_all(round);
    return lost ? lost : round->error;
}

/* All have offered: what now? */
static enum stage meet(struct attach_later *x)
{
    int error = error_in(&x->a.met);
    if (error)
        return leave(x, error);
    attach_look(&x->a);
    return x->a.is_open ? WORKING : RESTING;
}

static enum stage work(struct attach_later *x)
{
    attach_set_outside(&x->a, false);
    bool more = x->way->go_on(x->state, &x->told);
    attach_set_outside(&x->a, true);
    if (more)
        return WORKING;
    int lost = attach_say_end(&x->a, x->told);
    x->heard = 0;
    return lost ? leave(x, lost) : SAID;
}

static enum stage learn(struct attach_later *x)
{
    int error = error_in(&x->a.over);
    if (error)
        return leave(x, error);
    attach_learn(&x->a);
    return RESTING;
}

/* Nobody will say what is missing. */
static bool is_lost(struct attach_later *x)
{
    bool waits = x->stage == OFFERED || x->stage == SAID;
    int lost = waits && !has_heard(x)
                   ? channel_check_of(&x->team->channel, telling_number(x->telling))
                   : 0;
    if (lost)
        x->stage = leave(x, lost);
    return lost;
}

static bool go_on(struct attach_later *x, int *error)
{
    *error = 0;
    if (x->stage == RESTING)
        return rest_go_on(x, error);
    if (x->stage == FRESH &&
        (*error = channel_check_of(&x->team->channel, telling_number(x->telling))))
        return true; /* the one before left, and our offer would stand where others await its end */
    if (x->stage == FRESH && x->a.tiny->apart >> x->telling->call->what & 1)
        return rest_begin(x, error);
    if (x->stage == FRESH && (*error = offer(x)))
        return true;
    if (x->stage == OFFERED && has_heard(x))
        x->stage = meet(x);
    if (x->stage == WORKING)
        x->stage = work(x);
    if (x->stage == SAID && has_heard(x))
        x->stage = learn(x);
    if (x->stage == RESTING)
        return rest_begin(x, error);
    if (x->stage != LEAVING && !is_lost(x))
        return false;
    if (!attach_all_through(&x->a))
        return false;
    *error = error_of(x);
    return true;
}

bool attach_later_go_on(struct attach_later *x, int *error)
{
    *error = 0;
    if (x->is_here)
        return false;
    x->is_here = true;
    bool over = go_on(x, error);
    x->is_here = false;
    return over;
}
