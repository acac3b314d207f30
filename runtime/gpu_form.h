/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What devices know of a layout: a table in their memory, kept as long as the layout, and how many
 * copies moving an element takes without it.  Under the engine lock.
 */
#ifndef XMPI_GPU_FORM_H
#define XMPI_GPU_FORM_H

#include "runtime/gpu_cuda.h"
#include "runtime/layout.h"

struct gpu_form {
    size_t copies;  /* of the driver, that moving one element takes; 0: there can be no table */
    size_t words;   /* of the table */
    uintptr_t bits; /* all places and lengths, or-ed: words that divide all divide it */
    struct gpu_table *tables; /* one for each context */
};

/* Made when it is first asked for.  NULL: memory is out. */
struct gpu_form *gpu_form_of(const struct layout *layout);

/* Copies that moving so many elements takes, of a layout that has a form. */
size_t gpu_form_copies(const struct layout *layout, size_t count);

/* The table in this context, the current one, of memory at `near`; in the form that pack_device.c
 * reads.  NULL: it is not there, and cannot or may not be brought there. */
const void *gpu_form_table(const struct layout *layout, cuda_context context, const void *near);

#endif
