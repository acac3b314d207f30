/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams of the pretended driver: a queue and a thread each, so what is put into a stream happens
 * later, and in an order that only streams and events give.
 *
 *     cuMemcpyAsync, fake_launch ...  ->  [ copy | kernel | record | wait ]  ->  the thread
 *
 * Each command waits a moment before it runs, longer than a program needs to go on; whoever forgets
 * an event reads what was there before.  Strict where the real one may be lenient:
 *
 *     functions of the host run one at a time, of all streams, and may not call the driver
 *     with FAKE_STRICT=1 whatever a driver may let wait for the device does wait for all streams
 *     a stream that never was, or is no more, is an error
 *     with FAKE_QUEUE=n who adds to a stream that holds n commands waits until it has room
 */
#include "fake_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOMENT_NS = 100000, LOOK_NS = 20000, MOST_STREAMS = 64 };
struct queue {
    pthread_t thread;
    cuda_context context;
    struct command *first, **last; /* the first one is being performed */
    int holds;
    bool closed;
    bool alone; /* does not wait for the default stream */
    cuda_result error;
};

EXPORT cuda_result cuStreamCreate(cuda_stream *stream, unsigned flags);
EXPORT cuda_stream_create_with_priority cuStreamCreateWithPriority;
EXPORT cuda_ctx_get_stream_priority_range cuCtxGetStreamPriorityRange;
EXPORT cuda_result cuStreamDestroy_v2(cuda_stream stream);
EXPORT cuda_result cuCtxSynchronize(void);
EXPORT cuda_stream_get_ctx cuStreamGetCtx;
EXPORT cuda_launch_host_func cuLaunchHostFunc;
EXPORT cuda_stream_wait_value_32 cuStreamWaitValue32_v2;
EXPORT cuda_stream_write_value_32 cuStreamWriteValue32_v2;
EXPORT fake_launch_kernel fake_launch;
EXPORT fake_count_waits fake_waits;

pthread_mutex_t fake_queue_lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static struct queue *queues[MOST_STREAMS];
static _Thread_local unsigned waits;

static pthread_mutex_t host_functions = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool in_host_function;

bool fake_is_host_function(void)
{
    return in_host_function;
}

/* ---- the thread of a stream ---- */

static void pass(long ns)
{
    nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static void host_function_call(const struct command *c)
{
    pthread_mutex_lock(&host_functions);
    in_host_function = true;
    c->function(c->argument);
    in_host_function = false;
    pthread_mutex_unlock(&host_functions);
}

/* Who waits for it hears of what went wrong before. */
static void mark_reach(struct queue *q, struct fake_mark *mark, uint32_t number)
{
    struct timespec now;
    pthread_mutex_lock(&fake_queue_lock);
    mark->reached = number;
    clock_gettime(CLOCK_MONOTONIC, &now);
    mark->ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    mark->error = q->error;
    q->error = SUCCESS;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&fake_queue_lock);
}

static cuda_result mark_await(const struct fake_mark *mark, uint32_t number)
{
    pthread_mutex_lock(&fake_queue_lock);
    while ((int32_t)(mark->reached - number) < 0)
        pthread_cond_wait(&moved, &fake_queue_lock);
    cuda_result error = mark->error;
    pthread_mutex_unlock(&fake_queue_lock);
    return error;
}

/* As a device does: nobody tells that a word of memory has changed. */
static void value_await(const struct command *c)
{
    while ((int32_t)(__atomic_load_n(c->word, __ATOMIC_ACQUIRE) - c->number) < 0)
        pass(LOOK_NS);
}

/* The first error of a stream stays, until somebody hears of it. */
static void error_note(struct queue *q, cuda_result error)
{
    pthread_mutex_lock(&fake_queue_lock);
    q->error = q->error ? q->error : error;
    pthread_mutex_unlock(&fake_queue_lock);
}

static void perform(struct queue *q, const struct command *c)
{
    switch (c->what) {
    case COPY:
        error_note(q, fake_copy_rows(&c->rows));
        break;
    case PTX:
        error_note(q, ptx_run(&c->launch));
        break;
    case KERNEL:
        c->function(c->argument);
        break;
    case HOST_FUNCTION:
        host_function_call(c);
        break;
    case RECORD:
        mark_reach(q, c->mark, c->number);
        break;
    case WAIT_MARK:
        mark_await(c->mark, c->number);
        break;
    case WAIT_VALUE:
        value_await(c);
        break;
    case WRITE_VALUE:
        __atomic_store_n(c->word, c->number, __ATOMIC_RELEASE);
        break;
    }
}

static struct command *command_await(struct queue *q)
{
    pthread_mutex_lock(&fake_queue_lock);
    while (!q->first && !q->closed)
        pthread_cond_wait(&moved, &fake_queue_lock);
    struct command *c = q->first;
    pthread_mutex_unlock(&fake_queue_lock);
    return c;
}

