/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a file is to be written that takes minutes to make: what cannot be written is found out before, and
 * what stands there stays as it is until all is made.
 *
 *     a file, or nothing     a file beside it, which takes its place at once
 *     a link to either       likewise of what it leads to; the link stays
 *     a device, a FIFO ..    opened at once, written at the end
 *     -, /dev/stdout         likewise, also where that is a file: it may have a beginning
 */
#ifndef XMPI_TOOLS_TARGET_H
#define XMPI_TOOLS_TARGET_H

#include <limits.h>

struct target {
    int file; /* to be written, and read */
    char path[PATH_MAX], unfinished[PATH_MAX + 16];
    int straight; /* what is written at the end; -1: `unfinished` takes the place of `path` */
};

/* 0, or an errno; then there is nothing to be closed. */
int target_open(struct target *target, const char *path);

/* What the file holds goes where it was meant to go.  0, or an errno. */
int target_keep(struct target *target);

/* Nothing was made: all is as it was. */
void target_drop(struct target *target);

#endif
