/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output that does not hold up the event loop.  O_NONBLOCK belongs to the open file, which we
 * share with the shell and everybody else on the terminal, so it may not be set on what we
 * were given.  A pipe or a terminal is therefore opened a second time for ourselves, through
 * /proc/self/fd; a socket has MSG_DONTWAIT; files never block.
 */
#include "launcher/out.h"
#include "launcher/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUT_FULL = 1 << 20 };

/* Plain until outs_open. */
struct out out_stdout = { .watch.fd = STDOUT_FILENO };
struct out out_stderr = { .watch.fd = STDERR_FILENO };
bool notices_wanted, complaints_wanted = true;
bool output_lost;
const char *launcher_name;
int launcher_job = 1;
char last_complaint[1024];

static void out_ready(struct watch *watch, uint32_t events);

static void out_open(struct out *out, int fd)
{
    *out = (struct out){ .watch = { .fd = fd, .ready = out_ready, .owner = out } };
    struct stat status;
    if (fstat(fd, &status) != 0)
        return;
    out->is_tty = S_ISCHR(status.st_mode) && isatty(fd);
    if (S_ISSOCK(status.st_mode))
        out->kind = OUT_SOCKET;
    if (!out->is_tty && !S_ISFIFO(status.st_mode))
        return;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (own >= 0) {
        out->watch.fd = own;
        out->kind = OUT_POLLED;
    }
}

void outs_open(void)
{
    if (out_stdout.kind == OUT_RELAYED)
        return;
    out_open(&out_stdout, STDOUT_FILENO);
    out_open(&out_stderr, STDERR_FILENO);
}

bool out_is_full(const struct out *out)
{
    return out->used - out->first >= OUT_FULL;
}

bool out_is_idle(const struct out *out)
{
    return out->used == out->first;
}

/* A reader who has gone does not want it: silence, as in a pipeline.  A full disk is no reader. */
static void give_up(struct out *out, int reason)
{
    out->broken = true;
    if (reason == EPIPE || reason == ECONNRESET)
        return;
    output_lost = true;
    if (out == &out_stdout)
        complain("cannot write to stdout: %s; what the ranks print there is lost",
                 reason == EBADF ? "it is closed" : strerror(reason));
}

/* Bytes written; fewer than asked when the reader is slow, or has gone. */
static size_t write_some(struct out *out, const char *text, size_t bytes)
{
    size_t done = 0;
    if (out->kind == OUT_RELAYED)
        return bytes && out->relay(out, out, text, bytes) ? bytes : 0;
    while (done < bytes && !out->broken) {
        ssize_t n = out->kind == OUT_SOCKET
                        ? send(out->watch.fd, text + done, bytes - done, MSG_DONTWAIT)
                        : write(out->watch.fd, text + done, bytes - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            if (out->kind != OUT_PLAIN)
                break;
            poll(&(struct pollfd){ .fd = out->watch.fd, .events = POLLOUT }, 1, -1);
        } else if (errno != EINTR) {
            give_up(out, errno);
        }
    }
    return done;
}

/* Other hosts send more as soon as there is room, so a slow reader may never have all. */
static void keep(struct out *out, const char *text, size_t bytes)
{
    bytes_let_go(out->pending, &out->used, &out->first);
    if (out->used + bytes > out->room) {
        size_t room = out->room ? out->room : 8192;
        while (room < out->used + bytes)
            room *= 2;
        out->pending = realloc(out->pending, room);
        if (!out->pending)
            abort();
        out->room = room;
    }
    memcpy(out->pending + out->used, text, bytes);
    out->used += bytes;
    if (out->kind != OUT_RELAYED && !out->watch.added && !loop_add(&out->watch, EPOLLOUT))
        out->broken = true;
}

static void put(struct out *out, const char *text, size_t bytes)
{
    size_t done = out_is_idle(out) ? write_some(out, text, bytes) : 0;
    if (done < bytes && !out->broken)
        keep(out, text + done, bytes - done);
}

void out_write(struct out *out, const void *by, const char *text, size_t bytes)
{
    if (!bytes || out->broken)
        return;
    if (out->kind == OUT_RELAYED && !by) { /* the launcher's own words do not wait */
        out->relay(out, NULL, text, bytes);
        return;
    }
    /* Somebody's prompt stands on the terminal: do not write into his line. */
    if (out->open_by && out->open_by != by)
        put(out, "\n", 1);
    put(out, text, bytes);
    out->open_by = out->is_tty && text[bytes - 1] != '\n' ? by : NULL;
}

void out_resume(struct out *out)
{
    if (out_is_idle(out))
        return;
    out->first += write_some(out, out->pending + out->first, out->used - out->first);
    if (out->broken)
        out->first = out->used;
    if (!out_is_idle(out))
        return;
    loop_drop(&out->watch);
    if (out->drained)
        out->drained(out);
}

static void out_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    out_resume(watch->owner);
}

const char *launcher_job_name(void)
{
    static char text[32];
    if (launcher_job > 1)
        snprintf(text, sizeof text, "job %d: ", launcher_job);
    return text;
}

static void say_line(const char *format, va_list arguments)
{
    char line[2048];
    size_t start =
        (size_t)snprintf(line, sizeof line / 2, "xmpirun: %s%s%s", launcher_job_name(),
                         launcher_name ? launcher_name : "", launcher_name ? ": " : "");
    int n = vsnprintf(line + start, sizeof line - start - 1, format, arguments);
    size_t bytes = n < 0 ? start : start + (size_t)n;
    if (bytes > sizeof line - 2)
        bytes = sizeof line - 2;
    line[bytes++] = '\n';
    out_write(&out_stderr, NULL, line, bytes);
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_complaint, sizeof last_complaint, format, arguments);
    va_end(arguments);
    if (!complaints_wanted)
        return;
    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
}

const char *files_remedy(int error)
{
    return error == EMFILE ? "; raise the limit of open files with `ulimit -n`" : "";
}

void notice(const char *format, ...)
{
    if (!notices_wanted)
        return;
    va_list arguments;
    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
}
