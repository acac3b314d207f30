/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives through shared slots whose end is not waited for.  The slots of blocking ones may be
 * written again because whoever has begun an operation is through with all before (tiny_slot.h).
 * With several under way that is not so; hence tracks, which have slots of their own, and on each
 * of which it is:
 *
 *     track 0    | 1st, its slots are written | 5th waits |
 *     track 1    | 2nd |                                         the first of each is under way,
 *     track 2    | 3rd |                                         those behind it wait for its end
 *     track 3    | 4th |
 *
 * All ranks begin the same ones in the same order, so they put each on the same track.  A persistent
 * one may be started at any time, and before another here but after it there: it has a track for
 * itself, in a block that rank 0 drew when it was made.
 *
 * Begin: say, if nobody is before us on the track and nobody needs the slot any more.  Then a poller
 * looks whether all have spoken whom this rank hears, and takes.  Whoever waits for a request looks
 * by itself for a moment before it goes through all pollers, as in tiny_hear.
 *
 * Collectives of much data use the slots of a track twice and work in between (attach_later.c).
 *
 * Costs one allocation per call, two with lists of counts, none per start of a persistent one.
 */
#include "coll/attach_later.h"
#include "coll/bind.h"
#include "coll/tell.h"
#include "coll/tiny_slot.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "mpi.h"
#include "mpix.h"

#include <stdlib.h>

struct track {
    struct tiny *tiny;
    struct later *first, **end; /* begun and not over, in order; only the first has a slot */
    struct track *next;         /* of those that are looked at */
    bool is_looked_at;
};

struct tracks {
    uint32_t begun; /* on all of them */
    int n;
    struct track track[];
};

struct later {
    struct request request;
    struct track *track;
    struct later *next; /* on it; or of those that are over */
    struct telling telling;
    struct call call;
    void *arrays;                /* of the call */
    struct staging *staging;     /* of the call; NULL: no data on a device are reduced */
    struct attach_later *attach; /* much data; NULL: it is all in the slots */
    struct round round;
    bool has_spoken;
    int heard; /* the ranks below it have spoken, or need not */
    struct track own[];
};

static struct track *looked_at; /* those with something under way, and some without */
static struct later *over, **over_end = &over; /* their requests are yet to be completed */

/* ---- from the beginning to the end ---- */

/* The first of a track speaks.  It would wait if it might not begin. */
static int later_say(struct later *l)
{
    if (l->staging)
        staging_in(l->staging);
    int error =
        tiny_say(&l->round, l->telling.call, telling_word(&l->telling), l->telling.before);
    l->has_spoken = true;
    l->heard = l->round.first;
    return error;
}

static int later_take(struct later *l)
{
    int error = tiny_take(&l->round, l->telling.call);
    if (l->staging && !error)
        staging_out(l->staging);
    return error ? error : staging_check(&l->call);
}

/* Have all spoken whom this rank hears? */
static bool has_heard(struct later *l)
{
    return l->attach ? attach_later_can(l->attach) : tiny_has_heard(&l->round, &l->heard);
}

static int later_check(const struct later *l)
{
    return channel_check_of(&l->telling.team->channel, telling_number(&l->telling));
}

/* Go on with the first of its track.  True: it is over, with *error. */
static bool later_go_on(struct later *l, int *error)
{
    bool may_begin = !l->has_spoken && tiny_may_begin(l->track->tiny, &l->call);
    *error = 0;
    if (l->attach && (may_begin || l->has_spoken)) {
        l->has_spoken = true;
        return attach_later_go_on(l->attach, error);
    }
    if (may_begin)
        *error = later_say(l);
    if (!*error && l->has_spoken && has_heard(l)) {
        *error = later_take(l);
        return true;
    }
    if (!*error)
        *error = later_check(l);
    return *error != 0;
}

static void later_end(struct later *l, int error)
{
    l->request.result = (struct result){ .error = 0 };
    if (!error)
        return;
    l->request.result.error = fail_keep(&l->request, error);
    if (error == MPIX_ERR_PROC_FAILED)
        l->request.result.lost =
            (unsigned)(failure_of(&l->telling.team->channel, telling_number(&l->telling)) + 1);
}

/* ---- tracks ---- */

