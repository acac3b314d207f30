/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rooms: memory that collectives need beside the program's, on the device that folds.  A room that is
 * given back is kept for the next collective, the smallest one that is large enough.
 *
 *     take      kept | cuMemAlloc | kept ones freed, cuMemAlloc again | nothing
 *     take_any                                                        | pinned memory of the host
 *     take_long as take, but no kept one that is larger than need be: it would be lost to others
 *
 * A device that is full of the program's data still folds: its kernels reach pinned memory by its
 * address, at the speed of the bus.  XMPI_LOG=1 says so.
 *
 * Costs: to allocate and to free may make the driver wait for the device, so at most 256 MiB that
 * nobody uses are kept.
 */
#include "runtime/gpu.h"
#include "runtime/gpu_cuda.h"
#include "runtime/gpu_reduce.h"
#include "runtime/log.h"

#include <stdlib.h>

enum { ROOM_STEP = 64 << 10, KEPT_BYTES = 256 << 20 };
enum kind { ON_DEVICE, PINNED };

static struct room {
    struct room *next;
    void *at;
    size_t bytes;
    cuda_context context;
    enum kind kind;
    bool used;
} * rooms;
static size_t kept; /* bytes of those that are not used */

static struct {
    cuda_mem_alloc *mem_alloc;
    cuda_mem_free *mem_free;
} cuda;

static const struct symbol symbols[] = {
    { "cuMemAlloc_v2", &cuda.mem_alloc },
    { "cuMemFree_v2", &cuda.mem_free },
};

static bool memory_is_here(void)
{
    static int here = -1;
    if (here < 0)
        here = driver_find(symbols, sizeof symbols / sizeof symbols[0]);
    return here;
}

static void room_free(struct room *room)
{
    if (room->kind == PINNED) {
        gpu_unpin(room->at);
    } else if (driver_enter(room->context)) {
        cuda.mem_free(address_of(room->at));
        driver_leave(room->context);
    }
    free(room);
}

static void rooms_free_unused(void)
{
    if (driver_is_stalled())
        return;
    for (struct room **at = &rooms; *at;) {
        struct room *room = *at;
        if (room->used) {
            at = &room->next;
            continue;
        }
        *at = room->next;
        room_free(room);
    }
    kept = 0;
}

/* The smallest kept one that is large enough and not too large, or NULL. */
static struct room *room_find(size_t bytes, size_t most, cuda_context context, enum kind kind)
{
    struct room *best = NULL;
    for (struct room *r = rooms; r; r = r->next)
        if (!r->used && r->kind == kind && r->context == context && r->bytes >= bytes &&
            r->bytes <= most && (!best || r->bytes < best->bytes))
            best = r;
    if (best)
        kept -= best->bytes;
    return best;
}

static cuda_result memory_get(cuda_address *at, size_t bytes)
{
    int levels = driver_stall_begin();
    cuda_result error = cuda.mem_alloc(at, bytes);
    driver_stall_end(levels);
    return error;
}

static void *device_allocate(size_t bytes, cuda_context context)
{
    cuda_address at;
    if (!gpu_may_stall() || !driver_enter(context))
        return NULL;
    cuda_result error = memory_get(&at, bytes);
    if (error == CUDA_OUT_OF_MEMORY) {
        rooms_free_unused();
        error = memory_get(&at, bytes);
    }
    driver_leave(context);
    return error ? NULL : (void *)(uintptr_t)at;
}

static struct room *room_new(size_t bytes, cuda_context context, enum kind kind)
{
    struct room *new = malloc(sizeof *new);
    void *at = !new                ? NULL
               : kind == ON_DEVICE ? device_allocate(bytes, context)
                                   : driver_pin(context, bytes);
    if (!at) {
        free(new);
        return NULL;
    }
    *new = (struct room){ rooms, at, bytes, context, kind, false };
    return rooms = new;
}

static void *room_take(size_t bytes, const void *near, enum kind kind, bool stays)
{
    cuda_context context = memory_is_here() ? driver_context_for(near) : NULL;
    if (!context || bytes > SIZE_MAX - ROOM_STEP)
        return NULL;
    size_t size = bytes / ROOM_STEP * ROOM_STEP + ROOM_STEP;
    struct room *room = room_find(bytes, stays ? size : SIZE_MAX, context, kind);
    if (!room)
        room = room_new(size, context, kind);
    if (!room)
        return NULL;
    room->used = true;
    return room->at;
}

void *gpu_room_take(size_t bytes, const void *near)
{
    return room_take(bytes, near, ON_DEVICE, false);
}

void *gpu_room_take_long(size_t bytes, const void *near)
{
    return room_take(bytes, near, ON_DEVICE, true);
}

void *gpu_room_take_pinned(size_t bytes, const void *near)
{
    return room_take(bytes, near, PINNED, false);
}

void *gpu_room_take_any(size_t bytes, const void *near)
{
    void *room = gpu_room_take(bytes, near);
    if (room)
        return room;
    log_line(
        "cuda: the device has no %zu bytes for a reduction, pinned memory of the host serves",
        bytes);
    return gpu_room_take_pinned(bytes, near);
}

void gpu_room_give(void *at)
{
    for (struct room *r = rooms; at && r; r = r->next)
        if (r->at == at) {
            r->used = false;
            kept += r->bytes;
        }
    if (kept > KEPT_BYTES && !driver_is_patient()) /* who is asks for what it will need soon */
        rooms_free_unused();
}

void gpu_rooms_close(void)
{
    rooms_free_unused();
}
