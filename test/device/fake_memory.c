/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the pretended devices: allocations, what is known about an address, and handles by which
 * another process reaches it.  That process copies by process_vm_readv and _writev, so whatever
 * memory the owner calls a device's can be exported.
 *
 *     owner     cuMemAlloc          an entry of `allocations`, with an identity
 *               cuIpcGetMemHandle   pid, base, size, the entry and its identity
 *     reader    cuIpcOpenMemHandle  one of 32 windows, whose number is in the address
 *               a copy              looks whether the entry has that identity still
 *
 * Strict where the real one may be lenient: memory is used again at once, at the same address; and
 * memory of others that was freed is an illegal address, even where something new lies there.
 *
 * In the environment: FAKE_NO_PEERS=1, no device reaches the memory of another one; FAKE_ROOM=n, the
 * driver allocates at most so many bytes.
 */
#define _GNU_SOURCE
#include "fake_inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

EXPORT cuda_pointer_get_attributes cuPointerGetAttributes;
EXPORT cuda_pointer_set_attribute cuPointerSetAttribute;
EXPORT cuda_mem_get_address_range cuMemGetAddressRange_v2;
EXPORT cuda_ipc_get_mem_handle cuIpcGetMemHandle;
EXPORT cuda_ipc_open_mem_handle cuIpcOpenMemHandle_v2;
EXPORT cuda_ipc_close_mem_handle cuIpcCloseMemHandle;
EXPORT cuda_mem_host_alloc cuMemHostAlloc;
EXPORT cuda_mem_free_host cuMemFreeHost;
EXPORT cuda_result cuMemAlloc_v2(cuda_address *at, size_t bytes);
EXPORT cuda_result cuMemAllocManaged(cuda_address *at, size_t bytes, unsigned flags);
EXPORT cuda_result cuMemFree_v2(cuda_address at);
EXPORT unsigned
fake_questions(void); /* for tests: how often this thread has asked about an address */
EXPORT size_t fake_pinned(void); /* for tests: bytes of the host that are pinned */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- allocations ---- */

enum { ALLOCATIONS = 256, ARENA_BYTES = 1 << 30, ALIGN = 512, REGION_BITS = 32 };
enum { ROWS_AT_ONCE = 256 }; /* of a copy to or from another process */

struct allocation {
    uint64_t identity; /* 0: free */
    uint64_t base;     /* as the program has it */
    char *host;
    size_t bytes;
    bool managed;
};
static struct allocation allocations[ALLOCATIONS];
static char *arena;
static uint64_t last_identity, marker;
static size_t pinned;

size_t fake_pinned(void)
{
    return __atomic_load_n(&pinned, __ATOMIC_RELAXED);
}

static struct allocation *allocation_in(const char *host, size_t bytes)
{
    for (int i = 0; i < ALLOCATIONS; i++) {
        struct allocation *a = &allocations[i];
        if (a->identity && host < a->host + a->bytes && a->host < host + bytes)
            return a;
    }
    return NULL;
}

/* The first gap that is large enough. */
static char *gap_find(size_t bytes)
{
    char *host = arena;
    struct allocation *there;
    while ((there = allocation_in(host, bytes)) != NULL)
        host = there->host + (there->bytes + ALIGN - 1) / ALIGN * ALIGN;
    return (size_t)(arena + ARENA_BYTES - host) >= bytes ? host : NULL;
}

static struct allocation *entry_find(void)
{
    int i = 0;
    while (i < ALLOCATIONS && allocations[i].identity)
        i++;
    return i < ALLOCATIONS ? &allocations[i] : NULL;
}

static bool arena_open(void)
{
    if (!arena)
        arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return arena != MAP_FAILED;
}

static bool device_is_full(size_t bytes)
{
    const char *most = getenv("FAKE_ROOM");
    for (int i = 0; i < ALLOCATIONS; i++)
        bytes += allocations[i].identity ? allocations[i].bytes : 0;
    return most && bytes > strtoull(most, NULL, 10);
}

static cuda_result allocate(cuda_address *at, size_t bytes, bool managed)
{
    const char *context = fake_current();
    if (!context)
        return INVALID_CONTEXT;
    struct allocation *new = entry_find();
    bool fits = arena_open() && new &&bytes > 0 && !device_is_full(bytes);
    char *host = fits ? gap_find(bytes) : NULL;
    if (!host)
        return OUT_OF_MEMORY;
    void *device = fake_device_at(host, (int)(context - fake_contexts));
    *at = (uintptr_t)(managed ? host : device);
    *new = (struct allocation){ ++last_identity, *at, host, bytes, managed };
    return SUCCESS;
}

