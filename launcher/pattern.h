/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names with the rank in them, for tags and output files: %r rank, %h host, %p process id,
 * %s "stdout" or "stderr", %% a percent sign.
 */
#ifndef XMPI_LAUNCHER_PATTERN_H
#define XMPI_LAUNCHER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern_words {
    int rank, pid;
    const char *stream;
};

/* Fill in; what does not fit is cut off.  Unknown letters stay as they are. */
void pattern_fill(const char *pattern, const struct pattern_words *words, char *text,
                  size_t room);

/* Does it name one file for all ranks? */
bool pattern_is_shared(const char *pattern);

/* Create a file for output, with the directories on its way; empty, or to append to.  A
 * descriptor, or -1 after a complaint. */
int pattern_create(const char *path, bool append);

#endif
