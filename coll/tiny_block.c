/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where shared slots lie: in the tiny part of the area of the rank that drew the ticket, one
 * block behind the other, each with its length and the number of members that have not left it.
 * Only the drawer allocates, so nothing is locked; lines == 0 ends the list, and an area of zeros
 * is an empty one.  MPI_COMM_WORLD has the first block of the last rank, which of all is asked least
 * often to draw one, without drawing; others get a quarter of what is left, and when that is little as
 * little as will do.
 *
 *     block     header | slots, see tiny_slot.h | track 0: slots of one line | track 1 | ... | long
 *
 * A persistent collective has a block of its own, without tracks, as long as a third of the area is free.
 */
#include "coll/rival.h"
#include "coll/tiny_slot.h"

#include "pml/shm/area.h"
#include "runtime/boot.h"
#include "runtime/means.h"
#include "runtime/param.h"
#include "runtime/reading.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 128,        /* two cache lines: processors like to fetch two at once */
    PAIR_BYTES = 72 << 10,   /* at most: 16 slots with 2 KiB of payload for two ranks */
    BLOCK_BYTES = 160 << 10, /* for more ranks, besides tracks */
    SHORT_BYTES = 4 << 10,   /* rather than give less than that, give the least */
    TRACK_BYTES =
        8 << 10, /* of all tracks of a block, at most, where each has the least slots */
    TRACKS_SHARE =
        5, /* of what a block of many ranks has otherwise, tracks get at least this part */
    PAIR_SHARE = 2,  /* the same for two ranks */
    TRACK_DEPTH = 8, /* slots of a rank on a track, at most */
    SLOT_MOST = TINY_LISTED_BYTES + LINE_BYTES,
    DEPTH_LEAST = 2,
    DEPTH_MOST = 16, /* of long ones */
    SPIN = 128,      /* about 700 ns, see tiny_rest */
    SPIN_CROWDED = 50,
};

struct block {
    _Atomic uint32_t members; /* that have not closed it yet */
    uint32_t lines;           /* that follow; 0 = end of the list */
    struct shape {
        uint32_t depth, slot_bytes, tracks;
        uint32_t track_depth;
        uint32_t long_bytes; /* of each rank, behind all slots */
    } shape;
    char pad[LINE_BYTES - 28];
};
_Static_assert(sizeof(struct block) == LINE_BYTES, "a block is counted in lines");
_Static_assert(offsetof(struct slot, payload) == TINY_HEAD, "what tiny.h says");
_Static_assert(LINE_BYTES - TINY_HEAD == TINY_TRACK_BYTES, "likewise");

enum { AREA_LINES = AREA_TINY_BYTES / LINE_BYTES };

/* ---- shapes ---- */

_Static_assert(TRACK_BYTES == DEPTH_LEAST * TINY_TRACK_RANKS * LINE_BYTES, "as tiny.h says");

static uint32_t tracks_for(int n)
{
    uint32_t tracks = TRACK_BYTES / LINE_BYTES / DEPTH_LEAST / (uint32_t)n;
    return tracks < TINY_TRACKS ? tracks : TINY_TRACKS;
}

/* Deep ones, where there is room, since of a gather all but the root run ahead.  With two slots each of
 * those looks in each operation whether the root has come, which takes that line from the root: twice the time. */
static uint32_t track_depth_for(int n, size_t bytes)
{
    uint32_t share = n == 2 ? PAIR_SHARE : TRACKS_SHARE, depth = TRACK_DEPTH;
    uint32_t lines = (uint32_t)(bytes / share / LINE_BYTES);
    while (depth > DEPTH_LEAST && depth * tracks_for(n) * (uint32_t)n > lines)
        depth /= 2;
    return depth;
}

/* Many slots for few ranks: a rank that sends only runs ahead so far. */
static uint32_t depth_for(int n)
{
    uint32_t depth = DEPTH_MOST;
    while (depth > DEPTH_LEAST && depth * (uint32_t)n > 2 * DEPTH_MOST)
        depth /= 2;
    return depth;
}

