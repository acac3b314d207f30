/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This program and the launcher that belongs to it, for subcommands that start themselves below
 * xmpirun.
 */
#ifndef XMPI_BESIDE_H
#define XMPI_BESIDE_H

#include <limits.h>
#include <stdbool.h>

enum { BESIDE_CHARS = 2 * PATH_MAX };

/* Their paths; false after a message: there is no xmpirun beside this program, nor where a build
 * tree has it.  `who` is the subcommand. */
bool beside_find(const char *who, char self[BESIDE_CHARS], char launcher[BESIDE_CHARS]);

#endif
