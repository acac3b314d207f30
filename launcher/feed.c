/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Standard input.  A file or a pipe is simply inherited by the rank that reads it: nobody takes
 * more from it than the rank itself, so a loop around xmpirun keeps its input.  A terminal may
 * only be read by the foreground process group, which is ours and not the rank's; and input for
 * all ranks has to be copied.  Then a pump moves one piece at a time:
 *
 *     stdin -> piece -> pipe of each reader        next piece when the slowest has this one
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "launcher/feed.h"

#include "launcher/iof.h"
#include "launcher/loop.h"
#include "launcher/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct watch watch; /* our end of its pipe, -1 when it has gone */
    size_t done;        /* bytes of the piece it has got */
};

static struct {
    int rank;
    bool direct, is_tty;
    int nreaders;
    struct reader *readers;
    struct watch source;
    bool pollable, ended;
    char piece[1 << 14];
    size_t bytes;
} feed;

static void source_ready(struct watch *watch, uint32_t events);
static void reader_ready(struct watch *watch, uint32_t events);

int feed_open(int rank, int nranks)
{
    feed.rank = rank;
    feed.source = (struct watch){ .fd = STDIN_FILENO, .ready = source_ready };
    if (rank == STDIN_NONE || fcntl(STDIN_FILENO, F_GETFD) < 0) {
        feed.rank = STDIN_NONE;
        return 0;
    }
    feed.is_tty = isatty(STDIN_FILENO);
    feed.direct = rank != STDIN_ALL && !feed.is_tty;
    if (feed.direct)
        return 0;
    feed.readers = calloc((size_t)nranks, sizeof *feed.readers);
    if (!feed.readers) {
        complain("out of memory");
        return 1;
    }
    feed.pollable = loop_add(&feed.source, EPOLLIN);
    return 0;
}

bool feed_is_direct(int rank)
{
    return feed.direct && feed.rank == rank;
}

int feed_prepare(int rank, int *theirs)
{
    if (!feed.readers || (feed.rank != STDIN_ALL && feed.rank != rank))
        return 0;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        complain("cannot open a pipe for rank %d: %s%s", rank, strerror(errno),
                 files_remedy(errno));
        return 1;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *theirs = ends[0];
    struct reader *reader = &feed.readers[feed.nreaders++];
    /* A rank started late gets the stream from here on. */
    *reader = (struct reader){ { .fd = ends[1], .ready = reader_ready }, feed.bytes };
    reader->watch.owner = reader;
    loop_add(&reader->watch, feed.pollable ? 0 : EPOLLOUT);
    return 0;
}

static void reader_close(struct reader *reader)
{
    loop_drop(&reader->watch);
    close(reader->watch.fd);
    reader->watch.fd = -1;
}

/* Give the reader what it still lacks of the piece; true when it lacks nothing. */
static bool serve(struct reader *reader)
{
    if (reader->watch.fd < 0)
        return true;
    while (reader->done < feed.bytes) {
        ssize_t n =
            write(reader->watch.fd, feed.piece + reader->done, feed.bytes - reader->done);
        if (n > 0) {
            reader->done += (size_t)n;
        } else if (errno == EAGAIN) {
            loop_set(&reader->watch, EPOLLOUT);
            return false;
        } else if (errno != EINTR) {
            reader_close(reader);
            return true;
        }
    }
    loop_set(&reader->watch, 0);
    return true;
}

static bool all_served(void)
{
    bool all = true;
    for (int i = 0; i < feed.nreaders; i++)
        all &= serve(&feed.readers[i]);
    return all;
}

static void end_of_input(void)
{
    feed.ended = true;
    loop_drop(&feed.source);
    for (int i = 0; i < feed.nreaders; i++)
        if (feed.readers[i].watch.fd >= 0)
            reader_close(&feed.readers[i]);
}

static bool has_reader(void)
{
    bool has = false;
    for (int i = 0; i < feed.nreaders; i++)
        has |= feed.readers[i].watch.fd >= 0;
    return has;
}

/* The next piece; false when there is none now, or nobody who would read it. */
static bool take(void)
{
    if (!has_reader()) {
        end_of_input();
        return false;
    }
    if (feed.is_tty && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        loop_drop(&feed.source); /* what is typed is meant for somebody else */
        return false;
    }
    ssize_t n = read(STDIN_FILENO, feed.piece, sizeof feed.piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n <= 0) {
        end_of_input();
        return false;
    }
    feed.bytes = (size_t)n;
    for (int i = 0; i < feed.nreaders; i++)
        feed.readers[i].done = 0;
    return true;
}

static void source_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    if (!all_served())
        loop_set(watch, 0);
    else if (take())
        all_served();
}

/* There is always more, until there is not; but other things want to be looked at, too. */
static void feed_from_file(void)
{
    enum { PIECES = 64 };
    int n = 0;
    for (; n < PIECES && !feed.ended && all_served(); n++)
        take();
    for (int i = 0; i < feed.nreaders && n == PIECES; i++)
        if (feed.readers[i].watch.fd >= 0)
            loop_set(&feed.readers[i].watch, EPOLLOUT); /* and so we go on */
}

static void reader_ready(struct watch *watch, uint32_t events)
{
    if (events & EPOLLERR)
        reader_close(watch->owner); /* it does not want any more */
    if (feed.pollable && all_served())
        loop_set(&feed.source, EPOLLIN);
    if (!feed.pollable)
        feed_from_file();
}

void feed_continued(void)
{
    if (feed.readers && feed.pollable && !feed.ended && !feed.source.added)
        loop_add(&feed.source, EPOLLIN);
}

void feed_close(void)
{
    if (feed.readers && !feed.ended)
        end_of_input();
    free(feed.readers);
    feed.readers = NULL;
}
