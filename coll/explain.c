/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A choice in words:
 *
 *     allreduce of 64 bytes on 2 ranks of one node: doubling (row 7 of tune.txt)
 *       doubling            0.52 us measured      chosen
 *       circulant           0.60 us measured      slower by 15 %
 *       tiny                                      cannot: the message exceeds 48 bytes
 *       ring                                      not measured
 */
#include "coll/explain.h"

#include "coll/coll.h"
#include "coll/forced.h"
#include "coll/tuning.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <stdlib.h>
#include <string.h>

enum { EXPLAINED_STEPS = 100, REASON_CHARS = 400 };

bool explain_wanted(enum collective what)
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

static void rule_text(char *text, size_t size, const struct rule *rule, int number)
{
    snprintf(text, size, "rule %d%s%s%s", number,
             rule->one_node ? ", all ranks on one node" : "",
             rule->crowded ? ", more ranks than CPUs" : "",
             rule->ordered ? ", the operation does not commute" : "");
    reach_text(text, size, "bytes", rule->bytes);
    reach_text(text, size, "ranks", rule->ranks);
}

static void reason_text(char *text, size_t size, const struct question *q,
                        const struct choice *choice)
{
    switch (choice->by) {
    case BY_FORCE:
        snprintf(text, size, "forced by %s", choice->who);
        break;
    case BY_TUNING:
        snprintf(text, size, "measured, %s:%d", choice->who, choice->row);
        break;
    case BY_RULE:
        rule_text(text, size, &rules_of(q->what, q->inter)[choice->row], choice->row + 1);
        break;
    case BY_FALLBACK:
        snprintf(text, size, "no rule says anything; the first one that can");
        break;
    }
}

/* The row that has the measured times, even if it did not decide. */
static const struct tuning_row *measured_row(const struct question *q)
{
    const struct tuning *tuning = NULL;
    const struct tuned *use;
    return tuning_in_force(q, &tuning) ? NULL : tuning_find(tuning, q, &use);
}

static double measured_us(const struct tuning_row *row, const struct algorithm *a)
{
    for (int i = 0; row && i < row->nuse; i++)
        if (row->use[i].use.algorithm == a)
            return row->use[i].us;
    return -1;
}

/* Which rule would have used it. */
static int rule_for(const struct question *q, const char *name, int from)
{
    const struct rule *rules = rules_of(q->what, q->inter);
    for (int i = from; rules && rules[i].use; i++)
        if (strcmp(rules[i].use, name) == 0)
            return i;
    return -1;
}

static void rule_verdict(char *text, size_t size, const struct question *q,
                         const struct choice *choice, int rule)
{
    if (rule < 0) {
        snprintf(text, size, "no rule uses it");
        return;
    }
    bool later = choice->by == BY_RULE && rule > choice->row;
    size_t used = (size_t)snprintf(text, size, later ? "a later rule: " : "another case: ");
    rule_text(text + used, size - used, &rules_of(q->what, q->inter)[rule], rule + 1);
}

static void verdict_text(char *text, size_t size, const struct question *q,
                         const struct choice *choice, const struct algorithm *a)
{
    const struct tuning_row *row = measured_row(q);
    double us = measured_us(row, a), best = measured_us(row, choice->algorithm);
    const char *objection = choose_objection(a, a->radix, q);
    int rule = rule_for(q, a->name, 0);
    if (a == choice->algorithm)
        snprintf(text, size, "chosen");
    else if (objection)
        snprintf(text, size, "cannot: %s", objection);
    else if (choice->by == BY_FORCE)
        snprintf(text, size, "%s asks for %s", choice->who, choice->algorithm->name);
    else if (us >= 0 && best > 0)
        snprintf(text, size, "slower by %.0f %%", 100 * (us / best - 1));
    else if (choice->by == BY_TUNING)
        snprintf(text, size, "not measured");
    else
        rule_verdict(text, size, q, choice, rule);
}

static void candidate_text(FILE *f, const struct question *q, const struct choice *choice,
                           const struct algorithm *a)
{
    char verdict[REASON_CHARS], time[40] = "";
    double us = measured_us(measured_row(q), a);
    if (us >= 0)
        snprintf(time, sizeof time, "%.2f us measured", us);
    verdict_text(verdict, sizeof verdict, q, choice, a);
    fprintf(f, "  %-20s %-20s %s\n", a->name, time, verdict);
}

void explain_text(FILE *f, const struct question *q, const struct choice *choice,
                  const char *amount)
{
    char reason[REASON_CHARS] = "", pieces[32] = "", bytes[40] = "", nodes[40] = "";
    reason_text(reason, sizeof reason, q, choice);
    if (choice->pieces > 1)
        snprintf(pieces, sizeof pieces, " in %d pieces", choice->pieces);
    if (q->bytes)
        snprintf(bytes, sizeof bytes, " of %zu bytes", q->bytes);
    if (q->nodes > 1)
        snprintf(nodes, sizeof nodes, ", %d nodes", q->nodes);
    fprintf(f, "%s%s on %d ranks%s: %s%s (%s)\n", collective_name(q->what),
            q->bytes ? bytes : amount, q->ranks, nodes, choice->algorithm->name, pieces,
            reason);
    candidate_text(f, q, choice, choice->algorithm);
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == q->what && a->inter == q->inter && a != choice->algorithm)
            candidate_text(f, q, choice, a);
}

static void say_lines(char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        say("%s", line);
}

void explain_call(const struct team *team, const struct call *call, enum mode mode,
                  const struct choice *choice, const struct plan *plan)
{
    char *text = NULL, amount[64] = "";
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    const struct neighbours *n = team->neighbours;
    struct question q = question_of(team, call, mode);
    if (!f)
        return;
    if (is_neighbourhood(call->what) && n)
        snprintf(amount, sizeof amount, " from %d to %d neighbours", n->nsources,
                 n->ndestinations);
    explain_text(f, &q, choice, amount);
    fclose(f);
    say_lines(text);
    free(text);
    text = plan && plan->nsteps <= EXPLAINED_STEPS ? plan_text(plan) : NULL;
    if (text)
        say_lines(text);
    free(text);
}