static struct shape pair_shape(size_t bytes)
{
    size_t slot = bytes / (DEPTH_MOST * 2) / LINE_BYTES * LINE_BYTES;
    slot = slot < LINE_BYTES ? LINE_BYTES : slot > SLOT_MOST ? SLOT_MOST : slot;
    return (struct shape){ DEPTH_MOST, (uint32_t)slot, tracks_for(2), track_depth_for(2, bytes),
                           0 };
}

/* Slots of one line, as many as the long payloads leave, which want twice TINY_BYTES each, but no
 * more than three quarters. */
static struct shape group_shape(int n, size_t bytes)
{
    const size_t long_most = 4 * TINY_BYTES, wanted = 2 * TINY_BYTES * (size_t)n;
    size_t line = LINE_BYTES * (size_t)n, for_slots = bytes / 4;
    if (bytes > wanted + for_slots)
        for_slots = bytes - wanted;
    uint32_t depth = TINY_DEPTH;
    while (depth > DEPTH_LEAST && depth * line > for_slots)
        depth /= 2;
    size_t rest = bytes > depth * line ? (bytes - depth * line) / (size_t)n : 0;
    rest = rest < long_most ? rest / (2 * LINE_BYTES) * (2 * LINE_BYTES) : long_most;
    return (struct shape){ depth, LINE_BYTES, tracks_for(n), track_depth_for(n, bytes),
                           (uint32_t)rest };
}

static struct shape shape_for(int n, size_t bytes)
{
    return n == 2 ? pair_shape(bytes < PAIR_BYTES ? bytes : PAIR_BYTES) : group_shape(n, bytes);
}

static uint32_t slots_lines(struct shape shape, int n)
{
    return shape.depth * (uint32_t)n * (shape.slot_bytes / LINE_BYTES);
}

static uint32_t track_lines(struct shape shape, int n)
{
    return shape.track_depth * (uint32_t)n;
}

static uint32_t shape_lines(struct shape shape, int n)
{
    return slots_lines(shape, n) + shape.tracks * track_lines(shape, n) +
           shape.long_bytes / LINE_BYTES * (uint32_t)n;
}

/* ---- blocks ---- */

static struct block *block_at(int local, uint32_t line)
{
    return (struct block *)(boot_area(local) + AREA_TINY_OFFSET + (size_t)line * LINE_BYTES);
}

static bool world_fits(void)
{
    return boot.nnodes == 1 && boot.nlocal == boot.size && boot.size >= 2 &&
           boot.size <= TINY_RANKS;
}

static int world_home(void)
{
    return boot.size - 1;
}

/* The first block after MPI_COMM_WORLD's. */
static uint32_t first_line(void)
{
    if (!world_fits() || boot.local_rank != world_home())
        return 0;
    return 1 + shape_lines(shape_for(boot.size, BLOCK_BYTES), boot.size);
}

static bool is_free(const struct block *b)
{
    return atomic_load_explicit(&b->members, memory_order_acquire) == 0;
}

/* Join the free blocks that follow a free one. */
static void join_free(uint32_t at)
{
    struct block *b = block_at(boot.local_rank, at);
    for (uint32_t next; (next = at + 1 + b->lines) < AREA_LINES;) {
        struct block *after = block_at(boot.local_rank, next);
        if (after->lines == 0 || !is_free(after))
            return;
        b->lines += 1 + after->lines;
    }
}

/* Take `lines` from the front of a free block. */
static void split_free(uint32_t at, uint32_t lines)
{
    struct block *b = block_at(boot.local_rank, at);
    if (b->lines <= lines)
        return;
    struct block *rest = block_at(boot.local_rank, at + 1 + lines);
    rest->lines = b->lines - lines - 1;
    atomic_store_explicit(&rest->members, 0, memory_order_relaxed);
    if (rest->lines == 0) /* a header alone would end the list: leave it with the block */
        return;
    b->lines = lines;
}

