/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of the ranks.  Each rank has a pipe for stdout and one for stderr (on a terminal, a
 * pty for stdout, so that the rank's stdio buffers by lines).  What arrives is cut into lines
 * (lines.c) and written by out.c; a line is never mixed with another.  When our reader is slow
 * the pipes are left alone until the text is gone, so memory stays bounded and ranks feel the
 * pressure as they would in a pipeline.
 *
 * A line without its end is kept until it ends, or its rank does.  On a terminal it is shown
 * after PROMPT_MS, because it may be a prompt.  A single rank without tags is passed through as
 * it comes.
 */
#define _GNU_SOURCE 1 /* pipe2, posix_openpt */
#include "launcher/iof.h"

#include "launcher/feed.h"
#include "launcher/lines.h"
#include "launcher/loop.h"
#include "launcher/out.h"
#include "launcher/pattern.h"
#include "launcher/plan.h"
#include "launcher/relay.h"
#include "runtime/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { PROMPT_MS = 50, READ_BYTES = 1 << 16, DRAIN_READS = 64 };

struct stream {
    struct watch watch; /* our end; fd -1 once it has ended */
    struct lines lines;
    struct out *out;
    int rank, which; /* rank in the job; which: 1 stdout, 2 stderr */
    int pid;
    bool ended, cut; /* its rank has ended; it was killed, perhaps inside a line */
    int file;        /* a copy goes here; -1: no */
    uint64_t since;  /* when the line that is being kept began to wait; 0: none is */
};

static struct {
    struct iof_options options;
    int nranks, world;
    struct stream *streams; /* stdout of rank 0, stderr of rank 0, ... */
    int open;               /* streams that have not ended */
    bool pty, raw;
    int theirs[3], nothing; /* descriptors for the rank being started; /dev/null */
} iof;

static char piece[READ_BYTES];

/* ---- from the rank to the world ---- */

static void show(void *to, const char *text, size_t bytes)
{
    struct stream *stream = to;
    out_write(stream->out, stream, text, bytes);
}

/* The tag of this stream at this moment, in `text`. */
static void write_tag(const struct stream *stream, char *text, size_t room)
{
    size_t used = 0;
    if (iof.options.timestamp) {
        struct timespec now;
        struct tm parts;
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &parts);
        used = strftime(text, room, "%Y-%m-%d %H:%M:%S", &parts);
        used += (size_t)snprintf(text + used, room - used, ".%03ld ", now.tv_nsec / 1000000);
    }
    const char *name = stream->which == 1 ? "stdout" : "stderr";
    switch (iof.options.tag) {
    case TAG_NONE:
        break;
    case TAG_RANK:
        if (launcher_job > 1)
            used += (size_t)snprintf(text + used, room - used, "[%d,", launcher_job);
        snprintf(text + used, room - used, launcher_job > 1 ? "%d] " : "[%d] ", stream->rank);
        break;
    case TAG_JOB:
        snprintf(text + used, room - used, "[%d,%d]<%s>:", launcher_job, stream->rank, name);
        break;
    case TAG_PATTERN: {
        struct pattern_words words = { stream->rank, stream->pid, name };
        pattern_fill(iof.options.pattern, &words, text + used, room - used);
        break;
    }
    }
}

static struct lines_sink sink_of(struct stream *stream, char *tag, size_t room)
{
    tag[0] = 0;
    if (iof.options.tag != TAG_NONE || iof.options.timestamp)
        write_tag(stream, tag, room);
    return (struct lines_sink){ tag, show, stream };
}

/* Into the file of this stream, which never blocks; until it cannot be written. */
static void copy(struct stream *stream, const char *data, size_t bytes)
{
    while (stream->file >= 0 && bytes) {
        ssize_t n = write(stream->file, data, bytes);
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        } else if (errno != EINTR) {
            complain("cannot write the output of rank %d to its file: %s; it is lost",
                     stream->rank, strerror(errno));
            output_lost = true;
            close(stream->file);
            stream->file = -1;
        }
    }
}

static void pass_on(struct stream *stream, const char *data, size_t bytes)
{
    copy(stream, data, bytes);
    if (iof.options.files_only && iof.options.directory)
        return;
    char tag[256];
    struct lines_sink sink = sink_of(stream, tag, sizeof tag);
    lines_feed(&stream->lines, &sink, data, bytes);
    if (iof.raw)
        lines_flush(&stream->lines, &sink, false);
    stream->since = stream->lines.used && stream->out->is_tty ? clock_ns() : 0;
}

/* The last line may lack its newline.  That is passed on as it is, unless the rank was killed in
 * the middle of the line: then the line must not run into somebody else's. */
