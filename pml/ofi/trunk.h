/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trunk: what this process knows about one peer on the network, and the form of a frame, which
 * is what travels.
 *
 *     head 16 bytes | struct wire 48 bytes | payload up to 64 KiB
 *
 * Frames of a trunk are numbered.  The sender keeps each until the receiver has said that it is
 * there, so what a broken connection swallowed is sent again; the receiver takes each number
 * once, in order.  What it has taken (`ack`), and how many bytes of messages have left its memory
 * (`freed`, see struct peer), rides on every frame the other way, or comes in a frame of its own
 * after a while.
 *
 *     first -> frame -> frame -> frame -> frame -> last
 *              |-- sent, not acked --|   unsent: the provider had no room, or no connection yet
 *
 * Frames without a number: ACK; PING, which asks for one; LEFT, which says that the peer has left
 * MPI and acks no more; READS, which says that it reads a long message (fetch.c).  Their tag is boot_silence.
 */
#ifndef XMPI_OFI_TRUNK_H
#define XMPI_OFI_TRUNK_H

#include "pml/ofi/card.h"
#include "pml/peer.h"

enum { FRAME_PAYLOAD = 64 << 10 };
enum { REFUSED_NS = 1000000000 }; /* who was not refused again for so long is not refused */
enum head_kind { HEAD_PACKET = 1, HEAD_ACK, HEAD_PING, HEAD_LEFT, HEAD_READS };

struct head {
    uint16_t job; /* frames of other jobs, from who had our address before, are dropped */
    uint8_t kind;
    uint8_t echoes; /* ACK: wire.sequence is how far the peer should have come */
    uint32_t from;  /* world rank */
    uint32_t ack;   /* the number of the next frame that is wanted */
    uint32_t freed;
    struct wire wire; /* wire.sequence: the frame's number */
};
_Static_assert(sizeof(struct head) == 64, "the head of a frame is a cache line");
_Static_assert(sizeof(struct head) + LINK_CARD_BYTES <= NIC_LEAST_PACKET, "a card goes whole");

/* What libfabric hands back on completion. */
enum op_kind { OP_SEND, OP_RECEIVE, OP_READ };
struct op {
    struct fi_context2 fi; /* the provider's, first */
    enum op_kind kind;
};

struct slab; /* frame.c */

struct frame {
    struct op op;
    struct frame *next;
    struct trunk *trunk;
    struct slab *slab;
    uint32_t bytes; /* head and payload */
    bool posted;    /* the provider has it */
    bool finished;  /* to be freed when the provider gives it back */
    uint8_t size;   /* class of sizes */
    struct head head __attribute__((aligned(64)));
};
static inline char *frame_payload(struct frame *frame)
{
    return (char *)(&frame->head + 1);
}

enum trunk_state { TRUNK_UNKNOWN, TRUNK_OPEN, TRUNK_LOST };

/* Does the kernel of the peer still answer at an address?  watch.c; times in ns. */
struct path_probe {
    int socket; /* or -1 */
    bool held;  /* it is connected */
    int refused;
    uint64_t refused_since;
    uint64_t began, gap;  /* the last one; before the next */
    uint64_t asked_since; /* the first without an answer; 0: none */
    uint64_t answered;
};

/* From one nic to another: pieces of long messages that are under way, and since when none has come. */
struct path {
    int reads;
    uint64_t moved_at, asked_at; /* and when the peer was asked about it, */
    int answers;                 /* which it has done in so many looks */
    struct path_probe probe;
};

struct trunk {
    struct peer *peer;
    enum trunk_state state; /* UNKNOWN: no address yet */
    fi_addr_t to[NIC_MOST]; /* the peer's nics, per nic of ours: to[i] is for nics[i] */
    struct card card;

    /* going out */
    uint32_t sequence; /* of the next frame */
    unsigned nunacked;
    struct frame *first, *last, *unsent;
    size_t bytes; /* from first to last */
    int posted;
    bool met;        /* the first frames have gone: there is a connection */
    bool rewinding;  /* send again from `first`, when nothing is posted any more */
    bool unreadable; /* packets reach it, reads do not (fetch.c) */

