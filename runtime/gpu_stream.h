/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams of a device: queues of the program, into which an operation of MPI puts its part without
 * waiting for anything.  Between gpu_queue_begin and gpu_queue_end all goes into one stream, and
 * happens in this order when the device comes to it:
 *
 *     gpu_move   device to pinned memory      the data as earlier work of the stream left them
 *     gpu_queue_call   a function of ours     tells a thread that it may begin
 *     gpu_queue_wait   until a word says so   written by that thread when it has done
 *     gpu_move   pinned memory to device      what later work of the stream finds
 *     gpu_queue_write  the word               pinned memory may be used again
 *
 * The thread calls nothing of the driver, so whatever the driver makes wait for whatever else, it
 * goes on.  All of it under the engine lock.
 */
#ifndef XMPI_GPU_STREAM_H
#define XMPI_GPU_STREAM_H

#include "runtime/gpu.h"

struct gpu_stream {
    void *handle; /* cudaStream_t or CUstream, which are the same */
    void *context;
};

/* A stream that the program has made; it stays the program's.  MPI_ERR_UNSUPPORTED_OPERATION: there
 * is no driver, or it is too old. */
int gpu_stream_wrap(struct gpu_stream *stream, void *handle);

/* Is what is put into the stream now not performed, but written down for later, for any number of times?  Or
 * would it spoil the capture of another one? */
bool gpu_stream_is_captured(const struct gpu_stream *stream);

/* Operations that streams may wait for: one more, one less.  While there are any, the driver is asked for
 * nothing that might wait for the device, so that they can be performed. */
void gpu_stalls(int change);

/* This thread can wait for the device, as it holds nothing that they need but the engine lock, which it
 * lets go of. */
void gpu_patient(bool yes);

/* Can an operation that a stream waits for work on this memory of a device itself? */
bool gpu_serves(const void *at);

void gpu_queue_begin(const struct gpu_stream *stream);

/* `function` is called by a thread of the driver: it may not wait and not call the driver.
 * False: it will not be. */
bool gpu_queue_call(void (*function)(void *), void *argument);

/* Words lie in pinned memory. */
void gpu_queue_wait(uint32_t *word, uint32_t at_least);
void gpu_queue_write(uint32_t *word, uint32_t value);

/* Nothing is put into the stream after something failed.  0, or MPI_ERR_OTHER. */
int gpu_queue_end(void);

/* Memory of the host that streams reach without the processor; NULL when there is none.  The driver
 * may wait for the device before it gives some, so it is never given back but used again. */
void *gpu_pinned_new(const struct gpu_stream *stream, size_t bytes);

#endif
