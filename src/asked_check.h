/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of collective arguments that an entry point cannot make because they need to know
 * which rank this is or what another argument says.  All return an error class with a text that
 * names the argument.
 */
#ifndef XMPI_ASKED_CHECK_H
#define XMPI_ASKED_CHECK_H

#include "src/asked.h"

/* MPI_IN_PLACE is welcome here, but not on an intercommunicator. */
int check_in_place(const struct comm *comm, const void *buf, const char *argument);
int check_no_in_place(const void *buf, const char *argument);

/* There is memory where a predefined type and a count say that there is data. */
int check_memory(const struct side *side, const char *argument);

/* Is there no array? */
static inline bool counts_missing(struct counts counts)
{
    return !counts.wide && !counts.narrow;
}

/* n counts, none of them negative; with displacements, and memory if any count says so. */
int check_counts(const struct side *side, int n);
int check_block(const struct side *side, int i, const struct type *type, const char *argument);
int check_blocks(const struct side *side, int n, const char *argument, const char *displs);

/* The two buffers are not the same memory (MPI 5.0, 2.3): they begin together; block i of both
 * does, for an i below n; or the one block of this rank lies where it belongs on the other side.
 * What overlaps otherwise is not looked for, since strided types may well interleave.  `comm`, or NULL where it is a
 * collective between neighbours: whether MPI_IN_PLACE is what may be meant. */
int check_apart(const struct side *send, const struct side *recv, const struct comm *comm);
int check_apart_blocks(const struct side *send, const struct side *recv, int n,
                       const struct comm *comm);

/* What this rank sends to itself is as long as its place; where one side, `all`, has a block for each rank and the
 * other one is this rank's, that does not lie in its place already. */
int check_own_length(const struct side *send, const struct side *recv, const struct comm *comm);
int check_own(const struct side *send, const struct side *recv, const struct side *all,
              const struct comm *comm);

/* Element i of the array of datatypes: live and committed. */
int check_block_type(const struct side *side, int i, struct type **type);

#endif
