/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Graphs: while a stream is captured, what is put there is written down, to be performed later, any number of
 * times.
 *
 * A program that captures usually lets no thread make calls meanwhile that a graph cannot hold, such as
 * allocating memory or waiting for an event; the first one spoils the capture.  Ours are none of the
 * graph's business, so threads say so around them: a call of the driver each.
 */
#include "runtime/gpu_cuda.h"
#include "runtime/gpu_stream.h"

#include <pthread.h>

static cuda_stream_is_capturing *is_capturing;
static cuda_thread_exchange_stream_capture_mode *exchange;

/* Drivers before CUDA 10.1 cannot be told, and have no streams for us either. */
static void functions_find(void)
{
    const struct symbol symbols[] = { { "cuStreamIsCapturing", &is_capturing },
                                      { "cuThreadExchangeStreamCaptureMode", &exchange } };
    if (!driver_find(symbols, 2)) /* which may have found the first one */
        exchange = NULL;
}

static void functions_need(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, functions_find);
}

bool gpu_stream_is_captured(const struct gpu_stream *stream)
{
    int status = CUDA_CAPTURE_NONE;
    functions_need();
    if (!exchange || !driver_enter(stream->context))
        return false;
    cuda_result error = is_capturing(stream->handle, &status);
    driver_leave(stream->context);
    return error == CUDA_CAPTURE_IMPLICIT || (!error && status != CUDA_CAPTURE_NONE);
}

/* ---- calls that no graph holds ---- */

static _Thread_local struct {
    unsigned depth;
    int before;
} relaxed;

void driver_relax(void)
{
    functions_need();
    if (relaxed.depth++ > 0 || !exchange)
        return;
    relaxed.before = CUDA_CAPTURE_RELAXED;
    exchange(&relaxed.before);
}

void driver_relax_end(void)
{
    if (--relaxed.depth == 0 && exchange)
        exchange(&relaxed.before);
}
