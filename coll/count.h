/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a plan costs without a model: exact numbers.
 */
#ifndef XMPI_COUNT_H
#define XMPI_COUNT_H

#include "coll/price.h"

struct amount {
    double most, sum; /* of the busiest rank, of all ranks */
};

struct count {
    double rounds;          /* messages one behind the other, see count.c */
    struct amount messages; /* sent */
    struct amount bytes;    /* sent */
    struct amount folds;    /* bytes folded */
    struct amount copies;   /* bytes copied inside a rank */
    struct amount scratch;  /* bytes */
};

/* Seats do not matter.  Errors as price_of. */
int count_of(const struct price_query *query, size_t most, struct count *count);

#endif
