/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matching a call against the rules.  All ranks must choose alike, so only what all of them know
 * is asked: the number of ranks, whether they share a node, the operation, and packed bytes,
 * which matching signatures make equal everywhere.
 *
 *     XMPI_COLL=allreduce=ring:pieces=4,bcast=chain      overrules the rules
 *     XMPI_EXPLAIN=allreduce,bcast  or  all              says once per plan what was chosen
 */
#include "coll/choose.h"

#include "coll/forced.h"
#include "coll/tiny.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/notice.h"
#include "runtime/param.h"
#include "mpi.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RULES = 12, MOST_PIECES = 64, EXPLAINED_STEPS = 100 };

/* Packed bytes as the rules count them (rules.c). */
static size_t part_bytes(const struct part *part)
{
    return part->layout ? part->count * part->layout->size : 0;
}

static size_t listed_bytes(const struct part *part, int n)
{
    size_t elements = 0;
    for (int i = 0; i < n; i++)
        elements += (size_t)counts_at(part->counts, i);
    return elements * part->layout->size;
}

static size_t call_bytes(const struct team *team, const struct call *call)
{
    int n = team->channel.size;
    if (team->split || is_neighbourhood(call->what))
        return 0; /* one algorithm each: nothing to decide */
    switch (call->what) {
    case COLL_GATHER:
        return part_bytes(call->in_place || n == 1 ? &call->recv : &call->send);
    case COLL_SCATTER:
        return part_bytes(call->in_place || n == 1 ? &call->send : &call->recv);
    case COLL_ALLGATHERV:
        return listed_bytes(&call->recv, n) / (size_t)n;
    case COLL_REDUCE_SCATTER:
        return listed_bytes(&call->recv, n);
    case COLL_REDUCE_SCATTER_BLOCK:
        return part_bytes(&call->recv) * (size_t)n;
    case COLL_BARRIER:
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return 0;
    default:
        return part_bytes(&call->recv);
    }
}

/* Operations that do not commute need an algorithm that folds in rank order. */
static bool order_matters(const struct call *call)
{
    return call->what >= COLL_REDUCE && !call->reduction.commutes;
}

/* Why an algorithm cannot perform a call; NULL = it can. */
static const char *objection(const struct algorithm *a, const struct team *team,
                             const struct call *call, size_t bytes, enum mode mode, int radix)
{
    if (a->inter != (team->split > 0))
        return a->inter ? "it works between two groups" : "it works within one group";
    if (order_matters(call) && !a->ordered)
        return "the operation does not commute";
    const char *why_not = algorithm_objection(a, team->channel.size, radix, team->places);
    if (why_not)
        return why_not;
    if (!a->program)
        return mode == BLOCKING ? tiny_objection(team, call, bytes)
                                : "it serves blocking calls only";
    return NULL;
}

static bool within(size_t x, struct reach reach)
{
    return x >= reach.from && (reach.to == 0 || x <= reach.to);
}

static bool matches(const struct rule *rule, const struct team *team, const struct call *call,
                    size_t bytes)
{
    return (!rule->ordered || order_matters(call)) && (!rule->one_node || team->one_node) &&
           (!rule->crowded || team->crowded) && within(bytes, rule->bytes) &&
           within((size_t)team->channel.size, rule->ranks);
}

/* The algorithms that rules name, looked up once. */
static const struct algorithm *rule_algorithm(enum collective what, bool inter, int i,
                                              const char *name)
{
    static const struct algorithm *known[COLL_KINDS][2][MOST_RULES];
    const struct algorithm **slot = &known[what][inter][i];
    if (!*slot)
        *slot = algorithm_find(what, inter, name);
    return *slot;
}

static int choose_forced(const struct team *team, const struct call *call, enum mode mode,
                         size_t bytes, const struct forced *forced, struct choice *choice)
{
    const struct algorithm *a = forced->algorithm;
    const char *why_not = objection(a, team, call, bytes, mode, forced->radix);
    if (!why_not && forced->pieces > 1 && !a->cut)
        why_not = "it cannot be cut in pieces";
    if (!why_not) {
        *choice = (struct choice){ a, forced->pieces, forced->radix, -1 };
        return 0;
    }
    char names[200] = "";
    for (const struct algorithm *b = algorithms; b->name; b++)
        if (b->what == call->what && !objection(b, team, call, bytes, mode, b->radix))
            snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", b->name);
    return fail(MPI_ERR_OTHER,
                "XMPI_COLL asks for %s=%s, which cannot perform this call: %s; these can:%s",
                collective_name(call->what), a->name, why_not, names);
}

