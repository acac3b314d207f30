/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See input.h.  A terminal is only read while we are in its foreground; feed.c does likewise for
 * ranks of this host.
 *
 *     source -> piece -> pipe `here`         read by ranks of this host, or by feed.c for all of them
 *                     -> FRAME_INPUT below   answered by FRAME_GOT
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "launcher/input.h"

#include "launcher/frames.h"
#include "launcher/job.h"
#include "launcher/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct watch source; /* xmpirun's stdin; fd -1: it is not ours to read */
    struct watch here;   /* our end of the pipe; fd -1: nobody here reads */
    struct pack piece;   /* not yet taken here */
    size_t done;
    bool busy;           /* a piece is on its way */
    bool away;           /* in the background: what is typed is meant for somebody else */
    void (*taken)(void); /* once it has arrived */
} input = { .source.fd = -1, .here.fd = -1 };

/* ---- giving ---- */

static bool is_taken(void)
{
    for (int i = 0; i < remotes.n; i++)
        if (remotes.list[i].fed && !remotes.list[i].done)
            return false;
    return input.done == input.piece.n;
}

static void look_if_taken(void)
{
    if (!input.busy || !is_taken())
        return;
    input.busy = false;
    input.piece.n = input.done = 0;
    input.taken();
}

static void here_end(void)
{
    loop_drop(&input.here);
    if (input.here.fd >= 0)
        close(input.here.fd);
    input.here.fd = -1;
    input.done = input.piece.n;
}

static void here_push(void)
{
    while (input.done < input.piece.n) {
        ssize_t n =
            write(input.here.fd, input.piece.bytes + input.done, input.piece.n - input.done);
        if (n < 0 && errno == EAGAIN) {
            if (!input.here.added)
                loop_add(&input.here, EPOLLOUT);
            return;
        }
        if (n < 0 && errno != EINTR)
            here_end(); /* nobody reads any more */
        else if (n > 0)
            input.done += (size_t)n;
    }
    loop_drop(&input.here);
}

static void here_ready(struct watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    here_push();
    look_if_taken();
}

static void give_below(const char *text, size_t bytes)
{
    struct pack pack = { 0 };
    pack_bytes(&pack, text, bytes);
    for (int i = 0; i < remotes.n; i++)
        if (remote_reads(&remotes.list[i])) {
            wire_send(remotes.list[i].wire, FRAME_INPUT, &pack);
            remotes.list[i].fed = bytes > 0;
        }
    pack_free(&pack);
}

static void give(const char *text, size_t bytes)
{
    give_below(text, bytes);
    if (!bytes) {
        here_end();
        return;
    }
    if (input.here.fd >= 0)
        pack_raw(&input.piece, text, bytes);
    here_push();
    input.busy = true;
}

void input_give(const char *text, size_t bytes, void (*taken)(void))
{
    input.taken = taken;
    give(text, bytes);
    look_if_taken();
}

void input_taken(struct remote *remote)
{
    remote->fed = false;
    look_if_taken();
}

static bool somebody_reads(const struct job *job)
{
    const struct plan *plan = job->plan;
    int reader = job->options->iof.stdin_rank;
    if (reader < 0 || reader >= plan->world)
        return reader == STDIN_ALL && plan->nranks;
    return plan->node_of[reader] == plan->node;
}

int input_open(const struct job *job)
{
    int ends[2];
    if (!somebody_reads(job))
        return 0;
    if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[0], STDIN_FILENO) < 0) {
        complain("cannot open a pipe for stdin: %s%s", strerror(errno), files_remedy(errno));
        return 1;
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    input.here = (struct watch){ .fd = ends[1], .ready = here_ready };
    return 0;
}

/* ---- reading, in xmpirun ---- */

static void source_end(void)
{
    loop_drop(&input.source);
    input.source.fd = -1;
    give("", 0);
}

static bool has_reader(void)
{
    bool has = input.here.fd >= 0;
    for (int i = 0; i < remotes.n; i++)
        has |= remote_reads(&remotes.list[i]);
    return has;
}

static void take(void)
{
    char piece[1 << 14];
    int fd = input.source.fd;
    if (!has_reader()) {
        source_end(); /* what nobody gets counts as taken: this would go on without an end */
        return;
    }
    input.away = isatty(fd) && tcgetpgrp(fd) != getpgrp();
    if (input.away) {
        loop_drop(&input.source);
        return;
    }
    ssize_t n = read(fd, piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        source_end();
        return;
    }
    loop_drop(&input.source);
    give(piece, (size_t)n);
}

static void read_on(void);

static void source_ready(struct watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    take();
    look_if_taken();
}

/* The next piece, and many of them at once from a file that is taken as fast as it is read.  Only here
 * it can be: hosts below answer each piece, in a turn of the event loop. */
static void read_on(void)
{
    enum { PIECES = 64 };
    if (input.source.fd < 0 || loop_add(&input.source, EPOLLIN))
        return;
    for (int n = 0; n < PIECES && input.source.fd >= 0 && !input.busy; n++) {
        take();
        if (is_taken())
            input.busy = false, input.piece.n = input.done = 0;
    }
    /* Other things want to be looked at, too; here_ready() goes on. */
    if (input.source.fd >= 0 && !input.busy && input.here.fd >= 0)
        input.busy = loop_add(&input.here, EPOLLOUT);
}

void input_continued(void)
{
    if (input.away)
        read_on();
}

/* Ranks of this host, if any, are to read what we give them, not our stdin itself. */
static int share_with_here(const struct job *job)
{
    if (job->options->iof.stdin_rank != STDIN_ALL || !somebody_reads(job))
        return 0;
    input.source.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    return input_open(job);
}

int input_prepare(const struct job *job, const struct plan *whole)
{
    int rank = job->options->iof.stdin_rank;
    bool elsewhere =
        rank >= 0 && rank < whole->nranks && !whole->hosts[whole->ranks[rank].host].is_local;
    if (rank != STDIN_ALL && !elsewhere)
        return 0;
    input.source = (struct watch){ .fd = STDIN_FILENO, .ready = source_ready };
    input.taken = read_on;
    return share_with_here(job);
}

void input_start(void)
{
    read_on();
}