/* End what has come to its end.  1: there is more to do at once, 0: somebody else has to do something first. */
static int track_go_on(struct track *track)
{
    int error;
    for (struct later *l; (l = track->first) && later_go_on(l, &error);) {
        later_end(l, error);
        track->first = l->next;
        if (!l->next)
            track->end = &track->first;
        l->next = NULL;
        *over_end = l;
        over_end = &l->next;
    }
    return track->first && track->first->attach && attach_later_works(track->first->attach);
}

/* Complete them.  That may begin others, or close teams. */
static int complete_all(void)
{
    int n = 0;
    for (struct later *l; (l = over); n++) {
        over = l->next;
        if (!over)
            over_end = &over;
        request_complete(&l->request);
    }
    return n;
}

static int later_poll(void)
{
    int n = 0;
    for (struct track **at = &looked_at, *track; (track = *at);) {
        n += track_go_on(track);
        if (track->first) {
            at = &track->next;
            continue;
        }
        *at = track->next;
        track->is_looked_at = false;
    }
    waits_mixed = looked_at != NULL;
    return n + complete_all();
}

static void track_look_at(struct track *track)
{
    if (track->is_looked_at)
        return;
    track->is_looked_at = true;
    track->next = looked_at;
    looked_at = track;
    waits_mixed = true;
}

static void track_forget(struct track *track)
{
    for (struct track **at = &looked_at; *at; at = &(*at)->next)
        if (*at == track) {
            *at = track->next;
            break;
        }
    waits_mixed = looked_at != NULL;
    tiny_close(track->tiny);
}

static int tracks_in_use; /* those that are open, of teams and of persistent requests */

static void track_open(struct track *track, struct tiny *tiny)
{
    *track = (struct track){ .tiny = tiny };
    track->end = &track->first;
    if (tracks_in_use++ == 0)
        progress_add(later_poll);
}

static void track_close(struct track *track)
{
    track_forget(track);
    if (--tracks_in_use == 0)
        progress_remove(later_poll);
}

static struct tracks *tracks_open(const struct tiny *tiny)
{
    int n = tiny->tracks;
    struct tracks *tracks = calloc(1, sizeof *tracks + (size_t)n * sizeof tracks->track[0]);
    for (; tracks && tracks->n < n; tracks->n++) {
        struct tiny *slots = tiny_track(tiny, tracks->n);
        if (!slots) {
            tracks_close(tracks);
            return NULL;
        }
        track_open(&tracks->track[tracks->n], slots);
    }
    return tracks;
}

void tracks_close(struct tracks *tracks)
{
    for (int i = 0; tracks && i < tracks->n; i++)
        track_close(&tracks->track[i]);
    free(tracks);
}

/* ---- requests ---- */

static void later_begin(struct later *l)
{
    struct track *track = l->track;
    l->has_spoken = false;
    l->next = NULL;
    *track->end = l;
    track->end = &l->next;
    track_look_at(track);
    track_go_on(track);
    complete_all();
}

static int later_restart(struct request *request)
{
    struct later *l = (struct later *)request;
    int error = later_check(l);
    if (error)
        return error;
    request->done = 0;
    request->active = true;
    later_begin(l);
    return coll_begun(l->telling.team, 0);
}

static void later_free(struct later *l)
{
    if (l->staging)
        staging_close(l->staging);
    free(l->staging);
    free(l->arrays);
    attach_later_free(l->attach);
    object_delete(l);
}

static void later_release(struct request *request)
{
    struct later *l = (struct later *)request;
    if (l->track == l->own)
        track_close(l->own);
    later_free(l);
}

/* Whose words it waits for, if it has spoken. */
static const struct round *round_of(const struct later *l)
{
    if (l->attach)
        return attach_later_round(l->attach);
    return l->has_spoken ? &l->round : NULL;
}

/* Where it has not spoken it waits for the one before it, or for its slot. */
static void later_tell(const struct request *request, struct record_wait *wait)
{
    const struct later *l = (const struct later *)request;
    const struct later *first = l->track->first;
    telling_tell(&l->telling, wait);
    const struct round *round = first ? round_of(first) : NULL;
    const struct request *rest =
        first && first->attach ? attach_later_rest(first->attach) : NULL;
    if (round)
        tiny_tell(round, wait);
    else if (rest)
        rest->ops->tell(rest, wait);
    else
        tiny_turn_tell(l->track->tiny, first ? &first->call : &l->call, wait);
}

