/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffered sends (MPI 5.0, 3.6).  The message is packed into a block of the attached buffer
 * (bsend_pool.h) and sent from there by a request that nobody waits for; its on_done gives the
 * block back.
 *
 * A buffer is the process's, a session's or a communicator's.  A send takes the communicator's, else
 * that of the session it comes from, else the process's.  A communicator's ends with it, which is not
 * before its last message has left, or is detached, by MPI_Comm_disconnect as well.
 */
#include "src/bsend_pool.h"

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

static struct pool *process_pool; /* NULL: no buffer is attached; so are those of others */

static struct pool *pool_for(const struct comm *comm)
{
    if (comm->pool)
        return comm->pool;
    const struct session *session = comm->session ? session_find(comm->session) : NULL;
    return session && session->pool ? session->pool : process_pool;
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
    if (!pool)
        return fail(MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach first");
    return fail(
        MPI_ERR_BUFFER,
        "no room for a message of %zu bytes in the attached buffer of %lld bytes: attach "
        "a larger one (each message needs MPI_BSEND_OVERHEAD more than its data)",
        payload, (long long)pool->size);
}

/* It was over at once; when it has failed, nobody else will say so. */
static int bsend_over(struct comm *comm, struct block *block, struct request *request)
{
    struct result result;
    request->comm = comm; /* to be blamed */
    int rc = request_look(request, &result);
    request->ops->release(request);
    block_free(block);
    return rc;
}

static int bsend(struct comm *comm, const struct buffer *data, const struct envelope *to)
{
    if (to->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    size_t bytes = buffer_bytes(data);
    struct pool *pool = pool_for(comm);
    struct block *block = pool ? block_new(pool, bytes) : NULL;
    if (!block)
        return pool_refuse(pool, bytes);
    buffer_pack(data, 0, block_payload(block), bytes);
    if (data->where == AWAY && gpu_check()) {
        block_free(block);
        return MPI_ERR_OTHER;
    }
    struct buffer packed = { block_payload(block), bytes, &layout_bytes, HERE };
    struct request *request;
    int rc = pml_isend(&comm->p2p, &packed, to, SEND_STANDARD, &request);
    if (rc) {
        block_free(block);
        return rc;
    }
    if (request->done)
        return bsend_over(comm, block, request);
    object_hold(comm);
    comm->orphans++;
    request->comm = comm;
    request->owner = block;
    block->request = request;
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

/* ---- attaching, detaching, flushing: `home` is where the owner has its buffer ---- */

static int attach(struct pool **home, void *buffer, int64_t size)
{
    return *home ? fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first")
                 : pool_new(home, buffer, size);
}

/* The owner loses it before the wait, in which other threads run: a second one that detaches it
 * finds nothing, and nothing new is put into it. */
static void detach(struct pool **home, void *buffer_addr, int64_t *size)
{
    struct pool *pool = *home;
    *home = NULL;
    pool_drain(pool);
    *(void **)buffer_addr = pool->user;
    *size = pool->size;
    free(pool);
}

static int detach_if_any(struct pool **home, void *buffer_addr, int64_t *size)
{
    if (!*home)
        return fail(MPI_ERR_BUFFER, "no buffer is attached");
    detach(home, buffer_addr, size);
    return MPI_SUCCESS;
}

void bsend_forget(struct pool **home)
{
    void *buffer;
    int64_t size;
    if (*home)
        detach(home, &buffer, &size);
}

void bsend_close(struct pool *pool)
{
    if (pool && !pool->blocks)
        free(pool);
}

static int flush(struct pool *pool)
{
    if (pool)
        pool_flush(pool);
    return MPI_SUCCESS;
}

struct flush {
    struct request request;
    struct mark mark;
};

static void flush_release(struct request *request)
{
    object_delete(request);
}

static const struct request_ops flush_ops = { .name = "flush", .release = flush_release };

/* Without blocks in use, or without a buffer, there is nothing to wait for. */
static int flush_start(struct pool *pool, struct request **request)
{
    if (!pool || !pool->blocks)
        return request_new_over(&result_empty, NULL, false, request);
    struct flush *flush = object_new(OBJECT_REQUEST, sizeof *flush);
    if (!flush)
        return fail(MPI_ERR_NO_MEM, "no memory left for a request");
    flush->request.ops = &flush_ops;
    flush->request.result = result_empty;
    pool_mark(pool, &flush->mark, &flush->request);
    *request = &flush->request;
    return MPI_SUCCESS;
}

int xmpi_buffer_attach(void *buffer, wide_t size)
{
    return attach(&process_pool, buffer, size);
}

int xmpi_buffer_detach(pointer_out_t buffer_addr, count_out_t *size)
{
    return detach_if_any(&process_pool, buffer_addr, size);
}

int xmpi_buffer_flush(void)
{
    return flush(process_pool);
}

int xmpi_buffer_iflush(request_out_t *request)
{
    return flush_start(process_pool, request);
}

int xmpi_comm_attach_buffer(comm_t comm, void *buffer, wide_t size)
{
    return attach(&comm->pool, buffer, size);
}

int xmpi_comm_detach_buffer(comm_t comm, pointer_out_t buffer_addr, count_out_t *size)
{
    return detach_if_any(&comm->pool, buffer_addr, size);
}

int xmpi_comm_flush_buffer(comm_t comm)
{
    return flush(comm->pool);
}

int xmpi_comm_iflush_buffer(comm_t comm, request_out_t *request)
{
    return flush_start(comm->pool, request);
}

int xmpi_session_attach_buffer(session_t session, void *buffer, wide_t size)
{
    return attach(&session->pool, buffer, size);
}

int xmpi_session_detach_buffer(session_t session, pointer_out_t buffer_addr, count_out_t *size)
{
    return detach_if_any(&session->pool, buffer_addr, size);
}

int xmpi_session_flush_buffer(session_t session)
{
    return flush(session->pool);
}

int xmpi_session_iflush_buffer(session_t session, request_out_t *request)
{
    return flush_start(session->pool, request);
}
