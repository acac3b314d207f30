/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where all ranks do alike, rank r's range of n blocks out of p begins r blocks behind rank 0's, or where
 * rank 0's does.  Of the former kind n - 1 ranks have one that wraps, one next to the other:
 *
 *     p = 8, n = 4    rank 0   ..####..      rank 3   #....###   wraps
 *                     rank 1   ...####.      rank 4   ##....##   wraps
 *                     rank 2   ....####      rank 5   ###....#   wraps
 *
 * So what all ranks send is a sum, and what the busiest one sends the most of these runs that share a
 * rank.  Whoever performs one rank for all takes ranges as two messages that are two on any: on most
 * ways through a circulant graph each round has a rank whose range wraps, and the others wait for it.
 */
#include "coll/wraps.h"

#include <stdlib.h>

static bool passes_end(const struct act *act, int rank, int p)
{
    return mod(act->first + rank, p) > p - act->blocks;
}

bool wraps_alike(struct role *first, const struct role *other, int rank, int p)
{
    for (int i = 0; i < first->nacts; i++) {
        struct act *a = &first->act[i];
        const struct act *b = &other->act[i];
        if (a->peer < 0)
            continue;
        bool turned = p > 0 && a->first >= 0 && b->first == mod(a->first + rank, p);
        if (rank == 1)
            a->turns = turned && a->blocks > 1;
        int parts = a->turns && rank > 0 ? 1 + passes_end(a, rank, p) : a->parts;
        if (b->parts != parts || (a->turns && !turned))
            return false;
    }
    return true;
}

void wraps_most(struct role *first)
{
    for (int i = 0; i < first->nacts; i++)
        if (first->act[i].turns)
            first->act[i].parts = 2;
}

/* ---- how many ---- */

/* A run of ranks begins or ends. */
struct bound {
    int rank, more;
};

static int by_rank(const void *a, const void *b)
{
    const struct bound *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : x->more - y->more;
}

/* The ranks on which an act's range wraps: a run of n - 1, which may go on at rank 0.  Edges written. */
static int note_run(const struct act *act, int p, struct bound *bound)
{
    int n = act->blocks, from = mod(p - n + 1 - act->first, p), to = from + n - 1;
    int bounds = 0;
    bound[bounds++] = (struct bound){ from, 1 };
    bound[bounds++] = (struct bound){ least(to, p), -1 };
    if (to > p) {
        bound[bounds++] = (struct bound){ 0, 1 };
        bound[bounds++] = (struct bound){ to - p, -1 };
    }
    return bounds;
}

/* The most runs that share a rank. */
static int deepest(struct bound *bound, int n)
{
    int depth = 0, most = 0;
    qsort(bound, (size_t)n, sizeof *bound, by_rank);
    for (int i = 0; i < n; i++) {
        depth += bound[i].more;
        most = depth > most ? depth : most;
    }
    return most;
}

bool wraps_count(const struct role *role, int p, struct wraps *wraps)
{
    struct bound *bound = malloc(((size_t)role->nacts + 1) * 4 * sizeof *bound);
    int bounds = 0;
    *wraps = (struct wraps){ 0, 0 };
    for (int i = 0; bound && i < role->nacts; i++) {
        const struct act *act = &role->act[i];
        if (act->verb != VERB_SEND)
            continue;
        wraps->most += act->turns ? 1 : act->parts;
        wraps->sum += act->turns ? p + act->blocks - 1 : (double)p * act->parts;
        if (act->turns)
            bounds += note_run(act, p, bound + bounds);
    }
    wraps->most += bound ? deepest(bound, bounds) : 0;
    bool memory = bound != NULL;
    free(bound);
    return memory;
}