static void last_line(struct stream *stream)
{
    char tag[256];
    struct lines_sink sink = sink_of(stream, tag, sizeof tag);
    if (stream->cut)
        lines_complete(&stream->lines);
    lines_flush(&stream->lines, &sink, true);
    stream->since = 0;
}

static void stream_end(struct stream *stream)
{
    loop_drop(&stream->watch);
    close(stream->watch.fd);
    stream->watch.fd = -1;
    if (stream->file >= 0)
        close(stream->file);
    stream->file = -1;
    iof.open--;
    if (stream->ended)
        last_line(stream);
}

/* Read once; false when there is nothing (more) to read at the moment. */
static bool stream_read(struct stream *stream)
{
    ssize_t n = read(stream->watch.fd, piece, sizeof piece);
    if (n > 0) {
        pass_on(stream, piece, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    stream_end(stream); /* the end; on a pty it is called EIO */
    return false;
}

static void stream_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    struct stream *stream = watch->owner;
    if (stream->out->broken)
        stream_end(stream); /* as in a pipeline: the rank learns it from SIGPIPE */
    else if (out_is_full(stream->out))
        loop_drop(watch);
    else
        stream_read(stream);
}

static void out_drained(struct out *out)
{
    relay_resume(out);
    for (int i = 0; i < 2 * iof.nranks; i++) {
        struct stream *stream = &iof.streams[i];
        if (stream->out == out && stream->watch.fd >= 0 && !stream->watch.added)
            loop_add(&stream->watch, EPOLLIN);
    }
}

/* ---- setting up ---- */

/* Who of this host reads stdin, in *reader: a rank, STDIN_ALL or STDIN_NONE.  0, or an exit status
 * after a complaint. */
static int reader_here(int wanted, const struct plan *plan, int *reader)
{
    if (wanted >= plan->world) {
        complain("--stdin %d: there is no such rank, the job has %d", wanted, plan->world);
        return 2;
    }
    *reader = wanted >= 0 || !plan->nranks ? STDIN_NONE : wanted;
    for (int i = 0; wanted >= 0 && i < plan->nranks; i++)
        if (plan->ranks[i].world == wanted)
            *reader = i;
    return 0;
}

void iof_share(void)
{
    iof.raw = false;
}

int iof_open(const struct iof_options *options, const struct plan *plan)
{
    int nranks = plan->nranks;
    iof.options = *options;
    iof.world = plan->world;
    iof.pty = options->pty < 0 ? out_stdout.is_tty : options->pty;
    iof.raw = plan->world == 1 && options->tag == TAG_NONE && !options->timestamp;
    iof.streams = calloc(2 * (size_t)nranks, sizeof *iof.streams);
    iof.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!iof.streams || iof.nothing < 0) {
        complain("cannot set up the streams of %d ranks: %s%s", nranks, strerror(errno),
                 files_remedy(errno));
        return 1;
    }
    iof.nranks = nranks;
    for (int i = 0; i < 2 * nranks; i++)
        iof.streams[i] = (struct stream){ .watch = { .fd = -1, .ready = stream_ready },
                                          .out = i % 2 ? &out_stderr : &out_stdout,
                                          .rank = plan->ranks[i / 2].world,
                                          .which = 1 + i % 2,
                                          .file = -1 };
    out_stdout.drained = out_stderr.drained = out_drained;
    int reader, status = reader_here(options->stdin_rank, plan, &reader);
    return status ? status : feed_open(reader, nranks);
}

/* A pty whose slave passes bytes through unchanged.  Returns the master, -1 when there is none
 * to be had (then a pipe serves). */
static int open_pty(int *slave)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (master < 0)
        return -1;
    *slave = -1;
    if (unlockpt(master) == 0)
        *slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0) {
        close(master);
        return -1;
    }
    struct termios mode;
    tcgetattr(*slave, &mode);
    mode.c_oflag &= ~(tcflag_t)OPOST;
    mode.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    tcsetattr(*slave, TCSANOW, &mode);
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        ioctl(*slave, TIOCSWINSZ, &size);
    return master;
}

