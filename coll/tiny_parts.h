/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers into slots and out of them: small, and for sizes that mostly are a word.
 */
#ifndef XMPI_TINY_PARTS_H
#define XMPI_TINY_PARTS_H

#include "coll/tiny_slot.h"

#include <string.h>

/* memcpy for sizes that the compiler does not know but that mostly are a word; memmove, since where it guesses that
 * a size is small it takes "rep movs" for memcpy, 50 ns.  No bytes may be nowhere. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes > 0)
        memmove(to, from, bytes);
}

/* At most so many bytes of it: what others do not expect does not overflow a slot. */
static inline void pack(char *to, const struct buffer *from, size_t most)
{
    const char *flat = buffer_flat(from);
    size_t bytes = buffer_bytes(from) < most ? buffer_bytes(from) : most;
    if (flat)
        copy_bytes(to, flat, bytes);
    else
        buffer_pack(from, 0, to, bytes);
}

static inline void unpack(const struct buffer *to, const void *from)
{
    char *flat = buffer_flat(to);
    if (flat)
        copy_bytes(flat, from, buffer_bytes(to));
    else
        buffer_unpack(to, 0, from, buffer_bytes(to));
}

/* A part of one block; none where the root works in place. */
static inline struct buffer only_block(const struct part *part)
{
    return part->layout ? part_block(part, 0) : (struct buffer){ NULL, 0, NULL, HERE };
}

/* The blocks of all ranks but `me` lie one behind the other: which one is that of rank r? */
static inline size_t among_others(int me, int r)
{
    return (size_t)(r < me ? r : r - 1);
}

/* Cells of equal length, one for each rank but `owner`, in the payloads of all slots from the owner's on,
 * behind the first `skip` bytes of each.  They are the owner's to write once its own slot is, when
 * nobody else has anything to say. */
struct cells {
    const struct round *round;
    int owner;
    uint32_t skip, bytes, each; /* so many in a slot */
};

static inline struct cells cells_of(const struct round *round, int owner, size_t skip,
                                    size_t bytes)
{
    uint32_t room = (uint32_t)(round->tiny->room - skip);
    return (struct cells){ round, owner, (uint32_t)skip, (uint32_t)bytes,
                           bytes ? room / (uint32_t)bytes : TINY_RANKS };
}

static inline char *cell_of(const struct cells *cells, int r)
{
    const struct tiny *t = cells->round->tiny;
    uint32_t i = (uint32_t)among_others(cells->owner, r);
    if (i == 0) /* how long cells are may still be on its way, and does not matter */
        return slot_of(t, cells->owner, cells->round->sequence)->payload + cells->skip;
    int rank = cells->owner + (int)(i / cells->each);
    struct slot *slot = slot_of(t, rank < t->n ? rank : rank - t->n, cells->round->sequence);
    return slot->payload + cells->skip + i % cells->each * cells->bytes;
}

/* The blocks of all others, for them to take; pack_several is what more than two ranks need (tiny.c). */
void pack_several(const struct round *round, const struct part *from);
static inline void pack_others(const struct round *round, const struct part *from)
{
    const struct tiny *t = round->tiny;
    if (t->n != 2) {
        pack_several(round, from);
        return;
    }
    struct buffer block = part_block(from, 1 - t->me);
    pack(round->payload, &block, round->bytes);
}

/* Where a payload begins to be of interest here. */
enum from { FROM_START, FROM_MY_BLOCK, FROM_MY_PLACE };

static inline const char *heard_at(const struct round *round, const struct slot *slot, int r,
                                   enum from from)
{
    size_t skip = 0;
    if (from == FROM_MY_BLOCK)
        skip = among_others(r, round->tiny->me) * round->bytes;
    else if (from == FROM_MY_PLACE)
        skip = round->place;
    return tiny_payload(round, r, slot) + skip;
}

/* ---- reductions (tiny_fold.c), as tiny.c performs them ---- */

void tiny_say_vector(struct round *round, const struct call *call);
int tiny_take_allreduce(struct round *round, const struct call *call);
void tiny_say_reduce_scatter(struct round *round, const struct call *call);
int tiny_take_reduce_scatter(struct round *round, const struct call *call);
void tiny_say_reduce(struct round *round, const struct call *call);
int tiny_take_reduce(struct round *round, const struct call *call);
void tiny_say_listed_scatter(struct round *round, const struct call *call);
int tiny_take_listed_scatter(struct round *round, const struct call *call);
int tiny_take_scan(struct round *round, const struct call *call);
int tiny_take_exscan(struct round *round, const struct call *call);
int tiny_pass_on_scan(struct round *round, const struct call *call);
int tiny_pass_on_exscan(struct round *round, const struct call *call);

/* ---- gatherv and scatterv (tiny_listed.c), as tiny.c performs them ---- */

/* Put `said` bytes of rank `from` where there is room for so many; too many do not arrive, too few do, and both
 * are an error. */
void tiny_land(const struct buffer *place, const char *block, size_t said, int from,
               struct unfit *unfit);

void tiny_say_gatherv(struct round *round, const struct call *call);
int tiny_take_gatherv(struct round *round, const struct call *call);
void tiny_say_scatterv(struct round *round, const struct call *call);
int tiny_take_scatterv(struct round *round, const struct call *call);

/* ---- alltoallv and alltoallw (tiny_letters.c) ---- */

bool tiny_has_letters(const struct tiny *t);      /* the slots have room for them */
size_t tiny_letters_length(const struct tiny *t); /* of a round */
void tiny_say_letters(struct round *round, const struct call *call);
int tiny_take_letters(struct round *round, const struct call *call);

#endif
