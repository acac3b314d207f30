/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splits of any kind: votes are gathered and put together along a tree, sorted at its root, and what
 * comes of them is handed down.
 */
#ifndef XMPI_SPLIT_SORT_H
#define XMPI_SPLIT_SORT_H

#include "runtime/ranks.h"
#include "src/comm.h"
#include "src/split_guess.h"

struct voters; /* src/split_voters.h */

/* Colours and their members in order, written down: per colour, ascending,
 *
 *     color, n >= 0, first, stride          regular
 *     color, -n, n ranks                    otherwise                                        */
struct classes {
    int32_t *words;
    size_t length;
};

/* Sort n votes by colour, key, rank; ranks count from `base`.  False: memory is out. */
bool classes_sort(const struct vote *votes, int n, int base, struct classes *sorted);

/* The same for runs (src/split_voters.h) that are sorted by colour. */
bool classes_of_voters(const struct voters *runs, int n, struct classes *sorted);

/* Those that n runs, sorted by colour, name, of all. */
bool classes_pick(const struct classes *all, const struct voters *runs, int n,
                  struct classes *picked);

/* The members of a colour: positions become the ranks that `peers` has there.  NULL: memory is
 * out. */
struct ranks *classes_members(const struct classes *classes, int32_t color,
                              const struct ranks *peers);

/* MPI_ERR_NO_MEM in words, for n processes. */
int split_no_memory(int n);

/* Tell everybody in the team its colour's class, collectively; the words are to be freed. */
int split_sort(struct comm *comm, struct vote mine, struct classes *classes);

#endif
