/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Graphs of the pretended driver: what is put into a stream while it is captured.  Strict where the real
 * one may be lenient: whoever makes a call meanwhile that a graph would not hold, and has not said that he
 * knows, spoils the capture.
 */
#include "fake_queue.h"

#include <stdlib.h>

EXPORT cuda_stream_is_capturing cuStreamIsCapturing;
EXPORT cuda_thread_exchange_stream_capture_mode cuThreadExchangeStreamCaptureMode;
EXPORT cuda_result cuStreamBeginCapture_v2(cuda_stream stream, int mode);
EXPORT cuda_result cuStreamEndCapture(cuda_stream stream, void **graph);
EXPORT cuda_result cuGraphInstantiateWithFlags(void **ready, void *graph,
                                               unsigned long long flags);
EXPORT cuda_result cuGraphLaunch(void *ready, cuda_stream stream);

struct graph *fake_captured;
static _Thread_local int capture_mode; /* of this thread's calls */

cuda_result fake_captured_add(struct command *c)
{
    if (!fake_captured->spoilt && c->what != RECORD && c->what != WAIT_MARK) {
        *fake_captured->last = c;
        fake_captured->last = &c->next;
        return SUCCESS;
    }
    fake_captured->spoilt = true;
    free(c);
    return CAPTURE_INVALIDATED;
}

cuda_result fake_may_call_now(void)
{
    pthread_mutex_lock(&fake_queue_lock);
    bool ours = fake_captured && (fake_captured->mode == CUDA_CAPTURE_GLOBAL ||
                                  (fake_captured->mode != CUDA_CAPTURE_RELAXED &&
                                   pthread_equal(fake_captured->owner, pthread_self())));
    bool spoils = ours && capture_mode != CUDA_CAPTURE_RELAXED;
    if (spoils)
        fake_captured->spoilt = true;
    pthread_mutex_unlock(&fake_queue_lock);
    return spoils ? CAPTURE_UNSUPPORTED : SUCCESS;
}

cuda_result cuThreadExchangeStreamCaptureMode(int *mode)
{
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return SUCCESS;
}

cuda_result cuStreamIsCapturing(cuda_stream stream, int *status)
{
    if ((uintptr_t)stream > 2 && !fake_is_queue(stream))
        return INVALID_HANDLE;
    pthread_mutex_lock(&fake_queue_lock);
    *status = fake_captured && fake_captured->stream == stream ? CUDA_CAPTURE_ACTIVE
                                                               : CUDA_CAPTURE_NONE;
    pthread_mutex_unlock(&fake_queue_lock);
    return SUCCESS;
}

cuda_result cuStreamBeginCapture_v2(cuda_stream stream, int mode)
{
    struct graph *new = fake_is_queue(stream) ? calloc(1, sizeof *new) : NULL;
    if (!new || fake_captured)
        return new ? ILLEGAL_STATE : INVALID_HANDLE;
    new->last = &new->first;
    new->stream = stream;
    new->owner = pthread_self();
    new->mode = mode;
    pthread_mutex_lock(&fake_queue_lock);
    fake_captured = new;
    pthread_mutex_unlock(&fake_queue_lock);
    return SUCCESS;
}

cuda_result cuStreamEndCapture(cuda_stream stream, void **graph)
{
    if (!fake_captured || fake_captured->stream != stream)
        return ILLEGAL_STATE;
    pthread_mutex_lock(&fake_queue_lock);
    *graph = fake_captured;
    bool spoilt = fake_captured->spoilt;
    fake_captured = NULL;
    pthread_mutex_unlock(&fake_queue_lock);
    return spoilt ? CAPTURE_INVALIDATED : SUCCESS;
}

cuda_result cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags)
{
    *ready = graph;
    return flags ? INVALID_VALUE : SUCCESS;
}

cuda_result cuGraphLaunch(void *ready, cuda_stream stream)
{
    cuda_result rc = SUCCESS;
    const struct graph *graph = ready;
    for (const struct command *c = graph->first; c && rc == SUCCESS; c = c->next)
        rc = fake_queue_add(stream, c);
    return rc;
}
