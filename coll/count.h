/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a plan costs without a model: exact numbers, but that of data which are not cut evenly each block is
 * as large a fraction as the others.
 */
#ifndef XMPI_COUNT_H
#define XMPI_COUNT_H

#include "coll/cast.h"

struct amount {
    double most, sum; /* of the busiest rank, of all ranks */
};

struct count {
    double rounds;          /* messages one behind the other, see rounds.c */
    struct amount messages; /* sent */
    struct amount bytes;    /* sent */
    struct amount folds;    /* bytes folded */
    struct amount copies;   /* bytes copied inside a rank */
    struct amount scratch;  /* bytes */
};

/* Seats matter only to algorithms that know places.  Errors as price_of. */
int count_of(const struct price_query *query, size_t most, struct count *count);

/* The rounds of a cast, and each message, in the order in which they come: received by an act, sent after
 * `from` rounds, there after `to` (rounds.c). */
typedef void count_message(void *self, int actor, int act, int from, int to);
int count_rounds(const struct cast *cast, count_message *each, void *self, int *rounds);

#endif
