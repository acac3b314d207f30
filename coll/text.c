/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan as text, for XMPI_EXPLAIN and for people looking for a mistake.  One line per step:
 *
 *      1  fold  out[0] in[0]      <- 0.0   after -
 *      2  send  out[0]            -> 2.1   after 1
 *
 * "<- 0.1" is message 1 from rank 0.  `after` lists the steps that it waits for.
 */
#include "coll/plan.h"

#include <stdio.h>
#include <stdlib.h>

static void span_text(char *text, size_t size, struct span s)
{
    static const char *const names[ROOMS] = { "in", "out", "tmp" };
    if (s.n == 0)
        snprintf(text, size, "-");
    else if (s.n == 1)
        snprintf(text, size, "%s[%d]", names[s.room], s.first);
    else
        snprintf(text, size, "%s[%d..%d]", names[s.room], s.first, s.first + s.n - 1);
}

static void after_text(FILE *f, const struct plan *plan, int step)
{
    bool any = false;
    for (int i = 0; i < step; i++)
        for (int k = 0; k < plan->step[i].nnext; k++)
            if (plan->next[plan->step[i].first_next + k] == step) {
                fprintf(f, " %d", i);
                any = true;
            }
    fprintf(f, any ? "\n" : " -\n");
}

static void step_text(FILE *f, const struct plan *plan, int i)
{
    static const char *const verbs[] = { "send", "recv", "fold", "copy", "join" };
    const struct step *s = &plan->step[i];
    char to[40], from[40], both[84];
    span_text(to, sizeof(to), s->to);
    span_text(from, sizeof(from), s->from);
    if (s->verb == VERB_SEND)
        snprintf(both, sizeof(both), "%s", from);
    else if (s->verb == VERB_RECV)
        snprintf(both, sizeof(both), "%s", to);
    else
        snprintf(both, sizeof(both), "%s %s", to, from);
    fprintf(f, "%4d  %s  %-24s ", i, verbs[s->verb], both);
    if (step_is_local(s))
        fprintf(f, "          ");
    else
        fprintf(f, "%s %3d.%-3u ", s->verb == VERB_SEND ? "->" : "<-", s->peer, s->slot);
    if (s->verb == VERB_FOLD || s->verb == VERB_JOIN)
        fprintf(f, "%s ", s->side == INCOMING_FIRST ? "first" : "last ");
    fprintf(f, "after");
    after_text(f, plan, i);
}

char *plan_text(const struct plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    for (int i = 0; i < plan->nsteps; i++)
        step_text(f, plan, i);
    fclose(f);
    return text;
}