static int stream_open(struct stream *stream, int *theirs)
{
    int ends[2] = { -1, -1 };
    if (stream->which == 1 && iof.pty)
        ends[0] = open_pty(&ends[1]);
    if (ends[0] < 0) {
        if (pipe2(ends, O_CLOEXEC) != 0)
            return -1;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    stream->watch.fd = ends[0];
    stream->watch.owner = stream;
    *theirs = ends[1];
    iof.open++;
    return loop_add(&stream->watch, EPOLLIN) ? 0 : -1;
}

/* DIR/1/rank.007/stdout, as Open MPI names it. */
static int open_copy(const struct stream *stream)
{
    char path[4096];
    int digits = snprintf(NULL, 0, "%d", iof.world - 1);
    snprintf(path, sizeof path, "%s/%d/rank.%0*d/%s", iof.options.directory, launcher_job,
             digits, stream->rank, stream->which == 1 ? "stdout" : "stderr");
    return pattern_create(path, false);
}

/* The descriptor that the rank gets for stdout or stderr. */
static int prepare_output(struct stream *stream, int *theirs)
{
    const char *pattern = stream->which == 1 ? iof.options.outfile : iof.options.errfile;
    if (pattern) {
        char path[4096];
        struct pattern_words words = { stream->rank, 0,
                                       stream->which == 1 ? "stdout" : "stderr" };
        pattern_fill(pattern, &words, path, sizeof path - 16);
        struct stat there;
        size_t used = strlen(path);
        /* Not the first job's file; what is no file can be shared. */
        if (launcher_job > 1 && (stat(path, &there) != 0 || S_ISREG(there.st_mode)))
            snprintf(path + used, sizeof path - used, ".%d", launcher_job);
        *theirs = pattern_create(path, stream->rank > 0 && pattern_is_shared(pattern));
        return *theirs < 0 ? 1 : 0;
    }
    if (iof.options.directory && (stream->file = open_copy(stream)) < 0)
        return 1;
    if (stream_open(stream, theirs) != 0) {
        complain("cannot open a pipe for rank %d: %s%s", stream->rank, strerror(errno),
                 files_remedy(errno));
        return 1;
    }
    return 0;
}

int iof_prepare(int rank, int fds[3])
{
    iof.theirs[0] = iof.theirs[1] = iof.theirs[2] = -1;
    int status = feed_prepare(rank, &iof.theirs[0]);
    for (int i = 0; i < 2 && !status; i++)
        status = prepare_output(&iof.streams[2 * rank + i], &iof.theirs[1 + i]);
    if (status) {
        iof_started(rank, 0);
        return status;
    }
    fds[0] = iof.theirs[0] >= 0     ? iof.theirs[0]
             : feed_is_direct(rank) ? STDIN_FILENO
                                    : iof.nothing;
    fds[1] = iof.theirs[1];
    fds[2] = iof.theirs[2];
    return 0;
}

void iof_started(int rank, int pid)
{
    for (int i = 0; i < 3; i++)
        if (iof.theirs[i] >= 0)
            close(iof.theirs[i]);
    iof.streams[2 * rank].pid = iof.streams[2 * rank + 1].pid = pid;
}

/* ---- the end, and time ---- */

void iof_ended(int rank, bool killed)
{
    for (int i = 0; i < 2; i++) {
        struct stream *stream = &iof.streams[2 * rank + i];
        stream->ended = true;
        stream->cut = killed;
        if (stream->watch.fd < 0)
            last_line(stream);
    }
}

bool iof_is_done(void)
{
    return iof.open == 0 && relay_is_done();
}

void iof_drain(void)
{
    relay_drain();
    for (int i = 0; i < 2 * iof.nranks; i++) {
        struct stream *stream = &iof.streams[i];
        for (int reads = 0; reads < DRAIN_READS; reads++)
            if (stream->watch.fd < 0 || out_is_full(stream->out) || !stream_read(stream))
                break;
    }
}

void iof_close(void)
{
    relay_close();
    for (int i = 0; i < 2 * iof.nranks; i++) {
        struct stream *stream = &iof.streams[i];
        stream->ended = true;
        if (stream->watch.fd >= 0)
            stream_end(stream);
        lines_free(&stream->lines);
    }
    feed_close();
}

int iof_timeout(uint64_t now)
{
    uint64_t first = 0;
    for (int i = 0; (out_stdout.is_tty || out_stderr.is_tty) && i < 2 * iof.nranks; i++)
        if (iof.streams[i].since && (!first || iof.streams[i].since < first))
            first = iof.streams[i].since;
    if (!first)
        return -1;
    int64_t left = (int64_t)(first + PROMPT_MS * 1000000ull - now);
    return left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

void iof_tick(uint64_t now)
{
    for (int i = 0; i < 2 * iof.nranks; i++) {
        struct stream *stream = &iof.streams[i];
        if (!stream->since || now - stream->since < PROMPT_MS * 1000000ull)
            continue;
        char tag[256];
        struct lines_sink sink = sink_of(stream, tag, sizeof tag);
        lines_flush(&stream->lines, &sink, false);
        stream->since = 0;
    }
}

void iof_continued(void)
{
    feed_continued();
}
