/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See letters.h.  A letter is 8 bytes that say how long it is, and itself.
 */
#include "launcher/letters.h"

#include "runtime/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, HEAD = 8 };

void letters_close(struct letters *letters)
{
    if (letters->watch.fd < 0)
        return;
    loop_drop(&letters->watch);
    close(letters->watch.fd);
    letters->watch.fd = -1;
    pack_free(&letters->in);
    pack_free(&letters->out);
}

static size_t backlog(const struct letters *letters)
{
    return letters->out.n - letters->out_done;
}

static void push(struct letters *letters)
{
    while (backlog(letters)) {
        ssize_t n = send(letters->watch.fd, letters->out.bytes + letters->out_done,
                         backlog(letters), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break; /* later; or it is broken, which is seen by reading */
        letters->out_done += (size_t)n;
    }
    bytes_let_go(letters->out.bytes, &letters->out.n, &letters->out_done);
    loop_set(&letters->watch, backlog(letters) ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void letters_send(struct letters *letters, const struct pack *letter)
{
    if (letters->watch.fd < 0)
        return;
    pack_number(&letters->out, (int64_t)letter->n);
    pack_raw(&letters->out, letter->bytes, letter->n);
    push(letters);
}

/* Hand out what is complete. */
static void take_all(struct letters *letters)
{
    size_t done = 0;
    while (letters->watch.fd >= 0 && letters->in.n - done >= HEAD) {
        struct unpack head = { letters->in.bytes + done, letters->in.bytes + done + HEAD,
                               false };
        size_t bytes = (size_t)unpack_number(&head);
        if (letters->in.n - done - HEAD < bytes)
            break;
        const char *text = letters->in.bytes + done + HEAD;
        done += HEAD + bytes;
        letters->came(letters, &(struct unpack){ text, text + bytes, false });
    }
    if (letters->watch.fd < 0 || !done)
        return;
    memmove(letters->in.bytes, letters->in.bytes + done, letters->in.n - done);
    letters->in.n -= done;
}

/* Was there anything? */
static bool read_piece(struct letters *letters)
{
    static char piece[READ_BYTES];
    ssize_t n = recv(letters->watch.fd, piece, sizeof piece, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    if (n <= 0) {
        letters_close(letters);
        return false;
    }
    pack_raw(&letters->in, piece, (size_t)n);
    take_all(letters);
    return true;
}

static void ready(struct watch *watch, uint32_t events)
{
    struct letters *letters = watch->owner;
    if (events & EPOLLOUT)
        push(letters);
    read_piece(letters);
}

void letters_finish(struct letters *letters)
{
    while (letters->watch.fd >= 0 && read_piece(letters))
        ;
    letters_close(letters);
}

void letters_flush(struct letters *letters, int limit_ms)
{
    uint64_t end = clock_ns() + (uint64_t)limit_ms * 1000000u;
    struct pollfd way = { .fd = letters->watch.fd, .events = POLLOUT };
    while (way.fd >= 0 && backlog(letters) && clock_ns() < end) {
        if (poll(&way, 1, 10) < 0 && errno != EINTR)
            return;
        if (way.revents & (POLLERR | POLLHUP))
            return;
        push(letters);
    }
}

void letters_open(struct letters *letters, int fd)
{
    letters->watch = (struct watch){ .fd = fd, .ready = ready, .owner = letters };
    loop_add(&letters->watch, EPOLLIN);
}
