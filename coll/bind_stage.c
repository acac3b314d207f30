/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of data on a device.  Arithmetic is done by the processor, so the call is changed into
 * one on copies in memory of the host; what was contributed is brought there before the first
 * step, the result is brought back after the last one.
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

static int staged_open(struct staged *staged, struct part *part, const struct layout *layout,
                       size_t count)
{
    void *base;
    if (part->where == HERE)
        return 0;
    int error = scratch_typed(&staged->memory, &base, layout, count);
    if (error)
        return error;
    staged->user = (struct buffer){ part->base, count, layout, AWAY };
    staged->here = (struct buffer){ base, count, layout, HERE };
    part->base = base;
    part->where = HERE;
    return 0;
}

int staging_open(struct staging *staging, const struct team *team, struct call *call)
{
    *staging = (struct staging){ .result = 0 };
    if (!is_reduction(call->what) || !call_is_away(call))
        return 0;
    const struct layout *layout = call->reduction.layout;
    size_t operand = operand_count(team, call), result = result_count(team, call);
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

void staging_close(struct staging *staging)
{
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
