/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A choice in words:
 *
 *     allreduce of 64 bytes on 2 ranks: doubling (measured, tune.txt:7)
 *                       measured  model, us    latency  bandwidth    compute
 *       doubling         0.52 us       0.21       0.20       0.01       0.00  chosen
 *       circulant        0.60 us       0.42       0.40       0.01       0.00  slower by 15 %
 *       tiny                              -                                   cannot: the message ...
 *
 * The columns of the model are those of the algorithm at its cheapest (model.h), of the winner as
 * it was chosen.
 */
#include "coll/explain.h"

#include "coll/coll.h"
#include "coll/forced.h"
#include "coll/model.h"
#include "coll/own.h"
#include "coll/tuning.h"
#include "runtime/log.h"
#include "runtime/reading.h"

#include <stdlib.h>
#include <string.h>

enum { EXPLAINED_STEPS = 100, REASON_CHARS = 400 };

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

static const char *const readings[] = {
    [READING_DEAR] = "",
    [READING_FAIR] = ", reading others' memory is not dear",
    [READING_MAPPED] = ", memory of others may be mapped",
};

static void rule_text(char *text, size_t size, const struct rule *rule, int number)
{
    snprintf(text, size, "rule %d%s%s%s%s%s", number,
             rule->one_node ? ", all ranks on one node" : "",
             rule->crowded ? ", more ranks than CPUs" : "", readings[rule->reads],
             rule->away ? ", a device folds" : "",
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
    case BY_MODEL:
        snprintf(text, size, "cheapest by the model");
        break;
    case BY_RULE:
        rule_text(text, size, &rules_of(q->what, q->inter)[choice->row], choice->row + 1);
        break;
    case BY_RIVALRY:
        snprintf(text, size, "in turns with what rule %d says, or faster here",
                 choice->row + 1);
        break;
    case BY_FALLBACK:
        snprintf(text, size, "no rule says anything; the first one that can");
        break;
    }
}

/* "ring in 4 pieces by 2, 3 at a time" */
static void how_text(char *text, size_t size, const struct choice *how)
{
    char pieces[32] = "", radix[32] = "", throttle[32] = "";
    if (how->pieces > 1)
        snprintf(pieces, sizeof pieces, " in %d pieces", how->pieces);
    if (how->radix)
        snprintf(radix, sizeof radix, " by %d", how->radix);
    if (how->throttle)
        snprintf(throttle, sizeof throttle, ", %d at a time", how->throttle);
    snprintf(text, size, "%s%s%s%s", how->algorithm->name, pieces, radix, throttle);
}

/* The row that has the measured times, even if it did not decide. */
static const struct tuning_row *measured_row(const struct question *q)
{
    const struct tuning *tuning = NULL;
    const struct tuned *use;
    return tuning_in_force(q, &tuning) ? NULL : tuning_find(tuning, q, &use);
}

/* The best that was measured of an algorithm; NULL: nothing was. */
static const struct tuned *measured_of(const struct question *q, const struct algorithm *a)
{
    const struct tuning_row *row = measured_row(q);
    for (int i = 0; row && i < row->nuse; i++)
        if (row->use[i].use.algorithm == a && row->use[i].us >= 0)
            return &row->use[i];
    return NULL;
}

/* Which rule would have used it: a later one that holds here, or else the first.  -1: none does. */
static int rule_for(const struct question *q, const struct choice *choice, const char *name,
                    bool *later)
{
    const struct rule *rules = rules_of(q->what, q->inter);
    int found = -1;
    *later = false;
    for (int i = 0; rules && rules[i].use && !*later; i++) {
        if (strcmp(rules[i].use, name) != 0)
            continue;
        *later = choice->by == BY_RULE && i > choice->row && choose_matches(&rules[i], q);
        found = found < 0 || *later ? i : found;
    }
    return found;
}

static void rule_verdict(char *text, size_t size, const struct question *q,
                         const struct choice *choice, const char *name)
{
    bool later;
    int rule = rule_for(q, choice, name, &later);
    if (rule < 0) {
        snprintf(text, size, "no rule uses it");
        return;
    }
    size_t used = (size_t)snprintf(text, size, later ? "a later rule: " : "another case: ");
    rule_text(text + used, size - used, &rules_of(q->what, q->inter)[rule], rule + 1);
}

/* Why it lost, measured or priced; the winner's numbers are in `won`. */
struct candidate {
    const struct algorithm *algorithm;
    double measured; /* us; < 0: not */
    bool priced;
    struct choice how; /* as measured, else at its cheapest */
    struct price price;
};