    /* coming in */
    uint32_t expected;
    uint32_t owed; /* bytes that came since we last told `expected` */
    bool owes, owes_now, gap_told;
    bool left;        /* the peer has left MPI: trunk_left */
    bool asks;        /* we wait for its silence */
    uint32_t silence; /* as it said last */
    uint64_t owed_since;
    uint64_t reads_told;
    int refusal; /* what the provider says that takes no packets, and not for now; since when, and last */
    uint64_t refused_since, refused_at;
    struct path path[NIC_MOST];

    /* see watch.c; times in ns */
    bool heard, answers;  /* since the last look; to pings */
    uint64_t heard_at;    /* when a frame came */
    uint64_t waits_since; /* for an ack or an answer; 0: for nothing */
    uint64_t pinged_at;   /* 0: not since it was heard */
    uint64_t ping_gap;    /* before the next ping */

    bool attended; /* in the list of trunks that poll looks after */
    struct trunk *next_attended, *next;
};

extern struct trunk *trunks;      /* all */
extern bool trunks_leaving;       /* who does not answer any more is not missed */
extern struct card trunk_my_card; /* what we published */
extern uint16_t trunk_job;
struct ofi_counters {
    uint64_t frames, acks, resent, doubled, lost_connections;
};
extern struct ofi_counters ofi_counters;

/* ---- frame.c: memory ---- */

/* Room for so many bytes of payload; NULL: enough is under way already, or memory is out.  `only`: nothing else is
 * under way to that peer. */
struct frame *frame_new(size_t payload, bool only);
/* Room for less, as much as there is for now, which is told; NULL: none. */
struct frame *frame_shorter(size_t *payload, bool only);
/* Without payload, for what has no number. */
struct frame *frame_word(void);
void frame_free(struct frame *frame);
void *frame_descriptor(const struct frame *frame);
void frames_close(void);

/* ---- trunk.c: numbers, acks, sending again ---- */

int trunk_new(struct peer *peer); /* sets peer->lane; MPI error class */
void trunk_attend(struct trunk *trunk);
void trunk_append(struct trunk *trunk, struct frame *frame);
/* A frame without a number; false: not now. */
bool trunk_tell(struct trunk *trunk, enum head_kind kind, bool echoes, uint32_t echo);
bool trunk_arrived(const char *frame, size_t bytes);   /* is it a reason to stay awake? */
void trunk_send_ended(struct frame *frame, int error); /* 0 or an error of libfabric */
/* Look after those that wait for something; `idle`: nothing arrived in this poll.  How many got their
 * first frames off. */
int trunks_attend(bool idle);
void trunk_lost(struct trunk *trunk, const char *why);
/* It cannot be reached.  Where we leave MPI, and some of what we have sent may not be there, this is told. */
void trunk_undelivered(const struct trunk *trunk, const char *why);
/* Ask the peer about its silence, once; watch.c asks again. */
void trunk_ask(struct trunk *trunk);
bool trunk_gone(const struct trunk *trunk);
bool trunk_left(const struct trunk *trunk); /* it acks no more */

/* ---- cq.c ---- */
int receives_open(void);
int receives_meet(void); /* another peer; MPI error class */
void receives_close(void);
int nics_poll(void);

/* ---- fetch.c: see link.h for the first three ---- */
struct read;
struct link_offer *fetch_offer(struct peer *peer, const void *data, size_t bytes,
                               enum where where);
void fetch_retract(struct link_offer *offer);
bool fetch_begin(struct peer *peer, const struct link_fetch *fetch);
void fetch_read_ended(struct op *op, int error);
void fetches_flush(void);
void fetches_close(void); /* nothing is read any more, and nobody told: nics have stopped */
bool fetches_from(const struct trunk *trunk); /* are there? */

/* ---- alive.c ---- */

/* Have the kernel ask, after so many seconds of silence and again, whether the other end of a connection is
 * there.  False: it does not. */
bool alive_ask(int s, int seconds);
/* The same for all connections of the provider. */
void connections_ask(int seconds);

/* ---- watch.c ---- */
uint64_t trunk_timeout_ns(void); /* XMPI_OFI_TIMEOUT */
void trunks_watch(void);
void trunk_watch_end(struct trunk *trunk);

#endif