static void command_over(struct queue *q, struct command *c)
{
    pthread_mutex_lock(&fake_queue_lock);
    struct fake_mark *mark = c->mark;
    q->first = c->next;
    q->holds--;
    if (mark && --mark->users == 0)
        free(mark->dropped);
    if (!q->first)
        q->last = &q->first;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&fake_queue_lock);
    free(c);
}

static void *queue_run(void *argument)
{
    struct queue *q = argument;
    struct command *c;
    while ((c = command_await(q))) {
        pass(MOMENT_NS);
        perform(q, c);
        command_over(q, c);
    }
    return NULL;
}

/* ---- streams ---- */

/* Under the lock: its place, or -1. */
static int queue_at(cuda_stream stream)
{
    for (int i = 0; i < MOST_STREAMS; i++)
        if (queues[i] == stream)
            return i;
    return -1;
}

bool fake_is_queue(cuda_stream stream)
{
    pthread_mutex_lock(&fake_queue_lock);
    bool found = stream && queue_at(stream) >= 0;
    pthread_mutex_unlock(&fake_queue_lock);
    return found;
}

cuda_result cuStreamCreate(cuda_stream *stream, unsigned flags)
{
    struct queue *q = fake_current() ? calloc(1, sizeof *q) : NULL;
    if (!q)
        return INVALID_CONTEXT;
    q->alone = flags & CUDA_STREAM_NON_BLOCKING;
    q->context = fake_current();
    q->last = &q->first;
    pthread_mutex_lock(&fake_queue_lock);
    int at = queue_at(NULL);
    bool made = at >= 0 && pthread_create(&q->thread, NULL, queue_run, q) == 0;
    if (made)
        *stream = queues[at] = q;
    pthread_mutex_unlock(&fake_queue_lock);
    if (!made)
        free(q);
    return made ? SUCCESS : OUT_OF_MEMORY;
}

cuda_result cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return fake_current() ? SUCCESS : INVALID_CONTEXT;
}

cuda_result cuStreamCreateWithPriority(cuda_stream *stream, unsigned flags, int priority)
{
    return priority < -5 || priority > 0 ? INVALID_VALUE : cuStreamCreate(stream, flags);
}

/* What it holds is performed. */
cuda_result cuStreamDestroy_v2(cuda_stream stream)
{
    struct queue *q = stream;
    if (!fake_is_queue(stream))
        return INVALID_HANDLE;
    pthread_mutex_lock(&fake_queue_lock);
    queues[queue_at(stream)] = NULL;
    q->closed = true;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&fake_queue_lock);
    pthread_join(q->thread, NULL);
    free(q);
    return SUCCESS;
}

/* The default stream, 0 or 1, is one for all contexts here; it is made when it is first used. */
static cuda_stream named(cuda_stream stream)
{
    static cuda_stream one;
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    if ((uintptr_t)stream > 1)
        return stream;
    pthread_mutex_lock(&first);
    if (!one)
        cuStreamCreate(&one, 0);
    pthread_mutex_unlock(&first);
    return one;
}

cuda_result cuStreamGetCtx(cuda_stream stream, cuda_context *context)
{
    if ((uintptr_t)stream <= 2) {
        *context = fake_current();
        return *context ? SUCCESS : INVALID_CONTEXT;
    }
    if (!fake_is_queue(stream))
        return INVALID_HANDLE;
    *context = ((struct queue *)stream)->context;
    return SUCCESS;
}

/* ---- waiting for the device ---- */

void fake_waits_count(void)
{
    waits++;
}

unsigned fake_waits(void)
{
    return waits;
}

cuda_result fake_queue_synchronize(cuda_stream stream)
{
    stream = named(stream);
    pthread_mutex_lock(&fake_queue_lock);
    bool good = stream && queue_at(stream) >= 0;
    while (good && ((struct queue *)stream)->first)
        pthread_cond_wait(&moved, &fake_queue_lock);
    cuda_result error = good ? ((struct queue *)stream)->error : INVALID_HANDLE;
    if (good)
        ((struct queue *)stream)->error = SUCCESS;
    pthread_mutex_unlock(&fake_queue_lock);
    return error;
}

void fake_stall(bool default_one)
{
    const char *strict = getenv("FAKE_STRICT");
    if (!strict || *strict != '1')
        return;
    pthread_mutex_lock(&fake_queue_lock);
    for (int i = 0; i < MOST_STREAMS; i++)
        while (queues[i] && queues[i]->first && !(default_one && queues[i]->alone))
            pthread_cond_wait(&moved, &fake_queue_lock);
    pthread_mutex_unlock(&fake_queue_lock);
}

