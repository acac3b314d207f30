/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing, in this order:
 *
 *     forced      the communicator's orders (info key xmpi_coll, MPI_T), then XMPI_COLL
 *     tuning      the first row of the tuning file that fits (tuning.c)
 *     model       the cheapest on a model of the machine (model.c), between nodes
 *     rules       the first rule that fits (rules.c): measured on one node
 *     fallback    the first algorithm that can perform the call at all
 *
 * All ranks must choose alike, so only what all of them know is asked: the number of ranks,
 * whether they share a node, the operation, and packed bytes, which matching signatures make equal
 * everywhere.  That is a struct question.  Answers are kept per team, so a program that repeats
 * its calls pays for a look into a table of 32.
 */
#include "coll/choose.h"

#include "coll/coll.h"
#include "coll/forced.h"
#include "coll/model.h"
#include "coll/tiny.h"
#include "coll/tuning.h"
#include "runtime/fail.h"
#include "runtime/notice.h"
#include "mpi.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIECES = 64 };

/* ---- the question ---- */

size_t choose_bytes(const struct team *team, const struct call *call)
{
    int n = team->channel.size;
    if (team->split || is_neighbourhood(call->what))
        return 0; /* one algorithm each: nothing to decide */
    switch (call->what) {
    case COLL_GATHER:
        return unit_bytes(call->in_place || n == 1 ? &call->recv : &call->send);
    case COLL_SCATTER:
        return unit_bytes(call->in_place || n == 1 ? &call->send : &call->recv);
    case COLL_ALLGATHERV:
        return listed_bytes(&call->recv, n).all / (size_t)n;
    case COLL_REDUCE_SCATTER:
        return listed_bytes(&call->recv, n).all;
    case COLL_REDUCE_SCATTER_BLOCK:
        return unit_bytes(&call->recv) * (size_t)n;
    case COLL_BARRIER:
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return 0;
    default:
        return unit_bytes(&call->recv);
    }
}

/* Operations that do not commute need an algorithm that folds in rank order. */
static bool order_matters(const struct call *call)
{
    return is_reduction(call->what) && !call->reduction.commutes;
}

struct question question_of(const struct team *team, const struct call *call, enum mode mode)
{
    size_t bytes = choose_bytes(team, call);
    int ranks = team->channel.size;
    bool blocks = mode == BLOCKING;
    bool may_follow = !is_amount_known(call->what);
    return (struct question){
        .what = call->what,
        .mode = mode,
        .inter = team->split > 0,
        .order_matters = order_matters(call),
        .one_node = team->one_node,
        .crowded = team->crowded,
        .reading = team->reading,
        .away = team->away,
        .serves = call->serves != 0,
        .ranks = ranks,
        .nodes = team->nodes,
        .places = team->places,
        .bytes = bytes,
        .no_tiny = may_follow && !blocks
                       ? "where only its ends know how long a block is it serves blocking calls"
                       : tiny_objection(team, call, mode == NONBLOCKING, bytes),
        .no_attach = mode == PERSISTENT ? "it serves no persistent calls"
                                        : attach_objection(team, call, mode == NONBLOCKING),
    };
}

const char *choose_objection(const struct algorithm *a, const struct question *q)
{
    if (a->inter != q->inter)
        return a->inter ? "it works between two groups" : "it works within one group";
    if (q->order_matters && !a->ordered)
        return "the operation does not commute";
    const char *why_not = algorithm_objection(a, q->ranks, q->places);
    if (why_not || a->program)
        return why_not;
    return a->attaches ? q->no_attach : q->no_tiny;
}

/* ---- what is forced ---- */

static int choose_forced(const struct question *q, const struct orders *orders,
                         struct choice *choice)
{
    const struct forced *forced = &orders->of[q->what];
    const struct algorithm *a = forced->algorithm;
    const char *why_not = choose_objection(a, q);
    if (!why_not && forced->pieces > 1)
        why_not = pieces_objection(a);
    if (!why_not && forced->throttle && !a->program)
        why_not = "it is no plan that could be throttled";
    if (!why_not) {
        *choice = (struct choice){ a, forced->pieces, forced->radix,   BY_FORCE,
                                   0, orders->who,    forced->throttle };
        return 0;
    }
    char names[200] = "";
    for (const struct algorithm *b = algorithms; b->name; b++)
        if (b->what == q->what && !choose_objection(b, q))
            snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", b->name);
    return fail(MPI_ERR_OTHER,
                "%s asks for %s=%s, which cannot perform this call: %s; these can:%s",
                orders->who, collective_name(q->what), a->name, why_not, names);
}

/* ---- rules ---- */

