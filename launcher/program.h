/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding the program to run, and saying in words why it cannot be run.
 */
#ifndef XMPI_LAUNCHER_PROGRAM_H
#define XMPI_LAUNCHER_PROGRAM_H

#include <stdbool.h>

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* Where is `name`?  With a slash in it: there, seen from `wdir` (NULL: here).  Otherwise in the
 * directories of `first` (NULL: none), then of `path`, then in the working directory.  *found
 * is malloced.  0, or EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE after a complaint. */
int program_find(const char *name, const char *first, const char *path, const char *wdir,
                 char **found);

/* Is it in one of the directories of `path` (NULL: none), ready to be run? */
bool program_is_in(const char *path, const char *name);

/* Explain why a program that was found could not be started; returns the exit status. */
int program_explain(const char *path, const char *step, int error, const char *wdir);

#endif
