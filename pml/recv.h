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
    uint32_t name;             /* known to the sender, while a rendezvous goes on; or 0 */
    const struct ranks *group; /* of the envelope */
    struct buffer data;
    size_t expected;   /* bytes that will land in `data` */
    size_t received;   /* of them */
    struct peer *peer; /* who sent it, once it is matched */
    bool waiting;      /* posted, not matched */

    /* long messages, see pull.c; in lines that short ones do not touch, but for the first */
    bool queued, shared, broken; /* to be read from; the sender writes as well; it cannot */
    union {
        struct stage *stage; /* of long data for a device, once they arrive */
        struct sink *sink;   /* of data for the host: NULL, or see pml_recv_into */
    };
    struct trip trip;
    uint64_t address;            /* of the sender's data */
    struct gpu_mapping *mapping; /* in which that is, if it lies on a device */
    union {
        uint32_t sender; /* name of its request */
        uint32_t use;    /* of MPI, of an orphan that is not matched: see boot_hears */
    };
    uint32_t generation, word; /* WAY_BOTH: of claims */
    struct recv *next;
};
_Static_assert(sizeof(struct recv) <= REQUEST_BYTES, "a receive fits a request");

static inline struct recv *recv_of(struct match_posted *posted)
{
    return (struct recv *)((char *)posted - offsetof(struct recv, posted));
}

/* A message was matched.  The first `have` bytes of it are at payload; more come by recv_piece.
 * May complete (and thereby release) the receive. */
void recv_accept(struct recv *recv, struct peer *peer, const struct wire *header,
                 const char *payload, size_t have);

/* Further bytes of the message.  True when they were the last ones: the caller forgets the
 * receive and calls recv_done, which may release it. */
bool recv_piece(struct recv *recv, size_t offset, const char *payload, size_t bytes);
void recv_done(struct recv *recv);

/* sink.c: does the sink of this receive take these bytes of the message? */
bool recv_sinks(struct recv *recv, size_t offset, const char *payload, size_t bytes);

/* Data on a device (away.c): may the link put them there by itself? */
bool recv_fetches_away(const struct recv *recv);

/* Data on a device: bytes to their place, perhaps later; now they are there (good), or need
 * not be. */
void recv_place_away(struct recv *recv, size_t offset, const char *payload, size_t bytes);
void recv_unstage(struct recv *recv, bool good);

/* A message was matched whose payload names memory of a device: read it, and complete the receive.
 * False: it cannot be read, and has to be asked for.  device.c */
bool device_begin(struct recv *recv, struct peer *peer, uint32_t sender, const char *payload);

/* The sender wrote so many bytes of the message for the receive of this name, or (0) cannot.
 * pull.c */
void recv_written(uint32_t name, size_t bytes);

/* The error of a message that is not as long as its place; 0: it may be so.  recv_misfit.c */
int recv_misfit(const struct recv *recv, const struct wire *header) __attribute__((cold));

/* Tell the sender to go on from where it is (or, when nothing more is wanted, that it is done). */
void recv_clear_to_send(struct recv *recv, struct peer *peer, uint32_t sender);

/* A message of this peer was matched, for traces. */
void match_record(const struct peer *peer, const struct wire *header);

/* What it waits for, for the flight recorder. */
void recv_tell(const struct request *request, struct record_wait *wait);

/* doom.c: who is lost of those that a receive like this depends on, as a world rank, or -1. */
int recv_doomed(const struct channel *channel, const struct match_key *key,
                const struct ranks *group);

/* The receive is over, for the loss of this process (-1: of somebody).  The caller has taken it out
 * of all lists, and says failure_complete. */
void recv_doom(struct recv *recv, int world);

/* broken.c: its channel is given up, so it is over.  It is in no list. */
void recv_break(struct recv *recv);

/* The sender of a message that we have matched has given it up. */
void recv_withdrawn(uint32_t name);

bool request_is_recv(const struct request *request);
extern const struct request_ops recv_ops __attribute__((visibility("hidden")));

static inline void recv_bind(struct recv *recv, struct channel *channel,
                             const struct buffer *data, const struct envelope *from)
{
    recv->channel = channel;
    recv->key = envelope_key(from);
    recv->signature = from->signature;
    recv->name = 0;
    recv->group = from->group;
    recv->trip.measured = recv->shared = false;
    recv->stage = NULL;
    buffer_keep(&recv->data, data);
}

/* Where so many bytes go, or NULL when they are not one piece.  No bytes may go anywhere: programs pass
 * NULL with them. */
static inline char *short_place(const struct buffer *data, size_t bytes)
{
    char *flat = buffer_flat(data);
    return flat || bytes > 0 || data->where != HERE ? flat : (char *)data;
}

/* The message that is here for a receive, or NULL. */
static inline struct match_arrived *message_here(struct match *match, struct match_key key)
{
    return match_has_arrived(match) ? match_find(match, key) : NULL;
}

/* It begins: with this message, or (NULL) by waiting for one.  recv.c */
void recv_begin_with(struct recv *recv, struct match_arrived *found);

/* The channel of a posted receive closes: the receive completes as cancelled.  `silently`: its owner is not told. */
void recv_abandon(struct match_posted *posted, bool silently);

/* For recv.c's neighbours: a receive on a message that was found by a probe. */
int recv_arrived(struct arrived *arrived, struct request_pool *pool, const struct buffer *data,
                 struct request **request);

#endif
