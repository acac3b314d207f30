/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams over CUDA's driver.  That a stream waits for a word of memory is what lets the host go
 * on: an event can only be waited for once it was recorded, and functions of the host that wait
 * would stop those of all other streams, for the driver calls one at a time.
 */
#include "runtime/gpu_stream.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/gpu_cuda.h"

static struct {
    cuda_stream_get_ctx *stream_get_ctx;
    cuda_launch_host_func *launch_host_func;
    cuda_stream_wait_value_32 *stream_wait_value_32;
    cuda_stream_write_value_32 *stream_write_value_32;
} cuda;

static const struct symbol symbols[] = {
    { "cuStreamGetCtx", &cuda.stream_get_ctx },
    { "cuLaunchHostFunc", &cuda.launch_host_func },
    { "cuStreamWaitValue32_v2", &cuda.stream_wait_value_32 },
    { "cuStreamWriteValue32_v2", &cuda.stream_write_value_32 },
};

static _Thread_local cuda_stream current; /* between gpu_queue_begin and gpu_queue_end */

int gpu_stream_wrap(struct gpu_stream *stream, void *handle)
{
    if (!gpu_is_here())
        return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "no driver of a GPU was found, so there are no streams of one; XMPI_LOG=1 "
                    "says where it was looked for");
    const char *missing =
        symbols_find(cuda_library, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing)
        return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "CUDA's driver has no %s; streams need one of CUDA 11.7 or later", missing);
    stream->handle = handle;
    cuda_result result = cuda.stream_get_ctx(handle, &stream->context);
    if (result)
        return cuda_fail(result, "the value is no stream of CUDA", "cuStreamGetCtx");
    driver_own_stream(stream->context);
    return 0;
}

bool gpu_serves(const void *at)
{
    cuda_context context = driver_context_of(at);
    return context && driver_has_own_stream(context);
}

void gpu_queue_begin(const struct gpu_stream *stream)
{
    current = stream->handle;
    cuda_queue_begin(stream->handle, stream->context);
}

bool gpu_queue_call(void (*function)(void *), void *argument)
{
    if (!cuda_queue_is_well())
        return false;
    int levels = driver_queue_leave();
    cuda_result result = cuda.launch_host_func(current, function, argument);
    driver_queue_return(levels);
    driver_note(result, "cuLaunchHostFunc");
    return result == 0;
}

/* Waiting for a word and writing it are called alike. */
static void queue_word(cuda_stream_wait_value_32 *call, uint32_t *word, uint32_t value,
                       unsigned flags, const char *name)
{
    if (!cuda_queue_is_well())
        return;
    int levels = driver_queue_leave();
    cuda_result result = call(current, address_of(word), value, flags);
    driver_queue_return(levels);
    driver_note(result, name);
}

void gpu_queue_wait(uint32_t *word, uint32_t at_least)
{
    queue_word(cuda.stream_wait_value_32, word, at_least, CUDA_WAIT_AT_LEAST,
               "cuStreamWaitValue32");
}

void gpu_queue_write(uint32_t *word, uint32_t value)
{
    queue_word(cuda.stream_write_value_32, word, value, CUDA_WRITE_DEFAULT,
               "cuStreamWriteValue32");
}

int gpu_queue_end(void)
{
    return cuda_queue_end();
}

void *gpu_pinned_new(const struct gpu_stream *stream, size_t bytes)
{
    return driver_pin(stream->context, bytes);
}
