/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffered sends (MPI 5.0, 3.6).  The message is packed into a block of the attached buffer and
 * sent from there by a request that nobody waits for; its on_done gives the block back.
 *
 *     attached buffer   | block | payload ......|  gap  | block | payload ....|   gap          |
 *
 * Blocks lie in a list by address; a new one goes into the first gap that is large enough.  A
 * block costs at most 128 bytes beyond its payload (MPI_BSEND_OVERHEAD allows 512).  With
 * MPI_BUFFER_AUTOMATIC every block is allocated and freed.  One buffer per process;
 * communicators and sessions do not have buffers of their own yet.
 */
#include "pml/pml.h"

#include "runtime/fail.h"
#include "src/api/p2p.h"
#include "src/comm.h"
#include "src/request.h"
#include "src/status.h"
#include "src/type.h"

#include <stdlib.h>

enum { GRAIN = 64 };

struct block {
    struct block *next;
    size_t bytes; /* of block and payload, a multiple of GRAIN */
    char payload[] __attribute__((aligned(16)));
};
_Static_assert(sizeof(struct block) + 2 * GRAIN <= MPI_BSEND_OVERHEAD,
               "the overhead is enough");

static struct {
    bool attached, automatic;
    void *user; /* as given */
    int64_t size;
    char *start, *end;    /* whole grains of it */
    struct block *blocks; /* in use, by address */
} pool;

/* ---- blocks ---- */

static void block_insert(struct block **link, struct block *block, size_t bytes)
{
    block->bytes = bytes;
    block->next = *link;
    *link = block;
}

static struct block *block_fit(size_t bytes)
{
    char *gap = pool.start;
    for (struct block **link = &pool.blocks;; link = &(*link)->next) {
        char *gap_end = *link ? (char *)*link : pool.end;
        if (gap_end >= gap && (size_t)(gap_end - gap) >= bytes) {
            struct block *block = (struct block *)gap;
            block_insert(link, block, bytes);
            return block;
        }
        if (!*link)
            return NULL;
        gap = (char *)*link + (*link)->bytes;
    }
}

static struct block *block_new(size_t payload)
{
    size_t bytes = (sizeof(struct block) + payload + GRAIN - 1) / GRAIN * GRAIN;
    if (pool.automatic) {
        struct block *block = malloc(bytes);
        if (block)
            block_insert(&pool.blocks, block, bytes);
        return block;
    }
    struct block *block = block_fit(bytes);
    while (!block && progress() > 0) /* what has left makes room */
        block = block_fit(bytes);
    return block;
}

static void block_free(struct block *block)
{
    struct block **link = &pool.blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    if (pool.automatic)
        free(block);
}

static void pool_drain(void)
{
    struct wait wait = WAIT_INIT;
    while (pool.blocks)
        wait_poll(&wait);
    wait_end(&wait);
}

/* ---- sending ---- */

static void bsend_done(struct request *request)
{
    struct comm *comm = request->comm;
    block_free(request->owner);
    comm_release(comm);
}

static int pool_refuse(size_t payload)
{
    if (!pool.attached)
        return fail(MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach first");
    return fail(
        MPI_ERR_BUFFER,
        "no room for a message of %zu bytes in the attached buffer of %lld bytes: attach "
        "a larger one (each message needs MPI_BSEND_OVERHEAD more than its data)",
        payload, (long long)pool.size);
}

static int bsend(struct comm *comm, const struct buffer *data, const struct envelope *to)
{
    if (to->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    size_t bytes = buffer_bytes(data);
    struct block *block = pool.attached ? block_new(bytes) : NULL;
    if (!block)
        return pool_refuse(bytes);
    buffer_pack(data, 0, block->payload, bytes);
    struct buffer packed = { block->payload, bytes, &layout_bytes };
    struct request *request;
    int rc = pml_isend(&comm->p2p, &packed, to, SEND_STANDARD, &request);
    if (rc || request->done) {
        block_free(block);
        if (!rc)
            request->ops->release(request);
        return rc;
    }
    object_hold(comm);
    request->comm = comm;
    request->owner = block;
    request->on_done = bsend_done;
    request->orphan = true;
    return MPI_SUCCESS;
}

int xmpi_bsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm)
{
    struct buffer data = { (void *)buf, (size_t)count, datatype->layout };
    struct envelope to = { .peer = dest, .tag = tag };
    return bsend(comm, &data, &to);
}

/* The message is in our buffer when the call returns, so the request is over from the start. */
int xmpi_ibsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request)
{
    struct buffer data = { (void *)buf, (size_t)count, datatype->layout };
    struct envelope to = { .peer = dest, .tag = tag };
    int rc = bsend(comm, &data, &to);
    return rc ? rc : request_new_over(&result_empty, false, request);
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
    prepared->data =
        (struct buffer){ (void *)buf, (size_t)count, layout_hold(datatype->layout) };
    prepared->to = (struct envelope){ .peer = dest, .tag = tag };
    request_keep(&prepared->request, comm);
    *request = &prepared->request;
    return MPI_SUCCESS;
}

/* ---- the buffer ---- */

int xmpi_buffer_attach(void *buffer, bytes_t size)
{
    if (pool.attached)
        return fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
    pool.automatic = buffer == MPI_BUFFER_AUTOMATIC;
    if (!buffer && size > 0)
        return fail(MPI_ERR_BUFFER, "buffer is NULL, but size is %lld", (long long)size);
    uintptr_t start = ((uintptr_t)buffer + GRAIN - 1) / GRAIN * GRAIN;
    uintptr_t end = ((uintptr_t)buffer + (uintptr_t)size) / GRAIN * GRAIN;
    pool.attached = true;
    pool.user = buffer;
    pool.size = pool.automatic ? 0 : size;
    pool.start = (char *)start;
    pool.end = (char *)(end > start ? end : start);
    return MPI_SUCCESS;
}

int xmpi_buffer_detach(pointer_out_t buffer_addr, count_out_t *size)
{
    if (!pool.attached)
        return fail(MPI_ERR_BUFFER, "no buffer is attached");
    pool_drain();
    pool.attached = false;
    *(void **)buffer_addr = pool.user;
    *size = pool.size;
    return MPI_SUCCESS;
}

int xmpi_buffer_flush(void)
{
    pool_drain();
    return MPI_SUCCESS;
}
