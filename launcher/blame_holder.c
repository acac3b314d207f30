/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nobody is stuck, but somebody holds up the others: of those that have waited for long, the rank that most of them
 * wait for.  It is outside of MPI, or stopped, or waits itself for what only the program can end.
 */
#include "launcher/graph.h"

#include <stdlib.h>

/* It has waited for long for what no rank can bring. */
static bool waits_outside(const struct graph *g, int rank, double settled)
{
    const struct situation *s = &g->ranks[rank];
    bool outside = false;
    for (int i = 0; i < items_known(&s->wait); i++)
        outside |= s->wait.items[i].kind == RECORD_OTHER;
    return outside && is_settled(g, rank, settled);
}

static bool holds_up(const struct graph *g, int rank, double settled)
{
    const struct situation *s = &g->ranks[rank];
    return s->standing == STANDING_ABSENT || s->standing == STANDING_OUTSIDE || s->stopped ||
           waits_outside(g, rank, settled);
}

/* The rank that holds up most of those that have waited for long; one that waits outside of MPI may hold up itself
 * alone; -1: none. */
static int holder_of(const struct graph *g, double settled)
{
    int *votes = calloc((unsigned)g->n, sizeof *votes), best = -1;
    for (int i = 0; votes && i < g->n; i++) {
        const struct record_wait *wait = &g->ranks[i].wait;
        for (int k = 0; is_settled(g, i, settled) && k < items_known(wait); k++)
            if (wait->items[k].world >= 0 && wait->items[k].world < g->n)
                votes[wait->items[k].world]++;
    }
    for (int h = 0; votes && h < g->n; h++) {
        votes[h] = 2 * votes[h] + waits_outside(g, h, settled);
        if (holds_up(g, h, settled) && votes[h] > (best < 0 ? 0 : votes[best]))
            best = h;
    }
    free(votes);
    return best;
}

/* Those that wait for the holder, or for one of those. */
static int count_held(const struct graph *g, int holder, double settled, bool *held)
{
    int n = 0;
    held[holder] = true;
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (int at = 0; at < g->n; at++) {
            int i = to_and_fro(g, pass, at);
            const struct record_wait *wait = &g->ranks[i].wait;
            bool waits = !held[i] && is_settled(g, i, settled);
            for (int k = 0; waits && !held[i] && k < items_known(wait); k++) {
                int world = wait->items[k].world;
                held[i] = world >= 0 && world < g->n && held[world];
            }
            changed |= waits && held[i];
            n += waits && held[i];
        }
    }
    return n;
}

static void tell_holder(struct graph *g, int holder, int held)
{
    const struct situation *s = &g->ranks[holder];
    bool waits = s->standing == STANDING_WAITING && !s->stopped && s->state != 'T';
    if (held == 0)
        blame_say(g, "  => rank %d", holder);
    else if (held == 1)
        blame_say(g, "  => one rank waits for rank %d", holder);
    else
        blame_say(g, "  => %d ranks wait for rank %d, or for one that does", held, holder);
    if (s->stopped || s->state == 'T')
        blame_say(g, ", which is stopped by a signal: kill -CONT %d there has it go on\n",
                  (int)s->pid);
    else if (s->standing == STANDING_ABSENT)
        blame_say(g, ", which has not called MPI_Init\n");
    else if (waits)
        blame_say(
            g,
            "%s waits in %s for what the program itself has to end: a generalized request, "
            "with MPI_Grequest_complete, or work of a device\n",
            held ? ", which" : "", s->wait.call);
    else
        blame_say(g, ", which %s outside of MPI\n",
                  s->state == 'R'   ? "computes"
                  : s->state == 'S' ? "sleeps, or waits for something,"
                                    : "is");
}

void blame_holder(struct graph *g, double settled)
{
    int holder = holder_of(g, settled);
    bool *held = holder < 0 ? NULL : calloc((unsigned)g->n, sizeof *held);
    if (held)
        tell_holder(g, holder, count_held(g, holder, settled, held));
    free(held);
}
