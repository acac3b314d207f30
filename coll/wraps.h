/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranges that go as two messages where they pass the last block, on some ranks and not on others.
 */
#ifndef XMPI_WRAPS_H
#define XMPI_WRAPS_H

#include "coll/cast.h"

/* Do the ranges of `rank` of p wrap where rank 0's would, r blocks further on?  p 0: nothing turns.  Of
 * rank 1, which is asked first, it is learnt which ranges do (act.turns). */
bool wraps_alike(struct role *first, const struct role *other, int rank, int p);

/* Every act in as many parts as on the rank where it has most. */
void wraps_most(struct role *first);

/* Messages that p ranks of one role send: the busiest one, and all of them.  False: no memory. */
struct wraps {
    double most, sum;
};
bool wraps_count(const struct role *role, int p, struct wraps *wraps);

#endif
