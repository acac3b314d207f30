/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A receive, from posting to the last byte.
 */
#ifndef XMPI_RECV_H
#define XMPI_RECV_H

#include "pml/arrived.h"
#include "pml/request.h"
#include "pml/trip.h"

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

    /* long messages, see pull.c */
    struct trip trip;
    struct peer *peer;
    uint64_t address;            /* of the sender's data */
    uint32_t sender;             /* name of its request */
    uint32_t generation, word;   /* WAY_BOTH: of claims */
    bool queued, shared, broken; /* to be read from; the sender writes as well; it cannot */
    struct recv *next;
};
_Static_assert(sizeof(struct recv) <= REQUEST_BYTES, "a receive fits a request");

/* A message was matched.  The first `have` bytes of it are at payload; more come by recv_piece.
 * May complete (and thereby release) the receive. */
void recv_accept(struct recv *recv, struct peer *peer, const struct wire *header,
                 const char *payload, size_t have);

/* Further bytes of the message.  True when they were the last ones: the caller forgets the
 * receive and calls recv_done, which may release it. */
bool recv_piece(struct recv *recv, size_t offset, const char *payload, size_t bytes);
void recv_done(struct recv *recv);

/* The sender wrote so many bytes of the message for the receive of this name, or (0) cannot.
 * pull.c */
void recv_written(uint32_t name, size_t bytes);

/* Tell the sender to go on from where it is (or, when nothing more is wanted, that it is done). */
void recv_clear_to_send(struct recv *recv, struct peer *peer, uint32_t sender);

/* What it waits for, for the flight recorder. */
void recv_tell(const struct request *request, struct record_wait *wait);

/* The channel of a posted receive closes: the receive completes as cancelled. */
void recv_abandon(struct match_posted *posted);

/* For recv.c's neighbours: a receive on a message that was found by a probe. */
int recv_arrived(struct arrived *arrived, const struct buffer *data, struct request **request);

#endif