bool choose_matches(const struct rule *rule, const struct question *q)
{
    return (!rule->ordered || q->order_matters) && (!rule->one_node || q->one_node) &&
           (!rule->crowded || q->crowded) && rule->reads <= q->reading &&
           (!rule->away || q->away) && rule_reaches(q->bytes, rule->bytes) &&
           rule_reaches((size_t)q->ranks, rule->ranks);
}

/* The algorithms that rules name, looked up once. */
static const struct algorithm *rule_algorithm(const struct question *q, int i, const char *name)
{
    static const struct algorithm *known[COLL_KINDS][2][MOST_RULES];
    assert(i < MOST_RULES); /* else what is known of the next list would be this one's */
    const struct algorithm **slot = &known[q->what][q->inter][i];
    if (!*slot)
        *slot = algorithm_find(q->what, q->inter, name);
    return *slot;
}

/* A power of two, so that few plans serve all sizes. */
static int pieces_of(const struct rule *rule, size_t bytes)
{
    int pieces = 1;
    while (rule->piece && pieces < MOST_PIECES && bytes / rule->piece >= (size_t)pieces * 2)
        pieces *= 2;
    return pieces;
}

bool choose_by_rule(const struct question *q, struct choice *choice)
{
    const struct rule *rules = rules_of(q->what, q->inter);
    for (int i = 0; rules && rules[i].use; i++) {
        if (!choose_matches(&rules[i], q))
            continue;
        const struct algorithm *a = rule_algorithm(q, i, rules[i].use);
        if (choose_objection(a, q))
            continue;
        *choice =
            (struct choice){ a, pieces_of(&rules[i], q->bytes), a->radix, BY_RULE, i, NULL, 0 };
        return true;
    }
    return false;
}

static bool choose_any(const struct question *q, struct choice *choice)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == q->what && !choose_objection(a, q)) {
            *choice = (struct choice){ a, 1, a->radix, BY_FALLBACK, 0, NULL, 0 };
            return true;
        }
    return false;
}

/* ---- the order ---- */

int choose_answer(const struct question *q, const struct orders *orders, struct choice *choice)
{
    const struct orders *process = NULL;
    bool theirs = !q->inter && orders && orders->of[q->what].algorithm;
    if (!q->inter && !theirs) {
        int error = forced_get(q->what, &process);
        if (error)
            return error;
    }
    if (theirs || process) {
        int error = choose_forced(q, theirs ? orders : process, choice);
        bool is_own = !error && choice->algorithm->script; /* it may still be refused */
        if (!q->serves || (!error && !is_own))
            return error;
        fail_clear();
    }
    bool found;
    int error = tuning_choose(q, choice, &found);
    if (error || found)
        return error;
    if (model_choose(q, choice) || choose_by_rule(q, choice) || choose_any(q, choice))
        return 0;
    return fail(MPI_ERR_UNSUPPORTED_OPERATION, "no algorithm for %s%s",
                collective_name(q->what), q->inter ? " on an intercommunicator" : "");
}

/* ---- answers of a team, kept ---- */

enum { KEPT = 32 };
struct memo {
    unsigned epoch; /* forced_epoch when it was begun */
    struct kept {
        uint64_t key; /* 0: empty */
        struct choice choice;
    } kept[KEPT];
};

enum { KEY_BITS = 12, USUAL_BIT = 11, AWAY_BIT = 62, SERVES_BIT = 63 };
_Static_assert(COLL_KINDS <= 1 << 5, "a key has five bits for the collective,");
_Static_assert(PERSISTENT < 1 << 2, "and two for the mode");
_Static_assert((int)MOST_ALGORITHMS < (int)TEAM_OWN, "what a team has used is told apart");

/* What differs between questions of one team; never 0. */
static uint64_t key_of(const struct question *q)
{
    uint64_t small = 1u | (unsigned)q->what << 1 | (unsigned)q->order_matters << 6 |
                     (unsigned)(q->no_tiny == NULL) << 7 |
                     (unsigned)(q->no_attach == NULL) << 8 | (unsigned)q->mode << 9;
    return (uint64_t)q->bytes << KEY_BITS | small | (uint64_t)q->serves << SERVES_BIT |
           (uint64_t)q->away << AWAY_BIT;
}

/* Calls whose questions differ in nothing but kind, mode and bytes, as long as the team is as it is:
 * the question need not be asked.  0: it is none of them. */
static uint64_t usual_key(const struct team *team, const struct call *call, enum mode mode)
{
    const struct reduction *op = &call->reduction;
    bool folds = is_reduction(call->what);
    if (folds &&
        !(op->kernel && op->layout && op->commutes && op->layout->size <= ATTACH_PIECE))
        return 0;
    bool padded = folds && !op->layout->dense;
    if (padded && !reduce_is_padded(op->layout))
        return 0;
    if (team->away || has_known_counts(call->what) || call->serves ||
        (call->in_place && has_letters(call->what)))
        return 0;
    uint64_t small = 1u | (unsigned)call->what << 1 | (unsigned)padded << 8 |
                     (unsigned)mode << 9 | 1u << USUAL_BIT;
    return (uint64_t)choose_bytes(team, call) << KEY_BITS | small;
}

