/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long plans, rolled up while they are written down.
 *
 * The plan of a ring has a few steps per rank, all alike: one more block on, one message later.
 * Written out, a million ranks take 200 MB each; rolled up, the plan is a list of loops:
 *
 *     send  in[5]            -> 6.0
 *     fold  out[4]  in[4]    <- 4.0
 *     p - 2 times:
 *         send  out[4 - i]           -> 6.(1 + i)
 *         fold  out[3 - i]  in[3 - i]    <- 4.(1 + i)
 *     ...
 *
 * Indices of blocks and peers step evenly modulo their number, by up to 32767; everything else is
 * the same in each round.  A beat is one step of a loop's body.  Three equal rounds make a loop,
 * and it goes on as long as the next step is the one that it foretells, so whatever is written
 * down comes out again as it was: rolling up decides how a plan is kept, not what it says.
 *
 * Rolled plans know no successors; the executor infers what waits for what in a window of steps as
 * it goes (coll/window.h).  So only programs may be rolled whose order is about that of their
 * performance; they say so (plan->rolls), and the verifier performs them through a small window.
 *
 * Costs: 36 bytes a beat.  Finding a step is a search among the loops, of which there are few.
 */
#ifndef XMPI_ROLL_H
#define XMPI_ROLL_H

#include "coll/plan.h"

struct roll;

/* What tests make small. */
struct roll_bounds {
    int steps;  /* plans of more steps are rolled up, if their programs say that they may be */
    int window; /* steps under way at a time, at most 64 */
};
extern struct roll_bounds roll_bounds;

/* Roll up the steps so far; later ones are appended.  plan->roll stays NULL when memory is out. */
void roll_open(struct plan *plan);
void roll_append(struct plan *plan, const struct step *step);

/* The last step is written down: give back what is not needed any more. */
void roll_close(struct plan *plan);
void roll_free(struct roll *roll);

/* The loops of a closed roll, in order: of so many steps (beats) from this one on, so many times. */
struct roll_loop {
    int step, beats, rounds;
};
int roll_loops(const struct roll *roll);
struct roll_loop roll_loop(const struct roll *roll, int n);

/* Steps that are kept, and bytes they take once the roll is closed. */
int roll_beats(const struct roll *roll);
size_t roll_bytes(const struct roll *roll);

#endif
