/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver of CUDA without a GPU: what the library calls of libcuda.so.1, over the addresses of
 * fake.h; here its contexts, copies and events.  Strict where the real one may be lenient:
 *
 *     copies in the stream of a thread are performed when it is waited for, and not before
 *     a thread without a context may not copy
 *     rows may not overlap, nor be farther apart than the device can count; FAKE_NO_ROWS=1: none are copied
 *
 * What memory is, and handles of it: fake_memory.c.  Streams that were made: fake_queue.c.
 */
#include "fake_inside.h"
#include "fake_ptx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char fake_contexts[FAKE_DEVICES];
static _Thread_local cuda_context current[8];
static _Thread_local int ncurrent;

enum { QUEUE = 64 }; /* copies; as on a real device a full queue is waited for */

/* The stream of a thread.  Any thread may wait for what it holds. */
struct stream {
    struct command {
        struct cuda_copy_2d rows;
        struct ptx_launch launch; /* no kernel: a copy */
    } commands[QUEUE];            /* number i at i % QUEUE */
    uint64_t queued, performed;
    cuda_result error;
};
static _Thread_local struct stream *own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct event {
    struct stream *stream; /* NULL: was never recorded */
    uint64_t queued;       /* copies before it */
    struct fake_mark mark; /* in streams that were made */
    bool timing;
};

EXPORT cuda_memcpy_async cuMemcpyAsync;
EXPORT cuda_memcpy_2d_async cuMemcpy2DAsync_v2;
EXPORT cuda_stream_synchronize cuStreamSynchronize;
EXPORT cuda_event_create cuEventCreate;
EXPORT cuda_event_record cuEventRecord;
EXPORT cuda_event_query cuEventQuery;
EXPORT cuda_event_elapsed_time cuEventElapsedTime;
EXPORT cuda_event_synchronize cuEventSynchronize;
EXPORT cuda_event_destroy cuEventDestroy_v2;
EXPORT cuda_ctx_get_current cuCtxGetCurrent;
EXPORT cuda_ctx_push_current cuCtxPushCurrent_v2;
EXPORT cuda_ctx_pop_current cuCtxPopCurrent_v2;
EXPORT cuda_get_error_name cuGetErrorName;
EXPORT cuda_context fake_context(int device); /* for tests */
EXPORT unsigned fake_copies(void);            /* that were begun */
EXPORT size_t fake_crossed(void);             /* bytes, between the host and a device */
EXPORT cuda_init cuInit;
EXPORT cuda_device_get cuDeviceGet;
EXPORT cuda_device_get_count cuDeviceGetCount;
EXPORT cuda_device_get_by_pci_bus_id cuDeviceGetByPCIBusId;
EXPORT cuda_device_get_attribute cuDeviceGetAttribute;
EXPORT cuda_ctx_get_device cuCtxGetDevice;
EXPORT cuda_device_get_uuid cuDeviceGetUuid_v2;
EXPORT cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, int device);
EXPORT cuda_result cuCtxSetCurrent(cuda_context context);
EXPORT cuda_result cuStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned flags);

cuda_context fake_context(int device)
{
    return &fake_contexts[device];
}

cuda_context fake_current(void)
{
    return ncurrent ? current[ncurrent - 1] : NULL;
}

cuda_result fake_may_call(void)
{
    return fake_is_host_function() ? NOT_PERMITTED : ncurrent == 0 ? INVALID_CONTEXT : SUCCESS;
}

/* ---- streams ---- */

static struct stream *stream_own(void)
{
    if (!own)
        own = calloc(1, sizeof *own); /* events may outlive the thread */
    return own;
}

static cuda_result perform(const struct command *c)
{
    return c->launch.kernel ? ptx_run(&c->launch) : fake_copy_rows(&c->rows);
}

/* Perform what lies before this one.  An error stays, as on a real device. */
static cuda_result stream_run(struct stream *stream, uint64_t before)
{
    if (stream->performed < before)
        fake_stall(true);
    pthread_mutex_lock(&lock);
    while (stream->performed < before) {
        cuda_result result = perform(&stream->commands[stream->performed++ % QUEUE]);
        if (result)
            stream->error = result;
    }
    cuda_result result = stream->error;
    stream->error = SUCCESS; /* else no test could go on */
    pthread_mutex_unlock(&lock);
    return result;
}

