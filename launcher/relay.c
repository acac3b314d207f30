/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See relay.h.  As with ranks (iof.c): when our reader is slow the pipes are left alone.
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "launcher/relay.h"

#include "launcher/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, DRAIN_READS = 64 };

struct stream {
    struct watch watch; /* our end; fd -1 once it has ended */
    struct lines lines;
    struct out *out;
    int job;         /* who writes; 0: nobody any more, another pipe may use it */
    bool ended, cut; /* its launcher has; it was killed */
    struct stream *next;
};

static struct stream *streams;
static int open_streams;

static void show(void *to, const char *text, size_t bytes)
{
    struct stream *stream = to;
    out_write(stream->out, stream, text, bytes);
}

/* When both the pipe and its writer have ended. */
static void last_line(struct stream *stream)
{
    struct lines_sink sink = { NULL, show, stream };
    if (stream->cut)
        lines_complete(&stream->lines);
    lines_flush(&stream->lines, &sink, true);
    lines_free(&stream->lines);
    stream->job = 0;
}

static void stream_end(struct stream *stream)
{
    loop_drop(&stream->watch);
    close(stream->watch.fd);
    stream->watch.fd = -1;
    open_streams--;
    if (stream->ended)
        last_line(stream);
}

/* Read once; false when there is nothing (more) to read at the moment. */
static bool stream_read(struct stream *stream)
{
    static char piece[READ_BYTES];
    struct lines_sink sink = { NULL, show, stream };
    ssize_t n = read(stream->watch.fd, piece, sizeof piece);
    if (n > 0)
        lines_feed(&stream->lines, &sink, piece, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        stream_end(stream);
    return n > 0;
}

static void stream_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    struct stream *stream = watch->owner;
    if (stream->out->broken)
        stream_end(stream);
    else if (out_is_full(stream->out))
        loop_drop(watch);
    else
        stream_read(stream);
}

int relay_open(struct out *out, int job)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct stream *stream = streams;
    while (stream && stream->job)
        stream = stream->next;
    if (!stream) {
        stream = calloc(1, sizeof *stream);
        if (!stream)
            abort();
        stream->next = streams;
        streams = stream;
    }
    stream->watch = (struct watch){ .fd = ends[0], .ready = stream_ready, .owner = stream };
    stream->out = out;
    stream->job = job;
    stream->ended = stream->cut = false;
    open_streams++;
    loop_add(&stream->watch, EPOLLIN);
    return ends[1];
}

void relay_ended(int job, bool killed)
{
    for (struct stream *stream = streams; stream; stream = stream->next) {
        if (stream->job != job)
            continue;
        stream->ended = true;
        stream->cut = killed;
        if (stream->watch.fd < 0)
            last_line(stream);
    }
}

void relay_drain(void)
{
    for (struct stream *stream = streams; stream; stream = stream->next)
        for (int reads = 0; reads < DRAIN_READS; reads++)
            if (stream->watch.fd < 0 || out_is_full(stream->out) || !stream_read(stream))
                break;
}

bool relay_is_done(void)
{
    return open_streams == 0;
}

void relay_close(void)
{
    for (struct stream *stream = streams; stream; stream = stream->next) {
        stream->ended = true;
        if (stream->watch.fd >= 0)
            stream_end(stream);
        else if (stream->job)
            last_line(stream);
    }
}

void relay_resume(const struct out *out)
{
    for (struct stream *stream = streams; stream; stream = stream->next)
        if (stream->out == out && stream->watch.fd >= 0 && !stream->watch.added)
            loop_add(&stream->watch, EPOLLIN);
}
