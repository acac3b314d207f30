/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a link must offer: a way to carry packets to some peers, in order, and to hand arriving
 * packets to pml_arrived.  Links know nothing of matching, requests or datatypes beyond moving
 * the bytes of a struct buffer.
 */
#ifndef XMPI_LINK_H
#define XMPI_LINK_H

#include "pml/claim.h"
#include "pml/wire.h"
#include "runtime/layout.h"

#include <limits.h>

struct peer;    /* pml/peer.h */
struct channel; /* pml/pml.h */
struct envelope;

enum { LINK_CARD_BYTES = 64 };

struct link_offer { /* begins what the link makes */
    size_t bytes;
    char card[LINK_CARD_BYTES]; /* what the peer must know */
};

struct link_fetch {
    char *to;         /* memory of a device: only where reaches_devices says so */
    enum where where; /* it is */
    const void *card; /* valid during the call only */
    size_t bytes;
    void (*done)(void *owner, bool good); /* from link->poll; not good: bytes are missing */
    void *owner;
};

enum { UP_TO_32_KIB = 1 << 0 | 1 << 1 }; /* classes of lengths */

/* Advice of a receiver: classes of lengths (bits, pml/way.h) that had better be copied than read, and those of up to
 * 64 KiB of which reading is dear (pml/toll.h). */
static inline uint32_t advice_of(uint32_t copied, uint32_t dear)
{
    return copied | dear | dear << 16;
}
static inline uint32_t advice_dear(uint32_t advice)
{
    return advice >> 16;
}
/* The same for a message behind others: a copy out of the caches can be saved, and windows of 16 KiB take 0.8 of the
 * time.  Where reading is dear they take 0.4 to 0.6 if copied, but those of 64 KiB 0.8 to 1.5. */
static inline uint32_t advice_behind(uint32_t advice)
{
    return advice_of(0, advice_dear(advice) & UP_TO_32_KIB);
}

struct boot_rank; /* runtime/bootseg.h */

struct link {
    const char *name; /* "self", "shm", "ofi" */

    size_t short_bytes; /* messages up to here can be put whole or not at all */

    int (*open)(void); /* MPI error class; before anything else */
    void (*close)(void);

    /* Can this link reach the world rank?  Asked once per peer, before connect. */
    bool (*reaches)(int world);

    /* Make peer->lane, the link's own state for this peer.  MPI error class. */
    int (*connect)(struct peer *peer);

    /* Send one packet: the header and a piece of the packed form of `data` that starts at
     * `skip`.  The link decides how long the piece is: at most `bytes`, and more than 0 when
     * `bytes` is.  Returns its length, or -1: no room now, try again after some progress.
     * Copies; on return the memory may be reused.  Never blocks, never calls back.
     * header->bytes: 0, or all of a short message, of which no piece is put: then -1. */
    long (*put)(struct peer *peer, const struct wire *header, const struct buffer *data,
                size_t skip, size_t bytes);

    /* Send a short message of fewer bytes than `slot_room` in one packet; it may arrive at once, where the
     * process sends to itself.  False: it cannot be done in a hurry, ask `put`.  0 for links that cannot, as those
     * that bound what may arrive (peer->window). */
    bool (*put_short)(struct peer *peer, const struct channel *channel,
                      const struct envelope *to, const char *from, size_t bytes);
    size_t slot_room;

    /* The same, and packets that arrived in an engine, by a thread that has the engine alone: a message of
     * at most solo_bytes; false: it cannot be done so.  pml_arrived_solo is called for messages that
     * are short and plain; false: what comes next is for one who has all engines.  NULL for links that
     * cannot. */
    bool (*put_solo)(struct peer *peer, const struct channel *channel,
                     const struct envelope *to, const char *from, size_t bytes);
    bool (*poll_solo)(int engine, int *packets);
    size_t solo_bytes;

    /* Look so many times at what comes next from this peer, or (NULL) from any.  If it is a whole short
     * message with the fields of `wanted` that match and describe messages, which fits `room` bytes
     * (wire_fits): take it, and return its length; in place of wildcards `wanted` says what it was.  Else -1:
     * the first to come is left for `poll`.  NULL for links that cannot. */
    long (*take)(struct peer *peer, struct wire_short *wanted, char *to, size_t room,
                 uint32_t looks);

    /* Take what has arrived and call pml_arrived for each packet, in order per peer; a message that nobody wants
     * yet may stay (patience_allows).  Returns the number of packets; bounded work. */
    int (*poll)(void);

    /* Long messages without a copy in between; NULL for links that cannot.  May we reach the memory
     * of this peer?  Copy `bytes` from there; fewer than that were copied when it cannot be
     * reached after all. */
    bool (*reads)(struct peer *peer);
    size_t (*read)(struct peer *peer, void *to, uint64_t from, size_t bytes);
    size_t (*write)(struct peer *peer, uint64_t to, const void *from, size_t bytes);

    /* Where these bytes of the peer can be looked at in place, which is better than to read them first; only
     * guarded (runtime/guard.h), and until the one after the next call.  NULL: read them. */
    const char *(*view)(struct peer *peer, uint64_t from, size_t bytes);

