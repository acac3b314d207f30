/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splits that need no table: every colour's ranks are first, first + stride, ... and keys follow
 * a formula.  Pure functions; src/split.c folds what they make over all processes.
 */
#ifndef XMPI_SPLIT_GUESS_H
#define XMPI_SPLIT_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vote {
    int32_t color, key; /* MPI_UNDEFINED: no new communicator for this process */
};

/* The processes of one colour. */
struct tally_color {
    int32_t color;
    int32_t first, last, count; /* ranks; count 0: nobody voted */
    int32_t first_key, last_key;
};

/* What is known of some processes together: the lowest and the highest colour. */
struct tally {
    struct tally_color low, high;
};

struct tally tally_of(struct vote vote, int rank);

/* to[i] = a[i] and b[i] together; a fold_kernel (src/agree.h). */
void tally_fold(void *to, const void *a, const void *b, size_t bytes);

struct guess {
    int64_t low, colors; /* colours low, low + 1, .. (or only the first and the last one) */
    bool only_two;
    struct tally_color ends[2];
    int64_t first, first_step; /* first rank of a colour: first + first_step * (color - low) */
    int64_t stride, most;      /* between the ranks of a colour; how many there are at most */
    int64_t key, key_step, key_stride; /* key of the first; per colour; per place */
    int n;
};

/* A formula for everybody's vote that the tally of all n processes allows.  False: none. */
bool guess_from(const struct tally *all, int n, struct guess *guess);

/* Does the formula say this?  When it does for all that have voted, and they are as many as
 * guess_voters, it is right. */
bool guess_fits(const struct guess *guess, struct vote vote, int rank);
int64_t guess_voters(const struct guess *guess);

/* The ranks of a colour in the order of their keys: *first, *first + *stride, ..; how many. */
int guess_members(const struct guess *guess, int32_t color, int *first, int *stride);

#endif