static void own_add(struct command command)
{
    struct stream *mine = stream_own();
    if (mine->queued - mine->performed == QUEUE)
        mine->error = stream_run(mine, mine->queued);
    mine->commands[mine->queued++ % QUEUE] = command;
}

static unsigned copies;

unsigned fake_copies(void)
{
    return __atomic_load_n(&copies, __ATOMIC_RELAXED);
}

static size_t crossed;

size_t fake_crossed(void)
{
    return __atomic_load_n(&crossed, __ATOMIC_RELAXED);
}

static cuda_result copy_add(const struct cuda_copy_2d *rows, cuda_stream stream)
{
    __atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
    if (fake_is_device(rows->from) != fake_is_device(rows->to))
        __atomic_fetch_add(&crossed, rows->width * rows->height, __ATOMIC_RELAXED);
    cuda_result rc = fake_may_call();
    if (rc)
        return rc;
    if ((rows->from | rows->to) & FAKE_BROKEN)
        return ILLEGAL_ADDRESS;
    if (rows->width == 0 || rows->from_pitch < rows->width || rows->to_pitch < rows->width)
        return INVALID_VALUE;
    if (stream != CUDA_STREAM_PER_THREAD)
        return fake_queue_copy(stream, rows);
    own_add((struct command){ .rows = *rows });
    return SUCCESS;
}

cuda_result fake_kernel_add(const struct ptx_launch *launch, cuda_stream stream)
{
    if (stream != CUDA_STREAM_PER_THREAD)
        return fake_queue_kernel(stream, launch);
    own_add((struct command){ .launch = *launch });
    return SUCCESS;
}

cuda_result cuMemcpyAsync(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream)
{
    struct cuda_copy_2d rows = { .from = from,
                                 .from_pitch = bytes,
                                 .to = to,
                                 .to_pitch = bytes,
                                 .width = bytes,
                                 .height = 1 };
    return copy_add(&rows, stream);
}

cuda_result cuMemcpy2DAsync_v2(const struct cuda_copy_2d *rows, cuda_stream stream)
{
    const char *none = getenv("FAKE_NO_ROWS");
    if (rows->from_type != CUDA_MEMORY_UNIFIED || rows->to_type != CUDA_MEMORY_UNIFIED ||
        rows->from_pitch > INT32_MAX || rows->to_pitch > INT32_MAX || (none && *none == '1'))
        return INVALID_VALUE;
    return copy_add(rows, stream);
}

cuda_result cuStreamSynchronize(cuda_stream stream)
{
    cuda_result rc = fake_may_call();
    if (!rc)
        rc = fake_may_call_now();
    if (rc)
        return rc;
    fake_waits_count();
    if (stream != CUDA_STREAM_PER_THREAD)
        return fake_queue_synchronize(stream);
    return stream_run(stream_own(), stream_own()->queued);
}

/* ---- events ---- */

cuda_result cuEventCreate(cuda_event *event, unsigned flags)
{
    if (ncurrent == 0)
        return INVALID_CONTEXT;
    struct event *new = calloc(1, sizeof *new);
    new->timing = flags == CUDA_EVENT_TIMING;
    *event = new;
    return flags == CUDA_EVENT_NO_TIMING || new->timing ? SUCCESS : INVALID_VALUE;
}

cuda_result cuEventRecord(cuda_event event, cuda_stream stream)
{
    struct event *e = event;
    if (stream != CUDA_STREAM_PER_THREAD) {
        e->stream = NULL;
        return fake_queue_record(stream, &e->mark);
    }
    e->stream = stream_own();
    e->queued = stream_own()->queued;
    return fake_may_call();
}

cuda_result cuEventQuery(cuda_event event)
{
    const struct event *e = event;
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    if (e->stream)
        return e->stream->performed < e->queued ? NOT_READY : SUCCESS;
    return fake_mark_is_reached(&e->mark) ? SUCCESS : NOT_READY;
}