    /* We are about to tell others where these bytes of ours are, for them to read or write.  NULL: does not
     * matter. */
    void (*share)(const void *memory, size_t bytes);

    /* CLAIM_WORDS words that we share with the peer, for messages that come in or go out. */
    claim_word *(*words)(struct peer *peer, bool in);

    /* A word for all who send to us, and the word of a peer for the next message: advice_of. */
    void (*advise)(uint32_t advice);
    uint32_t (*advised)(const struct peer *peer);

    /* The same for links that take their time; NULL for links that do not.  Let the peer read these
     * bytes, until it is retracted; NULL: it cannot.  `fetch` begins reading; false: it cannot. */
    struct link_offer *(*offer)(struct peer *peer, const void *data, size_t bytes,
                                enum where where);
    void (*retract)(struct link_offer *offer);
    bool (*fetch)(struct peer *peer, const struct link_fetch *fetch);

    /* Do the three work with memory of devices?  NULL: no. */
    bool (*reaches_devices)(void);

    /* Links that bound how much may arrive unasked for (peer->window); NULL for others.  peer->freed
     * has grown by a good part of the window since peer->told: tell the peer. */
    void (*tell)(struct peer *peer);

    /* Nothing more will be put for a while.  Has every peer got what was?  NULL: always.  When
     * `leaving`, nobody is missed who does not answer any more. */
    bool (*quiet)(bool leaving);

    /* It is quiet, and nobody polls any more: tell the others, once, that they need not wait for us.  Goes
     * with our silence, which none of them can ask about later. */
    void (*leave)(void);

    /* What this peer has said of its silence (runtime/boot.h), as far as all is here that it sent before;
     * it is asked.  falls_silent: tell all that we have fallen silent (yes), ask nobody any more (no).
     * NULL: what a process says in the boot segment is all there is. */
    uint32_t (*silence)(struct peer *peer);
    void (*falls_silent)(bool yes);

    /* The peer has died.  Has everything that it sent been handed over?  NULL: always. */
    bool (*drained)(const struct peer *peer);

    /* The peer is lost, whoever found that out; the link's last call for it.  NULL: does not matter. */
    void (*lose)(struct peer *peer);

    /* Has the peer left MPI, or (`session`) the session that is spoken of, so that it takes no message of it any
     * more, and has all been handed over that it sent before?  NULL: that is not known. */
    bool (*left)(const struct peer *peer, bool session);

    /* Will this peer ever take packets again?  True when it ended or died. */
    bool (*gone)(const struct peer *peer);
};

extern const struct link link_self, link_shm, link_ofi, link_lost;

/* The link that the next message comes by, whoever sends it.  NULL: several may have something.
 * engine.c */
const struct link *link_of_next(void);

/* Called by links: this process will not be heard of again, because ... (a clause, kept as a copy).
 * Nothing happens at once: at the end of the round of progress all that depends on it ends, and the
 * peer's link becomes link_lost.  failure.c */
void peer_lost(struct peer *peer, const char *because);

/* Is there a receive that has its message from this peer, but not all of it, and does not wait for
 * link->fetch?  Looks at all that go on.  doom.c */
bool peer_feeds(const struct peer *peer);

/* cancel.c, called by links: so many of the sends that this peer has to answer are cancelled; and what `left` says,
 * as far as a record of the boot segment tells it.  Who leaves after a loss is lost. */
uint32_t sends_cancelled(const struct peer *peer);
bool record_says_left(const struct boot_rank *record, bool session);

/* Called by links.  `payload` (header->bytes of it) is valid during the call only. */
void pml_arrived(struct peer *peer, const struct wire *header, const char *payload);

/* The same, first, for a short message that is all here: true when it was for the oldest receive of its
 * channel, which is over.  False: nothing happened, and it goes the usual way.  By links that do not
 * bound what may arrive. */
bool pml_arrived_short(struct peer *peer, const struct wire_short *head, const char *payload,
                       size_t bytes);

/* Bytes of all messages that were taken and wait for receives (arrived.c). */
extern size_t arrived_held __attribute__((visibility("hidden")));

/* How long a message that nobody wants yet may stay with its link (patience.c): how many KiB of such, or of short
 * such, may be taken from each sender in this round; the round is over, in which something has stayed, or in the
 * one before, and so many packets were taken. */
enum { PATIENCE_ALL = INT_MAX, PATIENCE_MUCH = 1 << 20 };
int patience_allows(bool is_short);
void patience_round(bool stayed, int packets);

/* Has so much been taken that short ones stay, too? */
static inline bool patience_is_for_short(void)
{
    return arrived_held >= PATIENCE_MUCH;
}

/* No receive that is posted waits for this message, as far as can be seen without effort. */
bool pml_is_unwanted(const struct wire_short *head);

/* The same for one who has an engine alone.  False: nothing happened, he may not. */
bool pml_arrived_solo(struct peer *peer, const struct wire_short *head, const char *payload,
                      size_t bytes);

#endif
