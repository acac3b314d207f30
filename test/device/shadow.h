/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers of a program, copied to memory of a GPU for the time of an operation.  Programs of test/conform,
 * which look at their data as they like, so run on memory that only the device reaches, a real one or the
 * pretended one:
 *
 *     call        the buffer's surroundings --> device, and are remembered; MPI gets the device's address
 *     over        device --> what MPI has changed, and nothing else, as the program may have changed
 *                 other bytes meanwhile
 *
 * Over is a blocking call that returns, and a request that a wait or a test says to be complete.  How far
 * a buffer reaches is known roughly, so the surroundings are generous; they end where the mapping does.
 * Included by what shadow.py writes.
 */
#include "runtime/cuda_abi.h"

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <mpi.h>
#include <mpix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLACK = 1024,
    UNKNOWN = 2 << 20,
    MOST_KEPT = 512,
    SLAB = 16,
    SLAB_BYTES = 4 << 20,
    BLOCKS = 20,
    LEAST_BLOCK = 12
};

struct shadow {
    struct shadow *next;
    MPI_Request request; /* MPI_REQUEST_NULL: of a blocking call */
    char *host, *before; /* the surroundings, and what was there */
    size_t bytes;
    cuda_address device;
    int block;
    int is_read_only, is_persistent, is_active;
    const MPI_Request *asked; /* by the call that asks about its request now */
};

static struct shadow *shadows; /* of requests */
static pthread_mutex_t shadow_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int n;
    cuda_address at[MOST_KEPT];
} blocks[BLOCKS]; /* unused, of the device; of each size twice that of the one before */

static void shadow_must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "test/device/shadow: %s does not work\n", what);
    abort();
}

/* ---- the device ---- */

static struct {
    cuda_init *init;
    cuda_device_get *device;
    cuda_result (*retain)(cuda_context *context, int device);
    cuda_result (*set_context)(cuda_context context);
    cuda_mem_alloc *allocate;
    cuda_memcpy_async *copy;
    cuda_stream_synchronize *synchronize;
    cuda_context context;
} shadow_cuda;

static void shadow_open(void)
{
    /* What lies around a buffer of a persistent request must stay: all in one heap that never shrinks. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    const struct {
        const char *name;
        void *at;
    } functions[] = { { "cuInit", &shadow_cuda.init },
                      { "cuDeviceGet", &shadow_cuda.device },
                      { "cuDevicePrimaryCtxRetain", &shadow_cuda.retain },
                      { "cuCtxSetCurrent", &shadow_cuda.set_context },
                      { "cuMemAlloc_v2", &shadow_cuda.allocate },
                      { "cuMemcpyAsync", &shadow_cuda.copy },
                      { "cuStreamSynchronize", &shadow_cuda.synchronize } };
    const char *name = getenv("XMPI_LIBCUDA");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW);
    int device = -1, number = MPIX_Query_cuda_device();
    shadow_must(library != NULL && number >= 0, "CUDA's driver, or its device,");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        shadow_must(found != NULL, functions[i].name);
        memcpy(functions[i].at, &found, sizeof found);
    }
    shadow_must(shadow_cuda.init(0) == 0 && shadow_cuda.device(&device, number) == 0 &&
                    shadow_cuda.retain(&shadow_cuda.context, device) == 0,
                "the device");
}

static void shadow_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local int entered;
    pthread_once(&once, shadow_open);
    if (!entered)
        shadow_must(shadow_cuda.set_context(shadow_cuda.context) == 0, "cuCtxSetCurrent");
    entered = 1;
}

static void shadow_copy(cuda_address to, cuda_address from, size_t bytes)
{
    shadow_must(shadow_cuda.copy(to, from, bytes, CUDA_STREAM_PER_THREAD) == 0 &&
                    shadow_cuda.synchronize(CUDA_STREAM_PER_THREAD) == 0,
                "a copy");
}

/* Memory of the device is never given back: where it lay something else of the same size lies next.  Small
 * blocks lie side by side. */
static void blocks_make(int block)
{
    size_t bytes = (size_t)1 << (block + LEAST_BLOCK);
    int n = bytes * SLAB <= SLAB_BYTES ? SLAB : 1;
    cuda_address at = 0;
    shadow_must(shadow_cuda.allocate(&at, bytes * (size_t)n) == 0, "memory of the device");
    for (int i = 0; i < n; i++)
        blocks[block].at[blocks[block].n++] = at + (cuda_address)i * bytes;
}

static cuda_address block_take(size_t bytes, int *block)
{
    for (*block = 0; (size_t)1 << (*block + LEAST_BLOCK) < bytes;)
        ++*block;
    shadow_must(*block < BLOCKS, "a buffer so large");
    if (blocks[*block].n == 0)
        blocks_make(*block);
    return blocks[*block].at[--blocks[*block].n];
}

/* ---- surroundings ---- */

/* What may be read and written around this address: one mapping, or several side by side.  Those of a
 * driver, which it puts anywhere, are none. */
static int mapping_of(const char *at, char **low, char **high)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[8];
    unsigned long from, to, begin = 0, end = 0;
    int found = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 ||
            strncmp(rights, "rw", 2) != 0 || strstr(line, " /dev/"))
            continue;
        if (from != end && (found = (unsigned long)at >= begin && (unsigned long)at < end))
            break;
        begin = from == end ? begin : from;
        end = to;
    }
    found |= (unsigned long)at >= begin && (unsigned long)at < end;
    if (maps)
        fclose(maps);
    *low = (char *)begin;
    *high = (char *)end;
    return found;
}

