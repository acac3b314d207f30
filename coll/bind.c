/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks to bytes.
 *
 *     room        bcast      gather, scatter,      reduce, allreduce,   reduce_scatter(_block)
 *                            allgather, alltoall,  scan, exscan
 *                            neighbor_...
 *     IN          -          part `send`           WHOLE                LIST or EACH
 *     OUT         WHOLE      part `recv`           WHOLE                WHOLE
 *     TMP         -          EACH, packed bytes    WHOLE, some copies   like IN
 *                            v, w: LIST, sizes of
 *                            which come later
 *
 * A part is EACH, or LIST in the v and w forms.  Cutting a vector in elements gives equal pieces
 * on all ranks only if all use the same datatype.  Reductions do by definition.  A broadcast
 * in several blocks is cut in bytes instead, for which its data must lie in one piece.
 *
 * Kept apart (`aside`) and copied before or after:
 *     bcast in several blocks, data with gaps       OUT, packed
 *     blocks with gaps that are cut in pieces       packed (bind_bytes.c), and
 *     alltoall(v, w) in place                       IN, packed: a copy of what will be replaced
 *     reduce_scatter in place                       OUT: it lies at the start of the input,
 *                                                   over blocks that others still need
 *
 * Scratch is typed in reductions: user functions may look at the gaps and bounds of a type, so
 * the address of element 0 is shifted by the type's lowest byte.
 */
#include "coll/bind.h"

#include "coll/scratch.h"
#include "runtime/gpu_reduce.h"

#include <stdlib.h>

/* ---- the rooms ---- */

/* Areas are filled member by member: a struct made elsewhere and copied would wait for itself. */
static void area_whole(struct area *area, void *base, const struct layout *layout, size_t count,
                       int nblocks)
{
    area->how = layout ? CUT_WHOLE : CUT_NOTHING;
    area->base = base;
    area->where = HERE;
    area->layout = layout;
    area->count = count;
    area->nblocks = nblocks;
    area->pieces = 1;
    area->copies = 0;
}

static void area_part(struct area *area, const struct part *part, int nblocks)
{
    area->how = part->vector ? CUT_LIST : CUT_EACH;
    area->base = part->base;
    area->where = part->where;
    area->layout = part->layout;
    area->count = part->count;
    area->nblocks = nblocks;
    area->pieces = 1;
    area->counts = part->counts;
    area->displs = part->displs;
    area->layouts = part->vector ? part->layouts : NULL;
    if (!area->layout && !area->layouts)
        area->how = CUT_NOTHING;
}

/* Packed bytes of one block of a part in which all are equal. */
static size_t block_bytes(const struct area *area)
{
    return area->how == CUT_EACH ? area->count * area->layout->size : 0;
}

/* TMP of so many bytes per block of a room that is moved, not reduced: packed. */
static int packed_scratch(struct bound *b, size_t bytes)
{
    int pieces = b->plan->key.pieces, n = b->plan->nblocks[ROOM_TMP] / pieces;
    if (n == 0)
        return 0;
    b->scratch = scratch_take(bytes * (size_t)n);
    if (!b->scratch)
        return scratch_fail(bytes * (size_t)n);
    b->room[ROOM_TMP] = (struct area){ .how = CUT_EACH,
                                       .base = b->scratch,
                                       .layout = &layout_bytes,
                                       .count = bytes,
                                       .pieces = pieces };
    return 0;
}

/* TMP of blocks that differ: how long they are is learned when the ranks are at it (sized.c). */
static int sized_scratch(struct bound *b)
{
    int n = b->plan->nblocks[ROOM_TMP];
    if (n == 0)
        return 0;
    b->sizes = calloc(2 * (size_t)n, sizeof(*b->sizes));
    if (!b->sizes)
        return scratch_fail(2 * (size_t)n * sizeof(*b->sizes));
    b->room[ROOM_TMP] = (struct area){ .how = CUT_LIST,
                                       .layout = &layout_bytes,
                                       .nblocks = n,
                                       .pieces = 1,
                                       .counts = { .wide = b->sizes },
                                       .displs = { .wide = b->sizes + n } };
    return 0;
}

