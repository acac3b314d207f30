/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver of CUDA without a GPU: what the library calls of libcuda.so.1, over the addresses of
 * fake.h.  Strict where the real one may be lenient:
 *
 *     copies are performed when their stream is waited for, and not before
 *     a thread without a context may not copy
 *     rows may not overlap, nor be farther apart than the device can count
 *
 * Kernels, events and contexts of one's own are not there.
 */
#include "fake.h"
#include "runtime/cuda_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201, ILLEGAL_ADDRESS = 700 };

static char the_context;
static _Thread_local cuda_context current[8];
static _Thread_local int ncurrent;

enum { QUEUE = 64 }; /* copies; as on a real device a full queue is waited for */
static _Thread_local struct cuda_copy_2d queue[QUEUE];
static _Thread_local int nqueue; /* of the stream of this thread */

#define EXPORT __attribute__((visibility("default")))
EXPORT cuda_pointer_get_attributes cuPointerGetAttributes;
EXPORT cuda_memcpy_async cuMemcpyAsync;
EXPORT cuda_memcpy_2d_async cuMemcpy2DAsync_v2;
EXPORT cuda_stream_synchronize cuStreamSynchronize;
EXPORT cuda_ctx_get_current cuCtxGetCurrent;
EXPORT cuda_ctx_push_current cuCtxPushCurrent_v2;
EXPORT cuda_ctx_pop_current cuCtxPopCurrent_v2;
EXPORT cuda_get_error_name cuGetErrorName;

static bool is_device(cuda_address at)
{
    return at >> 54 == FAKE_DEVICE >> 54;
}

static char *host_of(cuda_address at)
{
    return (char *)(uintptr_t)(at & ~(FAKE_DEVICE | FAKE_BROKEN));
}

cuda_result cuPointerGetAttributes(unsigned n, enum cuda_attribute *asked, void **answers,
                                   cuda_address at)
{
    bool device = is_device(at);
    for (unsigned i = 0; i < n; i++) {
        if (asked[i] == CUDA_POINTER_CONTEXT)
            *(cuda_context *)answers[i] = device ? &the_context : NULL;
        else if (asked[i] == CUDA_POINTER_MEMORY_TYPE)
            *(unsigned *)answers[i] = device ? CUDA_MEMORY_DEVICE : 0;
        else if (asked[i] == CUDA_POINTER_IS_MANAGED)
            *(unsigned *)answers[i] = 0;
        else
            return INVALID_VALUE;
    }
    return SUCCESS;
}

static cuda_result copy_add(const struct cuda_copy_2d *rows, cuda_stream stream)
{
    if (ncurrent == 0)
        return INVALID_CONTEXT;
    if ((rows->from | rows->to) & FAKE_BROKEN)
        return ILLEGAL_ADDRESS;
    if (stream != CUDA_STREAM_PER_THREAD || rows->width == 0 ||
        rows->from_pitch < rows->width || rows->to_pitch < rows->width)
        return INVALID_VALUE;
    if (nqueue == QUEUE)
        cuStreamSynchronize(stream);
    queue[nqueue++] = *rows;
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
    if (rows->from_type != CUDA_MEMORY_UNIFIED || rows->to_type != CUDA_MEMORY_UNIFIED ||
        rows->from_pitch > INT32_MAX || rows->to_pitch > INT32_MAX)
        return INVALID_VALUE;
    return copy_add(rows, stream);
}

cuda_result cuStreamSynchronize(cuda_stream stream)
{
    if (stream != CUDA_STREAM_PER_THREAD)
        return INVALID_VALUE;
    if (ncurrent == 0)
        return INVALID_CONTEXT;
    for (int n = 0; n < nqueue; n++) {
        const struct cuda_copy_2d *rows = &queue[n];
        for (size_t i = 0; i < rows->height; i++)
            memcpy(host_of(rows->to + i * rows->to_pitch),
                   host_of(rows->from + i * rows->from_pitch), rows->width);
    }
    nqueue = 0;
    return SUCCESS;
}

cuda_result cuCtxGetCurrent(cuda_context *context)
{
    *context = ncurrent ? current[ncurrent - 1] : NULL;
    return SUCCESS;
}

cuda_result cuCtxPushCurrent_v2(cuda_context context)
{
    if (context != &the_context || ncurrent == 8)
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

cuda_result cuGetErrorName(cuda_result error, const char **name)
{
    *name = error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
    return SUCCESS;
}
