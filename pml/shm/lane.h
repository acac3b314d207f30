/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A lane: what this process knows about the two rings it shares with one local peer, and the
 * form of a slot.
 *
 * A packet begins in the slot at position `head` (counted from 0, never wrapped; slot number =
 * head modulo their number).  Its first word is written last and differs in every round, so the receiver polls
 * that word and nothing else moves between the processors for a short message: one line.
 *
 *     one slot      header, payload up to 28 bytes (16 when request and total are sent)
 *     more slots    the payload goes on, 60 bytes per slot behind a word that is 0: no bytes of a
 *                   message can be taken for the beginning of a packet in the next round
 *     chunk         the payload lies in one of the sender's chunks
 *
 * How far the receiver has come travels back with every packet the other way (`consumed`), and
 * through ring->tail for senders that get no packets back.
 */
#ifndef XMPI_SHM_LANE_H
#define XMPI_SHM_LANE_H

#include "pml/peer.h"
#include "pml/shm/area.h"
#include "pml/shm/fill.h"

enum {
    SLOT_BODY = 28,
    SLOT_EXTRA = 12, /* request and total, at the start of the body */
    MORE_BODY = 60,
    MOST_MORE_SLOTS = 18,
    INLINE_BYTES = SLOT_BODY + MOST_MORE_SLOTS * MORE_BODY,
    ROW_BYTES = INLINE_BYTES - SLOT_EXTRA, /* what goes by a row of slots at most, */
    ROW_ALONE =
        SLOT_BODY + 13 * MORE_BODY - SLOT_EXTRA, /* and of a message that follows no other */
    SHORT_BYTES = 8 << 10, /* what fits a row of slots or a piece in a chunk */
    SLOT_FULL = 0x80,      /* slot->flags: request and total are here */
    PLACE_CHUNK = 0x100 /* slot->place: number of further slots, or this + place in a chunk */
};

_Static_assert((int)MOST_MORE_SLOTS < (int)PLACE_CHUNK, "a row is no place");

struct slot {
    _Atomic uint32_t word;
    uint8_t kind, flags;
    uint16_t consumed; /* position up to which the sender of this packet has read, low bits */
    struct wire_short head;
    uint16_t bytes, place;
    char body[SLOT_BODY];
};
_Static_assert(sizeof(struct slot) == BOOT_SLOT_BYTES, "a slot is a cache line");

struct slot_more {
    _Atomic uint32_t zero;
    char body[MORE_BODY];
};

enum { CHUNKS_IN_FLIGHT = 16 }; /* per lane; a power of two */

struct lane {
    /* coming in */
    struct slot *in;
    uint32_t next;      /* position of the packet to come */
    uint32_t published; /* in our tail */
    uint32_t more;      /* further slots of the last packet */
    uint32_t stays;     /* rounds in which its next one was left there (pml/patience.c) */
    bool plain;         /* the last packet that was not taken (take.c) could have been */
    struct peer *peer;
    char *chunks; /* the peer's area, for its chunks */
    struct ring *in_ring;
    struct doorbell *bell;                     /* the peer's */
    enum { CMA_UNKNOWN, CMA_YES, CMA_NO } cma; /* may we reach the peer's memory? */
    uint32_t in_last;                          /* slot of the ring */
    struct lane *next_active;                  /* of its engine */

    /* going out */
    struct slot *out __attribute__((aligned(64)));
    uint32_t head;  /* position of the next packet */
    uint32_t freed; /* the peer has read up to here, as far as we know */
    uint32_t owned; /* the lines up to here have been fetched for writing; put.c */
    uint32_t told;  /* where head was when the peer's ring was last seen empty */
    uint32_t last;  /* slot of the ring */
    struct ring *out_ring;
    uint32_t first_chunk, last_chunk; /* in flight: [first, last) in the arrays below */
    uint32_t filled;                  /* bytes of the last of them */
    bool knocked;
    int local, ring; /* the peer; the place of out_ring in its area */
    uint16_t chunk[CHUNKS_IN_FLIGHT];
    uint32_t chunk_end[CHUNKS_IN_FLIGHT]; /* free when the peer has read up to here */
    struct fill fill;                     /* how chunks are filled */
    bool chunk_fetched;                   /* the one that was taken last has been fetched */
    bool chunk_here;                      /* it lies in our cache anyway */

