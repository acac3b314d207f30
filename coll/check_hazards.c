/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Are the dependencies of a plan complete?  Found out anew and in another way than plan.c does:
 * for every block the steps that touch it are listed, and of any two of which one writes, the
 * later must wait for the earlier, directly or through steps of the same rank.
 *
 * That messages of other ranks may imply such an order does not count: a plan has to be right by
 * itself.  So a dependency that was lost is always seen, whatever order the performance takes.
 */
#include "coll/check_law.h"

#include <stdlib.h>
#include <string.h>

struct graph {
    const struct plan *plan;
    int *first, *before; /* the steps that step i waits for: before[first[i] .. first[i + 1]) */
    int *mark;           /* mark[i] = j: step j waits for i */
    int *stack;
};

static bool graph_open(struct graph *g, const struct plan *plan)
{
    size_t n = (size_t)plan->nsteps, edges = (size_t)plan->nnext;
    *g = (struct graph){ .plan = plan };
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

/* Mark all that step j waits for. */
static void mark_before(struct graph *g, int j)
{
    int depth = 0;
    g->stack[depth++] = j;
    while (depth > 0) {
        int i = g->stack[--depth];
        for (int k = g->first[i]; k < g->first[i + 1]; k++)
            if (g->mark[g->before[k]] != j) {
                g->mark[g->before[k]] = j;
                g->stack[depth++] = g->before[k];
            }
    }
}

struct touch { /* of one block by one step; newest first */
    int step, older;
    bool writes;
};

struct touches {
    struct touch *touch;
    int *newest; /* of each block; -1 = none */
    int n;
    int base[ROOMS];
};

/* Of those who touched block b before, all up to the last writer must be over when j begins. */
static int missing(const struct graph *g, struct touches *t, int b, int j, bool writes)
{
    for (int at = t->newest[b]; at >= 0; at = t->touch[at].older) {
        const struct touch *earlier = &t->touch[at];
        if (earlier->step != j && (writes || earlier->writes) && g->mark[earlier->step] != j)
            return earlier->step;
        if (earlier->writes && earlier->step != j)
            break;
    }
    t->touch[t->n] = (struct touch){ j, t->newest[b], writes };
    t->newest[b] = t->n++;
    return -1;
}

static int missing_in(const struct graph *g, struct touches *t, struct span s, int j,
                      bool writes)
{
    int lost = -1;
    for (int b = s.first; b < s.first + s.n && lost < 0; b++)
        lost = missing(g, t, t->base[s.room] + b, j, writes);
    return lost;
}

static bool touches_open(struct touches *t, const struct plan *plan)
{
    size_t nblocks = 0, most = 0;
    for (int r = 0; r < ROOMS; r++) {
        t->base[r] = (int)nblocks;
        nblocks += (size_t)plan->nblocks[r];
    }
    for (int i = 0; i < plan->nsteps; i++)
        most += (size_t)(plan->step[i].to.n + plan->step[i].from.n);
    t->n = 0;
    t->touch = malloc((most + 1) * sizeof(*t->touch));
    t->newest = malloc((nblocks + 1) * sizeof(int));
    for (size_t b = 0; t->newest && b < nblocks; b++)
        t->newest[b] = -1;
    return t->touch && t->newest;
}

bool check_hazards(const struct plan *plan, int *waits, int *for_step)
{
    struct graph g;
    struct touches t;
    int lost = -1;
    bool open = touches_open(&t, plan) && graph_open(&g, plan);
    for (int j = 0; open && j < plan->nsteps && lost < 0; j++) {
        mark_before(&g, j);
        lost = missing_in(&g, &t, plan->step[j].from, j, false);
        if (lost < 0)
            lost = missing_in(&g, &t, plan->step[j].to, j, true);
        *waits = j;
        *for_step = lost;
    }
    if (open)
        free(g.first);
    free(t.touch);
    free(t.newest);
    return open && lost < 0;
}
