/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process sets that the launcher knows, as a text in the boot segment: a line per set, its name
 * and its members as ranges of ranks in MPI_COMM_WORLD.  Launcher and library share this; mpi://
 * sets are not in it.
 *
 *     ocean<tab>0:2:1,6:1:1        ranks 0, 1 and 6: first:n:stride, ...
 */
#ifndef XMPI_PSETS_H
#define XMPI_PSETS_H

#include <stdbool.h>
#include <stdio.h>

/* ---- writing ---- */

struct pset_writer {
    FILE *to;
    bool any;             /* a range has been written */
    int first, n, stride; /* of the range that grows; n 0: none */
};

/* Begin a set, add its members in the order that its groups shall have, end it. */
void pset_begin(struct pset_writer *writer, FILE *to, const char *name);
void pset_add(struct pset_writer *writer, int rank);
void pset_end(struct pset_writer *writer);

/* Can a set be called so?  Not with blanks or control characters, not too long, and not as the
 * standard's. */
bool pset_may_be_called(const char *name);

/* ---- reading ---- */

struct pset {
    const char *name;
    int name_chars;
    const char *ranges; /* what pset_next_range has not returned yet */
};
struct pset_range {
    int first, n, stride;
};

/* Step through a text: *at points at a line and goes on to the next.  False at its end. */
bool psets_next(const char **at, struct pset *set);
bool pset_next_range(struct pset *set, struct pset_range *range);

/* Is this its name? */
bool pset_is_called(const struct pset *set, const char *name);

#endif