cuda_result cuCtxSynchronize(void)
{
    cuda_result rc = fake_may_call();
    fake_waits_count();
    for (int i = 0; rc == SUCCESS && i < MOST_STREAMS; i++)
        if (queues[i])
            fake_queue_synchronize(queues[i]);
    return rc;
}

/* ---- what goes into them ---- */

static int most_held(void)
{
    const char *most = getenv("FAKE_QUEUE");
    return most ? atoi(most) : 1 << 30;
}

cuda_result fake_queue_add(cuda_stream stream, const struct command *command)
{
    cuda_result rc = fake_may_call();
    stream = named(stream);
    if (rc == SUCCESS && !fake_is_queue(stream))
        rc = INVALID_HANDLE;
    struct command *c = rc ? NULL : malloc(sizeof *c);
    struct queue *q = stream;
    if (rc)
        return rc;
    *c = *command;
    c->next = NULL;
    pthread_mutex_lock(&fake_queue_lock);
    if (fake_captured && fake_captured->stream == stream) {
        rc = fake_captured_add(c);
        pthread_mutex_unlock(&fake_queue_lock);
        return rc;
    }
    while (q->holds >= most_held())
        pthread_cond_wait(&moved, &fake_queue_lock);
    q->holds++;
    if (c->mark)
        c->mark->users++;
    if (c->what == RECORD)
        c->number = ++c->mark->asked;
    *q->last = c;
    q->last = &c->next;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&fake_queue_lock);
    return SUCCESS;
}

cuda_result fake_queue_copy(cuda_stream stream, const struct cuda_copy_2d *rows)
{
    return fake_queue_add(stream, &(struct command){ .what = COPY, .rows = *rows });
}

cuda_result fake_queue_kernel(cuda_stream stream, const struct ptx_launch *launch)
{
    return fake_queue_add(stream, &(struct command){ .what = PTX, .launch = *launch });
}

cuda_result fake_launch(cuda_stream stream, void (*kernel)(void *), void *argument)
{
    struct command c = { .what = KERNEL, .function = kernel, .argument = argument };
    return fake_queue_add(stream, &c);
}

cuda_result cuLaunchHostFunc(cuda_stream stream, cuda_host_function *function, void *argument)
{
    struct command c = { .what = HOST_FUNCTION, .function = function, .argument = argument };
    return fake_queue_add(stream, &c);
}

static cuda_result queue_word(cuda_stream stream, enum what what, cuda_address word,
                              uint32_t value)
{
    struct command c = { .what = what, .word = (void *)(uintptr_t)word, .number = value };
    return word % sizeof value ? INVALID_VALUE : fake_queue_add(stream, &c);
}

cuda_result cuStreamWaitValue32_v2(cuda_stream stream, cuda_address word, uint32_t value,
                                   unsigned flags)
{
    if (flags != CUDA_WAIT_AT_LEAST)
        return INVALID_VALUE;
    return queue_word(stream, WAIT_VALUE, word, value);
}

cuda_result cuStreamWriteValue32_v2(cuda_stream stream, cuda_address word, uint32_t value,
                                    unsigned flags)
{
    if (flags != CUDA_WRITE_DEFAULT)
        return INVALID_VALUE;
    return queue_word(stream, WRITE_VALUE, word, value);
}

/* ---- marks: what events are here ---- */

cuda_result fake_queue_record(cuda_stream stream, struct fake_mark *mark)
{
    return fake_queue_add(stream, &(struct command){ .what = RECORD, .mark = mark });
}

static uint32_t mark_asked(const struct fake_mark *mark)
{
    pthread_mutex_lock(&fake_queue_lock);
    uint32_t asked = mark->asked;
    pthread_mutex_unlock(&fake_queue_lock);
    return asked;
}

cuda_result fake_queue_wait(cuda_stream stream, struct fake_mark *mark)
{
    struct command c = { .what = WAIT_MARK, .mark = mark, .number = mark_asked(mark) };
    return fake_queue_add(stream, &c);
}

bool fake_mark_is_reached(const struct fake_mark *mark)
{
    pthread_mutex_lock(&fake_queue_lock);
    bool reached = mark->reached == mark->asked;
    pthread_mutex_unlock(&fake_queue_lock);
    return reached;
}

int64_t fake_mark_ns(const struct fake_mark *mark)
{
    pthread_mutex_lock(&fake_queue_lock);
    int64_t ns = mark->ns;
    pthread_mutex_unlock(&fake_queue_lock);
    return ns;
}

cuda_result fake_mark_await(const struct fake_mark *mark)
{
    return mark_await(mark, mark_asked(mark));
}

void fake_mark_drop(struct fake_mark *mark, void *memory)
{
    pthread_mutex_lock(&fake_queue_lock);
    mark->dropped = memory;
    if (mark->users == 0)
        free(memory);
    pthread_mutex_unlock(&fake_queue_lock);
}
