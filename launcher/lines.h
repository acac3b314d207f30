/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines out of pieces.  A rank's output arrives in pieces that end anywhere; what goes on is
 * whole lines, each with its tag in front, so that lines of different ranks never mix.  Pure:
 * bytes in, calls of `emit` out.
 */
#ifndef XMPI_LAUNCHER_LINES_H
#define XMPI_LAUNCHER_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LINES_LONGEST = 1 << 20 }; /* a longer line is passed on in parts of this size */

struct lines {
    char *held; /* the line that has begun, without its tag */
    size_t used, room;
    char *tagged; /* scratch for putting tags in front */
    size_t tagged_room;
    bool open; /* part of the current line has been passed on already */
};

/* Takes whole lines (several at once), or at lines_flush what there is of one. */
typedef void lines_emit(void *to, const char *text, size_t bytes);

struct lines_sink {
    const char *tag; /* in front of every line; NULL or "" for none */
    lines_emit *emit;
    void *to;
};

void lines_feed(struct lines *lines, const struct lines_sink *sink, const char *data,
                size_t bytes);

/* Pass on the line that has begun; with `end` nothing follows, so a tagged one is completed. */
void lines_flush(struct lines *lines, const struct lines_sink *sink, bool end);

/* End the line that has begun, if one has. */
void lines_complete(struct lines *lines);

void lines_free(struct lines *lines);

#endif
