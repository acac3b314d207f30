/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Line assembly.
 *
 *     piece "b\nccc\ndd"   held "a"   ->   emit "ab\nccc\n"   held "dd"
 *
 * Everything up to the last newline of a piece leaves in one call of emit.  Without tags and
 * with nothing held it leaves straight from the caller's buffer: no copy at all.
 */
#define _GNU_SOURCE 1 /* memrchr */
#include "launcher/lines.h"

#include <stdlib.h>
#include <string.h>

/* Make room for `want` bytes in *buffer; running out of memory ends the launcher, and its
 * guardian cleans up. */
static void reserve(char **buffer, size_t *room, size_t want)
{
    if (want <= *room)
        return;
    size_t size = *room ? *room : 512;
    while (size < want)
        size *= 2;
    *buffer = realloc(*buffer, size);
    if (!*buffer)
        abort();
    *room = size;
}

static void hold(struct lines *lines, const char *data, size_t bytes)
{
    reserve(&lines->held, &lines->room, lines->used + bytes);
    memcpy(lines->held + lines->used, data, bytes);
    lines->used += bytes;
}

/* Copy `text` with the tag in front of each line; `open` says that the first line has its tag
 * already.  Returns the bytes written to lines->tagged. */
static size_t tag_lines(struct lines *lines, const char *tag, const char *text, size_t bytes)
{
    size_t tag_bytes = strlen(tag), used = 0;
    bool fresh = !lines->open;
    while (bytes) {
        const char *newline = memchr(text, '\n', bytes);
        size_t line = newline ? (size_t)(newline - text) + 1 : bytes;
        reserve(&lines->tagged, &lines->tagged_room, used + tag_bytes + line + 1);
        if (fresh) {
            memcpy(lines->tagged + used, tag, tag_bytes);
            used += tag_bytes;
        }
        memcpy(lines->tagged + used, text, line);
        used += line;
        text += line;
        bytes -= line;
        fresh = true;
    }
    return used;
}

static void pass_on(struct lines *lines, const struct lines_sink *sink, const char *text,
                    size_t bytes)
{
    if (sink->tag && *sink->tag) {
        size_t tagged = tag_lines(lines, sink->tag, text, bytes);
        sink->emit(sink->to, lines->tagged, tagged);
    } else {
        sink->emit(sink->to, text, bytes);
    }
    lines->open = text[bytes - 1] != '\n';
}

void lines_feed(struct lines *lines, const struct lines_sink *sink, const char *data,
                size_t bytes)
{
    const char *last = memrchr(data, '\n', bytes);
    size_t whole = last ? (size_t)(last - data) + 1 : 0;
    if (whole) {
        if (lines->used) {
            hold(lines, data, whole);
            pass_on(lines, sink, lines->held, lines->used);
            lines->used = 0;
        } else {
            pass_on(lines, sink, data, whole);
        }
    }
    if (bytes > whole)
        hold(lines, data + whole, bytes - whole);
    if (lines->used >= LINES_LONGEST)
        lines_flush(lines, sink, false);
}

void lines_complete(struct lines *lines)
{
    bool complete = lines->used ? lines->held[lines->used - 1] == '\n' : !lines->open;
    if (!complete)
        hold(lines, "\n", 1);
}

void lines_flush(struct lines *lines, const struct lines_sink *sink, bool end)
{
    if (end && sink->tag && *sink->tag)
        lines_complete(lines);
    if (lines->used)
        pass_on(lines, sink, lines->held, lines->used);
    lines->used = 0;
}

void lines_free(struct lines *lines)
{
    free(lines->held);
    free(lines->tagged);
    *lines = (struct lines){ 0 };
}
