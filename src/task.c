/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations in streams of a device.  What touches the device is put into the stream when the call
 * is made; the operation itself is a nonblocking one on memory of the host, started by a poller
 * when the stream has come to it:
 *
 *     call        copies in, a function of the host, a wait for the task's word, copies out
 *     the device  ... comes to the function, which puts the task into `due` and rings
 *     a poller    takes it from there, starts the operation, looks when it is done, writes the word
 *
 * Large buffers on a device have no copies: the operation moves and folds them there by itself while
 * the stream waits (task_direct.c).
 *
 * A stream that is captured into a graph takes none: a task is performed once.
 *
 * Pinned memory is asked for in powers of two and used again when the stream has passed: a byte of
 * it for each byte on a device that operations under way need.
 */
#include "src/task.h"

#include "runtime/fail.h"
#include "runtime/gpu_stream.h"
#include "src/errhan.h"
#include "src/op.h"
#include "src/request.h"
#include "src/status.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 /* where the copies begin */, SMALLEST_BLOCK = 4096, BLOCK_SIZES = 48 };

struct block {
    struct block *next;
    int size; /* SMALLEST_BLOCK << size bytes */
    uint32_t *word;
};

static struct block *blocks[BLOCK_SIZES]; /* unused, by size */
static _Atomic(struct task *) due;        /* may begin, the last one first */
static struct task *running;              /* begun */

/* ---- pinned memory ---- */

static struct block *block_new(const struct stream *stream, int size)
{
    struct block *block = malloc(sizeof *block);
    if (!block)
        return NULL;
    block->size = size;
    block->word = gpu_pinned_new(stream->device, (size_t)SMALLEST_BLOCK << size);
    if (block->word)
        return block;
    free(block);
    return NULL;
}

static struct block *block_take(const struct stream *stream, size_t bytes)
{
    int size = 0;
    while (size < BLOCK_SIZES && (size_t)SMALLEST_BLOCK << size < bytes)
        size++;
    if (size == BLOCK_SIZES)
        return NULL;
    struct block *block = blocks[size];
    if (block)
        blocks[size] = block->next;
    else
        block = block_new(stream, size);
    if (block)
        __atomic_store_n(block->word, TASK_WAITS, __ATOMIC_RELAXED);
    return block;
}

static void block_give(struct block *block)
{
    if (!block)
        return;
    block->next = blocks[block->size];
    blocks[block->size] = block;
}

/* ---- tasks ---- */

static struct type *type_keep(struct type *type)
{
    return type && !type->predefined ? type_hold(type) : type;
}

static void type_let_go(struct type *type)
{
    if (type && !type->predefined)
        type_release(type);
}

/* The operation is over, and what it referred to may go. */
static void task_let_go(struct task *task)
{
    task_folded(task);
    free(task->send.spread);
    free(task->recv.spread);
    free(task->counts);
    type_let_go(task->send.type);
    op_release(task->op);
    if (task->bucket)
        bucket_drop(task->bucket);
    comm_release(task->comm);
}

static struct task *task_new(const struct task *model)
{
    struct task *task = malloc(sizeof *task);
    if (!task) {
        free(model->counts);
        return NULL;
    }
    *task = *model;
    task->stream = task->comm->stream;
    task->send.type = type_keep(task->send.type);
    task->recv.type = type_keep(task->recv.type);
    op_hold(task->op);
    object_hold(task->comm);
    if (task->bucket)
        bucket_hold(task->bucket);
    return task;
}

static void task_free(struct task *task)
{
    block_give(task->block);
    type_let_go(task->recv.type);
    free(task);
}

/* Pinned memory for the word and the copies, and the copies. */
static int task_open(struct task *task)
{
    task_stage_locate(&task->send);
    task_stage_locate(&task->recv);
    gpu_patient(true);
    task_stage_prepare(&task->send);
    task_stage_prepare(&task->recv);
    task_spare_copies(task);
    size_t bytes = LINE + task_stage_bytes(&task->send) + task_stage_bytes(&task->recv);
    task->block = block_take(task->stream, bytes);
    gpu_patient(false);
    if (!task->block)
        return fail(MPI_ERR_NO_MEM,
                    "no pinned memory of %zu bytes for an operation in a stream", bytes);
    char *flat = (char *)task->block->word + LINE;
    int rc = task_stage_open(&task->send, &flat);
    return rc ? rc : task_stage_open(&task->recv, &flat);
}

void tasks_reclaim(struct stream *stream)
{
    struct task *task;
    while ((task = stream->first) && task->over &&
           __atomic_load_n(task->block->word, __ATOMIC_ACQUIRE) == TASK_PASSED) {
        stream->first = task->next;
        if (!stream->first)
            stream->last = &stream->first;
        task_free(task);
        stream_drop(stream);
    }
}

/* ---- the call ---- */

/* By a thread of the driver, which may not wait. */
static void task_is_due(void *argument)
{
    struct task *task = argument, *last = atomic_load_explicit(&due, memory_order_relaxed);
    do
        task->due_next = last;
    while (!atomic_compare_exchange_weak(&due, &last, task));
    progress_call();
}

/* False: it will never begin. */
static bool queue_begin(struct task *task)
{
    task_stage_queue(&task->send, true);
    task_stage_queue(&task->recv, true);
    return gpu_queue_call(task_is_due, task);
}

