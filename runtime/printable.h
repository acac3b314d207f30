/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of files that are written by hand, or are taken for such by mistake: what may begin it, and how it is
 * shown on a terminal, which obeys some characters.
 */
#ifndef XMPI_PRINTABLE_H
#define XMPI_PRINTABLE_H

#include <stddef.h>

/* How long the byte order mark is that some editors put in front; 0: there is none. */
size_t text_mark(const char *text);

/* The text, as far as there is room: UTF-8 and tabs as they are, control characters and whatever else is no
 * character as \x1b.  Returns `to`. */
const char *printable(char *to, size_t room, const char *text);

#endif
