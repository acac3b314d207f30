/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plans of all ranks performed in one process, on symbols, in one of several orders.
 *
 * What can happen next is in a queue: steps that wait for nothing, and messages of which both ends
 * are posted.  Which of them does happen next is the order's choice.
 *
 *     send    posted ............ transfer: read now (EAGER: read when posted, and over)
 *     recv    spoils its target, posted ... transfer: written now
 *     fold    posted when a landing is free ... landed, and when it waits for nothing: folded
 *
 * Where blocks of OUT may be of different length what is written there is looked at at once: what is written
 * over later was too long for its place, perhaps, all the same.
 */
#include "coll/check_stage.h"

#include <string.h>

enum { WINDOW = 8 };

static void enqueue(struct stage *g, int rank, int step, bool transfer)
{
    g->queue[g->tail++] = (struct action){ rank, step, transfer };
}

static struct action dequeue(struct stage *g)
{
    int at = g->head;
    if (g->order == LAST_FIRST)
        at = g->tail - 1;
    if (g->order == SHUFFLED || g->order == WINDOWED || g->order == SHUFFLED_AGAIN ||
        g->order == EAGER) {
        g->random = g->random * 6364136223846793005ull + 1442695040888963407ull;
        at = g->head + (int)((g->random >> 33) * (uint64_t)(g->tail - g->head) >> 31);
    }
    struct action chosen = g->queue[at];
    if (g->order == FIRST_COME)
        g->head++;
    else
        g->queue[at] = g->queue[--g->tail];
    return chosen;
}

static void open_landing(struct stage *g, int r);

/* All steps may begin, or those of the window, which moves on when its oldest are over. */
static void let_in(struct stage *g, int r)
{
    struct actor *a = &g->actor[r];
    int n = a->plan->nsteps, before = a->entered;
    while (a->oldest < n && a->step[a->oldest].done)
        a->oldest++;
    a->entered = g->order == WINDOWED ? least(n, a->oldest + WINDOW) : n;
    for (int i = before; i < a->entered; i++)
        if (a->step[i].nwait == 0)
            enqueue(g, r, i, false);
    if (before < a->entered)
        open_landing(g, r);
}

static void finish(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    a->step[i].done = true;
    g->done++;
    for (int k = 0; k < s->nnext; k++) {
        int next = a->plan->next[s->first_next + k];
        if (--a->step[next].nwait == 0 && next < a->entered)
            enqueue(g, r, next, false);
    }
    if (i == a->oldest)
        let_in(g, r);
}

/* This end is ready; when the other is too, the message can move. */
static void post(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    a->step[i].posted = true;
    if (!g->actor[s->peer].step[a->partner[i]].posted)
        return;
    if (s->verb == VERB_SEND)
        enqueue(g, r, i, true);
    else
        enqueue(g, s->peer, a->partner[i], true);
}

static void combine(struct actor *a, const struct step *s, const struct symbol *added,
                    const struct symbol *with)
{
    int n = count(a, s->to);
    struct symbol *to = units(a, s->to);
    for (int u = 0; u < n; u++)
        to[u] = s->side == INCOMING_FIRST ? symbol_join(added[u], with[u])
                                          : symbol_join(with[u], added[u]);
}

/* Folds get the rank's one landing buffer in program order; in two orders there are plenty. */
static void open_landing(struct stage *g, int r)
{
    struct actor *a = &g->actor[r];
    bool plenty = g->order == SHUFFLED_AGAIN || g->order == EAGER;
    for (; a->next_fold < a->entered && (plenty || !a->landing); a->next_fold++)
        if (a->plan->step[a->next_fold].verb == VERB_FOLD) {
            a->landing = true;
            post(g, r, a->next_fold);
        }
}

static void end_fold(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    combine(a, s, a->step[i].carried, units(a, s->from));
    finish(g, r, i);
    a->landing = false;
    open_landing(g, r);
}

/* Mostly one. */
static void copy(struct symbol *to, const struct symbol *from, int n)
{
    if (n == 1)
        *to = *from;
    else
        memcpy(to, from, (size_t)n * sizeof *to);
}

