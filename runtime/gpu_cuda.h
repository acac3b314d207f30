/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What gpu_cuda.c, which knows the driver, lends to gpu_stream.c: the library, and the place where
 * copies go.  Under the engine lock.
 */
#ifndef XMPI_GPU_CUDA_H
#define XMPI_GPU_CUDA_H

#include "runtime/cuda_abi.h"

#include <stdbool.h>

extern void *cuda_library; /* NULL: none, or gpu_is_here was not asked yet */

/* MPI_ERR_OTHER: "what: function, error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)". */
int cuda_fail(cuda_result error, const char *what, const char *function);

/* Until cuda_queue_end, gpu_start and gpu_start_rows put copies into this stream and gpu_finish
 * waits for nothing.  False: the context cannot be had, and the end says so. */
bool cuda_queue_begin(cuda_stream stream, cuda_context context);

/* What else went into the stream.  True while all is well. */
bool cuda_queue_note(cuda_result result, const char *function);
bool cuda_queue_is_well(void);

/* 0, or MPI_ERR_OTHER and what failed first. */
int cuda_queue_end(void);

#endif
