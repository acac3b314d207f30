/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of files that are written by hand, or are taken for such by mistake, and of names: what may begin it, and how it
 * is shown in a line on a terminal, which obeys some characters.
 */
#ifndef XMPI_PRINTABLE_H
#define XMPI_PRINTABLE_H

#include <stddef.h>

/* How long the byte order mark is that some editors put in front; 0: there is none. */
size_t text_mark(const char *text);

/* The text, as far as there is room: UTF-8 as it is; control characters, what turns the direction of a line, and what
 * is no character, as \n, \t or \x1b.  Returns `to`. */
const char *printable(char *to, size_t room, const char *text);

/* The same in place.  A text that fills its room may have been cut within a character: that goes. */
void printable_here(char *text, size_t room);

#endif
