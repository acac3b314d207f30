/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Are the dependencies of a plan complete?  Found out anew, of the plan as it is:
 * for every block its last writer and who has read it since are kept, and of any two steps that touch it and of
 * which one writes, the later must wait for the earlier, directly or through steps of the same rank.
 *
 * That messages of other ranks may imply such an order does not count: a plan has to be right by
 * itself.  So a dependency that was lost is always seen, whatever order the performance takes.
 *
 * Costs O(blocks touched) where steps wait directly, as they do in what plan.c infers; else a walk through the
 * steps before, once for each step that does not.
 */
#include "coll/check_law.h"

#include <stdlib.h>

struct graph {
    const struct plan *plan;
    int *first, *before; /* the steps that step i waits for: before[first[i] .. first[i + 1]) */
    int *mark;           /* mark[i] = j: step j waits for i */
    int *stack;
    int walked; /* the last step of which all that it waits for is marked, not only what it waits for directly */
};

static bool graph_open(struct graph *g, const struct plan *plan)
{
    size_t n = (size_t)plan->nsteps, edges = (size_t)plan->nnext;
    *g = (struct graph){ .plan = plan, .walked = -1 };
    g->first = calloc(3 * n + 2 + edges + 1, sizeof(int));
    if (!g->first)
        return false;
    g->mark = g->first + n + 2;
    g->stack = g->mark + n;
    g->before = g->stack + n;
    for (size_t i = 0; i < n; i++)
        g->mark[i] = -1;
    for (int i = 0; i < plan->nsteps; i++)
        for (int k = 0; k < plan->step[i].nnext; k++)
            g->first[plan->next[plan->step[i].first_next + k] + 2]++;
    for (size_t i = 0; i < n; i++)
        g->first[i + 1] += g->first[i];
    for (int i = 0; i < plan->nsteps; i++)
        for (int k = 0; k < plan->step[i].nnext; k++)
            g->before[g->first[plan->next[plan->step[i].first_next + k] + 1]++] = i;
    return true;
}

/* Mark what step i waits for directly, for step j; new ones go on the stack.  Returns its depth. */
static int mark_direct(struct graph *g, int i, int j, int depth)
{
    for (int k = g->first[i]; k < g->first[i + 1]; k++)
        if (g->mark[g->before[k]] != j) {
            g->mark[g->before[k]] = j;
            g->stack[depth++] = g->before[k];
        }
    return depth;
}

/* Does step j, of which what it waits for directly is marked, wait for an earlier one? */
static bool waits_for(struct graph *g, int j, int earlier)
{
    if (g->mark[earlier] == j || g->walked == j)
        return g->mark[earlier] == j;
    int depth = 0;
    for (int k = g->first[j]; k < g->first[j + 1]; k++)
        depth = mark_direct(g, g->before[k], j, depth);
    while (depth > 0) {
        int i = g->stack[--depth];
        depth = mark_direct(g, i, j, depth);
    }
    g->walked = j;
    return g->mark[earlier] == j;
}

struct trace { /* of one block; -1: nobody */
    int writer, reader;
};

struct reading { /* since the last writer, newest first */
    int step, older;
};

struct traces {
    struct trace *trace;
    struct reading *reading;
    int n;
    int base[ROOMS];
};

/* What step j reads was written before it begins.  -1, or the step that it does not wait for. */
static int missing_reader(struct graph *g, struct traces *t, struct span s, int j)
{
    for (int b = s.first; b < s.first + s.n; b++) {
        struct trace *trace = &t->trace[t->base[s.room] + b];
        if (trace->writer >= 0 && !waits_for(g, j, trace->writer))
            return trace->writer;
        t->reading[t->n] = (struct reading){ j, trace->reader };
        trace->reader = t->n++;
    }
    return -1;
}

/* What step j writes over was written, and read by all, before it begins. */
static int missing_writer(struct graph *g, struct traces *t, struct span s, int j)
{
    for (int b = s.first; b < s.first + s.n; b++) {
        struct trace *trace = &t->trace[t->base[s.room] + b];
        if (trace->writer >= 0 && !waits_for(g, j, trace->writer))
            return trace->writer;
        for (int at = trace->reader; at >= 0; at = t->reading[at].older)
            if (t->reading[at].step != j && !waits_for(g, j, t->reading[at].step))
                return t->reading[at].step;
        *trace = (struct trace){ j, -1 };
    }
    return -1;
}

static bool traces_open(struct traces *t, const struct plan *plan)
{
    size_t nblocks = 0, most = 0;
    for (int r = 0; r < ROOMS; r++) {
        t->base[r] = (int)nblocks;
        nblocks += (size_t)plan->nblocks[r];
    }
    for (int i = 0; i < plan->nsteps; i++)
        most += (size_t)plan->step[i].from.n;
    t->n = 0;
    t->reading = malloc((most + 1) * sizeof(*t->reading));
    t->trace = malloc((nblocks + 1) * sizeof(*t->trace));
    for (size_t b = 0; t->trace && b < nblocks; b++)
        t->trace[b] = (struct trace){ -1, -1 };
    return t->reading && t->trace;
}

bool check_hazards(const struct plan *plan, int *waits, int *for_step)
{
    struct graph g;
    struct traces t;
    int lost = -1;
    bool open = traces_open(&t, plan) && graph_open(&g, plan);
    for (int j = 0; open && j < plan->nsteps && lost < 0; j++) {
        mark_direct(&g, j, j, 0);
        lost = missing_reader(&g, &t, plan->step[j].from, j);
        if (lost < 0)
            lost = missing_writer(&g, &t, plan->step[j].to, j);
        *waits = j;
        *for_step = lost;
    }
    if (open)
        free(g.first);
    free(t.reading);
    free(t.trace);
    return open && lost < 0;
}
