/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles of memory (cuIpcGetMemHandle and cuIpcOpenMemHandle).  Both are slow, so both sides keep
 * what they have got:
 *
 *     owner     exported   identity -> handle, or that it has none
 *     reader    mappings   (owner, identity, context) -> address, or that it cannot be opened
 *
 * Addresses are used again after a cudaFree, identities are not.  So a mapping is found by identity;
 * and when its owner shares something else at the same addresses, the old one is over and closed.
 * At most XMPI_CUDA_HANDLES are kept open, the least recently used goes first; 0 closes each when its
 * copy is over, for programs that cannot have others hold memory that they freed: until closed it
 * stays allocated.
 *
 * What has no handle: memory of pools (cudaMallocAsync), of mapped physical allocations, managed
 * memory, buffers over several allocations.  What cannot be opened: memory of a device without peer
 * access to ours, or that is hidden from this process (containers, CUDA_VISIBLE_DEVICES).  And a
 * thread without a context reads nothing, as none is made here.
 *
 * Order: a program has its data ready before it calls, but a synchronous copy within a device
 * is not over when it returns.  So who first shares an allocation asks the driver to really wait in
 * such copies from now on (SYNC_MEMOPS), and copies a byte, behind what went before.
 *
 * All of it under the engine lock.
 */
#include "runtime/gpu_share.h"

#include "runtime/gpu.h"
#include "runtime/gpu_cuda.h"
#include "runtime/gpu_turns.h"
#include "runtime/param.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    cuda_pointer_set_attribute *pointer_set_attribute;
    cuda_mem_get_address_range *mem_get_address_range;
    cuda_ipc_get_mem_handle *ipc_get_mem_handle;
    cuda_ipc_open_mem_handle *ipc_open_mem_handle;
    cuda_ipc_close_mem_handle *ipc_close_mem_handle;
} cuda;

static const struct symbol symbols[] = {
    { "cuPointerSetAttribute", &cuda.pointer_set_attribute },
    { "cuMemGetAddressRange_v2", &cuda.mem_get_address_range },
    { "cuIpcGetMemHandle", &cuda.ipc_get_mem_handle },
    { "cuIpcOpenMemHandle_v2", &cuda.ipc_open_mem_handle },
    { "cuIpcCloseMemHandle", &cuda.ipc_close_mem_handle },
};

static bool handles_are_here(void)
{
    static int here = -1;
    if (here < 0)
        here = driver_find(symbols, sizeof symbols / sizeof symbols[0]);
    return here;
}

/* ---- the owner's side ---- */

/* What goes by way of the host in the time of a turn, and of so many. */
enum { TURN_BYTES = 128 << 10, MANY_TURNS = 16 };

enum { EXPORTED = 64 };
static struct exported {
    struct gpu_share share; /* identity 0: free */
    const char *why;        /* it has no handle, or NULL */
} exported[EXPORTED];
static unsigned next_exported;

static uint64_t identity_of(const void *at)
{
    uint64_t identity = 0;
    return driver_attribute(CUDA_POINTER_BUFFER_ID, &identity, at) ? identity : 0;
}

/* Later copies within the device wait, and earlier ones are over. */
static bool memory_settle(const void *at)
{
    unsigned yes = 1;
    char byte;
    if (cuda.pointer_set_attribute(&yes, CUDA_POINTER_SYNC_MEMOPS, address_of(at)) != 0)
        return false;
    gpu_start(&byte, at, sizeof byte);
    gpu_finish();
    return true;
}

static const char *export(const void *at, struct gpu_share *share)
{
    cuda_address base = 0;
    size_t bytes = 0;
    struct cuda_ipc_handle handle;
    cuda_context context = driver_context_of(at);
    if (!context || !driver_enter(context))
        return "its memory has no context (a pool has none)";
    cuda_result result = cuda.mem_get_address_range(&base, &bytes, address_of(at));
    if (result == 0)
        result = cuda.ipc_get_mem_handle(&handle, base);
    driver_leave(context);
    if (result != 0 || !memory_settle(at))
        return "the driver has no handle for its memory (pools, mapped and managed memory)";
    memcpy(share->handle, handle.bytes, sizeof share->handle);
    share->base = base;
    share->bytes = bytes;
    return NULL;
}