/* A power of two, so that few plans serve all sizes. */
static int pieces_of(const struct rule *rule, size_t bytes)
{
    int pieces = 1;
    while (rule->piece && pieces < MOST_PIECES && bytes / rule->piece >= (size_t)pieces * 2)
        pieces *= 2;
    return pieces;
}

static int choose_for(const struct team *team, const struct call *call, enum mode mode,
                      size_t bytes, struct choice *choice)
{
    bool inter = team->split > 0;
    const struct forced *forced = NULL;
    if (!inter) {
        int error = forced_get(call->what, &forced);
        if (error)
            return error;
    }
    if (forced)
        return choose_forced(team, call, mode, bytes, forced, choice);
    const struct rule *rules = rules_of(call->what, inter);
    for (int i = 0; rules && rules[i].use; i++) {
        if (!matches(&rules[i], team, call, bytes))
            continue;
        const struct algorithm *a = rule_algorithm(call->what, inter, i, rules[i].use);
        if (objection(a, team, call, bytes, mode, a->radix))
            continue;
        *choice = (struct choice){ a, pieces_of(&rules[i], bytes), a->radix, i };
        return 0;
    }
    return fail(MPI_ERR_UNSUPPORTED_OPERATION, "no algorithm for %s%s",
                collective_name(call->what), inter ? " on an intercommunicator" : "");
}

uint64_t algorithms_chosen[MOST_ALGORITHMS];

int algorithms_count(void)
{
    int n = 0;
    while (algorithms[n].name)
        n++;
    assert(n <= MOST_ALGORITHMS);
    return n;
}

int choose(const struct team *team, const struct call *call, enum mode mode,
           struct choice *choice)
{
    size_t bytes = call_bytes(team, call);
    int error = choose_for(team, call, mode, bytes, choice);
    if (error)
        return error;
    ptrdiff_t i = choice->algorithm - algorithms;
    algorithms_chosen[i]++;
    if (notice_is_wanted(NOTICE_PLAN))
        notice_give(NOTICE_PLAN, (int64_t[]){ i, (int64_t)bytes, team->channel.size });
    return 0;
}

/* ---- explaining ---- */

bool choice_wanted(enum collective what)
{
    const char *list = param_string(EXPLAIN);
    return list && (strcmp(list, "all") == 0 || list_has(list, collective_name(what)));
}

static void reach_text(char *text, size_t size, const char *what, struct reach r)
{
    size_t used = strlen(text);
    text += used;
    size -= used;
    if (r.from && r.to && r.to != SIZE_MAX)
        snprintf(text, size, ", %zu to %zu %s", r.from, r.to, what);
    else if (r.from)
        snprintf(text, size, ", from %zu %s on", r.from, what);
    else if (r.to)
        snprintf(text, size, ", up to %zu %s", r.to, what);
}

static void reason_text(char *text, size_t size, const struct team *team,
                        const struct call *call, const struct choice *choice)
{
    if (choice->rule < 0) {
        snprintf(text, size, "forced by XMPI_COLL");
        return;
    }
    const struct rule *rule = &rules_of(call->what, team->split > 0)[choice->rule];
    snprintf(text, size, "rule %d%s%s%s", choice->rule + 1,
             rule->one_node ? ", all ranks on one node" : "",
             rule->crowded ? ", more ranks than CPUs" : "",
             rule->ordered ? ", the operation does not commute" : "");
    reach_text(text, size, "bytes", rule->bytes);
    reach_text(text, size, "ranks", rule->ranks);
}

/* What rules know of the amount of data. */
static void amount_text(char *text, size_t size, const struct team *team,
                        const struct call *call)
{
    size_t bytes = call_bytes(team, call);
    const struct neighbours *n = team->neighbours;
    if (is_neighbourhood(call->what) && n)
        snprintf(text, size, " from %d to %d neighbours", n->nsources, n->ndestinations);
    else if (bytes)
        snprintf(text, size, " of %zu bytes", bytes);
    else
        text[0] = '\0';
}

static void say_lines(char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        say("%s", line);
}

void choice_explain(const struct team *team, const struct call *call,
                    const struct choice *choice, const struct plan *plan)
{
    char reason[200], amount[64];
    amount_text(amount, sizeof(amount), team, call);
    reason_text(reason, sizeof(reason), team, call, choice);
    char pieces[32] = "";
    if (choice->pieces > 1)
        snprintf(pieces, sizeof(pieces), " in %d pieces", choice->pieces);
    say("%s%s on %d ranks: %s%s (%s)", collective_name(call->what), amount, team->channel.size,
        choice->algorithm->name, pieces, reason);
    if (!plan || plan->nsteps > EXPLAINED_STEPS)
        return;
    char *text = plan_text(plan);
    if (text)
        say_lines(text);
    free(text);
}
