/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_CHOOSE_H
#define XMPI_CHOOSE_H

#include "coll/coll.h"
#include "coll/rules.h"

enum mode { BLOCKING, NONBLOCKING, PERSISTENT };

struct choice {
    const struct algorithm *algorithm;
    int pieces;
    int radix; /* 0: the algorithm has none */
    int rule;  /* its number, from 0; -1: forced by XMPI_COLL */
};

/* Which algorithm performs this call: XMPI_COLL if it says, else the first rule that matches.
 * The same on every rank.  MPI_ERR_OTHER when XMPI_COLL asks for what does not exist or cannot
 * serve this call. */
int choose(const struct team *team, const struct call *call, enum mode mode,
           struct choice *choice);

/* How many algorithms there are, and how often each was chosen, in the order of the table. */
enum { MOST_ALGORITHMS = 256 };
int algorithms_count(void);
extern uint64_t algorithms_chosen[MOST_ALGORITHMS];

/* Does XMPI_EXPLAIN ask for this collective? */
bool choice_wanted(enum collective what);

/* Say what was chosen and why, and the plan if there is one. */
void choice_explain(const struct team *team, const struct call *call,
                    const struct choice *choice, const struct plan *plan);

#endif
