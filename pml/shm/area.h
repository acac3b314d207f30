/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What lies where in a rank's area of the boot segment.  All zeros is a valid empty area.
 *
 *     0             knocks: which ranks have written into a ring of this area
 *     4 KiB         AREA_TINY_BYTES for the flag collectives (coll/tiny.c); not looked at here
 *     212 KiB       chunks of 16 KiB: what this rank sends and does not fit a ring
 *     1 MiB         one ring per local rank: what that rank sends here from its first engine; then
 *                   one for its second engine, and so on (bootseg_rings)
 *
 * Local rank s writes the rings with index s in the area of the receiver, and reads the chunks of
 * nobody but the sender whose ring names them.
 */
#ifndef XMPI_SHM_AREA_H
#define XMPI_SHM_AREA_H

#include "pml/claim.h"
#include "runtime/bootseg.h"

enum {
    AREA_TINY_OFFSET = 4096,
    AREA_TINY_BYTES = 208 << 10,
    AREA_CHUNKS_OFFSET = AREA_TINY_OFFSET + AREA_TINY_BYTES,
    CHUNK_BYTES = 16 << 10,
    CHUNKS = (BOOT_POOL_BYTES - AREA_CHUNKS_OFFSET) / CHUNK_BYTES,
    CHUNKS_LEAST = 12,
    CHUNKS_RANKS = 32,                /* so many ranks have all of them */
    AREA_MOST_RANKS = BOOT_MOST_RANKS /* bits in the page of knocks */
};

struct area {
    _Atomic uint32_t knocks; /* grows with every bit set below */
    char pad[60];
    _Atomic uint32_t advice; /* for senders: lengths that this rank had better not read */
    char pad2[60];
    _Atomic uint64_t knocked[AREA_MOST_RANKS / 64]; /* bit i: ring i is in use */
};
_Static_assert(sizeof(struct area) <= AREA_TINY_OFFSET, "the knocks fit their page");

struct ring {
    _Atomic uint32_t tail; /* packets before this position are consumed; written now and then */
    char pad[60];
    claim_word claims[CLAIM_WORDS]; /* for long messages that go this way */
    char pad2[BOOT_RING_BYTES - 64 - 8 * CLAIM_WORDS];
    char slots[]; /* bootseg_slots of them */
};
_Static_assert(sizeof(struct ring) == BOOT_RING_BYTES, "a ring fills its place");

/* `sharers`: how many ranks have an area in the segment. */
static inline struct ring *area_ring(char *area, int ring, int sharers)
{
    return (struct ring *)(area + BOOT_POOL_BYTES + (size_t)ring * bootseg_ring_bytes(sharers));
}

/* How many chunks each rank uses where so many share the node: memory that was touched once is never
 * given back, so those of more than CHUNKS_RANKS take no more together than those of that many. */
static inline int area_chunks(int ranks)
{
    int fair = CHUNKS * CHUNKS_RANKS / (ranks > CHUNKS_RANKS ? ranks : CHUNKS_RANKS);
    return fair > CHUNKS_LEAST ? fair : CHUNKS_LEAST;
}

/* The most memory that the areas of so many ranks can come to. */
static inline size_t areas_bytes(int ranks)
{
    size_t one = AREA_CHUNKS_OFFSET + (size_t)area_chunks(ranks) * CHUNK_BYTES;
    return (size_t)ranks * (one + (size_t)ranks * bootseg_pair_bytes(ranks));
}

static inline char *area_chunk(char *area, unsigned chunk)
{
    return area + AREA_CHUNKS_OFFSET + (size_t)chunk * CHUNK_BYTES;
}

/* A place in a chunk, as packets name it: a multiple of CHUNK_PART bytes from its beginning. */
enum {
    CHUNK_PART = 256,
    CHUNK_BITS = 6,
    CHUNK_PLACES = CHUNK_BYTES / CHUNK_PART << CHUNK_BITS
};
_Static_assert(CHUNKS <= 1 << CHUNK_BITS, "a place names any chunk");

static inline unsigned chunk_place(unsigned chunk, size_t offset)
{
    return chunk | (unsigned)(offset / CHUNK_PART) << CHUNK_BITS;
}
static inline char *area_place(char *area, unsigned place)
{
    return area_chunk(area, place % (1 << CHUNK_BITS)) + (place >> CHUNK_BITS) * CHUNK_PART;
}

#endif