static void spoil(struct symbol *to, int n)
{
    if (n == 1)
        *to = (struct symbol){ 0, 0, 0, 0 };
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

/* What step i of rank r has written. */
static void look_at_place(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    struct span to = a->plan->step[i].to;
    struct symbol want;
    if (to.room != ROOM_OUT || g->misplaced.step >= 0 || !law_has_lengths(g->world))
        return;
    for (int u = to.first; u < to.first + to.n; u++)
        if (law_expected(&g->law, r, u, &want) &&
            !law_same(g->world, a->room[ROOM_OUT].unit[u], want)) {
            g->misplaced.rank = r;
            g->misplaced.step = i;
            return;
        }
}

/* Inside a rank. */
static void shift(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    copy(units(a, s->to), units(a, s->from), count(a, s->to));
    look_at_place(g, r, i);
}

/* A step carries so many symbols along. */
static void carry(struct stage *g, struct progress *step, const struct symbol *from, int n)
{
    step->carried = g->held + g->nheld;
    g->nheld += (size_t)n;
    copy(step->carried, from, n);
}

static void begin(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    switch ((enum verb)s->verb) {
    case VERB_COPY:
        shift(g, r, i);
        finish(g, r, i);
        break;
    case VERB_JOIN:
        combine(a, s, units(a, s->from), units(a, s->to));
        finish(g, r, i);
        break;
    case VERB_RECV:
        spoil(units(a, s->to), count(a, s->to));
        post(g, r, i);
        break;
    case VERB_SEND:
        if (g->order == EAGER)
            carry(g, &a->step[i], units(a, s->from), count(a, s->from));
        post(g, r, i);
        if (g->order == EAGER)
            finish(g, r, i);
        break;
    case VERB_FOLD:
        if (a->step[i].landed && !a->step[i].done)
            end_fold(g, r, i);
        break;
    }
}

static void deliver(struct stage *g, int peer, int k, const struct symbol *incoming)
{
    struct actor *b = &g->actor[peer];
    const struct step *t = &b->plan->step[k];
    if (t->verb == VERB_RECV) {
        copy(units(b, t->to), incoming, count(b, t->to));
        look_at_place(g, peer, k);
        finish(g, peer, k);
        return;
    }
    carry(g, &b->step[k], incoming, count(b, t->to));
    b->step[k].landed = true;
    if (b->step[k].nwait == 0)
        end_fold(g, peer, k);
}

static void transfer(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    const struct symbol *data = a->step[i].carried ? a->step[i].carried : units(a, s->from);
    deliver(g, s->peer, a->partner[i], data);
    if (g->order != EAGER)
        finish(g, r, i);
}

/* As run_inline.c does where links take all: one step after the other, sends complete at once. */
static bool advance(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    struct progress *sent = s->verb == VERB_SEND || step_is_local(s)
                                ? NULL
                                : &g->actor[s->peer].step[a->partner[i]];
    if (sent && !sent->carried)
        return false;
    if (s->verb == VERB_SEND)
        carry(g, &a->step[i], units(a, s->from), count(a, s->from));
    else if (s->verb == VERB_COPY)
        shift(g, r, i);
    else if (s->verb == VERB_JOIN)
        combine(a, s, units(a, s->from), units(a, s->to));
    else if (s->verb == VERB_RECV)
        copy(units(a, s->to), sent->carried, count(a, s->to));
    else
        combine(a, s, sent->carried, units(a, s->from));
    if (s->verb == VERB_RECV)
        look_at_place(g, r, i);
    a->step[i].done = true;
    g->done++;
    return true;
}

/* ---- the same where links take nothing: sends are begun, and over when they are taken ---- */

static void settle(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    a->step[i].done = true;
    g->done++;
    while (a->oldest < a->plan->nsteps && a->step[a->oldest].done)
        a->oldest++;
}

/* The message of this step is here, where it lies until then. */
static void take(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r], *peer = &g->actor[a->plan->step[i].peer];
    const struct step *s = &a->plan->step[i];
    const struct symbol *sent = units(peer, peer->plan->step[a->partner[i]].from);
    if (s->verb == VERB_RECV)
        copy(units(a, s->to), sent, count(a, s->to));
    else
        carry(g, &a->step[i], sent, count(a, s->to));
    a->step[i].landed = true;
    peer->read[peer->plan->step[a->partner[i]].from.room]--;
    settle(g, s->peer, a->partner[i]);
}

/* Does a send that is not over read where this step writes? */
static bool is_read(const struct actor *a, int i)
{
    struct span to = a->plan->step[i].to;
    for (int k = a->oldest; k < i && a->read[to.room] > 0; k++)
        if (!a->step[k].done && spans_overlap(to, a->plan->step[k].from))
            return true;
    return false;
}

/* Folds have their message before they wait for sends. */
static bool advance_as_taken(struct stage *g, int r, int i)
{
    struct actor *a = &g->actor[r];
    const struct step *s = &a->plan->step[i];
    if (s->verb == VERB_SEND) {
        a->read[s->from.room]++;
        return a->step[i].posted = true;
    }
    if (s->verb != VERB_FOLD && is_read(a, i))
        return false;
    if (!step_is_local(s) && !a->step[i].landed) {
        if (!g->actor[s->peer].step[a->partner[i]].posted)
            return false;
        take(g, r, i);
    }
    if (s->verb == VERB_FOLD && is_read(a, i))
        return false;
    if (s->verb == VERB_COPY)
        shift(g, r, i);
    else if (s->verb == VERB_JOIN)
        combine(a, s, units(a, s->from), units(a, s->to));
    else if (s->verb == VERB_FOLD)
        combine(a, s, a->step[i].carried, units(a, s->from));
    else
        look_at_place(g, r, i);
    settle(g, r, i);
    return true;
}

static void perform_in_order(struct stage *g)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < g->world->p; r++) {
            int *next = &g->actor[r].next_fold, before = *next;
            while (*next < g->actor[r].plan->nsteps &&
                   (g->order == IN_PROGRAM_ORDER ? advance(g, r, *next)
                                                 : advance_as_taken(g, r, *next)))
                ++*next;
            moved |= *next > before;
        }
    }
}

static void perform_as_it_comes(struct stage *g)
{
    for (int r = 0; r < g->world->p; r++)
        let_in(g, r);
    while (g->head < g->tail) {
        struct action next = dequeue(g);
        if (next.transfer)
            transfer(g, next.rank, next.step);
        else
            begin(g, next.rank, next.step);
    }
}

void stage_perform(struct stage *g)
{
    if (is_in_program_order(g->order))
        perform_in_order(g);
    else
        perform_as_it_comes(g);
}
