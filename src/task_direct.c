/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations in streams that work on memory of a device themselves, while the stream waits:
 *
 *     with copies    stream   whole buffer -> pinned | begin | waits ...      | pinned -> whole buffer
 *     without        stream                            begin | waits ...      |
 *                    we                                        pieces, as the link takes them; or read
 *                                                              by the receiver; folded by kernels
 *
 * So the first bytes leave when the first piece has been copied, ranks of a node copy from device to
 * device, and vectors are folded where they lie.  Each rank and buffer decides alone: large ones
 * (XMPI_CUDA_ENQUEUE), in a context in which we have a stream of our own.  A reduction whose device
 * would not fold gets copies by the stream, which are made faster.
 *
 * While streams wait nothing may be asked of the driver that waits for the device (gpu_stall.c), so it
 * is asked for here, before.  What turns out to be lacking later has another way, and is there next
 * time.
 */
#include "src/task.h"

#include "pml/device.h"
#include "runtime/gpu_reduce.h"
#include "runtime/gpu_stream.h"
#include "runtime/param.h"
#include "src/op.h"

static void *stage_begin(const struct stage *stage)
{
    return buffer_at(stage->user, stage->type->layout->true_lb);
}

static bool is_served(const struct stage *stage)
{
    return task_stage_is_away(stage) && !stage->pieces && gpu_serves(stage_begin(stage));
}

static bool is_large(const struct stage *stage)
{
    size_t least = (size_t)param_number(CUDA_ENQUEUE);
    return least > 0 && task_stage_size(stage) >= least;
}

static void spare_copy(struct stage *stage)
{
    device_prepare(stage_begin(stage));
    stage->where = HERE;
}

/* An algorithm needs up to three rooms of a vector: its own, a copy of what is in place, and one where
 * messages land.  Operations of a stream have them one after another, those of several at a time. */
enum { ROOMS = 3, MOST_ROOMS = 16 * ROOMS };
static int folding; /* streams with such operations */

static bool rooms_are_there(int streams, size_t bytes, const void *near)
{
    void *rooms[MOST_ROOMS];
    int n = 0;
    while (n < streams * ROOMS && n < MOST_ROOMS) {
        void *room = n ? gpu_room_take_any(bytes, near) : gpu_room_take(bytes, near);
        if (!room)
            break;
        rooms[n++] = room;
    }
    for (int i = 0; i < n; i++)
        gpu_room_give(rooms[i]);
    return n == streams * ROOMS;
}

/* Will a device fold these? */
static bool device_folds(const struct task *task)
{
    const struct stage *one = task->recv.type ? &task->recv : &task->send;
    const struct stage *other = task->send.type ? &task->send : one;
    const struct stage *longer = other->count > one->count ? other : one;
    struct reduction reduction;
    return is_large(longer) && is_served(one) && is_served(other) &&
           op_bind(task->op, one->type, &reduction) == 0 &&
           !gpu_reduce_objection(&reduction, task->comm->team.channel.size, longer->count,
                                 stage_begin(one), stage_begin(other)) &&
           rooms_are_there(folding, task_stage_size(longer), stage_begin(longer));
}

/* Counted before, as others come meanwhile. */
static bool task_will_fold(struct task *task)
{
    task->folds = true;
    if (task->stream->folds++ == 0)
        folding++;
    if (!device_folds(task))
        task_folded(task);
    return task->folds;
}

void task_spare_copies(struct task *task)
{
    struct stage *stages[] = { &task->send, &task->recv };
    bool folds = task->op && task_will_fold(task);
    for (int i = 0; i < 2; i++) {
        if (task->op ? folds && stages[i]->type : is_served(stages[i]) && is_large(stages[i]))
            spare_copy(stages[i]);
    }
}

void task_folded(struct task *task)
{
    if (task->folds && --task->stream->folds == 0)
        folding--;
    task->folds = false;
}
