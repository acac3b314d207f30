/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks' side of traces.  Times are those of the node's monotonic clock, which is the same for
 * all its processes, so nothing has to be aligned afterwards.
 */
#include "runtime/trace.h"
#include "runtime/clock.h"
#include "runtime/log.h"
#include "runtime/param.h"
#include "runtime/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool trace_on;
void (*trace_flushing)(void);

static struct {
    int fd, rank;
    uint64_t *used; /* of the file, by all ranks */
    struct trace_record *window;
    size_t next; /* record of the window */
} file;

/* The call under way in this thread. */
static _Thread_local struct {
    uint64_t begin; /* 0: none */
    uint64_t context, bytes;
    int peer, tag;
    uint32_t thread; /* its number + 1 */
} call;
static uint32_t threads;

enum { MOST_NAMES = 100 /* of the program; there is room for RECORD_NAMES in all */ };
enum { RECORDS = TRACE_WINDOW_BYTES / sizeof(struct trace_record) };
_Static_assert(sizeof(struct trace_record) == 64 && sizeof(struct trace_window) == 64,
               "windows are counted in records");

static void window_close(void)
{
    if (file.window)
        munmap(file.window, TRACE_WINDOW_BYTES);
    file.window = NULL;
}

static void give_up(const char *what)
{
    say("XMPI_TRACE: %s: %s; this rank traces no more", what, strerror(errno));
    trace_on = false;
    window_close();
}

/* Writing the last byte makes the file long enough and never shorter, whoever else does it. */
static bool window_open(void)
{
    window_close();
    uint64_t at = __atomic_fetch_add(file.used, TRACE_WINDOW_BYTES, __ATOMIC_RELAXED);
    if (pwrite(file.fd, "", 1, (off_t)(at + TRACE_WINDOW_BYTES - 1)) != 1) {
        give_up("the file cannot grow");
        return false;
    }
    void *memory =
        mmap(NULL, TRACE_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, (off_t)at);
    if (memory == MAP_FAILED) {
        give_up("the file cannot be mapped");
        return false;
    }
    file.window = memory;
    ((struct trace_window *)memory)->rank = file.rank;
    file.next = 1;
    return true;
}

static void add(const struct trace_record *record)
{
    if (file.next == RECORDS && !window_open())
        return;
    file.window[file.next++] = *record;
}

void trace_open(int pid, int fd, uint64_t *used, int rank)
{
    char path[64];
    const char *wish = param_string(TRACE);
    if (fd <= 0 && wish && *wish && rank == 0)
        say("XMPI_TRACE=%s: there is no time line without xmpirun", wish);
    if (fd <= 0 || trace_on)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    file.fd = open(path, O_RDWR | O_CLOEXEC);
    file.rank = rank;
    file.used = used;
    if (file.fd < 0)
        give_up("the launcher's file cannot be opened");
    else
        trace_on = window_open();
}

void trace_flush(void)
{
    if (trace_on && trace_flushing)
        trace_flushing();
}

void trace_close(void)
{
    if (!trace_on)
        return;
    trace_on = false;
    window_close();
    close(file.fd);
}

void trace_enter(void)
{
    if (!call.thread)
        call.thread = ++threads;
    call.begin = clock_ns();
    call.peer = -1;
    call.context = 0;
}

void trace_event(uint64_t context, int peer, int tag, uint64_t bytes)
{
    call.context = context;
    call.peer = peer;
    call.tag = tag;
    call.bytes = bytes;
}

void trace_leave(const char *function)
{
    if (!call.begin)
        return;
    struct trace_record record = { .begin = call.begin,
                                   .end = clock_ns(),
                                   .context = call.context,
                                   .bytes = call.bytes,
                                   .kind = TRACE_CALL,
                                   .peer = call.peer,
                                   .tag = call.tag,
                                   .name = record_name(function),
                                   .thread = call.thread - 1 };
    call.begin = 0;
    add(&record);
}

/* As many bytes of it as there is room for whole characters (UTF-8). */
static size_t name_length(const char *text)
{
    size_t n = strlen(text);
    if (n < RECORD_NAME_CHARS)
        return n;
    for (n = RECORD_NAME_CHARS - 1; n > 0 && (text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

const char *trace_name(const char *text)
{
    static char *names[MOST_NAMES]; /* told apart by their addresses, see record_name */
    size_t n = name_length(text);
    int i = 0;
    while (i < MOST_NAMES && names[i] && (strncmp(names[i], text, n) != 0 || names[i][n]))
        i++;
    if (i < MOST_NAMES && !names[i])
        names[i] = strndup(text, n);
    return i < MOST_NAMES && names[i] ? names[i] : "another name";
}

void trace_forget(void)
{
    call.begin = 0;
}

void trace_named(const char *name, uint64_t begin)
{
    struct trace_record record = { .begin = begin,
                                   .end = clock_ns(),
                                   .kind = TRACE_CALL,
                                   .peer = -1,
                                   .name = record_name(name),
                                   .thread = call.thread ? call.thread - 1 : 0 };
    add(&record);
}

void trace_track(uint32_t stream, const char *name)
{
    struct trace_record record = { .begin = clock_ns(),
                                   .kind = TRACE_TRACK,
                                   .peer = -1,
                                   .name = record_name(name),
                                   .thread = stream };
    add(&record);
}

void trace_stream(const struct trace_work *work)
{
    struct trace_record record = { .begin = work->begin,
                                   .end = work->end,
                                   .bytes = work->bytes,
                                   .kind = TRACE_STREAM,
                                   .peer = -1,
                                   .name = record_name(work->function),
                                   .thread = work->stream,
                                   .beside = work->beside };
    add(&record);
}

void trace_message(enum trace_kind kind, uint64_t context, int world, int tag, uint64_t bytes)
{
    struct trace_record record = { .begin = clock_ns(),
                                   .context = context,
                                   .bytes = bytes,
                                   .kind = (int32_t)kind,
                                   .peer = world,
                                   .tag = tag,
                                   .thread = call.thread ? call.thread - 1 : 0 };
    add(&record);
}
