/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations of streams in a time line (XMPI_TRACE): each stream has a track beside the calls of the
 * program, which only put operations there.
 *
 *     calls       | Allreduce_enqueue |  ...  what the program does meanwhile
 *     stream 0                           | MPIX_Allreduce_enqueue              |
 *                    the stream has come to it                               over
 *
 * The times are those of the thread that makes progress; nothing asks the device.  What the program itself
 * puts into a stream it can name (src/mark.c).
 */
#include "src/task.h"

#include "runtime/clock.h"
#include "runtime/trace.h"

void task_trace_begin(struct task *task)
{
    task->begun = clock_ns();
}

void task_trace_end(const struct task *task)
{
    size_t sent = task_stage_size(&task->send), received = task_stage_size(&task->recv);
    struct trace_work work = { .function = task->function,
                               .begin = task->begun,
                               .end = clock_ns(),
                               .bytes = sent > received ? sent : received,
                               .stream = task->stream->number,
                               .beside = task->beside };
    trace_stream(&work);
}
