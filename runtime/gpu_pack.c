/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing by kernels (pack_device.c), of what would take more than XMPI_CUDA_PACK copies: structures of
 * many members, indexed types, vectors that do not nest to one distance.
 *
 *     memory of the device  <-- kernel -->  flat    memory of that device; pinned memory of the host
 *                           <-- kernel -->  room <-- copy -->  flat    what no device reaches
 *
 * A kernel is one for words of 1, 2, 4, 8 or 16 bytes, the longest that divide all places, and reads
 * the layout from a table in memory of the device (gpu_form.c).  What it cannot do is left to copies:
 * data in several allocations, on another device than a stream's; a driver that takes no kernels; a
 * kernel or a table that is not there yet while a stream waits for this process.
 */
#include "runtime/gpu_pack.h"

#include "runtime/gpu_cuda.h"
#include "runtime/gpu_form.h"
#include "runtime/gpu_kernels.h"
#include "runtime/gpu_reduce.h"
#include "runtime/layout_inside.h"
#include "runtime/param.h"

#include <stdio.h>

enum { LONGEST_WORD = 16, ROOM_BYTES = 4 << 20 };

/* ---- is it worth it? ---- */

/* Copies that the walk of gpu_move.c takes for so many bytes, about. */
static size_t copies_for(const struct buffer *b, size_t bytes)
{
    const struct layout *l = b->layout;
    struct run all = run_of(b);
    if (!all.inner)
        return gpu_rows_are_one_copy(all.stride, all.length) ? 1 : bytes / all.length + 1;
    const struct gpu_form *form = gpu_form_of(l);
    if (!form)
        return 0;
    if (bytes < l->size)
        return form->copies / (l->size / bytes) + 1;
    return gpu_form_copies(l, bytes / l->size);
}

static bool is_worth_it(const struct buffer *b, size_t bytes)
{
    long long most = param_number(CUDA_PACK);
    return most > 0 && bytes > 0 && !buffer_solid(b) && kernels_are_here() &&
           copies_for(b, bytes) > (size_t)most && gpu_form_of(b->layout);
}

/* ---- can it be done? ---- */

static char *first_byte(const struct buffer *b, size_t *span)
{
    ptrdiff_t low;
    *span = layout_span(b->layout, b->count, &low);
    return buffer_at(b->base, low);
}

/* A kernel that leaves an allocation ends the context, and with it the program. */
static bool is_one_allocation(const char *first, size_t span)
{
    uint64_t one = 0, other = 0;
    return driver_attribute(CUDA_POINTER_BUFFER_ID, &one, first) && one != 0 &&
           driver_attribute(CUDA_POINTER_BUFFER_ID, &other, first + span - 1) && one == other;
}

/* Memory that kernels of the current context reach, by the address that the program has. */
static bool byte_is_reached(const void *flat)
{
    unsigned type = 0;
    cuda_address there = 0;
    if (!driver_attribute(CUDA_POINTER_MEMORY_TYPE, &type, flat))
        return false;
    if (type == CUDA_MEMORY_DEVICE)
        return driver_context_for(flat) == driver_current();
    return type == CUDA_MEMORY_HOST &&
           driver_attribute(CUDA_POINTER_DEVICE_POINTER, &there, flat) &&
           there == address_of(flat);
}

/* Both ends: a program may have pinned a part. */
static bool is_reached(const char *flat, size_t bytes)
{
    return byte_is_reached(flat) && byte_is_reached(flat + bytes - 1);
}

/* ---- doing it ---- */

struct job {
    const struct buffer *buffer;
    size_t skip, bytes;
    char *flat;
    bool pack;
};

static unsigned word_of(const struct job *job)
{
    const struct layout *l = job->buffer->layout;
    uintptr_t bits = l->form->bits | l->size | (uintptr_t)l->extent | LONGEST_WORD;
    bits |= (uintptr_t)job->buffer->base | (uintptr_t)job->flat | job->skip | job->bytes;
    return (unsigned)(bits & -bits);
}