cuda_result cuMemAlloc_v2(cuda_address *at, size_t bytes)
{
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    fake_stall(false);
    pthread_mutex_lock(&lock);
    cuda_result result = allocate(at, bytes, false);
    pthread_mutex_unlock(&lock);
    return result;
}

cuda_result cuMemAllocManaged(cuda_address *at, size_t bytes, unsigned flags)
{
    (void)flags;
    pthread_mutex_lock(&lock);
    cuda_result result = allocate(at, bytes, true);
    pthread_mutex_unlock(&lock);
    return result;
}

cuda_result cuMemFree_v2(cuda_address at)
{
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    fake_stall(false);
    pthread_mutex_lock(&lock);
    struct allocation *gone = allocation_in(fake_host((void *)(uintptr_t)at), 1);
    cuda_result result = gone && gone->base == at ? SUCCESS : INVALID_VALUE;
    if (result == SUCCESS)
        *gone = (struct allocation){ 0 };
    pthread_mutex_unlock(&lock);
    return result;
}

/* Copied, with its entry.  What is not allocated here counts as part of an allocation of 4 GiB. */
static const struct allocation *what_lies_at(cuda_address at, struct allocation *what)
{
    pthread_mutex_lock(&lock);
    const struct allocation *found =
        at & FAKE_OPENED ? NULL : allocation_in(fake_host((void *)(uintptr_t)at), 1);
    if (found)
        *what = *found;
    pthread_mutex_unlock(&lock);
    if (!found)
        *what = (struct allocation){ .base = at >> REGION_BITS << REGION_BITS,
                                     .bytes = (size_t)1 << REGION_BITS,
                                     .identity = UINT64_C(1) << 63 | at >> REGION_BITS };
    return found;
}

/* ---- pinned memory of the host ---- */

static struct pinned {
    struct pinned *next;
    size_t bytes;
    char memory[] __attribute__((aligned(64)));
} * all_pinned;

static bool is_pinned(const char *at)
{
    pthread_mutex_lock(&lock);
    const struct pinned *p = all_pinned;
    while (p && (at < p->memory || at >= p->memory + p->bytes))
        p = p->next;
    pthread_mutex_unlock(&lock);
    return p;
}

cuda_result cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    cuda_result now = fake_may_call_now();
    if (now || (flags & ~(unsigned)CUDA_HOST_PORTABLE))
        return now ? now : INVALID_VALUE;
    fake_stall(false);
    struct pinned *new = fake_current() ? malloc(sizeof *new + bytes) : NULL;
    if (!new)
        return fake_current() ? OUT_OF_MEMORY : INVALID_CONTEXT;
    new->bytes = bytes;
    *at = new->memory;
    pthread_mutex_lock(&lock);
    new->next = all_pinned;
    all_pinned = new;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&pinned, bytes, __ATOMIC_RELAXED);
    return SUCCESS;
}

