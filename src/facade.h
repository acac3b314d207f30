/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entering and leaving the library: what every generated entry point calls.  Checks record the
 * first failure with the function's and the argument's name and do nothing once one is recorded.
 */
#ifndef XMPI_FACADE_H
#define XMPI_FACADE_H

#include "runtime/fail.h"
#include "src/comm.h"

struct entry {
    const char *function; /* "MPI_Send" */
    int rc;               /* MPI_SUCCESS or the class of the first failure */
};

enum library_state { LIBRARY_FRESH, LIBRARY_ACTIVE, LIBRARY_FINALIZED };
extern enum library_state library_state; /* of the world model; sessions count separately */

/* The error handler that applies when no communicator, session, window or file is at hand:
 * MPI_COMM_SELF's, before and after init the initial one (MPI 5.0, 9.3). */
int leave_error(struct entry *e, struct comm *comm) __attribute__((cold));

/* Said by a body that is about to fail for an object the entry point has not seen (MPI_Wait: the
 * communicator of the request): leave asks its error handler instead.  Holds a reference until
 * then.  NULL is nobody.  Of several in one call the first counts. */
void leave_blame(struct comm *comm) __attribute__((cold));

#endif
