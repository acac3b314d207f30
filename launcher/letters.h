/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Letters: rows of bytes of any length between xmpirun and the launcher of a spawned job, over a pair of
 * sockets.  Nothing blocks: what cannot be sent now is kept.
 */
#ifndef XMPI_LAUNCHER_LETTERS_H
#define XMPI_LAUNCHER_LETTERS_H

#include "launcher/loop.h"
#include "launcher/pack.h"

struct letters {
    struct watch watch; /* fd -1: closed */
    void (*came)(struct letters *letters, const struct unpack *letter);
    void *owner;
    struct pack in, out; /* not yet complete, not yet sent */
    size_t out_done;
};

/* Begin on a socket, which belongs to `letters` from now on; came and owner are set.  Once it is broken
 * nothing comes or goes: who is told of that watches the process at the other end. */
void letters_open(struct letters *letters, int fd);
void letters_send(struct letters *letters, const struct pack *letter);
void letters_close(struct letters *letters);

/* Whoever is at the other end has ended: take what is left, and close. */
void letters_finish(struct letters *letters);

/* Before our own end: wait for what is still to be sent, up to a limit. */
void letters_flush(struct letters *letters, int limit_ms);

#endif
