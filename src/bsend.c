/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffered sends (MPI 5.0, 3.6).  The message is packed into a block of the attached buffer and
 * sent from there by a request that nobody waits for; its on_done gives the block back.
 *
 *     attached buffer   | block | payload ......|  gap  | block | payload ....|   gap          |
 *
 * Blocks lie in a list by address; a new one goes into the first gap that is large enough.  A
 * block costs at most 128 bytes beyond its payload (MPI_BSEND_OVERHEAD allows 512).  With
 * MPI_BUFFER_AUTOMATIC every block is allocated and freed.  A pool is one attached buffer: of the
 * process, of a session, or of a communicator, which lives at least until its buffer is detached.
 * A send takes the communicator's pool, else that of the session it comes from, else the
 * process's.
 */
#include "pml/pml.h"

#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "src/api/p2p.h"
#include "src/comm.h"
#include "src/request.h"
#include "src/session.h"
#include "src/status.h"
#include "src/type.h"

#include <stdlib.h>

enum { GRAIN = 64 };

struct block {
    struct block *next;
    struct pool *pool;
    size_t bytes; /* of block and payload, a multiple of GRAIN */
    char payload[] __attribute__((aligned(16)));
};
_Static_assert(sizeof(struct block) + 2 * GRAIN <= MPI_BSEND_OVERHEAD,
               "the overhead is enough");

struct flush { /* a request that is complete when the pool is empty */
    struct request request;
    struct flush *next;
};

struct pool {
    struct comm *comm; /* whose it is, or NULL */
    uint32_t session;  /* whose it is; neither: the process's */
    struct pool *next; /* of all but the process's */
    bool attached, automatic;
    void *user; /* as given */
    int64_t size;
    char *start, *end;    /* whole grains of it */
    struct block *blocks; /* in use, by address */
    struct flush *flushes;
};

static struct pool process_pool;
static struct pool *own_pools;

/* ---- blocks ---- */

static void block_insert(struct pool *pool, struct block **link, struct block *block,
                         size_t bytes)
{
    block->bytes = bytes;
    block->pool = pool;
    block->next = *link;
    *link = block;
}

static struct block *block_fit(struct pool *pool, size_t bytes)
{
    char *gap = pool->start;
    for (struct block **link = &pool->blocks;; link = &(*link)->next) {
        char *gap_end = *link ? (char *)*link : pool->end;
        if (gap_end >= gap && (size_t)(gap_end - gap) >= bytes) {
            struct block *block = (struct block *)gap;
            block_insert(pool, link, block, bytes);
            return block;
        }
        if (!*link)
            return NULL;
        gap = (char *)*link + (*link)->bytes;
    }
}

static struct block *block_new(struct pool *pool, size_t payload)
{
    size_t bytes = (sizeof(struct block) + payload + GRAIN - 1) / GRAIN * GRAIN;
    if (pool->automatic) {
        struct block *block = malloc(bytes);
        if (block)
            block_insert(pool, &pool->blocks, block, bytes);
        return block;
    }
    struct block *block = block_fit(pool, bytes);
    while (!block && pml_take_all() > 0) /* what has left makes room */
        block = block_fit(pool, bytes);
    return block;
}

static void flushes_complete(struct pool *pool)
{
    struct flush *flush = pool->flushes;
    pool->flushes = NULL;
    while (flush) {
        struct flush *next = flush->next;
        request_complete(&flush->request);
        flush = next;
    }
}

static void block_free(struct block *block)
{
    struct pool *pool = block->pool;
    struct block **link = &pool->blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    if (pool->automatic)
        free(block);
    if (!pool->blocks)
        flushes_complete(pool);
}

static void pool_drain(struct pool *pool)
{
    struct wait wait = WAIT_INIT;
    while (pool->blocks)
        wait_poll(&wait);
    wait_end(&wait);
}

/* The buffer of a communicator, or with comm NULL of a session; NULL when it has none. */
static struct pool *pool_find(const struct comm *comm, uint32_t session)
{
    struct pool *pool = own_pools;
    while (pool && (pool->comm != comm || pool->session != session))
        pool = pool->next;
    return pool;
}

static struct pool *pool_for(const struct comm *comm)
{
    struct pool *pool = own_pools ? pool_find(comm, 0) : NULL;
    if (!pool && comm->session)
        pool = pool_find(NULL, comm->session);
    return pool ? pool : &process_pool;
}

