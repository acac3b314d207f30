/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The scratch directory of a job: private (0700), on a memory file system when there is one,
 * and gone when the job is.
 */
#ifndef XMPI_LAUNCHER_SCRATCH_H
#define XMPI_LAUNCHER_SCRATCH_H

#include <stdbool.h>

/* Make a directory for the job `id` and tell the guardian about it; after guard_open.  `tools`: it is
 * where PMIx tools look.  NULL after setting errno when there is no place for it. */
const char *scratch_make(const char *id, bool tools);

/* Remove it and all that is in it.  Harmless when there is none. */
void scratch_remove(void);

/* Remove a directory with all that is in it: system calls only, so that a process forked from
 * one with threads may call it.  Links are removed, never followed. */
void scratch_remove_tree(const char *path);

#endif
