/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver of CUDA, as a library that is opened when the first buffer is looked at: where
 * /dev/nvidiactl exists libcuda.so.1, or whatever XMPI_LIBCUDA names (tests have one that
 * pretends, test/device/fake_cuda.c).  A program may have called MPI_Init before it begins with
 * CUDA, so the library is not looked for earlier, and "not initialized" is an answer: host.
 *
 * Nothing is made here, neither contexts nor streams.  A thread that has no context, such as one
 * that only makes progress, borrows that of the memory for the time of a copy.
 *
 * All of it under the engine lock, but gpu_holds and gpu_is_here, which MPIX_Query_cuda_support
 * asks at any time.  What goes into a stream of the program goes there without the lock: if the stream is
 * full the driver makes us wait until it has room, and what it waits for may need the lock.
 */
#include "runtime/gpu.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/gpu_cuda.h"
#include "runtime/lock.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

bool gpu_possible = true;
void *cuda_library;

static struct {
    cuda_pointer_get_attributes *pointer_get_attributes;
    cuda_memcpy_async *memcpy_async;
    cuda_memcpy_2d_async *memcpy_2d_async;
    cuda_stream_synchronize *stream_synchronize;
    cuda_ctx_get_current *ctx_get_current;
    cuda_ctx_push_current *ctx_push_current;
    cuda_ctx_pop_current *ctx_pop_current;
    cuda_event_create *event_create;
    cuda_event_record *event_record;
    cuda_event_synchronize *event_synchronize;
    cuda_event_destroy *event_destroy;
    cuda_mem_host_alloc *mem_host_alloc;
    cuda_mem_free_host *mem_free_host;
    cuda_get_error_name *get_error_name;
} cuda; /* what buffers need; streams have a table of their own (gpu_stream.c) */

static const struct symbol symbols[] = {
    { "cuPointerGetAttributes", &cuda.pointer_get_attributes },
    { "cuMemcpyAsync", &cuda.memcpy_async },
    { "cuMemcpy2DAsync_v2", &cuda.memcpy_2d_async },
    { "cuStreamSynchronize", &cuda.stream_synchronize },
    { "cuCtxGetCurrent", &cuda.ctx_get_current },
    { "cuCtxPushCurrent_v2", &cuda.ctx_push_current },
    { "cuCtxPopCurrent_v2", &cuda.ctx_pop_current },
    { "cuEventCreate", &cuda.event_create },
    { "cuEventRecord", &cuda.event_record },
    { "cuEventSynchronize", &cuda.event_synchronize },
    { "cuEventDestroy_v2", &cuda.event_destroy },
    { "cuMemHostAlloc", &cuda.mem_host_alloc },
    { "cuMemFreeHost", &cuda.mem_free_host },
    { "cuGetErrorName", &cuda.get_error_name },
};

/* ---- opening ---- */

static bool functions_find(void *library, const char *name)
{
    const char *missing = symbols_find(library, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing && param_tells_here())
        say("%s%s has no %s: buffers of devices are not supported; XMPI_CUDA=0 does without",
            param_string(LIBCUDA) ? "XMPI_LIBCUDA=" : "", name, missing);
    return !missing;
}

static void driver_open(void)
{
    params_read();
    const char *name = param_string(LIBCUDA);
    bool wanted = param_number(CUDA) && (name || access("/dev/nvidiactl", F_OK) == 0);
    void *library = wanted ? dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (wanted && !library && param_tells_here())
        say("%s%s%sbuffers of devices are not supported: %s; XMPI_LIBCUDA names another "
            "library, XMPI_CUDA=0 does without",
            name ? "XMPI_LIBCUDA=" : "", name ? name : "", name ? ": " : "", dlerror());
    bool good = library && functions_find(library, name ? name : "libcuda.so.1");
    if (library && !good)
        dlclose(library);
    cuda_library = good ? library : NULL;
    __atomic_store_n(&gpu_possible, good, __ATOMIC_RELEASE);
    log_line("cuda: %s", good ? "buffers of devices may be passed" : "no devices");
}

bool gpu_is_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, driver_open);
    return __atomic_load_n(&gpu_possible, __ATOMIC_ACQUIRE);
}

bool driver_find(const struct symbol *more, size_t n)
{
    return gpu_is_here() && !symbols_find(cuda_library, more, n);
}

/* ---- asking ---- */

bool gpu_holds(const void *at)
{
    enum cuda_attribute asked[] = { CUDA_POINTER_MEMORY_TYPE, CUDA_POINTER_IS_MANAGED };
    unsigned type = 0, managed = 0;
    void *answers[] = { &type, &managed };
    return at && gpu_is_here() &&
           cuda.pointer_get_attributes(2, asked, answers, address_of(at)) == 0 &&
           (type == CUDA_MEMORY_DEVICE || managed);
}

bool driver_attribute(enum cuda_attribute asked, void *answer, const void *at)
{
    return cuda.pointer_get_attributes(1, &asked, &answer, address_of(at)) == 0;
}

cuda_context driver_context_of(const void *at)
{
    cuda_context context = NULL;
    return driver_attribute(CUDA_POINTER_CONTEXT, &context, at) ? context : NULL;
}

