/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kernels: found by name, loaded into a context when they are first needed, and kept; one that a
 * driver does not take is not tried again.  Under the engine lock.
 */
#ifndef XMPI_GPU_KERNELS_H
#define XMPI_GPU_KERNELS_H

#include "runtime/cuda_abi.h"

#include <stdbool.h>

enum { KERNEL_NAME_CHARS = 32 };

struct kernel {
    struct kernel *next;
    char name[KERNEL_NAME_CHARS];
    cuda_context context;
    cuda_function function; /* NULL: it could not be loaded */
    cuda_result error;      /* why */
};

/* Has the driver functions for kernels? */
bool kernels_are_here(void);

/* In the context that was entered.  NULL: it is not loaded and may not be now (gpu_may_stall), or
 * memory is out. */
const struct kernel *kernel_find(const char *name, cuda_context context);

/* Put one that was loaded into a stream, with a thread for each 8 of these bytes.  What goes wrong is
 * noted (driver_note). */
void kernel_launch(const struct kernel *kernel, size_t bytes, cuda_stream stream,
                   void **arguments);

#endif