/* Bytes that so many elements reach, to either side. */
static size_t shadow_reach(long long count, MPI_Datatype type)
{
    MPI_Count low, bytes, from, extent;
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return 0;
    PMPI_Type_get_true_extent_c(type, &low, &bytes);
    PMPI_Type_get_extent_c(type, &from, &extent);
    long long reach = (count - 1) * llabs((long long)extent) + llabs((long long)low) + bytes;
    return reach > 0 && reach < 64 << 20 ? (size_t)reach : UNKNOWN;
}

/* Of counts of int or MPI_Count, one for each rank. */
static long long shadow_sum(const void *counts, size_t each, MPI_Comm comm)
{
    long long sum = 0;
    int n = 0;
    if (comm != MPI_COMM_NULL && counts)
        PMPI_Comm_size(comm, &n);
    for (int i = 0; i < n; i++)
        sum += each == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
    return sum;
}

static void shadow_fill(struct shadow *s)
{
    memcpy(s->before, s->host, s->bytes);
    shadow_copy(s->device, (uintptr_t)s->before, s->bytes);
    s->is_active = 1;
}

/* Put it into the list of a call; NULL: it stays where it is. */
static void shadow_add(struct shadow **list, const void *buffer, size_t reach, int is_read_only)
{
    char *at = (char *)buffer, *low, *high;
    if (!buffer || buffer == MPI_BOTTOM || buffer == MPI_IN_PLACE ||
        !mapping_of(at, &low, &high))
        return;
    low = (size_t)(at - low) > reach + SLACK ? at - reach - SLACK : low;
    high = (size_t)(high - at) > reach + SLACK ? at + reach + SLACK : high;
    for (struct shadow **s = list; *s;) { /* what overlaps is one */
        struct shadow *one = *s;
        if (one->host >= high || one->host + one->bytes <= low) {
            s = &one->next;
            continue;
        }
        low = one->host < low ? one->host : low;
        high = one->host + one->bytes > high ? one->host + one->bytes : high;
        is_read_only &= one->is_read_only;
        *s = one->next;
        free(one);
    }
    struct shadow *new = calloc(1, sizeof *new);
    shadow_must(new != NULL, "malloc");
    *new = (struct shadow){ .next = *list,
                            .request = MPI_REQUEST_NULL,
                            .host = low,
                            .bytes = (size_t)(high - low),
                            .is_read_only = is_read_only };
    *list = new;
}

static void shadow_begin(struct shadow *list)
{
    if (!list)
        return;
    pthread_mutex_lock(&shadow_lock);
    shadow_enter();
    for (struct shadow *s = list; s; s = s->next) {
        s->before = malloc(s->bytes);
        shadow_must(s->before != NULL, "malloc");
        s->device = block_take(s->bytes, &s->block);
        shadow_fill(s);
    }
    pthread_mutex_unlock(&shadow_lock);
}

/* What MPI gets. */
static void *shadow_at(const struct shadow *list, const void *buffer)
{
    const char *at = buffer;
    for (const struct shadow *s = list; at && s; s = s->next)
        if (at >= s->host && at < s->host + s->bytes)
            return (void *)(uintptr_t)(s->device + (cuda_address)(at - s->host));
    return (void *)buffer;
}

/* ---- over ---- */

