/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks that are moved, as bytes.  The two ends of a block may describe it by different datatypes,
 * and only in bytes do both cut it alike:
 *
 *     sender     2 x { double, int, gap }      pieces of  8 + 4 + 8 + 4 = 24 bytes in three:
 *     receiver   6 x int                       each sees bytes 0 to 7, 8 to 15, 16 to 23
 *
 * A room becomes a list of bytes: where its blocks lie, or, when they have gaps, in a packed copy.
 * Copies are filled before and written back after all steps.  Blocks of edges to nobody are no part of it.
 */
#include "coll/bind.h"

#include "coll/scratch.h"

#include <stdlib.h>

static bool replaces(const struct call *call)
{
    return call->in_place && (call->what == COLL_ALLTOALL || call->what == COLL_ALLTOALLV ||
                              call->what == COLL_ALLTOALLW);
}

/* The user's buffer in which the blocks of a room lie. */
static const struct part *part_of(const struct bound *b, enum room room)
{
    bool output = room == ROOM_OUT || replaces(b->call);
    return output ? &b->call->recv : &b->call->send;
}

static int blocks_in(const struct bound *b, enum room room)
{
    return b->plan->nblocks[room] / b->plan->key.pieces;
}

/* How long blocks are; those of nobody are touched by nobody. */
static void measure(const struct bound *b, enum room room, int64_t *counts)
{
    const struct neighbours *near = b->plan->neighbours;
    for (int i = 0; i < blocks_in(b, room); i++) {
        struct buffer block = block_of(part_of(b, room), i);
        counts[i] = (int64_t)buffer_bytes(&block);
    }
    bool one_for_all =
        b->call->what == COLL_NEIGHBOR_ALLGATHER || b->call->what == COLL_NEIGHBOR_ALLGATHERV;
    bool along_edges = near && !(room == ROOM_IN && one_for_all);
    int nedges = !along_edges ? 0 : room == ROOM_IN ? near->ndestinations : near->nsources;
    for (int k = 0; k < nedges; k++) {
        const struct edge *edge = room == ROOM_IN ? &near->destination[k] : &near->source[k];
        if (edge->peer < 0)
            counts[edge->block] = 0;
    }
}

static bool is_solid(const struct part *part, int n, const int64_t *counts)
{
    for (int i = 0; i < n; i++) {
        struct buffer block = block_of(part, i);
        if (counts[i] > 0 && !buffer_solid(&block))
            return false;
    }
    return true;
}

/* Where they begin; returns how long all are. */
static int64_t place(const struct part *part, int n, bool apart, const int64_t *counts,
                     int64_t *displs)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        struct buffer block = block_of(part, i);
        bool lies = !apart && counts[i] > 0;
        displs[i] = lies ? buffer_solid(&block) - (char *)part->base : total;
        total += counts[i];
    }
    return total;
}

static int room_as_bytes(struct bound *b, enum room room, bool copied)
{
    const struct part *part = part_of(b, room);
    int n = blocks_in(b, room);
    int64_t *counts = malloc((2 * (size_t)n + 1) * sizeof(*counts));
    if (!counts)
        return scratch_fail(2 * (size_t)n * sizeof(*counts));
    b->listed[room] = counts;
    measure(b, room, counts);
    bool apart = copied || !is_solid(part, n, counts);
    size_t all = (size_t)place(part, n, apart, counts, counts + n);
    if (apart && !(b->aside[room] = scratch_take(all)))
        return scratch_fail(all);
    b->room[room] = (struct area){ .how = CUT_LIST,
                                   .where = apart ? HERE : part->where,
                                   .base = apart ? b->aside[room] : part->base,
                                   .layout = &layout_bytes,
                                   .nblocks = n,
                                   .pieces = b->plan->key.pieces,
                                   .counts = { .wide = counts },
                                   .displs = { .wide = counts + n } };
    return 0;
}

/* Blocks of it lie in the other room; nobody asks for it. */
static bool is_alias(const struct call *call, enum room room)
{
    enum alias alias = bind_alias(call->what, call->in_place);
    return alias == (room == ROOM_IN ? ALIAS_MINE : ALIAS_INPUT);
}

int bytes_open(struct bound *b)
{
    int error = 0;
    for (enum room room = ROOM_IN; room <= ROOM_OUT && !error; room++) {
        bool copied = room == ROOM_IN && replaces(b->call), cut = b->plan->key.pieces > 1;
        if (is_alias(b->call, room) && cut)
            b->room[room].how = CUT_NOTHING;
        else if (copied || (cut && b->room[room].how != CUT_NOTHING))
            error = room_as_bytes(b, room, copied);
    }
    return error;
}

/* Block i of a room and where it lies in its copy; false: there is nothing in it. */
static bool copy_of(const struct bound *b, enum room room, int i, struct buffer *block,
                    char **copy)
{
    const int64_t *counts = b->listed[room], *displs = counts + blocks_in(b, room);
    *block = block_of(part_of(b, room), i);
    *copy = b->aside[room] + displs[i];
    return counts[i] > 0;
}

void bytes_in(const struct bound *b)
{
    struct buffer block;
    char *copy;
    for (enum room room = ROOM_IN; room <= ROOM_OUT; room++)
        for (int i = 0; b->aside[room] && i < blocks_in(b, room); i++)
            if (copy_of(b, room, i, &block, &copy))
                buffer_pack(&block, 0, copy, buffer_bytes(&block));
}

void bytes_out(const struct bound *b)
{
    struct buffer block;
    char *copy;
    for (int i = 0; b->aside[ROOM_OUT] && i < blocks_in(b, ROOM_OUT); i++)
        if (copy_of(b, ROOM_OUT, i, &block, &copy))
            buffer_unpack(&block, 0, copy, buffer_bytes(&block));
}