static bool end_of_list(uint32_t at, uint32_t lines)
{
    struct block *b = block_at(boot.local_rank, at);
    uint32_t end = at + 1 + lines;
    if (b->lines != 0 || end > AREA_LINES)
        return false;
    b->lines = lines;
    if (end < AREA_LINES)
        block_at(boot.local_rank, end)->lines = 0;
    return true;
}

/* Lines that are left, in one piece or not. */
static uint32_t free_lines(void)
{
    uint32_t at = first_line(), n = 0;
    while (at < AREA_LINES && block_at(boot.local_rank, at)->lines) {
        const struct block *b = block_at(boot.local_rank, at);
        n += is_free(b) ? b->lines : 0;
        at += 1 + b->lines;
    }
    return n + (at < AREA_LINES ? AREA_LINES - at : 0);
}

/* The first free block of so many lines; AREA_LINES: there is none. */
static uint32_t find_free(uint32_t lines)
{
    for (uint32_t at = first_line(); at < AREA_LINES;
         at += 1 + block_at(boot.local_rank, at)->lines) {
        struct block *b = block_at(boot.local_rank, at);
        if (b->lines == 0 && !end_of_list(at, lines))
            return AREA_LINES;
        if (!is_free(b))
            continue;
        join_free(at);
        if (b->lines >= lines)
            return at;
    }
    return AREA_LINES;
}

/* Nothing is said in the slots of these lines. */
static void lines_clear(struct block *b)
{
    for (uint32_t i = 1; i <= b->lines; i++) {
        struct slot *slot = (struct slot *)((char *)b + (size_t)i * LINE_BYTES);
        atomic_store_explicit(&slot->sequence, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->gave_up, 0, memory_order_relaxed);
    }
}

/* A block of this shape for n ranks: its name, or 0. */
static uint64_t block_draw(struct shape shape, int n)
{
    uint32_t at = find_free(shape_lines(shape, n));
    if (at == AREA_LINES)
        return 0;
    split_free(at, shape_lines(shape, n));
    struct block *b = block_at(boot.local_rank, at);
    b->shape = shape;
    lines_clear(b);
    atomic_store_explicit(&b->members, (uint32_t)n, memory_order_release);
    return (uint64_t)(boot.local_rank + 1) << 32 | at;
}

uint64_t tiny_draw(int n)
{
    static const struct shape least = { DEPTH_LEAST, LINE_BYTES, 0, 0, 0 };
    if (!param_number(TINY) || n < 2 || n > TINY_RANKS)
        return 0;
    size_t share = (size_t)free_lines() * LINE_BYTES / 4;
    uint64_t name = 0;
    if (share >= SHORT_BYTES)
        name = block_draw(shape_for(n, share < BLOCK_BYTES ? share : BLOCK_BYTES), n);
    return name ? name : block_draw(least, n);
}

