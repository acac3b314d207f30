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

#include <stdbool.h>

enum { FAIL_CHARS = 400 }; /* of a text, what is more is cut off */

/* Record a text for the error class `class` (MPI_ERR_*) and return the class. */
int fail(int class, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The argument of this name is NULL and has to point to something. */
int fail_null(int class, const char *argument) __attribute__((cold));

/* MPI_ERR_ARG, by name, when an array of n elements is NULL and n > 0; else 0. */
int fail_null_array(const char *argument, long long n, const void *array);

/* The text of the last failure of this thread, "" when there is none. */
const char *fail_text(void);

/* Forget the last failure of this thread. */
void fail_clear(void);

/* An operation's failure is often found long before anybody asks for it, by another call or another
 * thread's progress.  fail_keep puts the text of this thread's last failure aside for `whose`, an
 * address, and returns `error`; fail_recall makes it the text of the thread that asks.  False: none
 * is known.  The last FAIL_KEPT are known.  Under the engine lock where there are threads. */
enum { FAIL_KEPT = 32 };
int fail_keep(const void *whose, int error) __attribute__((cold));
bool fail_recall(const void *whose) __attribute__((cold));

#endif
