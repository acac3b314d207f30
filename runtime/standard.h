/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The standard streams of a command: what it was asked for is on stdout in whole, or its exit code and a
 * line on stderr say that it is not.
 */
#ifndef XMPI_STANDARD_H
#define XMPI_STANDARD_H

/* Descriptors 0, 1 and 2 exist, so that nothing else gets these numbers.  Writing to one that was closed
 * fails, as if it were closed still. */
void standard_open(void);

/* What was written to stdout leaves.  Returns the exit code: that, or 1 in place of 0 when something is lost,
 * which it says as `who`. */
int standard_close(const char *who, int code);

#endif