/* One that is under way; those behind it are for the pollers. */
static void later_spin(struct request *request)
{
    struct later *l = (struct later *)request;
    uint32_t looks = l->track->tiny->spin;
    if (l->track->first != l || !l->has_spoken)
        return;
    for (; !has_heard(l); looks--) {
        if (looks == 0)
            return;
        tiny_rest(l->track->tiny, looks);
    }
    track_go_on(l->track);
    complete_all();
}

static const struct request_ops later_ops = {
    .name = "collective",
    .start = later_restart,
    .release = later_release,
    .tell = later_tell,
    .spin = later_spin,
};

/* Reductions of data on a device work on copies. */
static int later_stage(struct later *l, const struct team *team)
{
    if (!is_reduction(l->call.what) || !call_is_away(&l->call))
        return 0;
    l->staging = malloc(sizeof *l->staging);
    if (!l->staging)
        return fail(MPI_ERR_NO_MEM, "no memory for a reduction on a device");
    int error = staging_open(l->staging, team, &l->call, false);
    if (error)
        free(l->staging);
    else
        l->call.staging = l->staging;
    return error;
}

static int later_new(struct team *team, const struct telling *telling, bool attaches,
                     size_t more, struct later **made)
{
    struct later *l = object_new(OBJECT_REQUEST, sizeof *l + more);
    if (!l)
        return fail(MPI_ERR_NO_MEM, "no memory for a collective request");
    l->request.ops = &later_ops;
    l->call = *telling->call;
    l->telling = *telling;
    l->telling.call = &l->call;
    int error = call_keep_arrays(&l->call, team, &l->arrays);
    if (!error && !attaches)
        error = later_stage(l, team);
    if (error) {
        free(l->arrays);
        object_delete(l);
        return error;
    }
    *made = l;
    return 0;
}

int later_start(struct team *team, const struct telling *telling, bool attaches,
                struct request **request)
{
    if (!team->tracks)
        team->tracks = tracks_open(team->tiny);
    if (!team->tracks)
        return fail(MPI_ERR_NO_MEM, "no memory for nonblocking collectives");
    uint32_t place = team->tracks->begun++;
    struct later *l;
    int error = later_new(team, telling, attaches, 0, &l);
    if (error)
        return error;
    l->track = &team->tracks->track[place % (uint32_t)team->tracks->n];
    l->request.active = true;
    if (attaches)
        l->attach = attach_later_new(team, l->track->tiny, &l->telling);
    else
        tiny_prepare(&l->round, l->track->tiny, &l->telling);
    if (attaches && !l->attach) {
        later_free(l);
        return fail(MPI_ERR_NO_MEM, "no memory for a collective request");
    }
    *request = &l->request;
    later_begin(l);
    return 0;
}

/* ---- persistent ones ---- */

static uint64_t slots_draw(const struct telling *telling, int n)
{
    enum collective what = telling->call->what;
    bool whole = what == COLL_REDUCE_SCATTER_BLOCK; /* as rules count */
    size_t bytes = tiny_says(telling->call, n, telling->bytes) * (size_t)(whole ? n : 1);
    return tiny_draw_bound(n, tiny_needs(what, n, bytes), tiny_is_together(what));
}

int later_draw(struct team *team, const struct telling *telling, uint64_t *name)
{
    struct call bcast = { .what = COLL_BCAST };
    bcast.recv = (struct part){ .base = name, .layout = &layout_bytes, .count = sizeof *name };
    struct telling naming = *telling;
    naming.call = &bcast;
    naming.bytes = sizeof *name;
    naming.number |= COLL_PERSISTENT;
    *name = team->channel.rank == 0 ? slots_draw(telling, team->channel.size) : 0;
    record_now.inside = &telling->scope;
    int error = tiny_run(team->tiny, &naming, NULL);
    record_now.inside = NULL;
    return error;
}

int later_init(struct team *team, const struct telling *telling, uint64_t name,
               struct request **request)
{
    struct later *l;
    int error = later_new(team, telling, false, sizeof l->own[0], &l);
    if (error)
        return error;
    struct tiny *slots = tiny_open(name, &team->channel);
    if (!slots) {
        later_free(l);
        return fail(MPI_ERR_NO_MEM, "no memory for the shared slots of a collective");
    }
    track_open(l->own, slots);
    l->track = l->own;
    tiny_prepare(&l->round, slots, &l->telling);
    l->request.persistent = true;
    l->request.done = 1;
    *request = &l->request;
    return 0;
}
