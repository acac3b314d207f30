/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes first: for programs that pass on blocks of which only the two ends know how long they are.
 */
#ifndef XMPI_SIZED_H
#define XMPI_SIZED_H

#include "coll/run.h"

struct sized {
    struct call call; /* the same movement of one number per block */
    int64_t *sizes;   /* in bytes: of the blocks of IN, then of OUT */
    struct execution run;
};

/* Prepare the movement of the sizes of a binding's blocks, as part of the same collective: with its
 * tag and signature.  0 or MPI_ERR_NO_MEM, and nothing is left behind. */
int sized_open(struct sized *sized, struct team *team, const struct bound *bound, int tag,
               uint32_t signature);
void sized_close(struct sized *sized);

/* It is over: give the binding its scratch.  0, what went wrong, or MPI_ERR_NO_MEM. */
int sized_take(struct sized *sized, struct bound *bound);

/* All of it, blocking. */
int sized_run(struct team *team, struct bound *bound, int tag, uint32_t signature);

#endif
