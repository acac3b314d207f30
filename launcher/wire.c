/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See wire.h.
 */
#define _GNU_SOURCE 1 /* getrandom */
#include "launcher/wire.h"

#include "launcher/pulse.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

struct opening {
    char magic[8];
    uint32_t version, number; /* lowest byte first, as all machines of a job are alike */
    uint8_t nonce[NONCE_BYTES];
    uint64_t reserved;
};
_Static_assert(sizeof(struct opening) == 40, "as wire.h draws it");

struct head {
    uint32_t bytes; /* of the payload */
    uint32_t kind;
    uint64_t mac;
};

static const char magic[8] = "xmpiwire";

enum {
    READ_BYTES = 1 << 16,
    FIRST_LONGEST = 1 << 16 /* of a caller, until it has proven that it knows the secret */
};

void wire_close(struct wire *wire)
{
    if (!wire || wire->watch.fd < 0)
        return;
    pulse_end(wire->pulse);
    wire->pulse = NULL;
    loop_drop(&wire->watch);
    close(wire->watch.fd);
    wire->watch.fd = -1;
    pack_free(&wire->in);
    pack_free(&wire->out);
}

static void lose(struct wire *wire, const char *why)
{
    char text[160]; /* `why` may be a text of strerror, which the handler may overwrite */
    snprintf(text, sizeof text, "%s", why);
    wire_close(wire);
    wire->user->lost(wire, text);
}

/* ---- sending ---- */

/* Bytes that wait to be sent. */
static size_t backlog(const struct wire *wire)
{
    return wire->out.n - wire->out_done;
}