int bind_sizes(struct bound *b, const int64_t *sizes)
{
    int n = b->plan->nblocks[ROOM_TMP];
    int64_t total = 0;
    if (n == 0 || b->scratch)
        return 0;
    for (int i = 0; i < n; i++) {
        b->sizes[i] = sizes[i];
        b->sizes[n + i] = total;
        total += sizes[i];
    }
    b->scratch = scratch_take((size_t)total);
    if (!b->scratch)
        return scratch_fail((size_t)total);
    b->room[ROOM_TMP].base = b->scratch;
    return 0;
}

static int bind_bcast(struct bound *b)
{
    const struct part *data = &b->call->recv;
    if (b->plan->nblocks[ROOM_OUT] == 1 || !data->layout) {
        area_whole(&b->room[ROOM_OUT], data->base, data->layout, data->count, 1);
        b->room[ROOM_OUT].where = data->where;
        return 0;
    }
    struct buffer user = { data->base, data->count, data->layout, data->where };
    size_t bytes = buffer_bytes(&user);
    char *flat = buffer_flat(&user);
    if (!flat && !(flat = b->aside[ROOM_OUT] = scratch_take(bytes)))
        return scratch_fail(bytes);
    area_whole(&b->room[ROOM_OUT], flat, &layout_bytes, bytes, b->plan->nblocks[ROOM_OUT]);
    return 0;
}

/* ---- reductions ---- */

/* What a device folds lies there, and so do all rooms. */
static void rooms_place(struct bound *b)
{
    for (int r = 0; r < ROOMS; r++)
        b->room[r].where = AWAY;
}

static int bind_reduction(struct bound *b)
{
    const struct call *call = b->call;
    const struct layout *layout = call->reduction.layout;
    const int *n = b->plan->nblocks;
    size_t count = call->recv.count;
    area_whole(&b->room[ROOM_IN], call->send.base, layout, count, n[ROOM_IN]);
    area_whole(&b->room[ROOM_OUT], call->recv.base, layout, count, n[ROOM_OUT]);
    if (n[ROOM_TMP] == 0)
        return 0;
    ptrdiff_t low, apart = (ptrdiff_t)layout_span(layout, count, &low) + 63;
    apart -= apart % 64;
    int copies = (n[ROOM_TMP] + n[ROOM_IN] - 1) / n[ROOM_IN];
    b->scratch = call_scratch_take(call, (size_t)apart * (size_t)copies);
    if (!b->scratch)
        return scratch_fail((size_t)apart * (size_t)copies);
    area_whole(&b->room[ROOM_TMP], buffer_at(b->scratch, -low), layout, count, n[ROOM_IN]);
    b->room[ROOM_TMP].copies = apart;
    return 0;
}

/* Scratch for elements; *base is where the first one would be. */
static int elements_take(const struct call *call, char **memory, void **base, size_t count)
{
    ptrdiff_t low;
    size_t bytes = layout_span(call->reduction.layout, count, &low);
    *memory = call_scratch_take(call, bytes);
    *base = buffer_at(*memory, -low);
    return *memory ? 0 : scratch_fail(bytes);
}

/* Blocks of reduce_scatter lie one behind the other: their counts and displacements, `before`
 * whole vectors later.  Returns the sum. */
static int64_t list_blocks(struct bound *b, int before)
{
    const struct part *recv = &b->call->recv;
    int n = b->npeers;
    int64_t total = 0, *counts = b->listed[ROOM_IN], *displs = counts + before + n;
    for (int i = 0; i < n; i++)
        total += counts[before + i] =
            recv->vector ? counts_at(recv->counts, i) : (int64_t)recv->count;
    for (int i = 0; i < before; i++) {
        counts[i] = total;
        displs[i] = i * total;
    }
    int64_t at = before * total;
    for (int i = 0; i < n; i++) {
        displs[before + i] = at;
        at += counts[before + i];
    }
    return total;
}