static void queue_await(struct task *task)
{
    gpu_queue_wait(task->block->word, TASK_ENDED);
    task_stage_queue(&task->recv, false);
    gpu_queue_write(task->block->word, TASK_PASSED);
}

static void task_list(struct task *task)
{
    struct stream *stream = task->stream;
    object_hold(stream);
    task->next = NULL;
    *stream->last = task;
    stream->last = &task->next;
}

int task_check(const struct comm *comm)
{
    if (!comm->stream)
        return fail(MPI_ERR_COMM, "argument comm has no stream; MPIX_Stream_comm_create makes "
                                  "communicators that have one");
    if (!comm->stream->is_device)
        return fail(MPI_ERR_COMM,
                    "the stream of argument comm is none of a device: it was made without "
                    "the info key \"type\"");
    if (gpu_stream_is_captured(comm->stream->device))
        return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "the stream of argument comm is being captured into a graph, which may run "
                    "many times, while an operation is performed once: put it into the stream "
                    "between two graphs, each time");
    tasks_reclaim(comm->stream);
    return stream_check(comm->stream);
}

/* What is in the stream in spite of an error may still use the task, so it stays. */
int task_enqueue(const struct task *model, struct task **later)
{
    struct task *task = task_new(model);
    int rc = task ? task_check(task->comm) : fail(MPI_ERR_NO_MEM, "no memory for an operation");
    if (!rc)
        rc = task_open(task);
    if (rc && task) {
        task_let_go(task);
        task_free(task);
    }
    if (rc)
        return rc;
    task_list(task);
    task->beside = later != NULL;
    gpu_stalls(1);
    gpu_queue_begin(task->stream->device);
    if (!queue_begin(task)) {
        gpu_stalls(-1);
        task_folded(task);
    }
    if (later)
        *later = task;
    else
        queue_await(task);
    return gpu_queue_end();
}

int task_await(struct task *task)
{
    gpu_queue_begin(task->stream->device);
    queue_await(task);
    return gpu_queue_end();
}

int task_collect(struct task *task)
{
    const struct stage *stage = &task->recv;
    if (task_stage_is_away(stage) && stage->out)
        task_stage_queue(stage, false); /* and it waits: this is no call that enqueues */
    __atomic_store_n(task->block->word, TASK_PASSED, __ATOMIC_RELEASE);
    return task_stage_is_away(stage) ? gpu_check() : MPI_SUCCESS;
}

/* ---- progress ---- */

/* Nobody is there to be told: a fatal handler ends the job, else the request or the stream
 * remembers. */
static void task_fail(struct task *task, int error)
{
    struct stream *stream = task->stream;
    char text[STREAM_TEXT];
    snprintf(text, sizeof text, "%s: %.200s", task->function, fail_text());
    task->result.error = error;
    if (task->request)
        fail_keep(task->request, error);
    if (errhandler_is_fatal(task->comm->errhandler))
        errhandler_raise(task->comm, error, text);
    fail_clear();
    if (task->request || stream->error)
        return;
    memcpy(stream->text, text, sizeof text);
    stream->error = error;
}

static void task_end(struct task *task)
{
    task_stage_spread(&task->recv, false);
    if (task->status)
        status_write(task->status, &task->result);
    if (task->status && task->result.error)
        task->status->MPI_ERROR = task->result.error;
    if (task->request)
        enqueued_done(task->request, &task->result);
    if (task->begun)
        task_trace_end(task);
    task_let_go(task);
    gpu_stalls(-1);
    task->over = true;
    __atomic_store_n(task->block->word, TASK_ENDED, __ATOMIC_RELEASE);
}

static void task_begin(struct task *task)
{
    struct record_call before = record_now;
    record_enter(task->function, NULL);
    if (trace_on)
        task_trace_begin(task);
    task_stage_spread(&task->send, true);
    task_stage_spread(&task->recv, true);
    int rc = task->start(task, &task->running);
    record_now = before;
    if (rc) {
        task_fail(task, rc);
        task_end(task);
        return;
    }
    task->due_next = running;
    running = task;
}

static void task_finish(struct task *task)
{
    struct request *request = task->running;
    task->result = request->result;
    if (task->result.error) {
        if (!fail_recall(request))
            fail(task->result.error, "the operation failed");
        task_fail(task, task->result.error);
    }
    request_discard(request);
    task_end(task);
}

/* In the order in which they were told. */
static int tasks_begin(void)
{
    if (__builtin_expect(!atomic_load_explicit(&due, memory_order_relaxed), 1))
        return 0;
    struct task *last = atomic_exchange(&due, NULL), *first = NULL;
    int n = 0;
    while (last) {
        struct task *next = last->due_next;
        last->due_next = first;
        first = last;
        last = next;
    }
    for (; first; first = last, n++) {
        last = first->due_next;
        task_begin(first);
    }
    return n;
}

static int tasks_finish(void)
{
    int n = 0;
    for (struct task **at = &running; *at;) {
        struct task *task = *at;
        if (!task->running->done) {
            at = &task->due_next;
            continue;
        }
        *at = task->due_next;
        task_finish(task);
        n++;
    }
    return n;
}

static int tasks_poll(void)
{
    int n = tasks_begin();
    return n + tasks_finish();
}

void tasks_open(void)
{
    progress_add(tasks_poll);
}
