/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How one long message travels: the receiver's choice, and the time it took.
 */
#ifndef XMPI_TRIP_H
#define XMPI_TRIP_H

#include "pml/peer.h"
#include "pml/way.h"

struct trip { /* part of a receive */
    enum way way;
    enum traffic traffic;
    bool measured;
    bool crossed;  /* one of ours was on its way to the same peer */
    uint32_t lead; /* bytes in the first packet */
    size_t bytes;
    const struct peer *peer;
    uint64_t began; /* ticks */
    uint64_t out;   /* ticks spent on our own long messages, by then */
};

void trips_open(void);
void trips_close(void);

/* The memory of others cannot be reached: copy everything from now on. */
void trips_refuse(void);

/* For senders of more than WAY_SHORT bytes.  May messages to this peer say where their data lie?
 * Shall this one, or is it better copied?  To be asked once for each message; `waits`: for others, too. */
bool trip_offers(const struct peer *peer);
bool trip_asks(struct peer *peer, size_t bytes, bool waits);

/* A message with WIRE_PLAIN or WIRE_ADDRESS was matched: choose its way.  `plain`: the receive
 * buffer is one piece; `whole`: the message fits. */
void trip_begin(struct trip *trip, struct peer *peer, const struct wire *header, bool plain,
                bool whole);

/* Some of a long message of ours was copied out; it took so long. */
void trip_out(size_t bytes, uint64_t ticks);

/* Some of one that came was copied, or all of it was read, since then (trip_now). */
uint64_t trip_now(void);
void trip_in(size_t bytes, uint64_t since);
void trip_read(size_t bytes, uint64_t since);

/* A long message of ours is over, whoever copied it. */
void trip_sent(size_t bytes);

/* So many ticks of it were spent on something else than bringing bytes. */
void trip_spare(struct trip *trip, uint64_t ticks);

/* A measured one has arrived, or shall not be measured after all. */
void trip_end(struct trip *trip);
void trip_forget(struct trip *trip);

#endif