static struct area listed(const struct bound *b, void *base, int nlisted)
{
    return (struct area){ .how = CUT_LIST,
                          .base = base,
                          .layout = b->call->reduction.layout,
                          .nblocks = nlisted,
                          .pieces = b->plan->key.pieces,
                          .counts = { .wide = b->listed[ROOM_IN] },
                          .displs = { .wide = b->listed[ROOM_IN] + nlisted } };
}

static int bind_reduce_scatter(struct bound *b)
{
    const struct call *call = b->call;
    const struct layout *layout = call->reduction.layout;
    const struct plan *plan = b->plan;
    bool inter = plan->split > 0;
    int before = inter ? 2 : 0,
        me = plan->key.me - (inter && plan->key.me >= plan->split ? plan->split : 0);
    if (inter) /* recv counts are those of the own group */
        b->npeers = plan->key.me < plan->split ? plan->split : plan->key.size - plan->split;
    int nlisted = before + b->npeers;
    int64_t *counts = b->listed[ROOM_IN] = malloc(2 * (size_t)nlisted * sizeof(*counts));
    if (!counts)
        return scratch_fail(2 * (size_t)nlisted * sizeof(*counts));
    size_t total = (size_t)list_blocks(b, before), mine = (size_t)counts[before + me];
    void *input = call->in_place ? call->recv.base : call->send.base;
    if (inter)
        area_whole(&b->room[ROOM_IN], input, layout, total, 1);
    else
        b->room[ROOM_IN] = listed(b, input, nlisted);
    void *output = call->recv.base, *base = NULL;
    int error = 0;
    if (call->in_place)
        error = elements_take(call, &b->aside[ROOM_OUT], &output, mine);
    area_whole(&b->room[ROOM_OUT], output, layout, mine, plan->nblocks[ROOM_OUT]);
    if (!error && plan->nblocks[ROOM_TMP])
        error = elements_take(call, &b->scratch, &base, total * (inter ? 3 : 1));
    b->room[ROOM_TMP] = listed(b, base, nlisted);
    return error;
}

/* ---- moving ---- */

/* A room that this rank has, whose blocks are as long as those of TMP. */
static enum room room_like_tmp(const struct call *call)
{
    bool from_in = call->in_place ? call->what == COLL_SCATTER : call->what == COLL_GATHER;
    return from_in ? ROOM_IN : ROOM_OUT;
}

static int bind_movement(struct bound *b)
{
    const struct call *call = b->call;
    area_part(&b->room[ROOM_IN], &call->send, b->plan->nblocks[ROOM_IN]);
    area_part(&b->room[ROOM_OUT], &call->recv, b->plan->nblocks[ROOM_OUT]);
    size_t bytes = block_bytes(&b->room[room_like_tmp(call)]);
    int error = bytes_open(b);
    if (error)
        return error;
    return has_sized_scratch(call->what) ? sized_scratch(b) : packed_scratch(b, bytes);
}

int bind_open(struct bound *bound, const struct plan *plan, const struct call *call)
{
    bound->plan = plan;
    bound->call = call;
    bound->npeers = plan->key.size;
    bound->scratch = NULL;
    bound->sizes = NULL;
    bound->kept = NULL;
    for (int r = 0; r < ROOMS; r++) {
        bound->aside[r] = NULL;
        bound->listed[r] = NULL;
        bound->room[r].how = CUT_NOTHING;
        bound->room[r].count = 0; /* means are taken of what is there */
    }
    if (plan->split)
        bound->npeers = plan->key.me < plan->split ? plan->key.size - plan->split : plan->split;
    int error;
    if (plan->nsteps == 0) /* nothing to do, and perhaps no buffers: bystanders */
        return 0;
    if (call->what == COLL_BARRIER)
        error = packed_scratch(bound, 0);
    else if (call->what == COLL_BCAST)
        error = bind_bcast(bound);
    else if (is_reduce_scatter(call->what))
        error = bind_reduce_scatter(bound);
    else if (is_reduction(call->what))
        error = bind_reduction(bound);
    else
        error = bind_movement(bound);
    if (__builtin_expect(call->near != NULL, 0))
        rooms_place(bound);
    if (error)
        bind_close(bound);
    return error;
}

