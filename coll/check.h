/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symbolic verifier: the plans of all ranks, performed in one process on symbols.
 * Tests verify the library's algorithms by it, own.c those of users.
 */
#ifndef XMPI_CHECK_H
#define XMPI_CHECK_H

#include "coll/call.h"
#include "coll/plan.h"

#include <stddef.h>

struct world {
    enum collective what;
    program *program;
    int p, root, split, pieces, radix, throttle;
    bool in_place;
    const struct neighbours *const *neighbours; /* neighbourhood collectives: of each rank */
    const struct places *places;
    const struct script *script; /* of a user's own algorithm */
    bool ordered;                /* the result must be in rank order, not only complete */
    bool
        program_order; /* also perform it in program order, as coll/run_inline.c does: with sends that are
                           over at once, and with sends that are over when they are taken */
    bool brief;       /* one shuffled order without buffering, no others */
    long most;        /* steps of all ranks that are looked at; 0: as many as there are */
    long most_blocks; /* blocks that they have and their steps touch, likewise */
};

struct verdict {
    char text[500]; /* "" = correct; what a script says of itself may be long */
    bool undecided; /* neither that nor wrong: too many steps or blocks, or no memory */
};

/* Make the plans of all ranks and check them.  True = correct. */
bool check_world(const struct world *world, struct verdict *verdict);

/* The two halves, for tests that damage plans in between.  `plans` has world->p entries. */
bool check_make(const struct world *world, struct plan *plans, struct verdict *verdict);
bool check_plans(const struct world *world, const struct plan *plans, struct verdict *verdict);
void check_free(const struct world *world, struct plan *plans);

#endif