void choose_forget(struct team *team)
{
    team->forgets++;
    free(team->memo);
    team->memo = NULL;
}

void choose_anew(void)
{
    forced_epoch++;
}

static struct memo *memo_new(void)
{
    struct memo *memo = calloc(1, sizeof(*memo));
    if (memo)
        memo->epoch = forced_epoch;
    return memo;
}

static struct kept *kept_of(struct team *team, uint64_t key)
{
    if (team->memo && team->memo->epoch != forced_epoch)
        choose_forget(team);
    if (!team->memo)
        team->memo = memo_new();
    return team->memo ? &team->memo->kept[key * 0x9e3779b97f4a7c15ull >> 59] : NULL;
}
_Static_assert(KEPT == 1 << (64 - 59), "five bits of the hash");

uint64_t algorithms_chosen[MOST_ALGORITHMS];

int algorithms_count(void)
{
    int n = 0;
    while (algorithms[n].name)
        n++;
    assert(n <= MOST_ALGORITHMS);
    return n;
}

void choose_count(struct team *team, enum collective what, size_t bytes, int algorithm)
{
    algorithms_chosen[algorithm]++;
    team->chosen[what] = (uint16_t)(algorithm + 1);
    if (notice_is_wanted(NOTICE_PLAN))
        notice_give(NOTICE_PLAN, (int64_t[]){ algorithm, (int64_t)bytes, team->channel.size });
}

static void choose_note(struct team *team, enum collective what, size_t bytes,
                        const struct algorithm *algorithm)
{
    if (algorithm->script)
        team->chosen[what] = TEAM_OWN;
    else
        choose_count(team, what, bytes, (int)(algorithm - algorithms));
}

/* The answer, which is kept under this key. */
static int choose_for(struct team *team, const struct question *q, uint64_t key,
                      struct choice *choice)
{
    struct kept *kept = kept_of(team, key);
    int error = 0;
    if (kept && kept->key == key)
        *choice = kept->choice;
    else
        error = choose_answer(q, team->orders, choice);
    if (error)
        return error;
    if (kept)
        *kept = (struct kept){ key, *choice };
    choose_note(team, q->what, q->bytes, choice->algorithm);
    return 0;
}

static __attribute__((noinline)) int choose_asking(struct team *team, const struct call *call,
                                                   enum mode mode, uint64_t key,
                                                   struct choice *choice)
{
    struct question q = question_of(team, call, mode);
    return choose_for(team, &q, key ? key : key_of(&q), choice);
}

int choose(struct team *team, const struct call *call, enum mode mode, struct choice *choice)
{
    uint64_t key = usual_key(team, call, mode);
    struct kept *kept = key ? kept_of(team, key) : NULL;
    if (!kept || kept->key != key)
        return choose_asking(team, call, mode, key, choice);
    *choice = kept->choice;
    choose_note(team, call->what, key >> KEY_BITS, choice->algorithm);
    return 0;
}

const struct choice *choose_known(struct team *team, const struct call *call, size_t *bytes)
{
    uint64_t key = usual_key(team, call, BLOCKING);
    if (!key && has_known_counts(call->what)) {
        struct question q = question_of(team, call, BLOCKING);
        key = key_of(&q);
    }
    struct kept *kept = key ? kept_of(team, key) : NULL;
    *bytes = key >> KEY_BITS;
    return kept && kept->key == key ? &kept->choice : NULL;
}

int choose_no_tiny(struct team *team, const struct call *call, enum mode mode, const char *why,
                   struct choice *choice)
{
    struct question q = question_of(team, call, mode);
    q.no_tiny = why;
    return choose_for(team, &q, key_of(&q), choice);
}

int choose_plan(struct team *team, const struct call *call, const char *why,
                struct choice *choice)
{
    struct question q = question_of(team, call, NONBLOCKING);
    q.no_tiny = q.no_attach = why;
    return choose_for(team, &q, key_of(&q), choice);
}

int choose_rival(struct team *team, const struct call *call, struct choice *choice)
{
    struct question q = question_of(team, call, BLOCKING);
    int row = choice->row;
    q.no_attach = "it competes with this one";
    q.order_matters = is_reduction(call->what);
    int error = choose_for(team, &q, key_of(&q), choice);
    choice->by = BY_RIVALRY;
    choice->row = row;
    return error;
}

void choose_unfit(enum collective what, struct choice *choice)
{
    static const struct algorithm *known[COLL_KINDS];
    if (!known[what])
        known[what] = algorithm_find(what, false, "linear");
    *choice = (struct choice){ known[what], 1, 0, BY_FALLBACK, 0, NULL, 0 };
}
