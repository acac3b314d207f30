/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers into slots and out of them: small, and for sizes that mostly are a word.
 */
#ifndef XMPI_TINY_PARTS_H
#define XMPI_TINY_PARTS_H

#include "coll/tiny_slot.h"

#include <string.h>

/* memcpy for sizes that the compiler does not know but that mostly are a word. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
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

/* Block i of a part, which may have counts. */
static inline struct buffer block_of(const struct part *part, int i)
{
    if (__builtin_expect(!part->vector, 1))
        return part_block(part, i);
    ptrdiff_t at = (ptrdiff_t)counts_at(part->displs, i) * part->layout->extent;
    return (struct buffer){ buffer_at(part->base, at), (size_t)counts_at(part->counts, i),
                            part->layout, part->where };
}

/* The blocks of all ranks but `me` lie one behind the other: which one is that of rank r? */
static inline size_t among_others(int me, int r)
{
    return (size_t)(r < me ? r : r - 1);
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

#endif
