/* SPDX-License-Identifier: BSD-3-Clause
 *
 * While a stream of the program waits for a word that we shall write, the driver may be asked for
 * little: what waits for the whole device, such as allocating memory or mapping a handle, would wait
 * for that stream, and so for us.
 *
 *     copies, kernels    in a stream of our own, which waits for no other one.  The thread's own
 *                        stream will not do: CUDA has it wait for the default stream, and that
 *                        for streams of the program
 *     allocate, free,    refused while streams wait: whoever wants it has another way.  Except in
 *     load, map, pin     the call that puts an operation into a stream: it lets go of the engine
 *                        lock, so that others go on, until what the stream waits for is there
 *
 * A device has few queues in hardware (CUDA_DEVICE_MAX_CONNECTIONS, 8 unless said), and streams that share
 * one wait for each other.  Ours has the highest priority, so that it shares none with theirs: on an H200 two
 * queues were enough for three streams, one was not.  Where there is one, and under MPS, we have no stream, and
 * operations get copies, which need none.
 *
 * Costs: a comparison per call of the driver.
 */
#include "runtime/gpu_stream.h"

#include "runtime/gpu_cuda.h"
#include "runtime/gpu_turns.h"
#include "runtime/lock.h"
#include "runtime/param.h"

#include <stdlib.h>

enum { CONTEXTS = 16 };

static unsigned stalled; /* streams, or rather operations that one may wait for */
static _Thread_local bool patient;

static struct {
    cuda_context context;
    cuda_stream stream;
} own[CONTEXTS];
static int nown;

void gpu_stalls(int change)
{
    stalled += (unsigned)change;
}

void gpu_patient(bool yes)
{
    patient = yes;
}

bool driver_is_stalled(void)
{
    return stalled > 0;
}

bool driver_is_patient(void)
{
    return patient;
}

bool gpu_may_stall(void)
{
    return stalled == 0 || patient;
}

int driver_stall_begin(void)
{
    return stalled > 0 ? engine_release() : 0;
}

void driver_stall_end(int levels)
{
    if (levels > 0)
        engine_retake(levels);
}

/* ---- our own streams ---- */

static cuda_stream own_of(cuda_context context)
{
    for (int i = 0; i < nown; i++)
        if (own[i].context == context)
            return own[i].stream;
    return NULL;
}

bool driver_has_own_stream(cuda_context context)
{
    return own_of(context);
}

/* Ours may share a queue with one that waits for us: with CUDA_DEVICE_MAX_CONNECTIONS=1, and under MPS, where
 * few queues are a guess; in both cases an H200 went no further.  The device of the current context. */
static bool queues_are_few(void)
{
    static cuda_ctx_get_device *device_of;
    const struct symbol symbols[] = { { "cuCtxGetDevice", &device_of } };
    const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    int device;
    if (param_is_given(CUDA_ENQUEUE)) /* somebody knows better */
        return false;
    if (connections && atoi(connections) == 1)
        return true;
    return driver_find(symbols, 1) && device_of(&device) == 0 && gpu_works_for_all(device);
}

void driver_own_stream(cuda_context context)
{
    static cuda_stream_create_with_priority *create;
    static cuda_ctx_get_stream_priority_range *range;
    const struct symbol symbols[] = { { "cuStreamCreateWithPriority", &create },
                                      { "cuCtxGetStreamPriorityRange", &range } };
    cuda_stream made;
    int least = 0, greatest = 0;
    if (own_of(context) || nown == CONTEXTS || !driver_find(symbols, 2) ||
        !driver_enter(context))
        return;
    if (queues_are_few()) {
        driver_leave(context);
        return;
    }
    int levels = driver_stall_begin();
    cuda_result result = range(&least, &greatest);
    if (result == 0)
        result = create(&made, CUDA_STREAM_NON_BLOCKING, greatest);
    driver_stall_end(levels);
    driver_leave(context);
    if (result != 0 || nown == CONTEXTS)
        return;
    own[nown].context = context;
    own[nown++].stream = made;
}

cuda_stream driver_stream(void)
{
    cuda_stream mine = stalled > 0 ? own_of(driver_current()) : NULL;
    return mine ? mine : CUDA_STREAM_PER_THREAD;
}
