/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Short files of the kernel, in /proc and /sys.
 */
#ifndef XMPI_SYSTEM_TEXT_H
#define XMPI_SYSTEM_TEXT_H

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

/* The beginning of a file in `most` bytes of text, "" if there is none; how long it is.  Without stdio, which
 * allocates. */
static inline size_t system_text(const char *path, char *text, size_t most)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, most - 1);
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

#endif
