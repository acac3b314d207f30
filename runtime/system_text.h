/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of the kernel, in /proc and /sys: short ones as a whole, others line by line.  Without stdio, which
 * allocates.  And what it calls this host.
 */
#ifndef XMPI_SYSTEM_TEXT_H
#define XMPI_SYSTEM_TEXT_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* The beginning of a file in `most` bytes of text, "" if there is none; how long it is. */
static inline size_t system_text(const char *path, char *text, size_t most)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, most - 1);
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* The name of this host, of a long one the beginning; "?" if there is none. */
static inline void system_host(char *name, size_t most)
{
    char host[HOST_NAME_MAX + 1] = "?";
    gethostname(host, sizeof host - 1);
    size_t length = strnlen(host, most - 1);
    memcpy(name, host, length);
    name[length] = '\0';
}

struct system_lines {
    int file; /* negative: there is none */
    size_t at, end;
    char text[8192]; /* what was read; of a line that is longer, the end is given */
};

static inline void system_lines_open(struct system_lines *lines, const char *path)
{
    lines->file = open(path, O_RDONLY | O_CLOEXEC);
    lines->at = lines->end = 0;
}

static inline void system_lines_close(const struct system_lines *lines)
{
    if (lines->file >= 0)
        close(lines->file);
}

/* The next line, without its end, until the one after it is asked for; NULL: there is none. */
static inline char *system_line(struct system_lines *lines)
{
    char *end;
    while (!(end = memchr(lines->text + lines->at, '\n', lines->end - lines->at))) {
        memmove(lines->text, lines->text + lines->at, lines->end -= lines->at);
        lines->at = 0;
        if (lines->end == sizeof lines->text)
            lines->end = 0;
        size_t room = sizeof lines->text - lines->end;
        ssize_t got = lines->file < 0 ? 0 : read(lines->file, lines->text + lines->end, room);
        if (got <= 0)
            return NULL;
        lines->end += (size_t)got;
    }
    char *line = lines->text + lines->at;
    *end = '\0';
    lines->at = (size_t)(end + 1 - lines->text);
    return line;
}

#endif