    struct mapped *memory; /* the peer's, mapped here; NULL: not, or not yet */
    bool unmapped;         /* it cannot be */
};

/* What a process tells the others about its memory, on its card in the boot segment. */
struct card {
    uint64_t word, address; /* address 0: not to be read */
    int32_t pid;
    _Atomic int64_t memory; /* its name (runtime/mapped.h), 0: there is none so far */
};
_Static_assert(sizeof(struct card) <= sizeof((struct boot_rank *)0)->card, "the card holds it");
_Static_assert(offsetof(struct boot_rank, card) % _Alignof(struct card) == 0,
               "words of it are atomic");

/* The word of a packet at this position: odd, so never 0. */
static inline uint32_t slot_word(uint32_t position)
{
    return 2 * position + 1;
}

/* Where the packet of a position lies that comes in, or goes out. */
static inline struct slot *lane_slot_in(const struct lane *lane, uint32_t position)
{
    return &lane->in[position & lane->in_last];
}
static inline struct slot *lane_slot(const struct lane *lane, uint32_t position)
{
    return &lane->out[position & lane->last];
}

/* Look at the peer's tail, which packets may be ahead of. */
static inline void lane_refresh(struct lane *lane)
{
    uint32_t tail = atomic_load_explicit(&lane->out_ring->tail, memory_order_acquire);
    if ((int32_t)(tail - lane->freed) > 0)
        lane->freed = tail;
}

/* Is the next packet one behind others, and no answer? */
static inline bool lane_follows(const struct lane *lane)
{
    return lane->head != lane->told;
}

/* A place for so many bytes of the next packet; -1: none now.  chunk.c */
int chunk_take(struct lane *lane, size_t bytes);
/* Has the peer some in flight that it has not read so far? */
bool chunks_wait(struct lane *lane);
/* The packet was published that has so many bytes there.  `wanted`: the next one may be like it, so fetch a chunk. */
void chunk_sent(struct lane *lane, int place, size_t bytes, bool wanted);
/* For pauses: fetch some of what will be written next; nothing to do while not wanted. */
extern bool chunks_wanted __attribute__((visibility("hidden")));
void chunks_fetch(void);
void chunks_open(struct lane *lanes, int n);

/* A long message goes out, some way: have memory for one that is copied. */
void chunks_ready(void);
/* Its peer is dead, and reads none of those in flight. */
void chunks_lose(struct lane *lane);

/* reach.c: the link's share, reads, read, write and view */
void reach_open(void);
void reach_close(void);
void reach_share(const void *memory, size_t bytes);
bool reach_reads(struct peer *peer);
size_t reach_read(struct peer *peer, void *to, uint64_t from, size_t bytes);
size_t reach_write(struct peer *peer, uint64_t to, const void *from, size_t bytes);
const char *reach_view(struct peer *peer, uint64_t from, size_t bytes);

/* cma.c: the same by system calls */
void cma_open(struct card *ours);
void cma_close(void);
void cma_share(const void *memory, size_t bytes); /* others are told of them */
bool cma_reads(struct peer *peer);
size_t cma_read(struct peer *peer, void *to, uint64_t from, size_t bytes);
size_t cma_write(struct peer *peer, uint64_t to, const void *from, size_t bytes);

/* put.c: the link's put and put_short */
bool lane_put_short(struct peer *peer, const struct channel *channel, const struct envelope *to,
                    const char *from, size_t bytes);
bool lane_put_solo(struct peer *peer, const struct channel *channel, const struct envelope *to,
                   const char *from, size_t bytes);
long lane_put(struct peer *peer, const struct wire *header, const struct buffer *data,
              size_t skip, size_t bytes);

#endif
