/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of data on a device.  Much data of a type that a device calculates with is folded by it:
 * then all rooms of the plan are its memory, messages go from device to device, and nothing else is
 * different.  Each rank decides alone, for a plan is the same wherever a rank has its data.
 *
 * Anything else is folded by the processor: the call is changed into one on copies in memory of the
 * host; what was contributed is brought there before the first step, the result is brought back
 * after the last one.
 *
 *     send (device) --- staging_in ---> copy -+
 *                                           +- reduction of the host, whichever it is
 *     recv (device) <-- staging_out --- copy -+
 *
 * Costs: scratch of the size of both vectors, a copy each.  Collectives that only move data have no
 * staging: their messages come from and go to the device piece by piece.
 */
#include "coll/bind.h"

#include "coll/coll.h"
#include "coll/scratch.h"
#include "runtime/gpu.h"
#include "runtime/gpu_reduce.h"

/* A copy in pinned memory is filled several times as fast; more of it would be the program's to miss. */
enum { PINNED_BYTES = 64 << 20 };

/* Ranks that get a block of a reduce_scatter: those of the own group. */
static int group_size(const struct team *team)
{
    int size = team->channel.size, split = team->split;
    if (split == 0)
        return size;
    return team->channel.rank < split ? split : size - split;
}

static int group_rank(const struct team *team)
{
    int rank = team->channel.rank;
    return team->split && rank >= team->split ? rank - team->split : rank;
}

/* Elements that a rank contributes. */
static size_t operand_count(const struct team *team, const struct call *call)
{
    const struct part *recv = &call->recv;
    size_t total = 0;
    if (!is_reduce_scatter(call->what))
        return recv->count;
    for (int i = 0; i < group_size(team); i++)
        total += recv->vector ? (size_t)counts_at(recv->counts, i) : recv->count;
    return total;
}

static size_t result_count(const struct team *team, const struct call *call)
{
    const struct part *recv = &call->recv;
    return recv->vector ? (size_t)counts_at(recv->counts, group_rank(team)) : recv->count;
}

/* As scratch_typed, for copies of what lies at `from`; NULL: there is none. */
static char *pinned_typed(void **base, const void *from, const struct layout *layout,
                          size_t count)
{
    ptrdiff_t low;
    size_t bytes = layout_span(layout, count, &low);
    if (bytes > PINNED_BYTES)
        return NULL;
    char *pinned = gpu_room_take_pinned(bytes, buffer_at(from, layout->true_lb));
    *base = pinned ? buffer_at(pinned, -low) : NULL;
    return pinned;
}

static int staged_open(struct staged *staged, struct part *part, const struct layout *layout,
                       size_t count)
{
    void *base;
    if (part->where == HERE)
        return 0;
    staged->pinned = pinned_typed(&base, part->base, layout, count);
    int error = staged->pinned ? 0 : scratch_typed(&staged->memory, &base, layout, count);
    if (error)
        return error;
    staged->user = (struct buffer){ part->base, count, layout, AWAY };
    staged->here = (struct buffer){ base, count, layout, HERE };
    part->base = base;
    part->where = HERE;
    return 0;
}

static bool is_elsewhere(const struct part *part)
{
    return part->base && part->where == HERE;
}

/* Room for a message to be folded; it is kept for that. */
static bool device_has_room(const void *near, size_t bytes)
{
    void *room = gpu_room_take(bytes, near);
    gpu_room_give(room);
    return room;
}

/* Why the device cannot fold, or had better not. */
static const char *device_objection(const struct call *call, int ranks, size_t elements,
                                    bool planned)
{
    const void *out = call->recv.where == AWAY ? call->recv.base : call->send.base;
    const void *in = call->in_place || call->send.where == HERE ? out : call->send.base;
    if (!planned)
        return "the algorithm works in memory of the host";
    if (is_elsewhere(&call->recv) || (!call->in_place && is_elsewhere(&call->send)))
        return "one of the buffers is on the host";
    const char *why = gpu_reduce_objection(&call->reduction, ranks, elements, out, in);
    if (!why && !device_has_room(out, elements * call->reduction.layout->size))
        why = "the device has no room for a vector";
    return why;
}

static int copies_open(struct staging *staging, struct call *call, size_t operand,
                       size_t result)
{
    const struct layout *layout = call->reduction.layout;
    staging->recv_is_input = call->in_place || call->what == COLL_EXSCAN;
    staging->result = result;
    int error = staged_open(&staging->send, &call->send, layout, operand);
    if (!error)
        error =
            staged_open(&staging->recv, &call->recv, layout, call->in_place ? operand : result);
    if (error)
        staging_close(staging);
    return error;
}

int staging_open(struct staging *staging, const struct team *team, struct call *call,
                 bool planned)
{
    *staging = (struct staging){ .result = 0 };
    if (!is_reduction(call->what) || !call_is_away(call))
        return 0;
    size_t operand = operand_count(team, call);
    call->why_staged = device_objection(call, team->channel.size, operand, planned);
    if (call->why_staged)
        return copies_open(staging, call, operand, result_count(team, call));
    call->near = call->recv.where == AWAY ? call->recv.base : call->send.base;
    return 0;
}

void staging_close(struct staging *staging)
{
    gpu_room_give(staging->send.pinned);
    gpu_room_give(staging->recv.pinned);
    scratch_give(staging->send.memory);
    scratch_give(staging->recv.memory);
}

void staging_in(const struct staging *staging)
{
    if (staging->send.user.layout)
        buffer_copy(&staging->send.here, &staging->send.user);
    if (staging->recv.user.layout && staging->recv_is_input)
        buffer_copy(&staging->recv.here, &staging->recv.user);
}

void staging_out(const struct staging *staging)
{
    if (!staging->recv.user.layout)
        return;
    struct buffer from = staging->recv.here, to = staging->recv.user;
    from.count = to.count = staging->result;
    buffer_copy(&to, &from);
}

int staging_check(const struct call *call)
{
    return call->staging || call_is_away(call) ? gpu_check() : 0;
}

void *call_scratch_take(const struct call *call, size_t bytes)
{
    return call->near ? gpu_room_take_any(bytes, call->near) : scratch_take(bytes);
}

void call_scratch_give(const struct call *call, void *memory)
{
    if (call->near)
        gpu_room_give(memory);
    else
        scratch_give(memory);
}

void device_fold(const struct reduction *r, const struct buffer *to, const void *a,
                 const void *b)
{
    gpu_reduce(r, to->base, a, b, to->count);
}