cuda_context driver_current(void)
{
    cuda_context own = NULL;
    return cuda.ctx_get_current(&own) == 0 ? own : NULL;
}

bool driver_enter(cuda_context context)
{
    bool entered = context ? cuda.ctx_push_current(context) == 0 : driver_current() != NULL;
    if (entered)
        driver_relax();
    return entered;
}

void driver_leave(cuda_context context)
{
    cuda_context gone;
    driver_relax_end();
    if (context)
        cuda.ctx_pop_current(&gone);
}

const char *driver_error_name(cuda_result error)
{
    const char *name = NULL;
    return cuda.get_error_name(error, &name) == 0 && name ? name : "unknown to the driver";
}

/* ---- copying ---- */

static struct {
    bool begun, borrowed; /* copies were started; in a context that is not the thread's */
    cuda_stream stream;   /* where they go */
    cuda_result error;    /* the first one since gpu_check, and what failed */
    const char *what;
} copies = { .stream = CUDA_STREAM_PER_THREAD };

/* What this thread puts into a stream of the program, between cuda_queue_begin and cuda_queue_end.  Other
 * threads copy for themselves meanwhile. */
static _Thread_local struct {
    bool open, borrowed;
    cuda_stream stream;
    cuda_result error;
    const char *what;
} queue;

void driver_note(cuda_result result, const char *what)
{
    cuda_result *first = queue.open ? &queue.error : &copies.error;
    if (result == 0 || *first != 0)
        return;
    *first = result;
    *(queue.open ? &queue.what : &copies.what) = what;
}

/* To be given back. */
static bool context_borrow(cuda_context context)
{
    cuda_result result = cuda.ctx_push_current(context);
    driver_note(result, "cuCtxPushCurrent");
    return result == 0;
}

int driver_queue_leave(void)
{
    return queue.open ? engine_release() : 0;
}

void driver_queue_return(int levels)
{
    if (levels > 0)
        engine_retake(levels);
}

/* In the context of the thread. */
static void copies_open(void)
{
    copies.stream = driver_stream();
    copies.begun = true;
    driver_relax();
}

/* Have a context for a copy.  False: there is none, and the copy needs none. */
static bool copies_begin(const void *to, const void *from)
{
    if (queue.open || copies.begun)
        return true;
    if (driver_current()) {
        copies_open();
        return true;
    }
    cuda_context context = driver_context_of(from);
    if (!context)
        context = driver_context_of(to);
    /* Memory of a pool has none: then the copy says what is wrong. */
    if (!context && !gpu_holds(from) && !gpu_holds(to))
        return false;
    if (context)
        copies.borrowed = context_borrow(context);
    copies_open();
    return true;
}

/* Something that should have gone into the stream did not: nothing more may. */
static bool queue_is_shut(void)
{
    return queue.open && queue.error != 0;
}

static cuda_stream stream_now(void)
{
    return queue.open ? queue.stream : copies.stream;
}

void gpu_start(void *to, const void *from, size_t bytes)
{
    if (queue_is_shut())
        return;
    if (!copies_begin(to, from)) {
        memcpy(to, from, bytes);
        return;
    }
    int levels = driver_queue_leave();
    cuda_result result =
        cuda.memcpy_async(address_of(to), address_of(from), bytes, stream_now());
    driver_queue_return(levels);
    driver_note(result, "cuMemcpyAsync");
}

bool driver_join(cuda_context context, cuda_stream *stream)
{
    if (queue_is_shut())
        return false;
    if (!queue.open && !copies.begun) {
        if (driver_current() != context)
            copies.borrowed = context_borrow(context);
        copies_open();
    }
    *stream = stream_now();
    return driver_current() == context;
}

/* Rows go forward, do not overlap, and the device takes distances below 2 GiB. */
bool gpu_rows_are_one_copy(ptrdiff_t step, size_t length)
{
    return step > 0 && (size_t)step >= length && step <= INT32_MAX;
}

static void rows_one_by_one(const struct gpu_rows *r)
{
    for (size_t i = 0; i < r->count; i++)
        gpu_start(buffer_at(r->to, (ptrdiff_t)i * r->to_step),
                  buffer_at(r->from, (ptrdiff_t)i * r->from_step), r->length);
}

void gpu_start_rows(const struct gpu_rows *r)
{
    if (queue_is_shut())
        return;
    if (!gpu_rows_are_one_copy(r->to_step, r->length) ||
        !gpu_rows_are_one_copy(r->from_step, r->length) || !copies_begin(r->to, r->from)) {
        rows_one_by_one(r);
        return;
    }
    struct cuda_copy_2d copy = { .from_type = CUDA_MEMORY_UNIFIED,
                                 .from = address_of(r->from),
                                 .from_pitch = (size_t)r->from_step,
                                 .to_type = CUDA_MEMORY_UNIFIED,
                                 .to = address_of(r->to),
                                 .to_pitch = (size_t)r->to_step,
                                 .width = r->length,
                                 .height = r->count };
    int levels = driver_queue_leave();
    cuda_result result = cuda.memcpy_2d_async(&copy, stream_now());
    driver_queue_return(levels);
    if (result == CUDA_INVALID_VALUE) /* it may refuse distances that it did not choose */
        rows_one_by_one(r);
    else
        driver_note(result, "cuMemcpy2DAsync");
}