/* ---- sending ---- */

static void bsend_done(struct request *request)
{
    struct comm *comm = request->comm;
    block_free(request->owner);
    comm->orphans--;
    comm_release(comm);
}

static int pool_refuse(const struct pool *pool, size_t payload)
{
    if (!pool->attached)
        return fail(MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach first");
    return fail(
        MPI_ERR_BUFFER,
        "no room for a message of %zu bytes in the attached buffer of %lld bytes: attach "
        "a larger one (each message needs MPI_BSEND_OVERHEAD more than its data)",
        payload, (long long)pool->size);
}

static int bsend(struct comm *comm, const struct buffer *data, const struct envelope *to)
{
    if (to->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    size_t bytes = buffer_bytes(data);
    struct pool *pool = pool_for(comm);
    struct block *block = pool->attached ? block_new(pool, bytes) : NULL;
    if (!block)
        return pool_refuse(pool, bytes);
    buffer_pack(data, 0, block->payload, bytes);
    if (data->where == AWAY && gpu_check()) {
        block_free(block);
        return MPI_ERR_OTHER;
    }
    struct buffer packed = { block->payload, bytes, &layout_bytes, HERE };
    struct request *request;
    int rc = pml_isend(&comm->p2p, &packed, to, SEND_STANDARD, &request);
    if (rc || request->done) {
        block_free(block);
        if (!rc)
            request->ops->release(request);
        return rc;
    }
    object_hold(comm);
    comm->orphans++;
    request->comm = comm;
    request->owner = block;
    request->on_done = bsend_done;
    request->orphan = true;
    return MPI_SUCCESS;
}

int xmpi_bsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm)
{
    struct buffer data = buffer_user(buf, count, datatype->layout);
    struct envelope to = { .peer = dest, .tag = tag };
    return bsend(comm, &data, &to);
}

/* The message is in our buffer when the call returns, so the request is over from the start. */
int xmpi_ibsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_user(buf, count, datatype->layout);
    struct envelope to = { .peer = dest, .tag = tag };
    int rc = bsend(comm, &data, &to);
    return rc ? rc : request_new_over(&result_empty, comm, false, request);
}

/* ---- persistent ---- */

struct prepared {
    struct request request;
    struct buffer data;
    struct envelope to;
};

static int prepared_start(struct request *request)
{
    struct prepared *prepared = (struct prepared *)request;
    int rc = bsend(request->comm, &prepared->data, &prepared->to);
    if (!rc)
        request_complete(request);
    return rc;
}

static void prepared_release(struct request *request)
{
    layout_drop((struct layout *)((struct prepared *)request)->data.layout);
    object_delete(request);
}

static const struct request_ops prepared_ops = { .name = "buffered send",
                                                 .start = prepared_start,
                                                 .release = prepared_release };

int xmpi_bsend_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request)
{
    struct prepared *prepared = object_new(OBJECT_REQUEST, sizeof *prepared);
    if (!prepared)
        return fail(MPI_ERR_NO_MEM, "no memory left for a request");
    prepared->request.ops = &prepared_ops;
    prepared->request.done = 1;
    prepared->request.persistent = true;
    prepared->request.result = result_empty;
    prepared->data = buffer_user(buf, count, layout_hold(datatype->layout));
    prepared->to = (struct envelope){ .peer = dest, .tag = tag };
    request_keep(&prepared->request, comm);
    *request = &prepared->request;
    return MPI_SUCCESS;
}

/* ---- attaching, detaching, flushing ---- */

static int pool_attach(struct pool *pool, void *buffer, int64_t size)
{
    if (!buffer && size > 0)
        return fail(MPI_ERR_BUFFER, "argument buffer is NULL, but size is %lld",
                    (long long)size);
    uintptr_t start = ((uintptr_t)buffer + GRAIN - 1) / GRAIN * GRAIN;
    uintptr_t end = ((uintptr_t)buffer + (uintptr_t)size) / GRAIN * GRAIN;
    pool->automatic = buffer == MPI_BUFFER_AUTOMATIC;
    pool->attached = true;
    pool->user = buffer;
    pool->size = pool->automatic ? 0 : size;
    pool->start = (char *)start;
    pool->end = (char *)(end > start ? end : start);
    return MPI_SUCCESS;
}