/* Of events in streams that were made. */
cuda_result cuEventElapsedTime(float *milliseconds, cuda_event from, cuda_event to)
{
    const struct event *a = from, *b = to;
    if (!a->timing || !b->timing || !a->mark.asked || !b->mark.asked)
        return INVALID_HANDLE;
    if (!fake_mark_is_reached(&a->mark) || !fake_mark_is_reached(&b->mark))
        return NOT_READY;
    *milliseconds = (float)((double)(fake_mark_ns(&b->mark) - fake_mark_ns(&a->mark)) * 1e-6);
    return SUCCESS;
}

cuda_result cuEventSynchronize(cuda_event event)
{
    const struct event *e = event;
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    fake_waits_count();
    if (e->stream)
        return stream_run(e->stream, e->queued);
    return fake_mark_await(&e->mark);
}

/* Copies in the stream of a thread may be performed at any time, so now. */
cuda_result cuStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned flags)
{
    struct event *e = event;
    if (flags)
        return INVALID_VALUE;
    return e->stream ? stream_run(e->stream, e->queued) : fake_queue_wait(stream, &e->mark);
}

cuda_result cuEventDestroy_v2(cuda_event event)
{
    struct event *e = event;
    fake_mark_drop(&e->mark, e);
    return SUCCESS;
}

/* ---- contexts ---- */

cuda_result cuCtxGetCurrent(cuda_context *context)
{
    *context = fake_current();
    return SUCCESS;
}

cuda_result cuCtxPushCurrent_v2(cuda_context context)
{
    const char *one = context;
    if (one < fake_contexts || one >= fake_contexts + FAKE_DEVICES || ncurrent == 8)
        return INVALID_CONTEXT;
    current[ncurrent++] = context;
    return SUCCESS;
}

cuda_result cuCtxPopCurrent_v2(cuda_context *context)
{
    if (ncurrent == 0)
        return INVALID_CONTEXT;
    *context = current[--ncurrent];
    return SUCCESS;
}

/* ---- what programs call first ---- */

cuda_result cuInit(unsigned flags)
{
    return flags ? INVALID_VALUE : SUCCESS;
}

cuda_result cuDeviceGet(int *device, int number)
{
    *device = number;
    return number >= 0 && number < FAKE_DEVICES ? SUCCESS : INVALID_VALUE;
}

cuda_result cuCtxGetDevice(int *device)
{
    for (int i = 0; i < FAKE_DEVICES; i++)
        if (fake_current() == fake_context(i))
            *device = i;
    return fake_may_call();
}

/* FAKE_MPS: processes use a device at a time. */
cuda_result cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = getenv("FAKE_MPS") != NULL;
    return attribute == CUDA_DEVICE_MPS && device < FAKE_DEVICES ? SUCCESS : INVALID_VALUE;
}

cuda_result cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    int turns = getenv("FAKE_TURNS") != NULL; /* else each process has devices of its own */
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(device + (turns || i > 3 ? i : getpid() >> 8 * i));
    return device >= 0 && device < FAKE_DEVICES ? SUCCESS : INVALID_VALUE;
}

/* CUDA_VISIBLE_DEVICES, numbers of one digit: which of them is this number?  -1: none. */
static int visible(int number)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list)
        return number < FAKE_DEVICES ? number : -1;
    return 2 * (size_t)number < strlen(list) ? list[2 * number] - '0' : -1;
}

cuda_result cuDeviceGetCount(int *count)
{
    for (*count = 0; visible(*count) >= 0;)
        ++*count;
    return SUCCESS;
}

/* Device n is at 0000:0n:00.0. */
cuda_result cuDeviceGetByPCIBusId(int *device, const char *bus)
{
    int place = -1;
    sscanf(bus, "0000:%x:00.0", (unsigned *)&place);
    for (*device = 0; visible(*device) >= 0; ++*device)
        if (visible(*device) == place)
            return SUCCESS;
    return INVALID_VALUE;
}

cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, int device)
{
    *context = fake_context(device);
    return SUCCESS;
}

cuda_result cuCtxSetCurrent(cuda_context context)
{
    ncurrent = 0;
    return cuCtxPushCurrent_v2(context);
}

cuda_result cuGetErrorName(cuda_result error, const char **name)
{
    *name = error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
    return SUCCESS;
}
