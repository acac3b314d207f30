/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A receive, from posting to the last byte.
 */
#ifndef XMPI_RECV_H
#define XMPI_RECV_H

#include "pml/arrived.h"
#include "pml/request.h"

struct recv {
    struct request request; /* first: a receive is a request */
    struct match_posted posted;
    struct channel *channel; /* NULL: came from a matched probe */
    struct match_key key;
    uint32_t signature;
    uint32_t name; /* known to the sender, while a rendezvous goes on; or 0 */
    struct buffer data;
    size_t expected; /* bytes that will land in `data` */
    size_t received; /* of them */
    bool waiting;    /* posted, not matched */
};
_Static_assert(sizeof(struct recv) <= REQUEST_BYTES, "a receive fits a request");

/* A message was matched.  The first `have` bytes of it are at payload; more come by recv_piece.
 * May complete (and thereby release) the receive. */
void recv_accept(struct recv *recv, struct peer *peer, const struct wire *header,
                 const char *payload, size_t have);

/* Further bytes of the message.  True when they were the last ones: the caller forgets the
 * receive and calls request_complete. */
bool recv_piece(struct recv *recv, size_t offset, const char *payload, size_t bytes);

/* The channel of a posted receive closes: the receive completes as cancelled. */
void recv_abandon(struct match_posted *posted);

/* For recv.c's neighbours: a receive on a message that was found by a probe. */
int recv_arrived(struct arrived *arrived, const struct buffer *data, struct request **request);

#endif
