/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much work the plans of a collective are, found at a glance, so that what would take minutes is
 * refused at once.
 */
#ifndef XMPI_EFFORT_H
#define XMPI_EFFORT_H

#include "coll/price.h"

/* To perform plans: steps; to make them: blocks that the steps read or write. */
struct effort {
    double steps, touched;
    bool rolls;    /* may be kept as loops (roll.h) */
    double blocks; /* that its rooms are cut in */
};

/* Blocks that are looked at in half a minute. */
extern const double effort_most_touched;

struct effort effort_of(const struct plan *plan);

/* Of the plan of this key, by the program alone; of more than `most` steps, before it is cut in pieces, so
 * many. */
enum { EFFORT_STEPS = 1 << 24 };
struct effort effort_glance(program *f, const struct plan_key *key, int most);

/* 0, or MPI_ERR_UNSUPPORTED_OPERATION with a text when it is more than `most` steps, or more blocks than
 * effort_most_touched. */
int effort_refuse(const struct price_query *query, struct effort effort, size_t most);

/* The plan of rank 0 alone, before any is made, its steps and whether it rolls; `key` is rank 0's.  0 steps
 * when it cannot be told. */
struct effort effort_one(const struct price_query *query, const struct plan_key *key);

/* As effort_refuse, of the plans of all ranks, before any is made.  0 also when it is not clear: who
 * makes the plans counts. */
int effort_all(const struct price_query *query, const struct plan_key *key, size_t most);

#endif