static void shadow_merge(struct shadow *s)
{
    enum { STEP = 256 };
    s->is_active = 0;
    if (s->is_read_only)
        return;
    char *now = malloc(s->bytes);
    shadow_must(now != NULL, "malloc");
    shadow_enter();
    shadow_copy((uintptr_t)now, s->device, s->bytes);
    for (size_t i = 0; i < s->bytes; i += STEP) {
        size_t n = s->bytes - i < STEP ? s->bytes - i : STEP;
        for (size_t k = i; memcmp(now + i, s->before + i, n) != 0 && k < i + n; k++)
            if (now[k] != s->before[k])
                s->host[k] = s->before[k] = now[k];
    }
    free(now);
}

static void shadow_free(struct shadow *s)
{
    if (blocks[s->block].n < MOST_KEPT)
        blocks[s->block].at[blocks[s->block].n++] = s->device;
    free(s->before);
    free(s);
}

/* A call has returned: with a request that goes on, or all is over. */
static void shadow_end(struct shadow *list, const MPI_Request *request, int is_persistent)
{
    pthread_mutex_lock(&shadow_lock);
    for (struct shadow *s = list, *next; s; s = next) {
        next = s->next;
        if (request && *request != MPI_REQUEST_NULL) {
            s->request = *request;
            s->is_persistent = is_persistent;
            s->is_active = !is_persistent;
            s->next = shadows;
            shadows = s;
        } else {
            shadow_merge(s);
            shadow_free(s);
        }
    }
    pthread_mutex_unlock(&shadow_lock);
}

/* The request was waited for or tested by this call. */
static void shadow_look(const MPI_Request *call, MPI_Request before, MPI_Request after)
{
    int flag = 1;
    if (before == MPI_REQUEST_NULL)
        return;
    if (after != MPI_REQUEST_NULL)
        PMPI_Request_get_status(after, &flag, MPI_STATUS_IGNORE);
    pthread_mutex_lock(&shadow_lock);
    for (struct shadow **at = &shadows; *at;) {
        struct shadow *s = *at;
        int meant = s->request == before && s->asked == call;
        int gone = meant && after == MPI_REQUEST_NULL;
        if (meant && s->is_active && (gone || (flag && s->is_persistent)))
            shadow_merge(s);
        if (meant)
            s->asked = NULL;
        if (!gone) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        shadow_free(s);
    }
    pthread_mutex_unlock(&shadow_lock);
}

/* Somebody has asked whether it is over, and goes on having it. */
static void shadow_peek(MPI_Request request, int flag)
{
    pthread_mutex_lock(&shadow_lock);
    for (struct shadow *s = shadows; flag && s; s = s->next)
        if (s->request == request && request != MPI_REQUEST_NULL && s->is_active)
            shadow_merge(s);
    pthread_mutex_unlock(&shadow_lock);
}

/* It is given up: whatever goes on may use the memory as long as it likes. */
static void shadow_leave(MPI_Request request)
{
    pthread_mutex_lock(&shadow_lock);
    for (struct shadow **at = &shadows; *at;) {
        struct shadow *s = *at;
        if (s->request != request) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        if (!s->is_active)
            shadow_free(s);
    }
    pthread_mutex_unlock(&shadow_lock);
}

static void shadow_start(int count, const MPI_Request *requests)
{
    pthread_mutex_lock(&shadow_lock);
    for (int i = 0; i < count; i++)
        for (struct shadow *s = shadows; s; s = s->next)
            if (s->request == requests[i]) {
                shadow_enter();
                shadow_fill(s);
            }
    pthread_mutex_unlock(&shadow_lock);
}

static void shadow_ask(const MPI_Request *call, MPI_Request request)
{
    for (struct shadow *s = shadows; s && request != MPI_REQUEST_NULL; s = s->next)
        if (s->request == request && !s->asked)
            s->asked = call;
}

/* Around calls with many requests.  When such a call has ended one, another thread may get its handle, for
 * another request. */
static MPI_Request *shadow_note(int count, const MPI_Request *requests)
{
    MPI_Request *noted = count > 0 && requests ? malloc((size_t)count * sizeof *noted) : NULL;
    if (!noted)
        return NULL;
    memcpy(noted, requests, (size_t)count * sizeof *noted);
    pthread_mutex_lock(&shadow_lock);
    for (int i = 0; i < count; i++)
        shadow_ask(noted, noted[i]);
    pthread_mutex_unlock(&shadow_lock);
    return noted;
}

static void shadow_look_all(int count, MPI_Request *noted, const MPI_Request *requests)
{
    for (int i = 0; noted && i < count; i++)
        shadow_look(noted, noted[i], requests[i]);
    free(noted);
}
