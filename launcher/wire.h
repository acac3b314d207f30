/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection between xmpirun and one xmpid.  Both know a secret that came another way; the
 * connection proves it and carries frames:
 *
 *     both ways, at once    "xmpiwire" | version | number of the host | nonce        40 bytes
 *     then frames           bytes | kind | mac | payload
 *
 * The key of the connection is made of the secret, both nonces and the number.  The mac covers
 * direction, position in the stream, kind, length and payload: nothing can be made up, replayed,
 * left out or sent back.  The payload is not encrypted.
 *
 * A frame of kind 0 is none for the user: it keeps the pulse (pulse.h) of a connection.
 *
 * One thread, no lock, nothing blocks: what cannot be sent now is kept.
 */
#ifndef XMPI_LAUNCHER_WIRE_H
#define XMPI_LAUNCHER_WIRE_H

#include "launcher/loop.h"
#include "launcher/pack.h"
#include "launcher/siphash.h"

enum { WIRE_VERSION = 7, WIRE_LONGEST = 64 << 20, NONCE_BYTES = 16, WIRE_PULSE = 0 };

struct wire;
struct pulse;

struct wire_user { /* who is told; a handler may close the wire */
    /* The first one proves what the other side said of itself in its opening. */
    void (*frame)(struct wire *wire, int kind, struct unpack *payload);
    /* Closed already; why is "closed by the other side", "wrong key", ... */
    void (*lost)(struct wire *wire, const char *why);
};

struct wire {
    struct watch watch; /* fd -1: closed */
    const struct wire_user *user;
    void *owner;
    const uint8_t *secret; /* until the key is made */
    bool accepted;         /* by us: the other one has dialled */
    bool keyed;            /* openings are exchanged */
    bool held;             /* see wire_hold */
    int number;            /* of the host */
    uint8_t nonce[NONCE_BYTES], key[KEY_BYTES];
    uint64_t sent, received; /* frames */
    struct pulse *pulse; /* of who has dialled from the opening on: it has something to say, and
                              * waits; of the other one from the first right frame on */
    struct pack in, out; /* not yet understood, not yet sent */
    size_t in_done, out_done;
};

/* Begin on a connected or connecting socket, which belongs to the wire from now on.  `number` is sent
 * when we dialled.  0, or -1 with errno; then the socket is closed. */
int wire_open(struct wire *wire, int fd, bool accepted, int number, const uint8_t *secret);

/* A payload of NULL: none.  A wire of NULL or closed: nothing happens. */
void wire_send(struct wire *wire, int kind, const struct pack *payload);
void wire_send_number(struct wire *wire, int kind, int64_t number);

/* Hand out no more frames until wire_release. */
void wire_hold(struct wire *wire);
void wire_release(struct wire *wire);

void wire_close(struct wire *wire);

/* How long neighbours may be silent (pulse.h) in ms, 0: no limit of ours.  At first it is as
 * XMPI_HOST_TIMEOUT says, -1: that is no number. */
int wire_silence(void);
void wire_set_silence(int ms);

#endif
