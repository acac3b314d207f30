/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The error idiom of the house: the function that first knows what went wrong says so, once,
 * in words a user can act on, and returns an MPI error class; everybody above passes it on.
 *
 *     return fail(MPI_ERR_TRUNCATE, "message of %zu bytes from rank %d, buffer holds %zu", ...);
 *
 * The text stays with the thread until the facade hands it to the error handler.
 */
#ifndef XMPI_FAIL_H
#define XMPI_FAIL_H

/* Record a text for the error class `class` (MPI_ERR_*) and return the class. */
int fail(int class, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The text of the last failure of this thread, "" when there is none. */
const char *fail_text(void);

/* Forget the last failure of this thread. */
void fail_clear(void);

#endif
