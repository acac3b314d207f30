/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error codes, their classes and their texts.
 */
#ifndef XMPI_ERROR_H
#define XMPI_ERROR_H

#include <stdbool.h>

/* The value of the attribute MPI_LASTUSEDCODE. */
int error_last_used(void);

/* The general text of a code or class, "MPI_ERR_TAG: invalid tag"; NULL when there is no such
 * code. */
const char *error_text(int code);

/* Remember what exactly went wrong when this thread's call failed with `code`, for
 * MPI_Error_string. */
void error_remember(int code, const char *details);

/* End the job: the class is the exit code, the launcher prints the message once. */
_Noreturn void error_die(int code, const char *message);

#endif
