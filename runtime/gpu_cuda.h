/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What gpu_cuda.c, which knows the driver, lends to gpu_share.c, gpu_stream.c and others: the library, a
 * context to call it in, and the place where copies go.  Under the engine lock.
 */
#ifndef XMPI_GPU_CUDA_H
#define XMPI_GPU_CUDA_H

#include "runtime/cuda_abi.h"
#include "runtime/symbols.h"

#include <stdbool.h>

extern void *cuda_library; /* NULL: none, or gpu_is_here was not asked yet */

/* Look for more functions.  False: there is no driver, or it lacks one of them. */
bool driver_find(const struct symbol *symbols, size_t n);

static inline cuda_address address_of(const void *at)
{
    return (cuda_address)(uintptr_t)at;
}

/* What the driver knows about an address.  False: nothing, or not this. */
bool driver_attribute(enum cuda_attribute asked, void *answer, const void *at);

/* The context of this memory, or NULL; that of the calling thread, or NULL. */
cuda_context driver_context_of(const void *at);
cuda_context driver_current(void);

/* The context of this memory, or, as memory of pools has none, that of the thread. */
static inline cuda_context driver_context_for(const void *at)
{
    cuda_context context = driver_context_of(at);
    return context ? context : driver_current();
}

/* Have this context for some calls.  NULL: the thread's own.  False: there is none. */
bool driver_enter(cuda_context context);
void driver_leave(cuda_context context);

/* This thread makes calls that graphs, which some thread may be capturing, need not know of.  Where a
 * context was entered, or copies were begun, that has been said. */
void driver_relax(void);
void driver_relax_end(void);

/* Pinned memory in this context; NULL: the thread's own.  NULL: there is none. */
void *driver_pin(cuda_context context, size_t bytes);

/* Where work of ours goes that is waited for, in the context of the thread: the stream of the thread, or
 * our own one of this context while a stream of the program waits for us (gpu_stall.c). */
cuda_stream driver_stream(void);

/* Wait for it, and note what went wrong. */
void driver_wait(cuda_stream stream);

/* Copy, and wait for that, in the context that was entered.  Nothing is noted. */
cuda_result driver_copy(void *to, const void *from, size_t bytes);

/* Where copies go until gpu_finish and the like, for what is to go behind them; as if one were
 * started, in this context.  False: they go to another context. */
bool driver_join(cuda_context context, cuda_stream *stream);

/* Does a stream of the program wait for us?  Whoever may ask the driver for what waits for all of a
 * device nevertheless (gpu_may_stall) does so between these two, where others may have the engine
 * lock. */
bool driver_is_stalled(void);
bool driver_is_patient(void); /* is this the call that puts an operation there? */
int driver_stall_begin(void);
void driver_stall_end(int levels);

/* Have a stream of our own in this context, if it can be had. */
void driver_own_stream(cuda_context context);
bool driver_has_own_stream(cuda_context context);

/* What failed, for gpu_check; 0 is nothing. */
void driver_note(cuda_result result, const char *function);

/* The name of an error, as the driver has it. */
const char *driver_error_name(cuda_result error);

/* MPI_ERR_OTHER: "what: function, error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)". */
int cuda_fail(cuda_result error, const char *what, const char *function);

/* Until cuda_queue_end, gpu_start and gpu_start_rows of this thread put copies into this stream and
 * gpu_finish waits for nothing. */
void cuda_queue_begin(cuda_stream stream, cuda_context context);
bool cuda_queue_is_open(void);

/* Around each call of the driver that puts something there: it may wait until there is room, so others have
 * the engine lock meanwhile.  Nothing happens where no queue is open. */
int driver_queue_leave(void);
void driver_queue_return(int levels);

/* driver_note says what else went wrong; nothing may go into the stream when it is not well. */
bool cuda_queue_is_well(void);

/* 0, or MPI_ERR_OTHER and what failed first. */
int cuda_queue_end(void);

#endif
