/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Votes of many processes in few words.  Pure functions.
 */
#ifndef XMPI_SPLIT_VOTERS_H
#define XMPI_SPLIT_VOTERS_H

#include "src/split_guess.h"

/* n processes of one colour, whose keys and ranks go on evenly, the first in the new order in front.
 * With n == 1 the steps are 0. */
struct voters {
    int32_t color, n;
    int32_t key, rank; /* of the first */
    int32_t key_step, rank_step;
};

/* Write down n votes, of ranks `base` and on; returns how many runs, one for each who votes. */
int voters_of_votes(const struct vote *votes, int n, int base, struct voters *runs);

/* Sort runs by colour, and put together what goes on; returns how many are left. */
int voters_merge(struct voters *runs, int n);

#endif
