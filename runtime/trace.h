/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces (XMPI_TRACE): every call of every rank with its begin and end, and the messages.  The
 * launcher makes one nameless file; ranks map windows of it, one after the other, as they need
 * room, and write records; what a rank has written survives it, however it dies.
 *
 *     file     window of rank 0 | window of rank 2 | window of rank 0 | ...
 *     window   struct trace_window, then records; a record of zeros is the end
 *
 * Off, it costs one predicted branch at the begin and at the end of a call.  The launcher makes
 * the time line (launcher/trace.c).
 */
#ifndef XMPI_TRACE_H
#define XMPI_TRACE_H

#include "runtime/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACE_WINDOW_BYTES = 1 << 20 };

enum trace_kind {
    TRACE_END,      /* no record */
    TRACE_CALL,     /* from begin to end; peer -1: no message */
    TRACE_SENT,     /* at begin: a message to world rank peer */
    TRACE_RECEIVED, /* at begin: a message of world rank peer was matched */
    TRACE_TRACK,    /* the stream of this number has that name */
    TRACE_STREAM, /* an operation that a stream of a device waits for: from when the stream has come
                       to it until it is over; thread: number of the stream */
};

struct trace_record {    /* 64 bytes */
    uint64_t begin, end; /* clock_ns */
    uint64_t context, bytes;
    int32_t kind, peer, tag;
    uint32_t name;   /* index in the record area of the rank */
    uint32_t thread; /* from 0 */
    uint32_t beside; /* others of the same stream may be under way */
    uint32_t unused[2];
};

struct trace_window {
    int32_t rank;
    int32_t from; /* the launcher's: 1 + number of the host that has sent it, 0: this one */
    int32_t unused[14];
};

/* What the call does that is under way in this thread; trace_open, trace_close and the begin and
 * end of a call are in progress.h.  All under the engine lock. */
void trace_event(uint64_t context, int peer, int tag, uint64_t bytes);

/* A copy of this text, which stays.  The first RECORD_NAME_CHARS - 1 bytes of it, and the first hundred texts,
 * count; all others have one name. */
const char *trace_name(const char *text);

/* The call under way is not told: what it stands for is. */
void trace_forget(void);

/* This thread has done since `begin` what the program calls so. */
void trace_named(const char *name, uint64_t begin);

/* Work of a stream that is over, an operation or what the program calls so; `beside`: it has a request,
 * and the stream goes on meanwhile. */
struct trace_work {
    const char *function; /* this text stays */
    uint64_t begin, end, bytes;
    uint32_t stream;
    bool beside;
};
void trace_stream(const struct trace_work *work);

/* A stream has a name, which stays. */
void trace_track(uint32_t stream, const char *name);

/* Called when the program ends MPI, to tell now what else there is.  NULL: nobody has something to say. */
extern void (*trace_flushing)(void);

/* A message has left for, or was matched of, this world rank. */
void trace_message(enum trace_kind kind, uint64_t context, int world, int tag, uint64_t bytes);

#endif