cuda_result cuMemFreeHost(void *at)
{
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    struct pinned *gone = (struct pinned *)((char *)at - offsetof(struct pinned, memory));
    __atomic_fetch_sub(&pinned, gone->bytes, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    struct pinned **place = &all_pinned;
    while (*place != gone)
        place = &(*place)->next;
    *place = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
    return SUCCESS;
}

/* ---- asking ---- */

bool fake_is_device(cuda_address at)
{
    return at >> (FAKE_DEVICE_SHIFT + 2) == 0 && at & FAKE_DEVICE;
}

int fake_device_of(cuda_address at)
{
    return at >> FAKE_DEVICE_SHIFT & (FAKE_DEVICES - 1);
}

static _Thread_local unsigned questions;

unsigned fake_questions(void)
{
    return questions;
}

cuda_result cuPointerGetAttributes(unsigned n, enum cuda_attribute *asked, void **answers,
                                   cuda_address at)
{
    struct allocation what;
    questions++;
    what_lies_at(at, &what);
    bool device = fake_is_device(at), here = device || what.managed;
    bool host = !here && is_pinned((char *)(uintptr_t)at);
    cuda_context context =
        here && !(at & FAKE_POOL) ? &fake_contexts[fake_device_of(at)] : NULL;
    for (unsigned i = 0; i < n; i++) {
        if (asked[i] == CUDA_POINTER_CONTEXT)
            *(cuda_context *)answers[i] = context;
        else if (asked[i] == CUDA_POINTER_MEMORY_TYPE)
            *(unsigned *)answers[i] = here ? CUDA_MEMORY_DEVICE : host ? CUDA_MEMORY_HOST : 0;
        else if (asked[i] == CUDA_POINTER_DEVICE_POINTER)
            *(cuda_address *)answers[i] = (here || host) && fake_current() ? at : 0;
        else if (asked[i] == CUDA_POINTER_IS_MANAGED)
            *(unsigned *)answers[i] = what.managed;
        else if (asked[i] == CUDA_POINTER_BUFFER_ID)
            *(uint64_t *)answers[i] = here ? what.identity : 0;
        else if (asked[i] == CUDA_POINTER_DEVICE)
            *(int *)answers[i] = here ? fake_device_of(at) : -2;
        else
            return INVALID_VALUE;
    }
    return SUCCESS;
}

cuda_result cuPointerSetAttribute(const void *value, enum cuda_attribute attribute,
                                  cuda_address at)
{
    bool good = attribute == CUDA_POINTER_SYNC_MEMOPS && *(const unsigned *)value == 1 &&
                fake_is_device(at) && !(at & FAKE_POOL);
    return good ? SUCCESS : INVALID_VALUE;
}

cuda_result cuMemGetAddressRange_v2(cuda_address *base, size_t *bytes, cuda_address at)
{
    if (!fake_is_device(at))
        return INVALID_VALUE;
    struct allocation what;
    what_lies_at(at, &what);
    *base = what.base;
    *bytes = what.bytes;
    return SUCCESS;
}

/* ---- handles ---- */

struct handle { /* what the 64 bytes are here */
    uint64_t base, bytes, identity;
    uint64_t alive_at,
        alive; /* a word of the owner's, and its value while the memory is there */
    pid_t pid;
    int device;
};
_Static_assert(sizeof(struct handle) <= sizeof(struct cuda_ipc_handle), "a handle fits");

static struct window {
    struct handle handle; /* pid 0: free */
    cuda_context context;
} windows[FAKE_MOST_OPENED];

cuda_result cuIpcGetMemHandle(struct cuda_ipc_handle *handle, cuda_address at)
{
    if (!fake_is_device(at) || at & (FAKE_POOL | FAKE_OPENED))
        return INVALID_VALUE;
    struct allocation what;
    const struct allocation *entry = what_lies_at(at, &what);
    marker = UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)getpid();
    struct handle mine = { .base = what.base,
                           .bytes = what.bytes,
                           .identity = what.identity,
                           .alive_at = (uintptr_t)(entry ? &entry->identity : &marker),
                           .alive = entry ? what.identity : marker,
                           .pid = getpid(),
                           .device = fake_device_of(at) };
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &mine, sizeof mine);
    return SUCCESS;
}

static bool is_alive(const struct handle *owner)
{
    uint64_t seen = 0;
    struct iovec mine = { &seen, sizeof seen };
    struct iovec theirs = { (void *)(uintptr_t)owner->alive_at, sizeof seen };
    return process_vm_readv(owner->pid, &mine, 1, &theirs, 1, 0) == sizeof seen &&
           seen == owner->alive;
}

static cuda_result window_open(const struct handle *owner, cuda_context context, int *number)
{
    *number = -1;
    for (int i = 0; i < FAKE_MOST_OPENED; i++) {
        struct window *w = &windows[i];
        if (w->handle.pid == 0)
            *number = i;
        else if (w->context == context && memcmp(&w->handle, owner, sizeof *owner) == 0)
            return ALREADY_MAPPED;
    }
    if (*number < 0)
        return OUT_OF_MEMORY;
    windows[*number] = (struct window){ *owner, context };
    return SUCCESS;
}

cuda_result cuIpcOpenMemHandle_v2(cuda_address *at, struct cuda_ipc_handle handle,
                                  unsigned flags)
{
    cuda_context context = fake_current();
    struct handle owner;
    int number;
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    fake_stall(false);
    memcpy(&owner, &handle, sizeof owner);
    if (!context || owner.pid == getpid())
        return INVALID_CONTEXT;
    const char *alone = getenv("FAKE_NO_PEERS");
    bool near = context == &fake_contexts[owner.device];
    if (!near && ((alone && *alone == '1') || flags != CUDA_IPC_LAZY_PEER_ACCESS))
        return PEER_ACCESS_UNSUPPORTED;
    if (!is_alive(&owner))
        return MAPPING_FAILED;
    pthread_mutex_lock(&lock);
    cuda_result result = window_open(&owner, context, &number);
    pthread_mutex_unlock(&lock);
    if (result == SUCCESS)
        *at = owner.base | FAKE_OPENED | (uint64_t)number << FAKE_OPENED_SHIFT;
    return result;
}