void bind_close(struct bound *bound)
{
    call_scratch_give(bound->call, bound->scratch);
    bound->scratch = NULL;
    for (int r = 0; r < ROOMS; r++) {
        call_scratch_give(bound->call, bound->aside[r]);
        free(bound->listed[r]);
        bound->aside[r] = NULL;
        bound->listed[r] = NULL;
    }
    free(bound->sizes);
    bound->sizes = NULL;
    bind_forget(bound);
}

/* ---- keeping apart ---- */

static bool is_moved(const struct bound *b)
{
    return b->call->what != COLL_BCAST && !is_reduction(b->call->what);
}

static bool keeps_apart(const struct bound *b)
{
    return b->aside[ROOM_IN] || b->aside[ROOM_OUT];
}

static __attribute__((noinline)) void fill_aside(const struct bound *b)
{
    const struct part *data = &b->call->recv;
    struct buffer user = { data->base, data->count, data->layout, data->where };
    if (b->call->what == COLL_BCAST && b->plan->key.me == b->plan->root)
        buffer_pack(&user, 0, b->aside[ROOM_OUT], buffer_bytes(&user));
    else if (is_moved(b))
        bytes_in(b);
}

void bind_begin(const struct bound *b)
{
    if (__builtin_expect(b->call->staging != NULL, 0))
        staging_in(b->call->staging);
    if (keeps_apart(b))
        fill_aside(b);
}

/* How many contributions my result is the sum of. */
static int64_t contributions(const struct bound *b)
{
    const struct plan_key *key = &b->plan->key;
    if (b->call->what == COLL_SCAN || b->call->what == COLL_EXSCAN)
        return key->me + (b->call->what == COLL_SCAN);
    if (key->split == 0)
        return key->size;
    return key->me < key->split ? key->size - key->split : key->split;
}

/* A mean is a sum, divided where the result is.  Without steps the rooms are not filled in, and
 * what is there is one's own contribution or nothing. */
static void finish_mean(const struct bound *b)
{
    const struct reduction *op = &b->call->reduction;
    int64_t n = contributions(b);
    if (b->plan->nsteps == 0 || !b->call->recv.base || n == 0)
        return;
    if (b->call->near)
        gpu_divide(op, b->call->recv.base, b->room[ROOM_OUT].count, n);
    else
        reduce_divide(op, b->call->recv.base, b->room[ROOM_OUT].count, n);
}

static void copy_back(const struct bound *b)
{
    const struct part *data = &b->call->recv;
    const struct area *out = &b->room[ROOM_OUT];
    struct buffer user = { data->base, data->count, data->layout, data->where };
    if (b->call->what == COLL_BCAST && b->plan->key.me != b->plan->root)
        buffer_unpack(&user, 0, b->aside[ROOM_OUT], buffer_bytes(&user));
    if (is_reduce_scatter(b->call->what)) {
        struct buffer from = { out->base, out->count, out->layout, out->where };
        struct buffer to = { data->base, out->count, out->layout, out->where };
        buffer_copy(&to, &from);
    }
    if (is_moved(b))
        bytes_out(b);
}

void bind_end(const struct bound *b)
{
    if (keeps_apart(b))
        copy_back(b);
    if (is_reduction(b->call->what) && b->call->reduction.mean)
        finish_mean(b);
    if (__builtin_expect(b->call->staging != NULL, 0))
        staging_out(b->call->staging);
}
