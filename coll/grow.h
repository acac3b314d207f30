/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The price of a collective of very many ranks, foretold by smaller ones.
 */
#ifndef XMPI_GROW_H
#define XMPI_GROW_H

#include "coll/sim.h"

/* Performs a collective as it is; what sim_run does without this. */
typedef int grow_perform(const struct price_query *query, size_t most, const void *with,
                         struct sim *sim);

struct grow_job {
    const struct price_query *query;
    int unit;    /* ranks that go together: those of a node */
    size_t most; /* acts to perform in all */
    bool ways;   /* the ways between groups get longer */
    grow_perform *perform;
    const void *with; /* handed to it */
};

/* *found: sim is what is foretold.  0, or an error that is none of size. */
int grow_run(const struct grow_job *job, struct sim *sim, bool *found);

#endif