static struct window *window_of(cuda_address at)
{
    return &windows[at >> FAKE_OPENED_SHIFT & (FAKE_MOST_OPENED - 1)];
}

cuda_result cuIpcCloseMemHandle(cuda_address at)
{
    cuda_result now = fake_may_call_now();
    if (now)
        return now;
    fake_stall(false);
    struct window *w = window_of(at);
    if (!(at & FAKE_OPENED) || w->handle.pid == 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    w->handle.pid = 0;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* ---- copies ---- */

static bool is_opened(cuda_address at)
{
    return fake_is_device(at) && at & FAKE_OPENED;
}

/* What lies in a window is there, and is what was opened. */
static bool window_is_good(cuda_address at, size_t bytes)
{
    const struct handle *owner = &window_of(at)->handle;
    const char *host = fake_host((void *)(uintptr_t)at);
    const char *base = fake_host((void *)(uintptr_t)owner->base);
    return owner->pid && host >= base && host + bytes <= base + owner->bytes && is_alive(owner);
}

static char *near_host(cuda_address at)
{
    return fake_is_device(at) ? fake_host((void *)(uintptr_t)at) : (char *)(uintptr_t)at;
}

/* Rows between addresses of the host, one end of which is the owner's. */
static bool window_copy(const struct handle *owner, const struct cuda_copy_2d *rows, bool write)
{
    struct iovec to[ROWS_AT_ONCE], from[ROWS_AT_ONCE];
    for (size_t i = 0, n; i < rows->height; i += n) {
        for (n = 0; n < ROWS_AT_ONCE && i + n < rows->height; n++) {
            uintptr_t target = rows->to + (i + n) * rows->to_pitch;
            uintptr_t source = rows->from + (i + n) * rows->from_pitch;
            to[n] = (struct iovec){ (void *)target, rows->width };
            from[n] = (struct iovec){ (void *)source, rows->width };
        }
        ssize_t moved = write ? process_vm_writev(owner->pid, from, n, to, n, 0)
                              : process_vm_readv(owner->pid, to, n, from, n, 0);
        if (moved < 0 || (size_t)moved != n * rows->width)
            return false;
    }
    return true;
}

cuda_result fake_copy_rows(const struct cuda_copy_2d *rows)
{
    struct cuda_copy_2d host = *rows;
    host.to = (uintptr_t)near_host(rows->to);
    host.from = (uintptr_t)near_host(rows->from);
    bool read = is_opened(rows->from), write = is_opened(rows->to);
    if (rows->height == 0 || (read && write)) /* both: nobody should */
        return rows->height == 0 ? SUCCESS : ILLEGAL_ADDRESS;
    if (read || write) {
        cuda_address window = read ? rows->from : rows->to;
        size_t pitch = read ? rows->from_pitch : rows->to_pitch;
        bool good = window_is_good(window, (rows->height - 1) * pitch + rows->width) &&
                    window_copy(&window_of(window)->handle, &host, write);
        return good ? SUCCESS : ILLEGAL_ADDRESS;
    }
    for (size_t i = 0; i < host.height; i++)
        memcpy((char *)(uintptr_t)host.to + i * host.to_pitch,
               (const char *)(uintptr_t)host.from + i * host.from_pitch, host.width);
    return SUCCESS;
}

cuda_result fake_copy(cuda_address to, cuda_address from, size_t bytes)
{
    return fake_copy_rows(
        &(struct cuda_copy_2d){ .to = to, .from = from, .width = bytes, .height = 1 });
}

/* What a kernel finds here in this process; NULL: nothing. */
static char *kernel_host(cuda_address at)
{
    struct allocation what;
    char *host = near_host(at);
    if (at & FAKE_BROKEN)
        return NULL;
    if (fake_is_device(at) || (what_lies_at(at, &what) && what.managed) || is_pinned(host))
        return host;
    return NULL;
}

cuda_result fake_kernel_move(cuda_address at, void *value, size_t bytes, bool write)
{
    if (at % bytes)
        return MISALIGNED_ADDRESS;
    if (is_opened(at))
        return write ? fake_copy(at, (uintptr_t)value, bytes)
                     : fake_copy((uintptr_t)value, at, bytes);
    char *host = kernel_host(at);
    if (!host)
        return ILLEGAL_ADDRESS;
    memcpy(write ? host : value, write ? value : host, bytes);
    return SUCCESS;
}