static void pool_detach(struct pool *pool, void *buffer_addr, int64_t *size)
{
    pool_drain(pool);
    pool->attached = false;
    *(void **)buffer_addr = pool->user;
    *size = pool->size;
}

static int attached_already(void)
{
    return fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
}

static int attached_not(void)
{
    return fail(MPI_ERR_BUFFER, "no buffer is attached");
}

static void flush_release(struct request *request)
{
    object_delete(request);
}

static const struct request_ops flush_ops = { .name = "flush", .release = flush_release };

/* Without blocks in use, or without a pool, there is nothing to wait for. */
static int flush_start(struct pool *pool, struct request **request)
{
    if (!pool || !pool->blocks)
        return request_new_over(&result_empty, NULL, false, request);
    struct flush *flush = object_new(OBJECT_REQUEST, sizeof *flush);
    if (!flush)
        return fail(MPI_ERR_NO_MEM, "no memory left for a request");
    flush->request.ops = &flush_ops;
    flush->request.result = result_empty;
    flush->next = pool->flushes;
    pool->flushes = flush;
    *request = &flush->request;
    return MPI_SUCCESS;
}

int xmpi_buffer_attach(void *buffer, bytes_t size)
{
    return process_pool.attached ? attached_already()
                                 : pool_attach(&process_pool, buffer, size);
}

int xmpi_buffer_detach(pointer_out_t buffer_addr, count_out_t *size)
{
    if (!process_pool.attached)
        return attached_not();
    pool_detach(&process_pool, buffer_addr, size);
    return MPI_SUCCESS;
}

int xmpi_buffer_flush(void)
{
    pool_drain(&process_pool);
    return MPI_SUCCESS;
}

int xmpi_buffer_iflush(request_out_t *request)
{
    return flush_start(&process_pool, request);
}

/* ---- buffers of communicators and sessions ---- */

static int own_attach(struct comm *comm, uint32_t session, void *buffer, int64_t size)
{
    if (pool_find(comm, session))
        return attached_already();
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return fail(MPI_ERR_NO_MEM, "no memory left to note a buffer");
    int rc = pool_attach(pool, buffer, size);
    if (rc) {
        free(pool);
        return rc;
    }
    if (comm)
        object_hold(comm);
    pool->comm = comm;
    pool->session = session;
    pool->next = own_pools;
    own_pools = pool;
    return MPI_SUCCESS;
}

static int own_detach(struct pool *pool, void *buffer_addr, int64_t *size)
{
    if (!pool)
        return attached_not();
    pool_detach(pool, buffer_addr, size);
    struct pool **link = &own_pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    if (pool->comm)
        comm_release(pool->comm);
    free(pool);
    return MPI_SUCCESS;
}

static int own_flush(struct pool *pool)
{
    if (pool)
        pool_drain(pool);
    return MPI_SUCCESS;
}

int xmpi_comm_attach_buffer(comm_t comm, void *buffer, bytes_t size)
{
    return own_attach(comm, 0, buffer, size);
}

int xmpi_comm_detach_buffer(comm_t comm, pointer_out_t buffer_addr, count_out_t *size)
{
    return own_detach(pool_find(comm, 0), buffer_addr, size);
}

int xmpi_comm_flush_buffer(comm_t comm)
{
    return own_flush(pool_find(comm, 0));
}

int xmpi_comm_iflush_buffer(comm_t comm, request_out_t *request)
{
    return flush_start(pool_find(comm, 0), request);
}

int xmpi_session_attach_buffer(session_t session, void *buffer, bytes_t size)
{
    return own_attach(NULL, session->number, buffer, size);
}

int xmpi_session_detach_buffer(session_t session, pointer_out_t buffer_addr, count_out_t *size)
{
    return own_detach(pool_find(NULL, session->number), buffer_addr, size);
}

int xmpi_session_flush_buffer(session_t session)
{
    return own_flush(pool_find(NULL, session->number));
}

int xmpi_session_iflush_buffer(session_t session, request_out_t *request)
{
    return flush_start(pool_find(NULL, session->number), request);
}

void bsend_forget(struct session *session)
{
    struct pool *pool = pool_find(NULL, session->number);
    void *buffer;
    int64_t size;
    if (pool)
        own_detach(pool, &buffer, &size);
}