/* Send what can be sent; false with errno when the connection is broken. */
static bool push(struct wire *wire)
{
    while (backlog(wire)) {
        ssize_t n = send(wire->watch.fd, wire->out.bytes + wire->out_done, backlog(wire),
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
            break;
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            wire->out_done += (size_t)n;
    }
    bytes_let_go(wire->out.bytes, &wire->out.n, &wire->out_done);
    loop_set(&wire->watch, backlog(wire) ? EPOLLIN | EPOLLOUT : EPOLLIN);
    return true;
}

/* Of a frame: `from_acceptor` says which way it goes. */
static uint64_t mac_of(const struct wire *wire, bool from_acceptor, uint64_t position,
                       const struct head *head, const char *payload)
{
    uint8_t key[KEY_BYTES];
    uint64_t text[3] = { from_acceptor, position, (uint64_t)head->kind << 32 | head->bytes };
    siphash_key(wire->key, text, sizeof text, key);
    return siphash(key, payload, head->bytes);
}

/* A broken connection is found by the next event: handlers are never called from here. */
void wire_send(struct wire *wire, int kind, const struct pack *payload)
{
    if (!wire || wire->watch.fd < 0)
        return;
    assert(wire->keyed);
    size_t bytes = payload ? payload->n : 0;
    assert(bytes <= WIRE_LONGEST);
    struct head head = { .bytes = (uint32_t)bytes, .kind = (uint32_t)kind };
    head.mac = mac_of(wire, wire->accepted, wire->sent++, &head, payload ? payload->bytes : "");
    pack_raw(&wire->out, &head, sizeof head);
    pack_raw(&wire->out, payload ? payload->bytes : "", bytes);
    push(wire);
}

void wire_send_number(struct wire *wire, int kind, int64_t number)
{
    struct pack pack = { 0 };
    pack_number(&pack, number);
    wire_send(wire, kind, &pack);
    pack_free(&pack);
}

/* ---- the pulse ---- */

/* A frame that nobody gets, unless something is under way already. */
static void beat(void *owner, bool silent)
{
    struct wire *wire = owner;
    char why[120];
    if (!silent) {
        if (!backlog(wire))
            wire_send(wire, WIRE_PULSE, NULL);
        return;
    }
    pulse_explain(wire->pulse, why, sizeof why);
    lose(wire, why);
}

int wire_silence(void)
{
    return pulse_limit();
}

void wire_set_silence(int ms)
{
    pulse_set_limit(ms);
}

/* ---- receiving ---- */

static void make_key(struct wire *wire, const uint8_t *their_nonce)
{
    struct {
        uint8_t acceptor[NONCE_BYTES], dialler[NONCE_BYTES];
        uint64_t number;
    } text = { .number = (uint64_t)wire->number };
    memcpy(text.acceptor, wire->accepted ? wire->nonce : their_nonce, NONCE_BYTES);
    memcpy(text.dialler, wire->accepted ? their_nonce : wire->nonce, NONCE_BYTES);
    siphash_key(wire->secret, &text, sizeof text, wire->key);
}

/* The opening of the other side.  False when the wire is closed. */
static bool take_opening(struct wire *wire, const struct opening *theirs)
{
    char why[120];
    if (memcmp(theirs->magic, magic, sizeof magic) != 0) {
        lose(wire, "it is not an xmpi launcher");
        return false;
    }
    if (theirs->version != WIRE_VERSION) {
        snprintf(why, sizeof why,
                 "it speaks version %u of the launchers' protocol, this one version %d: all "
                 "hosts need the same xmpi",
                 theirs->version, WIRE_VERSION);
        lose(wire, why);
        return false;
    }
    if (wire->accepted)
        wire->number = (int)(theirs->number & 0x7fffffff);
    make_key(wire, theirs->nonce);
    wire->keyed = true;
    if (!wire->accepted)
        wire->pulse = pulse_begin(wire->watch.fd, wire, beat);
    return true;
}

/* One frame, if all of it is here.  False: not yet, or the wire is closed. */
static bool take_frame(struct wire *wire)
{
    struct head head;
    size_t here = wire->in.n - wire->in_done;
    if (here < sizeof head)
        return false;
    memcpy(&head, wire->in.bytes + wire->in_done, sizeof head);
    if (head.bytes > (wire->received || !wire->accepted ? WIRE_LONGEST : FIRST_LONGEST)) {
        lose(wire, wire->received ? "a frame is too long" : "wrong key");
        return false;
    }
    if (here < sizeof head + head.bytes)
        return false;
    const char *payload = wire->in.bytes + wire->in_done + sizeof head;
    if (mac_of(wire, !wire->accepted, wire->received, &head, payload) != head.mac) {
        lose(wire, wire->received ? "a frame was damaged on its way" : "wrong key");
        return false;
    }
    if (!wire->received++ && wire->accepted)
        wire->pulse = pulse_begin(wire->watch.fd, wire, beat);
    wire->in_done += sizeof head + head.bytes;
    struct unpack unpack = { payload, payload + head.bytes, false };
    if (head.kind != WIRE_PULSE)
        wire->user->frame(wire, (int)head.kind, &unpack);
    return wire->watch.fd >= 0;
}

static void take_all(struct wire *wire)
{
    if (!wire->keyed) {
        struct opening theirs;
        if (wire->in.n < sizeof theirs) {
            if (memcmp(wire->in.bytes, magic, wire->in.n < 8 ? wire->in.n : 8) != 0)
                lose(wire, "it is not an xmpi launcher");
            return;
        }
        memcpy(&theirs, wire->in.bytes, sizeof theirs);
        wire->in_done = sizeof theirs;
        if (!take_opening(wire, &theirs))
            return;
    }
    while (!wire->held && take_frame(wire))
        ;
    if (wire->watch.fd < 0 || !wire->in_done)
        return;
    memmove(wire->in.bytes, wire->in.bytes + wire->in_done, wire->in.n - wire->in_done);
    wire->in.n -= wire->in_done;
    wire->in_done = 0;
}

void wire_hold(struct wire *wire)
{
    wire->held = true;
}

void wire_release(struct wire *wire)
{
    wire->held = false;
    if (wire->watch.fd >= 0 && wire->keyed)
        take_all(wire);
}

static void ready(struct watch *watch, uint32_t events)
{
    struct wire *wire = watch->owner;
    static char piece[READ_BYTES];
    if (events & EPOLLOUT && !push(wire)) {
        lose(wire, strerror(errno));
        return;
    }
    if (!(events & ~(uint32_t)EPOLLOUT))
        return;
    ssize_t n = recv(watch->fd, piece, sizeof piece, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        lose(wire, n ? strerror(errno) : "the connection was closed by the other side");
        return;
    }
    pack_raw(&wire->in, piece, (size_t)n);
    take_all(wire);
}

/* ---- opening ---- */

int wire_open(struct wire *wire, int fd, bool accepted, int number, const uint8_t *secret)
{
    wire->watch = (struct watch){ .fd = fd, .ready = ready, .owner = wire };
    wire->secret = secret;
    wire->accepted = accepted;
    wire->number = number;
    struct opening mine = { .version = WIRE_VERSION, .number = (uint32_t)number };
    memcpy(mine.magic, magic, sizeof magic);
    int on = 1, idle = 3, times = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* until it has a pulse */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    if (getrandom(wire->nonce, NONCE_BYTES, 0) != NONCE_BYTES ||
        !loop_add(&wire->watch, EPOLLIN)) {
        close(fd);
        wire->watch.fd = -1;
        return -1;
    }
    memcpy(mine.nonce, wire->nonce, NONCE_BYTES);
    pack_raw(&wire->out, &mine, sizeof mine);
    if (!push(wire)) {
        int error = errno;
        wire_close(wire);
        errno = error;
        return -1;
    }
    return 0;
}
