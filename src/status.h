/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The user's MPI_Status and our struct result: two forms of how an operation ended.  The
 * private ints of a status hold the cancelled flag and a 64-bit count of bytes.
 */
#ifndef XMPI_STATUS_H
#define XMPI_STATUS_H

#include "mpi.h"
#include "pml/pml.h"

extern const struct result result_empty;     /* of null and inactive requests */
extern const struct result result_proc_null; /* of a receive from MPI_PROC_NULL */

/* Write everything but MPI_ERROR, which only calls that complete several requests touch.  The
 * status may be MPI_STATUS_IGNORE. */
void status_write(MPI_Status *status, const struct result *result);

/* The empty status of requests that are null or inactive (MPI 5.0, 3.7.3): MPI_ERROR as well. */
void status_write_empty(MPI_Status *status);
struct result status_read(const MPI_Status *status);

#endif