static struct exported *exported_find(uint64_t identity)
{
    for (int i = 0; i < EXPORTED; i++)
        if (exported[i].share.identity == identity)
            return &exported[i];
    return NULL;
}

const char *gpu_share(const void *at, size_t bytes, struct gpu_share *share)
{
    *share = (struct gpu_share){ .identity = 0 };
    uint64_t identity = handles_are_here() ? identity_of(at) : 0;
    if (identity == 0)
        return "the driver has no handles or no identity for its memory";
    struct exported *known = exported_find(identity);
    if (!known) {
        known = &exported[next_exported++ % EXPORTED];
        *known = (struct exported){ .share.identity = identity };
        known->why = export(at, &known->share);
    }
    if (known->why)
        return known->why;
    uint64_t offset = address_of(at) - known->share.base;
    if (offset > known->share.bytes || bytes > known->share.bytes - offset)
        return "it spans several allocations";
    *share = known->share;
    share->offset = offset;
    return NULL;
}

/* To read is work of a device, and where ranks take turns at it that costs one. */
static bool is_worth_a_turn(const void *at, size_t bytes)
{
    if (param_is_given(CUDA_IPC) || bytes >= (size_t)TURN_BYTES * MANY_TURNS)
        return true;
    int turns = gpu_turns(at);
    return turns == 1 || bytes >= (size_t)TURN_BYTES * (size_t)turns;
}

const char *gpu_share_objection(const void *at, size_t bytes)
{
    struct gpu_share share;
    if (!is_worth_a_turn(at, bytes))
        return "ranks take turns at their GPU (XMPI_CUDA_IPC)";
    return gpu_share(at, bytes, &share);
}

int gpu_number(const void *at)
{
    int device = -1;
    return driver_attribute(CUDA_POINTER_DEVICE, &device, at) ? device : -1;
}

/* ---- the reader's side ---- */

struct gpu_mapping {
    struct gpu_mapping *next;
    int owner;
    struct gpu_share share;
    cuda_context context; /* in which it was opened */
    char *at;             /* NULL: it could not be opened */
    cuda_result error;    /* why */
    unsigned uses;
    bool wanted; /* not opened yet, as a stream waited for us */
    bool over;   /* to be closed when the last use ends */
};
static struct gpu_mapping *mappings; /* the last used one first */

/* Not while a stream waits for us: then later. */
static void mapping_close(struct gpu_mapping *gone)
{
    if (driver_is_stalled()) {
        gone->over = true;
        return;
    }
    struct gpu_mapping **at = &mappings;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    if (gone->at && driver_enter(gone->context)) {
        cuda.ipc_close_mem_handle(address_of(gone->at));
        driver_leave(gone->context);
    }
    free(gone);
}

static void mapping_end(struct gpu_mapping *mapping)
{
    mapping->over = true;
    if (mapping->uses == 0)
        mapping_close(mapping);
}

void gpu_unmap_all(int owner)
{
    struct gpu_mapping *next;
    for (struct gpu_mapping *m = mappings; m; m = next) {
        next = m->next;
        if (owner < 0 || m->owner == owner)
            mapping_end(m);
    }
}

/* Close what is not in use until at most so many are kept: the last used ones. */
static void mappings_trim(long long most)
{
    struct gpu_mapping *next;
    long long n = 0;
    for (struct gpu_mapping *m = mappings; m; m = next) {
        next = m->next;
        if ((m->over || ++n > most) && m->uses == 0)
            mapping_close(m);
    }
}

static bool is_reused(const struct gpu_mapping *m, int owner, const struct gpu_share *share)
{
    return m->owner == owner && m->share.identity != share->identity &&
           m->share.base < share->base + share->bytes &&
           share->base < m->share.base + m->share.bytes;
}

