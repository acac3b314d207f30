/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gatherv and scatterv through shared slots.  Only the two ends of a block know how long it is, so its
 * writer decides alone whether it fits, and says so in the slot; what does not fit follows as a message
 * (coll.c).
 *
 *     gatherv     slot of each rank     | length | block |
 *     scatterv    slot of the root      | bytes of a cell | cell | cell | ...
 *                 the next ones         |                 | cell | cell | ...   until all have one
 *                 cell                  | length | block |
 *
 * Cells are as long as the longest block that fits.  A length of AS_MESSAGE: it follows.
 */
#include "coll/tiny_parts.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <string.h>

typedef uint32_t length;
#define AS_MESSAGE UINT32_MAX
enum { HEAD = 8 }; /* of scatterv's slots; keeps what is aligned in the cells aligned to 4 */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Two ranks have longer slots than others want, since a message that follows takes longer than the block. */
static size_t most_of(const struct tiny *t)
{
    return t->n == 2 ? TINY_LISTED_BYTES : TINY_BYTES;
}

/* The longest block for which a slot has room. */
static size_t gatherv_most(const struct tiny *t)
{
    return least(t->room - sizeof(length), most_of(t));
}

static size_t scatterv_most(const struct tiny *t)
{
    return least(t->room - HEAD - sizeof(length), most_of(t));
}

/* ---- one block ---- */

static void unfit_note(struct unfit *unfit, const struct part *part, int r)
{
    if (!unfit->any)
        memset(unfit->counts, 0, sizeof unfit->counts);
    unfit->any = true;
    if (part)
        unfit->counts[r] = counts_at(part->counts, r);
}

/* So long ones are copied by cpu_copy: 2 KiB of a gatherv take .70 us for .92, but half a KiB takes .45 for .34. */
enum { LONG_BYTES = 1024 };

/* False: it follows as a message. */
static bool block_write(char *cell, const struct buffer *block, size_t most)
{
    size_t bytes = buffer_bytes(block);
    bool fits = bytes <= most;
    length said = fits ? (length)bytes : AS_MESSAGE;
    memcpy(cell, &said, sizeof said);
    const char *flat = fits && bytes >= LONG_BYTES ? buffer_flat(block) : NULL;
    if (flat)
        cpu_copy(cell + sizeof said, flat, bytes);
    else if (fits)
        pack(cell + sizeof said, block, bytes);
    return fits;
}

static int block_misfit(size_t bytes, int from, size_t room)
{
    if (bytes < room)
        return pml_too_short(bytes, from, room);
    return fail(MPI_ERR_TRUNCATE,
                "block of %zu bytes from rank %d, where %zu bytes belong; the counts and "
                "datatypes of both ranks must make the same number of bytes",
                bytes, from, room);
}

void tiny_land(const struct buffer *place, const char *block, size_t said, int from,
               struct unfit *unfit)
{
    size_t room = buffer_bytes(place);
    if (__builtin_expect(said == room, 1)) {
        unpack(place, block);
        return;
    }
    if (said < room)
        buffer_unpack(place, 0, block, said);
    if (!unfit->error)
        unfit->error = block_misfit(said, from, room);
}

/* False: it follows as a message.  More than `most` nobody says, but where ranks are in different collectives
 * something else may lie here. */
static bool block_read(const struct buffer *place, const char *cell, size_t most, int from,
                       struct unfit *unfit)
{
    length said;
    memcpy(&said, cell, sizeof said);
    if (said == AS_MESSAGE)
        return false;
    tiny_land(place, cell + sizeof said, least(said, most), from, unfit);
    return true;
}

/* The root's own block.  A long one is left to the plan if there is one: its messages go first, and others
 * read them meanwhile. */
static void copy_own(struct round *round, const struct call *call, const struct part *all)
{
    int me = round->tiny->me;
    bool gathers = all == &call->recv;
    struct buffer at_root = block_of(all, me),
                  own = only_block(gathers ? &call->send : &call->recv);
    if (round->unfit->any && buffer_bytes(&own) > TINY_LISTED_BYTES)
        unfit_note(round->unfit, all, me);
    else
        buffer_copy(gathers ? &at_root : &own, gathers ? &own : &at_root);
}

/* ---- gatherv ---- */

void tiny_say_gatherv(struct round *round, const struct call *call)
{
    struct buffer own = only_block(&call->send);
    if (call->root == round->tiny->me)
        return;
    round->bytes = sizeof(length) + least(buffer_bytes(&own), gatherv_most(round->tiny));
    if (!block_write(round->payload, &own, gatherv_most(round->tiny)))
        unfit_note(round->unfit, NULL, 0);
}

int tiny_take_gatherv(struct round *round, const struct call *call)
{
    int me = round->tiny->me;
    if (call->root != me)
        return 0;
    struct buffer place = block_of(&call->recv, me), own = only_block(&call->send);
    bool waits = !call->in_place && buffer_bytes(&own) > TINY_LISTED_BYTES; /* copy_own */
    if (!call->in_place && !waits)
        buffer_copy(&place, &own);
    for (int r = 0; r < round->tiny->n; r++) {
        const struct slot *slot;
        int lost = r == me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
        place = block_of(&call->recv, r);
        if (r != me && !round->error &&
            !block_read(&place, slot->payload, gatherv_most(round->tiny), r, round->unfit))
            unfit_note(round->unfit, &call->recv, r);
        if (r != me)
            round->bytes = sizeof(length) + buffer_bytes(&place);
    }
    if (waits)
        copy_own(round, call, &call->recv);
    return 0;
}

/* ---- scatterv ---- */

/* Bytes of a cell. */
static uint64_t cell_bytes(const struct tiny *t, const struct part *part, size_t most)
{
    size_t longest = 0;
    for (int r = 0; r < t->n; r++) {
        size_t bytes = (size_t)counts_at(part->counts, r) * part->layout->size;
        if (r != t->me && bytes <= most && bytes > longest)
            longest = bytes;
    }
    return sizeof(length) + longest;
}

void tiny_say_scatterv(struct round *round, const struct call *call)
{
    const struct tiny *t = round->tiny;
    if (call->root != t->me)
        return;
    size_t most = scatterv_most(t);
    uint64_t each = cell_bytes(t, &call->send, most);
    struct cells cells = cells_of(round, t->me, HEAD, each);
    memcpy(round->payload, &each, sizeof each);
    for (int r = 0; r < t->n; r++) {
        struct buffer block = block_of(&call->send, r);
        if (r != t->me && !block_write(cell_of(&cells, r), &block, most))
            unfit_note(round->unfit, &call->send, r);
    }
    round->bytes = HEAD + each * least((size_t)t->n - 1, cells.each);
}

int tiny_take_scatterv(struct round *round, const struct call *call)
{
    int me = round->tiny->me;
    struct buffer place = only_block(&call->recv);
    if (call->root == me) {
        if (!call->in_place)
            copy_own(round, call, &call->send);
        return 0;
    }
    const struct slot *slot;
    int lost = tiny_hear(round, call->root, &slot);
    if (lost || round->error)
        return lost;
    uint64_t each;
    memcpy(&each, slot->payload, sizeof each);
    size_t most = scatterv_most(round->tiny);
    each = least(each, sizeof(length) + most);
    struct cells cells = cells_of(round, call->root, HEAD, each);
    round->bytes = HEAD + each;
    if (!block_read(&place, cell_of(&cells, me), most, call->root, round->unfit))
        unfit_note(round->unfit, NULL, 0);
    return 0;
}