struct tools {
    const struct kernel *kernel;
    const void *table;
};

/* In the current context.  Brought there, if that may be.  False: something is lacking. */
static bool tools_find(struct tools *tools, const struct job *job, const void *near)
{
    char name[KERNEL_NAME_CHARS];
    cuda_context context = driver_current();
    snprintf(name, sizeof name, "%s_%u", job->pack ? "pack" : "unpack", word_of(job));
    tools->kernel = kernel_find(name, context);
    bool loaded = tools->kernel && tools->kernel->function;
    tools->table = loaded ? gpu_form_table(job->buffer->layout, context, near) : NULL;
    return tools->table;
}

static void job_launch(const struct job *job, const struct tools *tools, cuda_stream stream)
{
    const struct layout *l = job->buffer->layout;
    char *flat = job->flat, *base = job->buffer->base;
    const void *table = tools->table;
    size_t skip = job->skip, words = job->bytes / word_of(job), size = l->size;
    ptrdiff_t extent = l->extent;
    void *arguments[] = { &flat, &base, &table, &skip, &words, &size, &extent };
    kernel_launch(tools->kernel, job->bytes, stream, arguments);
}

static bool job_start(const struct job *job, const char *first, cuda_context context)
{
    struct tools tools;
    cuda_stream stream;
    if (!driver_enter(context))
        return false;
    bool ready = is_reached(job->flat, job->bytes) && tools_find(&tools, job, first);
    driver_leave(context);
    if (!ready || !driver_join(context, &stream))
        return false;
    job_launch(job, &tools, stream);
    return true;
}

/* Of data that a kernel had better move; else NULL. */
static cuda_context context_for(const struct buffer *b, size_t bytes, char **first)
{
    size_t span;
    *first = first_byte(b, &span);
    return is_worth_it(b, bytes) && is_one_allocation(*first, span) ? driver_context_for(*first)
                                                                    : NULL;
}

bool gpu_pack_start(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                    bool pack)
{
    struct job job = { buffer, skip, bytes, flat, pack };
    char *first;
    cuda_context context = context_for(buffer, bytes, &first);
    return context && job_start(&job, first, context);
}

static size_t step_of(size_t bytes)
{
    return bytes < ROOM_BYTES ? bytes : ROOM_BYTES;
}

/* In the context of the data. */
static bool steps_move(const struct job *all, char *room, const char *first)
{
    size_t step = step_of(all->bytes);
    bool good = true;
    for (size_t done = 0; good && done < all->bytes; done += step) {
        size_t left = all->bytes - done, n = left < step ? left : step;
        struct job job = { all->buffer, all->skip + done, n, room, all->pack };
        if (!job.pack)
            gpu_start(room, all->flat + done, n);
        good = job_start(&job, first, driver_current());
        if (good && job.pack)
            gpu_start(all->flat + done, room, n);
        gpu_finish();
    }
    return good;
}

bool gpu_pack_by_room(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                      bool pack)
{
    struct job job = { buffer, skip, bytes, flat, pack };
    char *first;
    cuda_context context = cuda_queue_is_open() ? NULL : context_for(buffer, bytes, &first);
    if (!context || !driver_enter(context))
        return false;
    char *room = is_reached(flat, bytes) ? NULL : gpu_room_take(step_of(bytes), first);
    bool good = room && steps_move(&job, room, first);
    gpu_room_give(room);
    driver_leave(context);
    return good;
}

void gpu_pack_prepare(const struct buffer *buffer, bool pack)
{
    struct job job = { buffer, 0, buffer_bytes(buffer), NULL, pack };
    struct tools tools;
    char *first;
    cuda_context context = context_for(buffer, job.bytes, &first);
    if (!context || !driver_enter(context))
        return;
    tools_find(&tools, &job, first);
    gpu_room_give(gpu_room_take(step_of(job.bytes), first)); /* it is kept */
    driver_leave(context);
}
