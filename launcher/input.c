/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See input.h.  A terminal is only read while we are in its foreground; feed.c does likewise for
 * ranks of this host.
 */
#include "launcher/input.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct {
    struct watch source;
    input_send *send;
    int host;  /* -1: nobody there reads */
    bool away; /* in the background: what is typed is meant for somebody else */
} input = { .host = -1 };

static void end(void)
{
    loop_drop(&input.source);
    input.send(input.host, "", 0);
    input.host = -1;
}

static void take(void)
{
    char piece[1 << 14];
    input.away = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp();
    if (input.away) {
        loop_drop(&input.source);
        return;
    }
    ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        end();
        return;
    }
    loop_drop(&input.source);
    input.send(input.host, piece, (size_t)n);
}

static void source_ready(struct watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    take();
}

void input_go_on(void)
{
    if (input.host < 0)
        return;
    input.source = (struct watch){ .fd = STDIN_FILENO, .ready = source_ready };
    if (!loop_add(&input.source, EPOLLIN))
        take(); /* a file: there is always more, until there is not */
}

void input_continued(void)
{
    if (input.away)
        input_go_on();
}

void input_start(struct job *job, const struct plan *whole, input_send *send)
{
    int rank = job->options->iof.stdin_rank;
    if (rank < 0 || fcntl(STDIN_FILENO, F_GETFD) < 0)
        return;
    int host = whole->ranks[rank].host;
    if (whole->hosts[host].is_local)
        return;
    input.send = send;
    input.host = host;
    input_go_on();
}