static struct candidate candidate_of(const struct question *q, const struct choice *choice,
                                     const struct algorithm *a)
{
    const struct tuned *tuned = measured_of(q, a);
    struct candidate c = { .algorithm = a, .measured = tuned ? tuned->us : -1 };
    bool won = a == choice->algorithm;
    c.how = won ? *choice : (struct choice){ .algorithm = a, .pieces = 1, .radix = a->radix };
    if (tuned && !won) {
        c.how.pieces = tuned->use.pieces;
        c.how.radix = tuned->use.radix;
        c.how.throttle = tuned->use.throttle;
    }
    c.priced = won || tuned ? model_price_of(q, &c.how, &c.price)
                            : model_price(q, a, &c.how, &c.price);
    return c;
}

static void verdict_text(char *text, size_t size, const struct question *q,
                         const struct choice *choice, const struct candidate *const pair[2])
{
    const struct candidate *won = pair[0], *c = pair[1];
    const char *objection = choose_objection(c->algorithm, q);
    double best = price_seconds(won->price);
    if (c->algorithm == choice->algorithm)
        snprintf(text, size, "chosen");
    else if (objection)
        snprintf(text, size, "cannot: %s", objection);
    else if (choice->by == BY_FORCE)
        snprintf(text, size, "%s asks for %s", choice->who, choice->algorithm->name);
    else if (c->measured >= 0 && won->measured > c->measured)
        snprintf(text, size, "faster by %.0f %%, but behind it in the row",
                 100 * (1 - c->measured / won->measured));
    else if (c->measured >= 0 && won->measured > 0)
        snprintf(text, size, "slower by %.0f %%", 100 * (c->measured / won->measured - 1));
    else if (choice->by == BY_TUNING)
        snprintf(text, size, "not measured");
    else if (choice->by == BY_MODEL && c->priced && best > 0)
        snprintf(text, size, "slower by %.0f %%", 100 * (price_seconds(c->price) / best - 1));
    else if (choice->by == BY_MODEL)
        snprintf(text, size, "no price: too many steps");
    else if (choice->by == BY_RIVALRY && c->algorithm->attaches)
        snprintf(text, size, "in turns, or slower here");
    else
        rule_verdict(text, size, q, choice, c->algorithm->name);
}

static void candidate_text(FILE *f, const struct question *q, const struct choice *choice,
                           const struct candidate *const pair[2])
{
    const struct candidate *c = pair[1];
    char verdict[REASON_CHARS], name[80], time[40] = "";
    how_text(name, sizeof name, &c->how);
    verdict_text(verdict, sizeof verdict, q, choice, pair);
    if (c->measured >= 0)
        snprintf(time, sizeof time, "%.2f us", c->measured);
    fprintf(f, "  %-28s %12s", name, time);
    if (c->priced)
        fprintf(f, " %10.2f %10.2f %10.2f %10.2f", 1e6 * price_seconds(c->price),
                1e6 * c->price.latency, 1e6 * c->price.bandwidth, 1e6 * c->price.compute);
    else
        fprintf(f, " %10s %10s %10s %10s", "-", "", "", "");
    fprintf(f, "  %s\n", verdict);
}

int explain_check(const struct question *q, const struct choice *choice)
{
    const struct plan_key key = { .size = q->ranks,
                                  .pieces = choice->pieces,
                                  .throttle = choice->throttle };
    return choice->algorithm->script ? own_verify(choice->algorithm, &key) : 0;
}

void explain_text(FILE *f, const struct question *q, const struct choice *choice,
                  const char *amount)
{
    char reason[REASON_CHARS] = "", how[80], bytes[40] = "", nodes[40] = "";
    struct candidate won = candidate_of(q, choice, choice->algorithm);
    how_text(how, sizeof how, choice);
    reason_text(reason, sizeof reason, q, choice);
    if (q->bytes)
        snprintf(bytes, sizeof bytes, " of %zu bytes", q->bytes);
    if (q->nodes > 1)
        snprintf(nodes, sizeof nodes, ", %d nodes", q->nodes);
    fprintf(f, "%s%s on %d ranks%s: %s (%s)\n", collective_name(q->what),
            q->bytes ? bytes : amount, q->ranks, nodes, how, reason);
    fprintf(f, "  %-28s %12s %10s %10s %10s %10s\n", "", "measured", "model, us", "latency",
            "bandwidth", "compute");
    candidate_text(f, q, choice, (const struct candidate *[]){ &won, &won });
    for (const struct algorithm *a = algorithms; a->name; a++) {
        struct candidate c = { .algorithm = a };
        if (a->what != q->what || a->inter != q->inter || a == choice->algorithm)
            continue;
        c = candidate_of(q, choice, a);
        candidate_text(f, q, choice, (const struct candidate *[]){ &won, &c });
    }
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
    if (call->near)
        fprintf(f, "  data of this rank are on a device, and folded by its kernels\n");
    else if (call->why_staged)
        fprintf(f, "  data of this rank are on a device, and folded on the host: %s\n",
                call->why_staged);
    fclose(f);
    say_lines(text);
    free(text);
    bool is_short = plan && (plan->roll || plan->nsteps <= EXPLAINED_STEPS);
    text = is_short ? plan_text(plan) : NULL;
    if (text)
        say_lines(text);
    free(text);
}
