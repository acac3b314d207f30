/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounds, as in the textbooks: in a round a rank sends at most one message and receives at most one,
 * and what waits for a message goes on in the next round.  A step begins as soon as all that it waits
 * for is over, as in run.c:
 *
 *     sends      ready, ready, ready  ->  one of them in a round; what it has read may be written over
 *     messages   come, come, come     ->  one of them in a round, in the order in which they were sent
 *     folds, copies, receives             over as soon as the message is there and all they wait for is
 *                                         over, as landings are: no rounds of their own
 *
 * So there is nothing to search for: in every round each rank takes the first of two lines.  Of sends that
 * are ready the first is either that which has been so the longest, as in run.c, or the first of the plan, as in
 * run_inline.c.  Neither is always the better one: in a pipeline the one keeps all pieces moving, in a
 * scatter with an allgather the other lets go first what has the longest way.  Counted is the shorter.
 *
 * Lines are heaps.  Costs 20 bytes per act and some tenths of a microsecond per message.
 */
#include "coll/count.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

enum { SENDS, TAKES, WAYS };

/* Of an act; and an entry of its actor's lines, that of sends first. */
struct place {
    int64_t key;   /* of another act, see key_of */
    int32_t nwait; /* what it waits for: steps, and of a receive its message */
};

struct actor {
    struct place *place;
    int32_t n[WAYS];   /* in line */
    int32_t sends;     /* all that it has */
    int32_t last;      /* of those that have come to the line the last of the plan */
    bool listed[WAYS]; /* it has one of the next turns */
};

/* Actors whose line is not empty. */
struct turns {
    int32_t *actor;
    int n;
};

enum order { READY_FIRST, PLAN_FIRST };

struct stage {
    const struct cast *cast;
    enum order order; /* of sends */
    struct actor *actor;
    struct place *places;     /* of all of them */
    int32_t *over;            /* acts of one actor whose followers are not looked at yet */
    struct turns turns[WAYS]; /* of the next round */
    struct turns now;         /* of this one */
    bool overtaken; /* some send was ready before another one that is first in the plan */
    int rounds;     /* that are over */
    int64_t left;   /* acts that are not */
};

/* ---- lines ---- */

/* Who has the lowest is the next: who came first, of those the first of the plan. */
static int64_t key_of(const struct stage *s, int way, int act)
{
    int64_t since = way == SENDS && s->order == PLAN_FIRST ? 0 : s->rounds;
    return since << 32 | act;
}

static void give_turn(struct stage *s, int way, int actor)
{
    s->turns[way].actor[s->turns[way].n++] = actor;
    s->actor[actor].listed[way] = true;
}

static struct place *line_of(const struct actor *who, int way)
{
    return who->place + (way == TAKES ? who->sends : 0);
}

static void join_line(struct stage *s, int way, int actor, int act)
{
    struct actor *who = &s->actor[actor];
    struct place *line = line_of(who, way);
    int64_t key = key_of(s, way, act);
    int i = who->n[way]++;
    for (; i > 0 && key < line[(i - 1) / 2].key; i = (i - 1) / 2)
        line[i].key = line[(i - 1) / 2].key;
    line[i].key = key;
    if (!who->listed[way])
        give_turn(s, way, actor);
}

static int64_t leave_line(struct stage *s, int way, int actor)
{
    struct actor *who = &s->actor[actor];
    struct place *line = line_of(who, way);
    int n = --who->n[way], i = 0;
    int64_t first = line[0].key, last = line[n].key;
    for (int k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && line[k + 1].key < line[k].key;
        if (line[k].key >= last)
            break;
        line[i].key = line[k].key;
    }
    line[i].key = last;
    return first;
}

/* Who else has somebody in line has the next turn as well. */
static void end_turn(struct stage *s, int way, int actor)
{
    s->actor[actor].listed[way] = false;
    if (s->actor[actor].n[way] > 0)
        give_turn(s, way, actor);
}

static void begin_turns(struct stage *s, int way)
{
    struct turns now = s->turns[way];
    s->turns[way] = (struct turns){ s->now.actor, 0 };
    s->now = now;
}

/* ---- acts ---- */

static bool is_send(const struct act *act)
{
    return act->peer >= 0 && act->verb == VERB_SEND;
}

/* It waits for nothing more: a send for its turn; all else is over. */
static void now_free(struct stage *s, int actor, int act, int *nover)
{
    struct actor *who = &s->actor[actor];
    if (!is_send(&cast_role(s->cast, actor)->act[act])) {
        s->over[(*nover)++] = act;
        return;
    }
    s->overtaken |= who->n[SENDS] > 0 && act < who->last;
    who->last = act > who->last ? act : who->last;
    join_line(s, SENDS, actor, act);
}

