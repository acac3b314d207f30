/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work of the program in time lines (MPIX_Trace_begin, MPIX_Trace_end): of a stream, between two of its
 * moments, which are known when the device has come there, and asked for by a poller; or of a thread.
 *
 *     stream    | moment | kernels of the program | moment |        who is begun: stream->marks
 *     poller                                                 both known: a slice in the stream's track
 *
 * Where no trace is written begins and ends are counted, and nothing else is done.
 */
#include "src/task.h"

#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/gpu_moment.h"
#include "runtime/trace.h"
#include "src/api/stream.h"

#include <stdlib.h>

enum { DEEPEST = 32 };
#define LOOK_NS 200000 /* between two questions to the driver */

struct mark {
    struct mark *next; /* that was begun before; or that was ended after */
    const char *name;
    uint32_t stream;
    struct gpu_moment begin, end;
};

static struct mark *ended, **last = &ended; /* and not told yet */

/* The names of a thread's work. */
static _Thread_local struct {
    const char *name;
    uint64_t begin;
} mine[DEEPEST];
static _Thread_local int depth;

/* ---- telling ---- */

void marks_name(const struct stream *stream, const char *name)
{
    if (trace_on && name)
        trace_track(stream->number, trace_name(name));
}

static void mark_free(struct mark *mark)
{
    gpu_moment_drop(&mark->begin);
    gpu_moment_drop(&mark->end);
    free(mark);
}

/* False: the device has not come there. */
static bool mark_tell(const struct mark *mark)
{
    struct trace_work work = { .function = mark->name, .stream = mark->stream };
    enum gpu_told told = gpu_moment_ask(&mark->end, &work.end);
    if (told == GPU_TOLD)
        told = gpu_moment_ask(&mark->begin, &work.begin);
    if (work.end < work.begin) /* they are counted from different epochs, see gpu_moment.c */
        work.end = work.begin;
    if (told == GPU_TOLD && trace_on)
        trace_stream(&work);
    return told != GPU_NOT_YET;
}

static void mark_append(struct mark *mark)
{
    mark->next = NULL;
    *last = mark;
    last = &mark->next;
}

/* Tell what has ended, in each stream in its order: one that has to wait holds up those behind it. */
static void marks_tell(bool wait)
{
    uint64_t held = 0; /* streams, by the low bits of their numbers */
    last = &ended;
    for (struct mark *mark; (mark = *last);) {
        uint64_t stream = UINT64_C(1) << mark->stream % 64;
        bool told = !(held & stream) && mark_tell(mark);
        if (!told && wait) {
            held |= stream;
            last = &mark->next;
            continue;
        }
        *last = mark->next;
        mark_free(mark);
    }
}

static int marks_poll(void)
{
    static uint64_t before;
    uint64_t now = ended ? clock_ns() : before;
    if (now - before >= LOOK_NS) {
        before = now;
        marks_tell(true);
    }
    return 0;
}

/* The program ends MPI: what devices have not come to by now is not told. */
static void marks_flush(void)
{
    marks_tell(false);
}

void marks_drop(struct stream *stream)
{
    struct mark *next;
    for (struct mark *mark = stream->marks; mark; mark = next) {
        next = mark->next;
        mark_free(mark);
    }
    gpu_epoch_drop(stream->epoch);
}

/* ---- work of a thread ---- */

static int too_deep(void)
{
    return fail(MPI_ERR_OTHER, "more than %d pieces of work lie within each other", DEEPEST);
}

static int none_begun(const char *where)
{
    return fail(MPI_ERR_ARG, "no piece of work of this %s was begun by MPIX_Trace_begin",
                where);
}

static int thread_begin(const char *name)
{
    if (depth == DEEPEST)
        return too_deep();
    mine[depth].name = trace_on ? trace_name(name) : NULL;
    mine[depth++].begin = clock_ns();
    return MPI_SUCCESS;
}

static int thread_end(void)
{
    if (depth == 0)
        return none_begun("thread");
    if (mine[--depth].name && trace_on)
        trace_named(mine[depth].name, mine[depth].begin);
    return MPI_SUCCESS;
}

/* ---- work of a stream ---- */

static int stream_begin(struct stream *stream, const char *name)
{
    if (stream->nmarks == DEEPEST)
        return too_deep();
    stream->nmarks++;
    struct mark *mark = trace_on ? calloc(1, sizeof *mark) : NULL;
    if (!mark)
        return MPI_SUCCESS;
    progress_add(marks_poll);
    trace_flushing = marks_flush;
    mark->name = trace_name(name);
    mark->stream = stream->number;
    gpu_moment_set(&mark->begin, stream->device, &stream->epoch);
    mark->next = stream->marks;
    stream->marks = mark;
    return MPI_SUCCESS;
}

static int stream_end(struct stream *stream)
{
    if (stream->nmarks == 0)
        return none_begun("stream");
    stream->nmarks--;
    struct mark *mark = stream->marks;
    if (!mark)
        return MPI_SUCCESS;
    stream->marks = mark->next;
    gpu_moment_set(&mark->end, stream->device, &stream->epoch);
    mark_append(mark);
    return MPI_SUCCESS;
}

static int stream_check_device(const struct stream *stream)
{
    return stream->is_device
               ? MPI_SUCCESS
               : fail(MPI_ERR_ARG, "the stream is none of a device: it was made without the "
                                   "info key \"type\"");
}

int xmpix_trace_begin(string_t name, stream_or_null_t stream)
{
    trace_forget(); /* the call is no work */
    if (!stream)
        return thread_begin(name);
    int rc = stream_check_device(stream);
    return rc ? rc : stream_begin(stream, name);
}

int xmpix_trace_end(stream_or_null_t stream)
{
    trace_forget();
    if (!stream)
        return thread_end();
    int rc = stream_check_device(stream);
    return rc ? rc : stream_end(stream);
}
