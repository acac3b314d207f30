/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See graph.h.
 *
 * A rank whose threads all wait may go on when one of them may; one with threads beside them that may
 * call MPI can always.  Waits for something outside of MPI and waits that nobody could tell count as
 * able to go on, and so do ranks where something moves, or whose messages the network has not delivered
 * yet to somebody who may still take them: what is said is certain, but for ranks that only test: they may
 * stop that, which is said, too.
 */
#include "launcher/graph.h"

/* In a communicator of MPI_COMM_WORLD, or of a session. */
static bool may_act(const struct graph *g, int rank, bool of_world)
{
    return g->moves[rank] && !(of_world && g->ranks[rank].world_over);
}

static bool somebody_may_act(const struct graph *g, int but, bool of_world)
{
    for (int i = 0; i < g->n; i++)
        if (i != but && may_act(g, i, of_world))
            return true;
    return false;
}

static bool item_may_come(const struct graph *g, int rank, const struct record_wait *wait,
                          const struct record_item *item)
{
    if (item->kind == RECORD_OTHER || item->world >= g->n)
        return true;
    if (item->world < 0 && wait->polled && wait->sleeps)
        return true; /* looks for messages now and then, and serves others */
    bool of_world = item->of_world != 0;
    return item->world < 0 ? somebody_may_act(g, rank, of_world)
                           : may_act(g, item->world, of_world);
}

static bool wait_may_end(const struct graph *g, int rank, const struct record_wait *wait)
{
    int known = items_known(wait);
    if (known == 0 || (wait->any && wait->nitems > known))
        return true;
    for (int i = 0; i < known; i++)
        if (item_may_come(g, rank, wait, &wait->items[i]) == (wait->any != 0))
            return wait->any;
    return !wait->any;
}

static bool thread_may_go_on(const struct graph *g, int rank)
{
    const struct situation *s = &g->ranks[rank];
    bool may = wait_may_end(g, rank, &s->wait);
    for (int i = 0; i < s->nwaits - 1 && !may; i++)
        may = wait_may_end(g, rank, &s->more[i]);
    return may;
}

/* What has gone to it over the network, and was not acked, it will not take by itself. */
static bool takes_nothing(const struct graph *g, int rank)
{
    const struct situation *s = rank >= 0 && rank < g->n ? &g->ranks[rank] : NULL;
    return s && (s->standing >= STANDING_FINAL || s->world_over || s->stopped);
}

static bool network_may_move(const struct graph *g, const struct situation *s)
{
    int known = s->undelivered < RECORD_MOVES ? s->undelivered : RECORD_MOVES;
    bool may = s->undelivered > known;
    for (int i = 0; i < known && !may; i++)
        may = !takes_nothing(g, s->moves_with[i]);
    return may;
}

bool is_settled(const struct graph *g, int rank, double settled)
{
    const struct situation *s = &g->ranks[rank];
    double seconds = s->nwaits > 1 || s->wait.polled ? s->least_seconds : s->seconds;
    return s->standing == STANDING_WAITING && !s->threads_free && !s->moving && !s->stopped &&
           seconds >= settled && !network_may_move(g, s);
}

int to_and_fro(const struct graph *g, int pass, int k)
{
    return pass % 2 ? k : g->n - 1 - k;
}

void graph_find_moves(struct graph *g, double settled)
{
    for (int i = 0; i < g->n; i++) {
        enum standing standing = g->ranks[i].standing;
        g->moves[i] = standing != STANDING_FINAL && standing != STANDING_GONE &&
                      !is_settled(g, i, settled);
    }
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (int k = 0; k < g->n; k++) {
            int i = to_and_fro(g, pass, k);
            if (!g->moves[i] && is_settled(g, i, settled) && thread_may_go_on(g, i))
                g->moves[i] = changed = true;
        }
    }
}

bool is_stuck(const struct graph *g, int rank)
{
    return !g->moves[rank] && g->ranks[rank].standing == STANDING_WAITING;
}

const struct record_item *vain_item(const struct graph *g, int rank)
{
    const struct record_wait *wait = &g->ranks[rank].wait;
    for (int i = 0; i < items_known(wait); i++)
        if (!item_may_come(g, rank, wait, &wait->items[i]))
            return &wait->items[i];
    return NULL;
}

int vain_hope(const struct graph *g, int rank)
{
    const struct record_item *item = vain_item(g, rank);
    return item ? item->world : -1;
}
