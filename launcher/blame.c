/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why nothing moves, in sentences.  Who can never go on is graph.c's to find; the causes of that: ranks in
 * different collectives at the same place of their communicator; a rank that waits for itself, or for one
 * that has finalized or died; a circle.  Where there is a deadlock there is one of these.
 *
 * Where all may go on in the end, but some have waited for long, blame_holder.c tells for whom.
 */
#include "launcher/graph.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void blame_say(struct graph *g, const char *format, ...)
{
    size_t used = strlen(g->blame->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(g->blame->text + used, sizeof g->blame->text - used, format, arguments);
    va_end(arguments);
}

/* ---- causes ---- */

static const char *call_of(const struct graph *g, int rank)
{
    return g->ranks[rank].wait.call;
}

static void tell_collective(struct graph *g, int rank)
{
    const struct record_collective *c = &g->ranks[rank].wait.collective;
    blame_say(g, "rank %d is in %s", rank, c->name);
    if (c->root >= 0)
        blame_say(g, " with root %d", c->root);
    if (c->bytes)
        blame_say(g, ", %llu bytes", (unsigned long long)c->bytes);
}

static bool collectives_differ(const struct record_collective *a,
                               const struct record_collective *b)
{
    bool same_place =
        *a->name && *b->name && a->context == b->context && a->number == b->number;
    return same_place &&
           (strcmp(a->name, b->name) != 0 || a->root != b->root || a->bytes != b->bytes);
}

/* Blocks of different sizes are right in some collectives; only stuck ranks are looked at. */
static bool blame_collectives(struct graph *g)
{
    for (int i = 0; i < g->n; i++)
        for (int k = i + 1; k < g->n && is_stuck(g, i); k++) {
            const struct record_collective *c = &g->ranks[i].wait.collective;
            if (!is_stuck(g, k) || !collectives_differ(c, &g->ranks[k].wait.collective))
                continue;
            blame_say(g, "  => collective %u on %s is not the same everywhere: ", c->number,
                      c->comm);
            tell_collective(g, i);
            blame_say(g, "; ");
            tell_collective(g, k);
            blame_say(g, "; all ranks must call the same collectives in the same order\n");
            return true;
        }
    return false;
}

static void tell_message(struct graph *g, const struct record_item *item)
{
    if (item->tag >= 0)
        blame_say(g, "tag %d on %s", item->tag, item->comm);
    else
        blame_say(g, "anything on %s", item->comm);
}

static bool blame_self(struct graph *g, int rank)
{
    const struct record_item *item = vain_item(g, rank);
    if (!item || item->world != rank)
        return false;
    if (item->kind == RECORD_READY)
        blame_say(
            g,
            "  => rank %d waits in %s until partition %llu is sent, and has to call MPI_Pready "
            "for it first\n",
            rank, call_of(g, rank), (unsigned long long)item->bytes);
    else if (item->kind == RECORD_RECV) {
        blame_say(g, "  => rank %d waits for itself in %s, and has not sent ", rank,
                  call_of(g, rank));
        tell_message(g, item);
        blame_say(g, "; send it before, with MPI_Isend, or use MPI_Sendrecv\n");
    } else
        blame_say(
            g,
            "  => rank %d waits for itself in %s: post the receive first, with MPI_Irecv, or "
            "use MPI_Sendrecv\n",
            rank, call_of(g, rank));
    return true;
}

static bool blame_ended(struct graph *g, int rank)
{
    int hope = vain_hope(g, rank);
    const struct situation *other = hope < 0 ? NULL : &g->ranks[hope];
    if (!other || (other->standing < STANDING_FINAL && !other->world_over))
        return false;
    blame_say(g, "  => rank %d waits in %s for rank %d, which has %s\n", rank, call_of(g, rank),
              hope, other->standing == STANDING_GONE ? "died" : "called MPI_Finalize");
    return true;
}

static bool blame_anybody(struct graph *g, int rank)
{
    if (vain_hope(g, rank) >= 0)
        return false;
    blame_say(g,
              "  => rank %d waits in %s for a message of any rank, and no rank will send one",
              rank, call_of(g, rank));
    for (int i = 0; i < g->n; i++)
        if (i != rank && is_stuck(g, i) && vain_hope(g, i) == rank) {
            blame_say(g, "; rank %d waits for it in %s", i, call_of(g, i));
            break;
        }
    blame_say(g, "\n");
    return true;
}

/* A probe waits for a message, too. */
static bool item_is(const struct record_item *item, enum record_kind kind)
{
    return item &&
           (item->kind == (int)kind || (kind == RECORD_RECV && item->kind == RECORD_PROBE));
}

/* Do all ranks of the circle wait in this way, outside of collectives? */
static bool circle_is(const struct graph *g, const int *circle, int n, enum record_kind kind)
{
    for (int i = 0; i < n; i++)
        if (*g->ranks[circle[i]].wait.collective.name ||
            !item_is(vain_item(g, circle[i]), kind))
            return false;
    return true;
}

/* What else would help a rank that waits for a message: that the other one sends it, or takes it. */
static void tell_other_way(struct graph *g, int rank)
{
    const struct record_wait *wait = &g->ranks[rank].wait;
    const struct record_item *item = vain_item(g, rank);
    if (*wait->collective.name || !item || item->world < 0 ||
        (!item_is(item, RECORD_SEND) && !item_is(item, RECORD_RECV)))
        return;
    blame_say(g, ", or rank %d has to %s ", item->world,
              item->kind == RECORD_SEND ? "receive" : "send it");
    tell_message(g, item);
}

/* A rank that is stuck in the same collective, and performs it by another algorithm; -1: nobody does. */
static int other_way(const struct graph *g, const struct record_collective *c)
{
    for (int i = 0; i < g->n && c->way; i++) {
        const struct record_collective *other = &g->ranks[i].wait.collective;
        if (is_stuck(g, i) && *other->name && other->context == c->context &&
            other->number == c->number && other->way && other->way != c->way)
            return i;
    }
    return -1;
}

/* All are in one collective: what they were told about its algorithm may differ, or how they call it. */
static void tell_ways(struct graph *g, int rank)
{
    const struct record_collective *c = &g->ranks[rank].wait.collective;
    int other = other_way(g, c);
    if (other < 0 && item_is(vain_item(g, rank), RECORD_SEND)) {
        blame_say(g, ": nobody takes what they send; do counts, datatypes and neighbours agree "
                     "on all of them?");
        return;
    }
    if (other < 0) {
        blame_say(g, ": they do not call what belongs together");
        return;
    }
    blame_say(g, ": rank %d and rank %d perform it by different algorithms; ",
              rank < other ? rank : other, rank < other ? other : rank);
    if (strstr(c->name, "lltoall"))
        blame_say(g, "MPI_IN_PLACE must be given by all ranks or by none, and ");
    blame_say(g,
              "XMPI_COLL, XMPI_TUNING, XMPI_PLAN and info keys xmpi_coll and xmpi_plan must be "
              "the same on all ranks");
}

/* Two ranks are in collectives of two communicators. */
static void tell_two_comms(struct graph *g, int rank, int next)
{
    const struct record_collective *c = &g->ranks[rank].wait.collective;
    const struct record_collective *other = &g->ranks[next].wait.collective;
    if (strcmp(c->name, "MPI_Intercomm_create") == 0 && strcmp(c->name, other->name) == 0)
        blame_say(
            g,
            ": do the leaders, the peer communicator and the tag that rank %d and rank %d name "
            "agree?",
            rank, next);
    else
        blame_say(
            g,
            ": rank %d is in %s on %s, rank %d in %s on %s; both have to call them in the "
            "same order",
            rank, c->name, c->comm, next, other->name, other->comm);
}

/* A rank is not in the collective that another one waits in. */
static void tell_absent(struct graph *g, const struct record_collective *c, int absent)
{
    size_t length = strlen(c->name);
    bool persistent = length > 5 && strcmp(c->name + length - 5, "_init") == 0;
    blame_say(g, ": rank %d has to call %s on %s%s, too", absent, c->name, c->comm,
              persistent ? " and MPI_Start" : "");
    tell_other_way(g, absent);
}

/* Somebody in the circle waits in a collective that the next one is through with. */
static bool tell_past(struct graph *g, const int *circle, int n)
{
    for (int i = 0; i < n; i++) {
        const struct record_collective *c = &g->ranks[circle[i]].wait.collective;
        int next = circle[(i + 1) % n];
        const struct record_collective *other = &g->ranks[next].wait.collective;
        if (!*c->name || c->context != other->context || c->number >= other->number)
            continue;
        blame_say(g,
                  ": rank %d is through with %s, collective %u on %s; do the arguments of both "
                  "agree?",
                  next, c->name, c->number, c->comm);
        return true;
    }
    return false;
}

/* A collective in the circle, and a rank that is not in it. */
static void tell_partner(struct graph *g, const int *circle, int n)
{
    if (tell_past(g, circle, n))
        return;
    for (int i = 0; i < n; i++) {
        const struct record_collective *c = &g->ranks[circle[i]].wait.collective;
        int next = circle[(i + 1) % n];
        const struct record_collective *other = &g->ranks[next].wait.collective;
        if (!*c->name || (c->context == other->context && c->number == other->number))
            continue;
        if (*other->name && c->context != other->context)
            tell_two_comms(g, circle[i], next);
        else
            tell_absent(g, c, next);
        return;
    }
    tell_ways(g, circle[0]);
}

static bool wait_sends(const struct record_wait *wait)
{
    for (int k = 0; k < items_known(wait); k++)
        if (item_is(&wait->items[k], RECORD_SEND))
            return true;
    return strstr(wait->call, "Sendrecv") || wait->near.found;
}

/* Does any of them send as well, in the same call or in another thread, or has something come that is not
 * asked for? */
static bool circle_sends(const struct graph *g, const int *circle, int n)
{
    for (int i = 0; i < n; i++) {
        const struct situation *rank = &g->ranks[circle[i]];
        bool sends = wait_sends(&rank->wait);
        for (int k = 0; k + 1 < rank->nwaits && !sends; k++)
            sends = wait_sends(&rank->more[k]);
        if (sends)
            return true;
    }
    return false;
}

static void tell_advice(struct graph *g, const int *circle, int n)
{
    const char *call = call_of(g, circle[0]);
    bool same = true;
    for (int i = 1; i < n; i++)
        same = same && strcmp(call, call_of(g, circle[i])) == 0;
    const char *both = n == 2 ? "both" : "all";
    if (circle_is(g, circle, n, RECORD_SEND))
        blame_say(
            g,
            ": %s %s%s, and such a send ends only when it is received; use MPI_Sendrecv, or "
            "MPI_Isend and MPI_Wait",
            both, same ? "in " : "send", same ? call : "");
    else if (circle_is(g, circle, n, RECORD_RECV))
        blame_say(
            g, ": %s %s%s, and %s", both, same ? "in " : "receive", same ? call : "",
            circle_sends(g, circle, n)
                ? "what was sent is not what is waited for; do sources, tags and communicators "
                  "of both ends agree?"
                : "nobody sends; let one of them send first, or use MPI_Sendrecv");
    else
        tell_partner(g, circle, n);
}

static void tell_circle(struct graph *g, const int *circle, int n)
{
    enum { SHOWN = 8 };
    blame_say(g, "  => %sdeadlock: ", g->blame->ntest ? "perhaps a " : "");
    for (int i = 0; i < n && i < SHOWN; i++)
        blame_say(g, "%s%d waits for %d in %s", i ? ", " : "", circle[i], circle[(i + 1) % n],
                  call_of(g, circle[i]));
    if (n > SHOWN)
        blame_say(g, ", and so on through %d ranks back to %d", n, circle[0]);
    tell_advice(g, circle, n);
    blame_say(g, "\n");
}

/* Follow hopes from this rank to one that was seen before: if this walk came by it, that is a circle.  `seen` holds by
 * rank its place among those that walks came by, from 1, and `next` is that of the next one. */
static bool blame_circle(struct graph *g, int rank, int *seen, int *next)
{
    int begin = *next;
    int *circle = calloc((unsigned)g->n, sizeof *circle), n = 0;
    while (circle && rank >= 0 && seen[rank] == 0) {
        circle[n++] = rank;
        seen[rank] = (*next)++;
        rank = vain_hope(g, rank);
    }
    int at = rank >= 0 ? seen[rank] - begin : -1;
    bool found = circle && at >= 0 && n - at > 1; /* one alone: blame_self */
    if (found)
        tell_circle(g, circle + at, n - at);
    free(circle);
    return found;
}

/* Whoever is stuck hopes for somebody who has ended, or is stuck. */
static void blame_circles(struct graph *g)
{
    enum { SHOWN = 3 };
    int *seen = calloc((unsigned)g->n, sizeof *seen), next = 1, found = 0;
    for (int i = 0; seen && i < g->n && found < SHOWN; i++)
        if (is_stuck(g, i) && seen[i] == 0)
            found += blame_circle(g, i, seen, &next);
    free(seen);
}

/* A message that looks as if it was meant for a stuck receive. */
static void tell_near(struct graph *g, int rank)
{
    const struct record_near *near = &g->ranks[rank].wait.near;
    const struct record_item *item = &g->ranks[rank].wait.items[near->found - 1];
    if (item->peer >= 0 && item->peer != near->source)
        blame_say(
            g,
            "  => rank %d asks for a message from rank %d; what came is from rank %d, tag %d "
            "on %s\n",
            rank, item->peer, near->source, near->tag, near->comm);
    else
        blame_say(
            g, "  => rank %d asks for tag %d on %s; what came from rank %d has tag %d on %s\n",
            rank, item->tag, item->comm, near->source, near->tag, near->comm);
}

/* Of the first few: one mistake is often made by all ranks. */
static void tell_near_ones(struct graph *g)
{
    enum { SHOWN = 4 };
    int n = 0;
    for (int i = 0; i < g->n; i++)
        if (is_stuck(g, i) && g->ranks[i].wait.near.found && n++ < SHOWN)
            tell_near(g, i);
    if (n > SHOWN)
        blame_say(g, "  => and so do %d more ranks: what came is not what they ask for\n",
                  n - SHOWN);
}

static void find_causes(struct graph *g)
{
    static bool (*const causes[])(struct graph * g, int rank) = { blame_self, blame_ended,
                                                                  blame_anybody };
    int found = 0;
    for (int i = 0; i < g->n; i++)
        if (is_stuck(g, i)) {
            g->blame->nstuck++;
            g->blame->ntest += status_tests(&g->ranks[i]);
        }
    bool differ = blame_collectives(g);
    for (int i = 0; i < g->n && found + differ < 3; i++)
        for (size_t k = 0; is_stuck(g, i) && k < sizeof causes / sizeof causes[0]; k++)
            if (causes[k](g, i)) {
                found++;
                break;
            }
    if (!differ) /* else circles follow from that */
        blame_circles(g);
    tell_near_ones(g);
}

/* ---- */

/* Who may go on only if threads that are outside of MPI call it: why nothing moves if they do not. */
static bool blame_but_threads(struct graph *g, double settled)
{
    struct situation *ranks = calloc((size_t)g->n, sizeof *ranks);
    struct blame *then = calloc(1, sizeof *then);
    for (int i = 0; ranks && i < g->n; i++) {
        ranks[i] = g->ranks[i];
        ranks[i].threads_free = false;
    }
    if (ranks && then) {
        struct graph without = { ranks, g->n, g->moves, then };
        graph_find_moves(&without, settled);
        find_causes(&without);
    }
    bool found = then && then->nstuck > 0;
    if (found)
        blame_say(g,
                  "  => unless threads of these ranks that are outside of MPI now call it:\n%s",
                  then->text);
    free(ranks);
    free(then);
    return found;
}

void blame_find(const struct situation *ranks, int n, double settled, struct blame *blame)
{
    *blame = (struct blame){ .nstuck = 0 };
    if (n <= 0)
        return;
    struct graph g = { ranks, n, calloc((size_t)n, sizeof(bool)), blame };
    if (!g.moves)
        return;
    graph_find_moves(&g, settled);
    find_causes(&g);
    if (blame->nstuck == 0 && !blame_but_threads(&g, settled))
        blame_holder(&g, settled);
    free(g.moves);
}
