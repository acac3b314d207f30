/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings of very many ranks, performed until their rounds repeat.
 */
#ifndef XMPI_MARCH_H
#define XMPI_MARCH_H

#include "coll/cast.h"

struct march {
    bool found;   /* it is such a ring, and this is its price */
    int64_t acts; /* performed, in so many rounds; the others are like those before */
    int64_t rounds;
    struct price price;
};

/* The price of a ring on p ranks that stand `unit` by `unit`, whatever p is.  Not found: messages go more
 * than one way or more than one rank far, or not all ranks do alike, or something else than the message
 * that came last sets the next one free, or more than `most` acts do not tell.  0 or MPI_ERR_NO_MEM. */
int march_run(const struct price_model *model, const struct price_query *query, int unit,
              size_t most, struct march *march);

#endif
