/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer: another process (or this one) as the pml sees it.  Made when first talked to or first
 * heard of, so a rank knows only the processes it exchanges messages with.
 */
#ifndef XMPI_PEER_H
#define XMPI_PEER_H

#include "pml/link.h"
#include "pml/pml.h"

#include <stddef.h>

struct send;    /* pml/send.h */
struct recv;    /* pml/recv.h */
struct arrived; /* pml/arrived.h */
struct note;    /* pml/proto.c */

struct send_list {
    struct send *first, *last;
};

struct peer {
    const struct link *link;
    void *lane; /* the link's */
    int world;
    int engine; /* whose messages go this way */
    bool lost;  /* nothing more is sent to it, or expected from it */
    int came;   /* so many long messages more than went there, up to a bound (trip.c) */

    /* Going out.  What the link had no room for waits here, each list in order. */
    struct note *notes, *notes_last; /* CTS and ACK */
    struct send_list queue;          /* messages that are not wholly with the link */
    struct send_list streams;        /* rendezvous: DATA pieces still to be sent */
    struct send_list writes;         /* rendezvous: pieces that we may write ourselves */
    uint32_t unanswered;             /* sends that wait for a CTS or an ACK */
    bool busy;                       /* in the list of peers with something to send */
    struct peer *next_busy;

    /* Claim words (pml/claim.h) of messages coming in: those in use, and the last generation. */
    uint32_t words_used, generation;

    /* What may arrive there without a receive that waits for it, in bytes that are counted from
     * the beginning and wrap around; 0: as much as we like (window).  Others are asked for: RTS. */
    uint32_t window, spent, returned; /* spent by us, of which returned by the peer */
    uint32_t freed, told; /* the other way: matched here, of which the peer was told */

    /* Coming in: the EAGER message whose MORE pieces are still to come. */
    struct {
        struct recv *recv;       /* where its pieces go: a receive, */
        struct arrived *arrived; /* or the memory of an unexpected message, */
        size_t offset, total;    /* or nowhere */
    } in;

    struct peer *next; /* of all peers */
};

/* world rank >> 8, world rank & 255 -> peer, for each engine; pages are made when needed.  Ranks that
 * are reached otherwise than by rings have one peer for all engines. */
extern struct peer ***peer_pages[ENGINES] __attribute__((visibility("hidden")));

/* Make it known: choose the link and connect.  MPI_ERR_OTHER with a text when no link gets
 * there. */
int peer_make(int engine, int world, struct peer **peer);

/* Of a world rank below boot.size. */
static inline int peer_in(int engine, int world, struct peer **peer)
{
    struct peer **page = peer_pages[engine][world >> 8];
    if (__builtin_expect(page != NULL, 1)) {
        *peer = page[world & 255];
        if (__builtin_expect(*peer != NULL, 1))
            return 0;
    }
    return peer_make(engine, world, peer);
}

static inline int peer_of(int world, struct peer **peer)
{
    return peer_in(0, world, peer);
}

/* The same if it is known already, or NULL. */
static inline struct peer *peer_known(int engine, int world)
{
    struct peer **page = peer_pages[engine][world >> 8];
    return page ? page[world & 255] : NULL;
}

/* Programs send to the same few again and again, to the next ones in a grid or a hypercube.  Of all partners there one in
 * ten shares its place with another one. */
static inline struct peer_known *channel_known(struct channel *channel, int rank)
{
    _Static_assert(PEERS_KNOWN == 1 << (32 - 28), "four bits of the product");
    return &channel->known[(uint32_t)rank * 0x9E3779B1u >> 28];
}

/* For who has the engine of the channel. */
int channel_peer_other(struct channel *channel, int rank, struct peer **peer);
static inline int channel_peer(struct channel *channel, int rank, struct peer **peer)
{
    const struct peer_known *known = channel_known(channel, rank);
    if (__builtin_expect(known->rank != rank + 1, 0))
        return channel_peer_other(channel, rank, peer);
    *peer = known->peer;
    return 0;
}

/* The same if it is known already, or NULL. */
static inline struct peer *channel_peer_known(struct channel *channel, int rank)
{
    const struct peer_known *known = channel_known(channel, rank);
    return known->rank == rank + 1
               ? known->peer
               : peer_known(channel->engine, ranks_world(channel->peers, rank));
}

/* What there is to say of a short message to somebody on this channel. */
static inline struct wire_short wire_head(const struct channel *channel,
                                          const struct envelope *to)
{
    return (struct wire_short){ .context = channel->context,
                                .source = (uint32_t)channel->rank,
                                .tag = to->tag,
                                .step = to->step,
                                .signature = to->signature };
}

/* A message costs its bytes and the record it is kept in. */
static inline uint32_t message_cost(size_t bytes)
{
    return (uint32_t)bytes + 64;
}

/* May a message of so many bytes go to the peer without asking?  Then it goes. */
static inline bool peer_spends(struct peer *peer, size_t bytes)
{
    if (__builtin_expect(peer->window == 0, 1))
        return true;
    if (peer->spent - peer->returned + message_cost(bytes) > peer->window)
        return false;
    peer->spent += message_cost(bytes);
    return true;
}

/* It goes in any case. */
static inline void peer_overspends(struct peer *peer, size_t bytes)
{
    if (peer->window)
        peer->spent += message_cost(bytes);
}

/* A message of the peer that came without asking has left our memory, or needed none. */
static inline void peer_frees(struct peer *peer, size_t bytes)
{
    if (__builtin_expect(peer->window == 0, 1))
        return;
    peer->freed += message_cost(bytes);
    if (peer->freed - peer->told > peer->window / 4)
        peer->link->tell(peer);
}

int peers_open(void);
void peers_close(void); /* their lists must be empty */
struct peer *peers_first(void);

#endif
