/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Moments are events of CUDA, which know when a stream has reached them, but only how long after another
 * event.  So a stream gets, now and then, an event and right behind it a function of the host that looks at
 * our clock:
 *
 *     stream    .. | event, clock | work | event | work | event | ...
 *                    an epoch              a moment: the epoch's clock + what CUDA says lies between
 *
 * A function of the host is called some microseconds after the event, so all moments of an epoch are late by
 * that much, as are the beginnings of operations, of which we learn the same way.  An epoch is used for
 * some seconds, since CUDA counts milliseconds in a float.
 */
#include "runtime/gpu_moment.h"

#include "runtime/clock.h"
#include "runtime/gpu_cuda.h"
#include "runtime/lock.h"

#include <stdlib.h>

#define EPOCH_NS UINT64_C(4000000000)

static struct {
    cuda_event_create *event_create;
    cuda_event_record *event_record;
    cuda_event_destroy *event_destroy;
    cuda_event_elapsed_time *event_elapsed_time;
    cuda_launch_host_func *launch_host_func;
} cuda;

static const struct symbol symbols[] = {
    { "cuEventCreate", &cuda.event_create },
    { "cuEventRecord", &cuda.event_record },
    { "cuEventDestroy_v2", &cuda.event_destroy },
    { "cuEventElapsedTime", &cuda.event_elapsed_time },
    { "cuLaunchHostFunc", &cuda.launch_host_func },
};

struct gpu_epoch {
    struct gpu_epoch *next; /* of all there are */
    cuda_context context;
    cuda_event event;
    uint64_t ns;    /* of our clock, at the event; 0: the stream has not come there.  Atomic */
    uint64_t begun; /* when it was asked for */
    unsigned users;
};
static struct gpu_epoch *epochs;

/* ---- in the context of the stream ---- */

/* Its place is behind all that is in the stream.  NULL: there is none. */
static cuda_event event_put(cuda_stream stream)
{
    cuda_event event = NULL;
    int levels = engine_release(); /* a full stream makes us wait */
    cuda_result result = cuda.event_create(&event, CUDA_EVENT_TIMING);
    if (result == 0 && (result = cuda.event_record(event, stream)) != 0)
        cuda.event_destroy(event);
    engine_retake(levels);
    return result == 0 ? event : NULL;
}

static void clock_look(void *argument)
{
    struct gpu_epoch *epoch = argument;
    __atomic_store_n(&epoch->ns, clock_ns(), __ATOMIC_RELEASE);
}

static struct gpu_epoch *epoch_begin(const struct gpu_stream *stream)
{
    struct gpu_epoch *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    new->context = stream->context;
    new->begun = clock_ns();
    new->users = 1;
    new->event = event_put(stream->handle);
    int levels = engine_release();
    bool good = new->event &&cuda.launch_host_func(stream->handle, clock_look, new) == 0;
    engine_retake(levels);
    if (!good) {
        if (new->event)
            cuda.event_destroy(new->event);
        free(new);
        return NULL;
    }
    new->next = epochs;
    return epochs = new;
}

/* ---- moments ---- */

bool gpu_moment_set(struct gpu_moment *moment, const struct gpu_stream *stream,
                    struct gpu_epoch **epoch)
{
    *moment = (struct gpu_moment){ NULL, NULL };
    if ((!cuda.launch_host_func && !driver_find(symbols, sizeof symbols / sizeof symbols[0])) ||
        gpu_stream_is_captured(stream) || !driver_enter(stream->context))
        return false;
    if (!*epoch || clock_ns() - (*epoch)->begun > EPOCH_NS) {
        struct gpu_epoch *new = epoch_begin(stream), *old = *epoch;
        *epoch = new;
        gpu_epoch_drop(old);
    }
    struct gpu_epoch *since = *epoch;
    if (since) {
        since->users++;
        *moment = (struct gpu_moment){ event_put(stream->handle), since };
    }
    driver_leave(stream->context);
    if (since && !moment->event)
        gpu_epoch_drop(since);
    return moment->event;
}

enum gpu_told gpu_moment_ask(const struct gpu_moment *moment, uint64_t *ns)
{
    const struct gpu_epoch *since = moment->since;
    float milliseconds;
    if (!moment->event)
        return GPU_NEVER;
    uint64_t begin = __atomic_load_n(&since->ns, __ATOMIC_ACQUIRE);
    if (!begin)
        return GPU_NOT_YET;
    if (!driver_enter(since->context))
        return GPU_NEVER;
    cuda_result result = cuda.event_elapsed_time(&milliseconds, since->event, moment->event);
    driver_leave(since->context);
    *ns = begin + (result == 0 ? (uint64_t)((double)milliseconds * 1e6) : 0);
    return result == 0 ? GPU_TOLD : result == CUDA_NOT_READY ? GPU_NOT_YET : GPU_NEVER;
}

void gpu_moment_drop(struct gpu_moment *moment)
{
    if (!moment->event)
        return;
    if (driver_enter(moment->since->context)) {
        cuda.event_destroy(moment->event);
        driver_leave(moment->since->context);
    }
    gpu_epoch_drop(moment->since);
    *moment = (struct gpu_moment){ NULL, NULL };
}

/* One that a stream may still come to stays, and goes with the next one. */
void gpu_epoch_drop(struct gpu_epoch *epoch)
{
    if (!epoch || --epoch->users > 0)
        return;
    for (struct gpu_epoch **at = &epochs; *at;) {
        struct gpu_epoch *gone = *at;
        if (gone->users > 0 || !__atomic_load_n(&gone->ns, __ATOMIC_ACQUIRE)) {
            at = &gone->next;
            continue;
        }
        *at = gone->next;
        if (driver_enter(gone->context)) {
            cuda.event_destroy(gone->event);
            driver_leave(gone->context);
        }
        free(gone);
    }
}
