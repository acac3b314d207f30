/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_CIRCULANT_H
#define XMPI_CIRCULANT_H

#include "coll/plan.h"

/* Sum the p blocks of IN over all ranks so that rank me ends with the sum of block me in
 * `last`; partial sums go to `room`, cut in p blocks.  plan->radix is the number of nodes that
 * ranks are dealt out to in turn, 0 if that does not matter.  See circulant.c. */
void circulant_fold(struct plan *plan, int me, int p, enum room room, struct span last);

/* From block me of OUT on each rank to all p blocks everywhere. */
void circulant_spread(struct plan *plan, int me, int p);

#endif
