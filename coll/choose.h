/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which algorithm performs a collective, and in how many pieces: a question and its answer.
 */
#ifndef XMPI_CHOOSE_H
#define XMPI_CHOOSE_H

#include "coll/call.h"

#include <stddef.h>

struct algorithm; /* coll/rules.h */
struct orders;    /* coll/forced.h */
struct places;    /* coll/plan.h */
struct plan;      /* coll/plan.h */
struct rule;      /* coll/rules.h */
struct team;      /* coll/coll.h */

/* All that a choice depends on.  Every rank knows it and knows the same. */
struct question {
    enum collective what;
    enum mode mode;
    bool inter;         /* between the groups of an intercommunicator */
    bool order_matters; /* the operation does not commute */
    bool one_node, crowded;
    bool serves; /* it is part of a function: orders that cannot be obeyed are not for it */
    bool away;   /* attach left it to messages, as somebody's device folds */
    int reading; /* enum reading (runtime/reading.h), as in struct team */
    int ranks, nodes;
    const struct places *places; /* where the ranks are; NULL: together */
    size_t bytes;                /* as rules.c counts them */
    const char *no_tiny;         /* why tiny does not serve; NULL: it does */
    const char *no_attach;       /* the same of attach */
};

enum chosen_by { BY_FORCE, BY_TUNING, BY_MODEL, BY_RULE, BY_FALLBACK, BY_RIVALRY };

struct choice {
    const struct algorithm *algorithm;
    int pieces, radix; /* radix 0: the algorithm has none */
    enum chosen_by by;
    int row; /* BY_RULE: its number, from 0, BY_RIVALRY: that of the rival; BY_TUNING: its line in the file */
    const char *who; /* BY_FORCE: what asked for it; BY_TUNING: the file */
    int throttle;    /* messages at a time; 0: as the algorithm says */
};

/* The answer: what is forced, else the first row of the tuning file that fits, else the cheapest
 * by the model, else the first rule, else the first algorithm that serves.  `orders` come before
 * XMPI_COLL and may be NULL.  MPI_ERR_OTHER when what is forced does not exist or cannot serve, or
 * when the tuning file that XMPI_TUNING names is wrong. */
int choose_answer(const struct question *question, const struct orders *orders,
                  struct choice *choice);

/* Why an algorithm cannot perform what is asked; NULL = it can. */
const char *choose_objection(const struct algorithm *algorithm,
                             const struct question *question);

/* Is a rule (rules.h) for this? */
bool choose_matches(const struct rule *rule, const struct question *question);

/* What the rules would take.  False: none of it serves. */
bool choose_by_rule(const struct question *question, struct choice *choice);

/* ---- of a team ---- */

/* Which algorithm performs this call: the answer to its question, kept with the team.
 * The same on every rank. */
int choose(struct team *team, const struct call *call, enum mode mode, struct choice *choice);

/* Once more, as there are no shared slots after all, and why. */
int choose_no_tiny(struct team *team, const struct call *call, enum mode mode, const char *why,
                   struct choice *choice);

/* A plan for a nonblocking call, or part of one, that attach could not perform, and why.  All ranks ask. */
int choose_plan(struct team *team, const struct call *call, const char *why,
                struct choice *choice);

/* A plan in place of attach, which a rule has chosen, as they compete (rival.h): of reductions one with the same
 * result. */
int choose_rival(struct team *team, const struct call *call, struct choice *choice);

/* Packed bytes of a call as the rules count them (rules.c). */
size_t choose_bytes(const struct team *team, const struct call *call);

/* The algorithm for what does not fit the shared slots of a gatherv or scatterv: in which pairs of ranks
 * exchange what they know of. */
void choose_unfit(enum collective what, struct choice *choice);

/* What was chosen for blocking calls like this one, if it depends on nothing that changes unsaid
 * (team_stamp), until the next choice.  NULL: it does, or is not known.  *bytes as the rules count them. */
const struct choice *choose_known(struct team *team, const struct call *call, size_t *bytes);

/* It is this one of the table, by its number: for the counters, and whoever is told of choices. */
void choose_count(struct team *team, enum collective what, size_t bytes, int algorithm);

struct question question_of(const struct team *team, const struct call *call, enum mode mode);

/* The team chooses anew from now on; all of them do. */
void choose_forget(struct team *team);
void choose_anew(void);

/* Does XMPI_EXPLAIN ask for this collective? */
bool explain_wanted(enum collective what);

/* Say on stderr what was chosen and why, and the plan if there is one (explain.c). */
void explain_call(const struct team *team, const struct call *call, enum mode mode,
                  const struct choice *choice, const struct plan *plan);

/* How many algorithms there are, and how often each was chosen, in the order of the table. */
enum { MOST_ALGORITHMS = 256 };
int algorithms_count(void);
extern uint64_t algorithms_chosen[MOST_ALGORITHMS];

#endif