static void count_down(struct stage *s, int actor, int act, int *nover)
{
    if (--s->actor[actor].place[act].nwait == 0)
        now_free(s, actor, act, nover);
}

/* Those that are over set others free, which may be over at once. */
static void follow(struct stage *s, int actor, int nover)
{
    const struct role *role = cast_role(s->cast, actor);
    while (nover > 0) {
        const struct act *act = &role->act[s->over[--nover]];
        s->left--;
        for (int k = 0; k < act->nnext; k++)
            count_down(s, actor, role->next[act->first_next + k], &nover);
    }
}

static void send(struct stage *s, int actor)
{
    int i = (int32_t)leave_line(s, SENDS, actor);
    const struct act *act = &cast_role(s->cast, actor)->act[i];
    join_line(s, TAKES, cast_peer(s->cast, actor, act) % s->cast->nactors, act->partner);
    s->over[0] = i;
    follow(s, actor, 1);
    end_turn(s, SENDS, actor);
}

static void take(struct stage *s, int actor, count_message *each, void *self)
{
    int64_t key = leave_line(s, TAKES, actor);
    int i = (int32_t)key, nover = 0;
    if (each)
        each(self, actor, i, (int)(key >> 32), s->rounds);
    count_down(s, actor, i, &nover);
    follow(s, actor, nover);
    end_turn(s, TAKES, actor);
}

/* ---- rounds ---- */

/* What an actor's acts wait for. */
static void set_up(struct stage *s, int actor)
{
    const struct role *role = cast_role(s->cast, actor);
    struct actor *who = &s->actor[actor];
    for (int i = 0; i < role->nacts; i++) {
        const struct act *act = &role->act[i];
        bool takes = act->peer >= 0 && !is_send(act);
        who->place[i].nwait = act->nwait + takes;
        who->sends += is_send(act);
    }
}

static void begin(struct stage *s, int actor)
{
    int n = cast_role(s->cast, actor)->nacts, nover = 0;
    for (int i = 0; i < n; i++)
        if (s->actor[actor].place[i].nwait == 0)
            now_free(s, actor, i, &nover);
    follow(s, actor, nover);
}

static void perform(struct stage *s, enum order order, count_message *each, void *self)
{
    struct place *at = s->places;
    s->order = order;
    s->rounds = 0;
    s->left = s->cast->acts;
    for (int a = 0; a < s->cast->nactors; a++) {
        s->actor[a] = (struct actor){ .place = at };
        at += cast_role(s->cast, a)->nacts;
        set_up(s, a);
        begin(s, a);
    }
    while (s->turns[SENDS].n + s->turns[TAKES].n > 0) {
        begin_turns(s, SENDS);
        for (int k = 0; k < s->now.n; k++)
            send(s, s->now.actor[k]);
        s->rounds++;
        begin_turns(s, TAKES);
        for (int k = 0; k < s->now.n; k++)
            take(s, s->now.actor[k], each, self);
    }
}

/* In the better order. */
static void perform_both(struct stage *s, count_message *each, void *self)
{
    perform(s, PLAN_FIRST, NULL, NULL);
    int by_plan = s->rounds;
    if (s->overtaken && s->left == 0)
        perform(s, READY_FIRST, NULL, NULL);
    bool better = s->rounds < by_plan;
    s->rounds = better ? s->rounds : by_plan;
    if (each)
        perform(s, better ? READY_FIRST : PLAN_FIRST, each, self);
}

static bool open_stage(struct stage *s, const struct cast *cast, int32_t *actors)
{
    size_t acts = (size_t)cast->acts + 1, n = (size_t)cast->nactors + 1;
    *s = (struct stage){ .cast = cast, .left = cast->acts };
    s->now.actor = actors;
    s->turns[SENDS].actor = actors + n;
    s->turns[TAKES].actor = actors + 2 * n;
    s->actor = malloc(n * sizeof *s->actor);
    s->places = malloc(acts * sizeof *s->places);
    s->over = malloc(acts * sizeof *s->over);
    return actors && s->actor && s->places && s->over;
}

int count_rounds(const struct cast *cast, count_message *each, void *self, int *rounds)
{
    struct stage s;
    int32_t *actors = malloc(3 * ((size_t)cast->nactors + 1) * sizeof *actors);
    bool memory = open_stage(&s, cast, actors);
    if (memory)
        perform_both(&s, each, self);
    free(actors);
    free(s.actor);
    free(s.places);
    free(s.over);
    *rounds = s.rounds;
    if (!memory)
        return fail(MPI_ERR_NO_MEM, "no memory to count %lld steps", (long long)cast->acts);
    if (s.left > 0)
        return fail(MPI_ERR_INTERN, "%lld of %lld steps wait for each other", (long long)s.left,
                    (long long)cast->acts);
    return 0;
}