uint64_t tiny_draw_bound(int n, size_t bytes, bool together)
{
    size_t slot = (TINY_HEAD + bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    struct shape shape = { together ? DEPTH_LEAST : depth_for(n), (uint32_t)slot, 0, 0, 0 };
    if (free_lines() < AREA_LINES / 3 + shape_lines(shape, n))
        return 0;
    return block_draw(shape, n);
}

uint64_t tiny_world(void)
{
    return world_fits() && param_number(TINY) ? (uint64_t)(world_home() + 1) << 32 : 0;
}

/* ---- opening ---- */

static bool is_world(const struct block *block)
{
    return world_fits() && block == block_at(world_home(), 0);
}

static struct shape shape_of(const struct block *block, int n)
{
    return is_world(block) ? shape_for(n, BLOCK_BYTES) : block->shape;
}

/* Slots of this shape at this place. */
static struct tiny *slots_open(char *slots, struct shape shape, const struct channel *channel)
{
    const struct ranks *members = channel->peers;
    struct tiny *tiny = calloc(1, sizeof *tiny + (size_t)members->n * sizeof tiny->member[0]);
    if (tiny)
        tiny->movers = calloc(MOVERS, sizeof *tiny->movers);
    if (!tiny || !tiny->movers) {
        free(tiny);
        return NULL;
    }
    tiny->slots = slots;
    tiny->n = members->n;
    tiny->me = channel->rank;
    tiny->channel = channel;
    tiny->crowded = boot.crowded;
    tiny->reading = boot.reading;
    tiny->spin = boot.crowded ? SPIN_CROWDED : SPIN;
    tiny->depth = shape.depth;
    tiny->slot_bytes = shape.slot_bytes;
    tiny->rank_bytes = (size_t)shape.slot_bytes * shape.depth;
    tiny->room = shape.slot_bytes - TINY_HEAD;
    memset(tiny->readers, NOBODY, sizeof tiny->readers);
    for (int i = 0; i < tiny->n; i++) {
        int world = ranks_world(members, i);
        tiny->member[i] = (struct member){ &boot_record(boot_local(world))->bell, 0, world };
    }
    return tiny;
}

static void tiny_free(struct tiny *tiny)
{
    free(tiny->movers);
    free(tiny->rivals);
    free(tiny);
}

/* False: no memory.  Who has none would not know what the others have learnt. */
static bool rivals_open(struct tiny *tiny)
{
    bool compete = tiny->reading == READING_DEAR && !tiny->crowded;
    tiny->rivals = compete ? rivals_new() : NULL;
    return tiny->rivals || !compete;
}

struct tiny *tiny_open(uint64_t name, const struct channel *channel)
{
    if (!name)
        return NULL;
    struct block *block = block_at((int)(name >> 32) - 1, (uint32_t)name);
    struct shape shape = shape_of(block, channel->peers->n);
    struct tiny *tiny = slots_open((char *)(block + 1), shape, channel);
    if (!tiny)
        return NULL;
    if (!rivals_open(tiny)) {
        tiny_free(tiny);
        return NULL;
    }
    tiny->block = block;
    tiny->long_bytes = shape.long_bytes;
    tiny->longs = (char *)(block + 1) + (size_t)(slots_lines(shape, tiny->n) +
                                                 shape.tracks * track_lines(shape, tiny->n)) *
                                            LINE_BYTES;
    tiny->tracks = (int)shape.tracks;
    tiny_letters_open(tiny);
    return tiny;
}

struct tiny *tiny_track(const struct tiny *of, int i)
{
    struct shape shape = shape_of(of->block, of->n);
    struct shape line = { shape.track_depth, LINE_BYTES, 0, 0, 0 };
    size_t lines = slots_lines(shape, of->n) + (size_t)i * track_lines(shape, of->n);
    return slots_open(of->slots + lines * LINE_BYTES, line, of->channel);
}

/* For XMPI_LOG=1; all ranks have learnt the same. */
static void movers_log(const struct tiny *tiny)
{
    static const char *const whose[MOVERS] = {
        [MOVERS_OF_BLOCKS] = "blocks of allgathers and alltoalls",
        [MOVERS_OF_GATHERS] = "blocks of gathers",
        [MOVERS_OF_LETTERS] = "blocks of alltoallvs (all lengths as one)"
    };
    static const char *const names[MEANS] = { "read", "written" }; /* coll/attach.h */
    for (int i = 0; i < MOVERS && tiny->me == 0; i++)
        means_log(&tiny->movers[i], whose[i], names);
    if (tiny->me == 0)
        rivals_log(tiny->rivals);
}

void tiny_close(struct tiny *tiny)
{
    if (!tiny)
        return;
    movers_log(tiny);
    if (tiny->block && !is_world(tiny->block)) /* MPI_COMM_WORLD's is never used again */
        atomic_fetch_sub_explicit(&tiny->block->members, 1, memory_order_release);
    tiny_free(tiny);
}
