/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers of operations in streams: copies that the stream makes, copies that the processor makes.
 */
#include "src/task.h"

#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "runtime/gpu_pack.h"
#include "src/bucket.h"
#include "src/type.h"

#include <stdlib.h>

enum { LINE = 64 };

size_t task_stage_size(const struct stage *stage)
{
    return stage->type ? stage->count * stage->type->layout->size : 0;
}

size_t task_stage_bytes(const struct stage *stage)
{
    if (!task_stage_is_away(stage))
        return 0;
    return (task_stage_size(stage) + LINE - 1) / LINE * LINE;
}

void task_stage_locate(struct stage *stage)
{
    stage->at = (void *)stage->user;
    if (stage->pieces)
        stage->where = AWAY; /* wherever they are */
    else if (stage->type && stage->count > 0 && stage->user != MPI_IN_PLACE)
        stage->where = buffer_where(stage->user, stage->type->layout);
}

void task_stage_prepare(const struct stage *stage)
{
    if (!task_stage_is_away(stage) || stage->pieces)
        return;
    struct buffer user = { (void *)stage->user, stage->count, stage->type->layout, AWAY };
    if (stage->in)
        gpu_pack_prepare(&user, true);
    if (stage->out)
        gpu_pack_prepare(&user, false);
}

int task_stage_open(struct stage *stage, char **flat)
{
    ptrdiff_t low;
    if (!task_stage_is_away(stage))
        return MPI_SUCCESS;
    stage->at = stage->flat = *flat;
    *flat += task_stage_bytes(stage);
    if (stage->type->layout->solid)
        return MPI_SUCCESS;
    size_t span = layout_span(stage->type->layout, stage->count, &low);
    stage->spread = malloc(span);
    if (!stage->spread)
        return fail(MPI_ERR_NO_MEM, "no memory for a copy of %zu bytes", span);
    stage->at = buffer_at(stage->spread, -low);
    return MPI_SUCCESS;
}

/* Copy the pieces that lie there, by the stream or, HERE, by the processor. */
static void pieces_move(const struct stage *stage, enum where where, bool in)
{
    char *flat = stage->flat;
    for (int i = 0; i < stage->npieces; i++) {
        struct buffer user = piece_buffer(&stage->pieces[i], stage->type->layout, in);
        size_t bytes = buffer_bytes(&user);
        if (user.where != where)
            ;
        else if (where == AWAY)
            gpu_move(&user, 0, flat, bytes, in);
        else if (in)
            buffer_pack(&user, 0, flat, bytes);
        else
            buffer_unpack(&user, 0, flat, bytes);
        flat += bytes;
    }
}

void task_stage_queue(const struct stage *stage, bool in)
{
    struct buffer user = { (void *)stage->user, in ? stage->count : stage->result,
                           stage->type ? stage->type->layout : NULL, AWAY };
    if (!task_stage_is_away(stage) || !(in ? stage->in : stage->out) || user.count == 0)
        return;
    if (stage->pieces)
        pieces_move(stage, AWAY, in);
    else
        gpu_move(&user, 0, stage->flat, buffer_bytes(&user), in);
}

void task_stage_spread(const struct stage *stage, bool before)
{
    if (stage->pieces)
        pieces_move(stage, HERE, before);
    if (!stage->spread || !(before ? stage->in : stage->out))
        return;
    struct buffer here = { stage->at, before ? stage->count : stage->result,
                           stage->type->layout, HERE };
    if (before)
        buffer_unpack(&here, 0, stage->flat, buffer_bytes(&here));
    else
        buffer_pack(&here, 0, stage->flat, buffer_bytes(&here));
}
