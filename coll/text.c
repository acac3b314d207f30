/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan as text, for XMPI_EXPLAIN and for people looking for a mistake.  One line per step:
 *
 *      1  fold  out[0] in[0]      <- 0.0   after -
 *      2  send  out[0]            -> 2.1   after 1
 *
 * "<- 0.1" is message 1 from rank 0.  `after` lists the steps that it waits for.  A plan that is
 * rolled up (roll.h) is told loop by loop, with what i adds in each round; what waits for what is
 * not in it:
 *
 *      998 times, i = 0, 1, 2, ...
 *          2  send  out[999 - i]             -> 1.(1 + i)
 */
#include "coll/plan.h"
#include "coll/roll.h"

#include <stdio.h>
#include <stdlib.h>

/* A number, and how much of it comes with each round of a loop: "7", "7 + i", "7 - 2i", "i". */
static void number_text(char *text, size_t size, int from, int on)
{
    char start[16] = "", times[16] = "";
    if (from || on <= 0)
        snprintf(start, sizeof start, on ? "%d %c " : "%d", from, on < 0 ? '-' : '+');
    if (abs(on) > 1)
        snprintf(times, sizeof times, "%d", abs(on));
    snprintf(text, size, "%s%s%s", start, times, on ? "i" : "");
}

static void span_text(char *text, size_t size, struct span s, int on)
{
    char first[32], last[32];
    number_text(first, sizeof first, s.first, on);
    number_text(last, sizeof last, s.first + s.n - 1, on);
    if (s.n == 0)
        snprintf(text, size, "-");
    else if (s.n == 1)
        snprintf(text, size, "%s[%s]", room_name(s.room), first);
    else
        snprintf(text, size, "%s[%s..%s]", room_name(s.room), first, last);
}

/* What is added to a step in each round. */
struct change {
    int peer, slot, to, from;
};

static void message_text(FILE *f, const struct step *s, const struct change *on)
{
    char peer[32], slot[32];
    number_text(peer, sizeof peer, s->peer, on->peer);
    number_text(slot, sizeof slot, (int)s->slot, on->slot);
    fprintf(f, "%s ", s->verb == VERB_SEND ? "->" : "<-");
    fprintf(f, on->peer ? "(%s)." : "%3s.", peer);
    fprintf(f, on->slot ? "(%s)" : "%-3s", slot);
}

static void step_text(FILE *f, int i, const struct step *s, const struct change *on)
{
    static const char *const verbs[] = { "send", "recv", "fold", "copy", "join" };
    char to[80], from[80], both[164];
    span_text(to, sizeof to, s->to, on->to);
    span_text(from, sizeof from, s->from, on->from);
    if (s->verb == VERB_SEND)
        snprintf(both, sizeof both, "%s", from);
    else if (s->verb == VERB_RECV)
        snprintf(both, sizeof both, "%s", to);
    else
        snprintf(both, sizeof both, "%s %s", to, from);
    fprintf(f, "%4d  %s  %-24s ", i, verbs[s->verb], both);
    if (step_is_local(s))
        fprintf(f, "         ");
    else
        message_text(f, s, on);
    if (s->verb == VERB_FOLD || s->verb == VERB_JOIN)
        fprintf(f, " %s", s->side == INCOMING_FIRST ? "first" : "last ");
}

/* ---- written out ---- */

static void after_text(FILE *f, const int *before, int n)
{
    fputs(" after", f);
    for (int k = 0; k < n; k++)
        fprintf(f, " %d", before[k]);
    fputs(n ? "\n" : " -\n", f);
}

/* What each step waits for: begin[i] up to begin[i + 1] in the array behind them.  NULL: no memory. */
static int *waits_of(const struct plan *plan)
{
    size_t n = (size_t)plan->nsteps;
    int *begin = calloc(n + 2 + (size_t)plan->nnext, sizeof *begin), *before = begin + n + 2;
    if (!begin)
        return NULL;
    for (int k = 0; k < plan->nnext; k++)
        begin[plan->next[k] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        begin[i] += begin[i - 1];
    for (int i = 0; i < plan->nsteps; i++)
        for (int k = 0; k < plan->step[i].nnext; k++)
            before[begin[plan->next[plan->step[i].first_next + k] + 1]++] = i;
    return begin;
}

static void steps_text(FILE *f, const struct plan *plan, const int *begin)
{
    const int *before = begin + plan->nsteps + 2;
    for (int i = 0; i < plan->nsteps; i++) {
        step_text(f, i, &plan->step[i], &(struct change){ 0 });
        after_text(f, before + begin[i], begin[i + 1] - begin[i]);
    }
}

/* ---- rolled up ---- */

/* From a to b, of m that close a circle the short way round. */
static int way(int a, int b, int m)
{
    int far = m > 0 ? mod(b - a, m) : b - a;
    return m > 0 && far > m / 2 ? far - m : far;
}

static struct change change_of(const struct plan *plan, const struct step *a,
                               const struct step *b)
{
    const int *m = plan->nblocks;
    bool local = step_is_local(a);
    return (struct change){ .peer = local ? 0 : way(a->peer, b->peer, plan->key.size),
                            .slot = local ? 0 : (int)b->slot - (int)a->slot,
                            .to = way(a->to.first, b->to.first, m[a->to.room]),
                            .from = way(a->from.first, b->from.first, m[a->from.room]) };
}

static void loop_text(FILE *f, const struct plan *plan, struct roll_loop loop)
{
    if (loop.rounds > 1)
        fprintf(f, "%d times, i = 0, 1, 2, ...\n", loop.rounds);
    for (int i = loop.step; i < loop.step + loop.beats; i++) {
        struct step first = roll_step(plan, i), second = first;
        if (loop.rounds > 1)
            second = roll_step(plan, i + loop.beats);
        struct change on = change_of(plan, &first, &second);
        fputs(loop.rounds > 1 ? "    " : "", f);
        step_text(f, i, &first, &on);
        fputc('\n', f);
    }
}

char *plan_text(const struct plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    int *begin = plan->roll ? NULL : waits_of(plan);
    FILE *f = plan->roll || begin ? open_memstream(&text, &size) : NULL;
    if (f && begin)
        steps_text(f, plan, begin);
    for (int n = 0; f && plan->roll && n < roll_loops(plan->roll); n++)
        loop_text(f, plan, roll_loop(plan->roll, n));
    if (f)
        fclose(f);
    free(begin);
    return text;
}
