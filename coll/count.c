/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting what plans do.
 *
 * Rounds are those of the textbooks: in a round a rank sends at most one message and receives at
 * most one, in the order of its plan, and what depends on a message comes in a later round.
 *
 *     sent in round        after what it waits for, after the send before it
 *     received in round    that of its send, after the receive before it
 *
 * That is the longest path in a graph, found by one walk in the order in which acts have all that
 * they need.
 */
#include "coll/count.h"

#include "coll/steady.h"
#include "coll/wraps.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <math.h>
#include <stdlib.h>

/* ---- rounds ---- */

struct place {
    int nwait;       /* what it waits for: steps, the one before it on its way, its message */
    int follower;    /* the next act of the same direction, -1: none */
    int32_t ready;   /* rounds that are over before it */
    int32_t started; /* of a receive: rounds that were over when its message set out */
};

struct walk {
    const struct cast *cast;
    struct place **place; /* of each actor's acts */
    struct item {
        int actor, act;
    } * queue;
    int64_t head, tail;
    int rounds;
    count_message *each; /* NULL: nobody wants to know */
    void *self;
};

static void satisfied(struct walk *w, int actor, int act, int round)
{
    struct place *p = &w->place[actor][act];
    p->ready = p->ready > round ? p->ready : round;
    if (--p->nwait == 0)
        w->queue[w->tail++] = (struct item){ actor, act };
}

static void visit(struct walk *w, int actor, int i)
{
    const struct role *role = cast_role(w->cast, actor);
    const struct act *act = &role->act[i];
    struct place *p = &w->place[actor][i];
    int round = p->ready, reused = round; /* what it sends may be written over in its round */
    if (act->peer >= 0 && act->verb == VERB_SEND) {
        int receiver = cast_peer(w->cast, actor, act) % w->cast->nactors;
        w->place[receiver][act->partner].started = round;
        satisfied(w, receiver, act->partner, round);
        round++;
    } else if (act->peer >= 0) {
        reused = ++round;
        if (w->each)
            w->each(w->self, actor, i, p->started, round);
    }
    w->rounds = w->rounds > round ? w->rounds : round;
    if (p->follower >= 0)
        satisfied(w, actor, p->follower, round);
    for (int k = 0; k < act->nnext; k++)
        satisfied(w, actor, role->next[act->first_next + k], reused);
}

/* Acts of one direction follow each other; what waits for nothing is queued. */
static void line_up(struct walk *w, int actor)
{
    const struct role *role = cast_role(w->cast, actor);
    struct place *place = w->place[actor];
    int last[2] = { -1, -1 };
    for (int i = 0; i < role->nacts; i++) {
        const struct act *act = &role->act[i];
        int in = act->verb != VERB_SEND;
        place[i].nwait = act->nwait;
        place[i].follower = -1;
        if (act->peer < 0)
            continue;
        place[i].nwait += (last[in] >= 0) + in;
        if (last[in] >= 0)
            place[last[in]].follower = i;
        last[in] = i;
    }
    for (int i = 0; i < role->nacts; i++)
        if (place[i].nwait == 0)
            w->queue[w->tail++] = (struct item){ actor, i };
}

int count_rounds(const struct cast *cast, count_message *each, void *self, int *rounds)
{
    size_t acts = (size_t)cast->acts + 1, n = (size_t)cast->nactors + 1;
    struct walk w = { .cast = cast, .each = each, .self = self };
    struct place *all = calloc(acts, sizeof *all), *at = all;
    w.place = calloc(n, sizeof *w.place);
    w.queue = malloc(acts * sizeof *w.queue);
    bool memory = all && w.place && w.queue;
    for (int a = 0; memory && a < cast->nactors; a++) {
        w.place[a] = at;
        at += cast_role(cast, a)->nacts;
        line_up(&w, a);
    }
    while (w.head < w.tail) {
        struct item next = w.queue[w.head++];
        visit(&w, next.actor, next.act);
    }
    *rounds = w.rounds;
    free(all);
    free(w.place);
    free(w.queue);
    if (!memory)
        return fail(MPI_ERR_NO_MEM, "no memory to count %lld steps", (long long)cast->acts);
    if (w.head != cast->acts)
        return fail(MPI_ERR_INTERN, "%lld of %lld steps wait for each other",
                    (long long)(cast->acts - w.head), (long long)cast->acts);
    return 0;
}

/* ---- amounts ---- */

static void add(struct amount *amount, double one, double ranks)
{
    amount->most = fmax(amount->most, one);
    amount->sum += one * ranks;
}

static void count_role(const struct role *role, double ranks, struct count *c)
{
    double messages = 0, bytes = 0, folds = 0, copies = 0;
    for (int i = 0; i < role->nacts; i++) {
        const struct act *a = &role->act[i];
        messages += a->verb == VERB_SEND ? a->parts : 0;
        bytes += a->verb == VERB_SEND ? a->bytes : 0;
        copies += a->verb == VERB_COPY ? a->bytes : 0;
        folds += a->verb == VERB_FOLD || a->verb > VERB_COPY ? a->bytes : 0;
    }
    add(&c->messages, messages, ranks);
    add(&c->bytes, bytes, ranks);
    add(&c->folds, folds, ranks);
    add(&c->copies, copies, ranks);
    add(&c->scratch, role->scratch, ranks);
}

/* Of ranks that do alike some send a range in two messages that others send in one. */
static int count_wraps(const struct cast *cast, struct count *c)
{
    struct wraps wraps;
    if (!cast->symmetry)
        return 0;
    if (!wraps_count(cast->role, cast->p, &wraps))
        return fail(MPI_ERR_NO_MEM, "no memory to count the messages of %d ranks", cast->p);
    c->messages = (struct amount){ wraps.most, wraps.sum / cast->p };
    return 0;
}

/* Numbers of one rank and numbers of rounds grow evenly with a ring; sums grow faster. */
static int measure(const struct cast *cast, const void *with, double v[STEADY_VALUES])
{
    struct count c = { 0 };
    int rounds;
    (void)with;
    int error = count_rounds(cast, NULL, NULL, &rounds);
    for (int i = 0; i < cast->nroles; i++)
        count_role(&cast->role[i], 1, &c);
    error = error ? error : count_wraps(cast, &c);
    const struct amount *amount[] = { &c.messages, &c.bytes, &c.folds, &c.copies, &c.scratch };
    v[0] = rounds;
    for (int i = 0; i < 5; i++) {
        v[1 + i] = amount[i]->most;
        v[6 + i] = amount[i]->sum;
    }
    return error;
}

int count_of(const struct price_query *query, size_t most, struct count *count)
{
    double v[STEADY_VALUES] = { 0 };
    struct steady how = { 0 };
    bool even = query->p > 0 && (query->p & (query->p - 1)) == 0;
    struct steady_job job = { .query = query,
                              .grouping = { .shift = 1, .flip = even },
                              .most = most,
                              .measure = measure,
                              .certain = STEADY_VALUES };
    int error = steady_run(&job, v, &how);
    double ranks = how.symmetry ? query->p : 1;
    struct amount *amount[] = { &count->messages, &count->bytes, &count->folds, &count->copies,
                                &count->scratch };
    count->rounds = v[0];
    for (int i = 0; i < 5; i++)
        *amount[i] = (struct amount){ v[1 + i], v[6 + i] * ranks };
    return error;
}