/* The mapping, made the first of all, or NULL; what lay at its addresses before is over. */
static struct gpu_mapping *mapping_find(int owner, const struct gpu_share *share,
                                        cuda_context context)
{
    struct gpu_mapping *found = NULL, *next;
    for (struct gpu_mapping *m = mappings; m; m = next) {
        next = m->next;
        if (is_reused(m, owner, share))
            mapping_end(m);
        else if (m->owner == owner && m->share.identity == share->identity &&
                 m->context == context && !m->over)
            found = m;
    }
    if (!found || found == mappings)
        return found;
    struct gpu_mapping **at = &mappings;
    while (*at != found)
        at = &(*at)->next;
    *at = found->next;
    found->next = mappings;
    return mappings = found;
}

static cuda_result handle_open(const struct gpu_share *share, cuda_address *at)
{
    struct cuda_ipc_handle handle;
    memcpy(handle.bytes, share->handle, sizeof handle.bytes);
    int levels = driver_stall_begin();
    cuda_result result = cuda.ipc_open_mem_handle(at, handle, CUDA_IPC_LAZY_PEER_ACCESS);
    driver_stall_end(levels);
    return result;
}

static struct gpu_mapping *mapping_new(int owner, const struct gpu_share *share,
                                       cuda_context context)
{
    struct gpu_mapping *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    *new = (struct gpu_mapping){
        .next = mappings, .owner = owner, .share = *share, .context = context, .wanted = true
    };
    return mappings = new;
}

/* In its context, unless that has to wait. */
static void mapping_open(struct gpu_mapping *m)
{
    cuda_address at = 0;
    if (!m->wanted || !gpu_may_stall())
        return;
    m->wanted = false;
    m->uses++;
    m->error = handle_open(&m->share, &at);
    if (m->error == CUDA_OUT_OF_MEMORY || m->error == CUDA_ALREADY_MAPPED) {
        mappings_trim(0);
        m->error = handle_open(&m->share, &at);
    }
    m->at = m->error ? NULL : (char *)(uintptr_t)at;
    m->uses--;
}

void gpu_map_wanted(void)
{
    struct gpu_mapping *m = mappings;
    while (m) {
        if (!m->wanted || !driver_enter(m->context)) {
            m = m->next;
            continue;
        }
        mapping_open(m);
        driver_leave(m->context);
        m = gpu_may_stall() ? mappings : NULL; /* others may have changed the list */
    }
}

static const char *why_not(const struct gpu_mapping *mapping)
{
    static char text[160];
    if (!mapping)
        return "there is no memory for a mapping";
    if (mapping->wanted)
        return "a stream waits for this process, so nothing is mapped now";
    snprintf(text, sizeof text, "cuIpcOpenMemHandle: error %d (%s)", mapping->error,
             driver_error_name(mapping->error));
    return text;
}

struct gpu_mapping *gpu_map(int owner, const struct gpu_share *share, const void *near,
                            const char **why)
{
    cuda_context context = handles_are_here() ? driver_context_of(near) : NULL;
    if (handles_are_here() && !context)
        context = driver_current();
    *why = "there is no driver with handles, or no context of a device, where it is received";
    if (share->identity == 0)
        *why = "its owner could not name it";
    if (share->identity == 0 || !context || !driver_enter(context))
        return NULL;
    struct gpu_mapping *mapping = mapping_find(owner, share, context);
    if (!mapping)
        mapping = mapping_new(owner, share, context);
    if (mapping)
        mapping_open(mapping);
    driver_leave(context);
    if (!mapping || !mapping->at) {
        *why = why_not(mapping);
        return NULL;
    }
    mapping->uses++;
    return mapping;
}

char *gpu_mapping_at(const struct gpu_mapping *mapping, const struct gpu_share *share)
{
    return mapping->at + share->offset;
}

void gpu_unmap(struct gpu_mapping *mapping, bool good)
{
    mapping->uses--;
    if (!good || mapping->over)
        mapping_end(mapping);
    mappings_trim(param_number(CUDA_HANDLES));
}