static void copies_end(void)
{
    cuda_context context;
    driver_relax_end();
    if (copies.borrowed)
        cuda.ctx_pop_current(&context);
    copies.begun = copies.borrowed = false;
}

void driver_wait(cuda_stream stream)
{
    driver_note(cuda.stream_synchronize(stream), "cuStreamSynchronize");
}

cuda_result driver_copy(void *to, const void *from, size_t bytes)
{
    cuda_stream stream = driver_stream();
    cuda_result result = cuda.memcpy_async(address_of(to), address_of(from), bytes, stream);
    return result ? result : cuda.stream_synchronize(stream);
}

void gpu_finish(void)
{
    if (queue.open || !copies.begun)
        return;
    driver_wait(copies.stream);
    copies_end();
}

/* ---- marks ---- */

enum { SPARE_MARKS = 16 };
static struct gpu_mark spare[SPARE_MARKS];

/* An event of the current context. */
static bool event_take(struct gpu_mark *mark)
{
    *mark = (struct gpu_mark){ .context = driver_current() };
    for (int i = 0; i < SPARE_MARKS && !mark->event; i++)
        if (spare[i].event && spare[i].context == mark->context) {
            mark->event = spare[i].event;
            spare[i].event = NULL;
        }
    return mark->event || cuda.event_create(&mark->event, CUDA_EVENT_NO_TIMING) == 0;
}

static void event_give(const struct gpu_mark *mark)
{
    for (int i = 0; i < SPARE_MARKS; i++)
        if (!spare[i].event) {
            spare[i] = *mark;
            return;
        }
    cuda.event_destroy(mark->event);
}

void gpu_mark_set(struct gpu_mark *mark)
{
    *mark = (struct gpu_mark){ 0 };
    if (!copies.begun)
        return;
    if (event_take(mark) && cuda.event_record(mark->event, copies.stream) == 0) {
        copies_end();
        return;
    }
    if (mark->event)
        event_give(mark);
    mark->event = NULL;
    gpu_finish();
}

void gpu_mark_await(struct gpu_mark *mark)
{
    if (!mark->event)
        return;
    bool entered = driver_enter(mark->context);
    cuda_result result = cuda.event_synchronize(mark->event);
    driver_note(result, "cuEventSynchronize");
    if (result == 0)
        event_give(mark);
    if (entered)
        driver_leave(mark->context);
    mark->event = NULL;
}

/* ---- pinned memory ---- */

void *driver_pin(cuda_context context, size_t bytes)
{
    void *memory = NULL;
    if (!gpu_may_stall() || !driver_enter(context))
        return NULL;
    int levels = driver_stall_begin();
    cuda_result result = cuda.mem_host_alloc(&memory, bytes, CUDA_HOST_PORTABLE);
    driver_stall_end(levels);
    driver_leave(context);
    return result == 0 ? memory : NULL;
}

void *gpu_pin(size_t bytes, const void *near)
{
    return driver_pin(driver_context_of(near), bytes);
}

void gpu_unpin(void *memory)
{
    driver_relax();
    cuda.mem_free_host(memory);
    driver_relax_end();
}

/* ---- what went wrong ---- */

int cuda_fail(cuda_result error, const char *what, const char *function)
{
    return fail(MPI_ERR_OTHER, "%s: %s, error %d (%s)", what, function, error,
                driver_error_name(error));
}

static cuda_result error_before;
static const char *what_before;

void gpu_try(void)
{
    error_before = copies.error;
    what_before = copies.what;
    copies.error = 0;
}

const char *gpu_tried(void)
{
    static char text[120];
    cuda_result error = copies.error;
    if (error)
        snprintf(text, sizeof text, "%s, error %d (%s)", copies.what, error,
                 driver_error_name(error));
    copies.error = error_before;
    copies.what = what_before;
    return error ? text : NULL;
}

int gpu_check(void)
{
    cuda_result error = copies.error;
    if (error == 0)
        return 0;
    copies.error = 0;
    return cuda_fail(
        error,
        "moving or folding data of a device failed, so what was sent or received is not right",
        copies.what);
}

/* ---- for streams of the program ---- */

void cuda_queue_begin(cuda_stream stream, cuda_context context)
{
    queue.open = true;
    queue.stream = stream;
    queue.error = 0;
    queue.borrowed = driver_current() != context && context_borrow(context);
}

bool cuda_queue_is_open(void)
{
    return queue.open;
}

bool cuda_queue_is_well(void)
{
    return queue.error == 0;
}

int cuda_queue_end(void)
{
    cuda_context context;
    if (queue.borrowed)
        cuda.ctx_pop_current(&context);
    queue.open = queue.borrowed = false;
    if (queue.error == 0)
        return 0;
    return cuda_fail(queue.error, "the operation could not be put into the stream", queue.what);
}
