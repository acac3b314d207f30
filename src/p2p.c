/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends and receives (MPI 5.0, chapter 3): MPI_PROC_NULL ends here, everything else becomes a
 * buffer and an envelope for pml.  The way of a message is MPI_Send, xmpi_send, pml_send; most short ones
 * end in pml_send_quick before that (src/quick_p2p.h).  Requests keep the communicator, see src/request.c; pml keeps
 * the layout.
 */
#include "pml/pml.h"

#include "src/api/p2p.h"
#include "src/comm.h"
#include "src/request.h"
#include "src/status.h"
#include "src/type.h"

static struct buffer buffer_of(const void *buf, int64_t count, const struct type *type)
{
    return buffer_user(buf, count, type->layout);
}

static struct envelope envelope_of(int peer, int tag)
{
    return (struct envelope){ .peer = peer, .tag = tag };
}

/* ---- blocking ---- */

int xmpi_send(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
              comm_t comm)
{
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return pml_send(&comm->p2p, &data, &to, SEND_STANDARD);
}

int xmpi_ssend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm)
{
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return pml_send(&comm->p2p, &data, &to, SEND_SYNCHRONOUS);
}

int xmpi_rsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm)
{
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return pml_send(&comm->p2p, &data, &to, SEND_READY);
}

int xmpi_recv(room_t buf, count_t count, committed_t datatype, source_t source, anytag_t tag,
              comm_t comm, status_t status)
{
    if (source == MPI_PROC_NULL) {
        status_write(status, &result_proc_null);
        return MPI_SUCCESS;
    }
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope from = envelope_of(source, tag);
    struct result result;
    int rc = pml_recv(&comm->p2p, &data, &from, &result);
    status_write(status, &result);
    return rc;
}

/* ---- nonblocking ---- */

static int send_start(struct comm *comm, const struct buffer *data, const struct envelope *to,
                      enum send_mode mode, struct request **request)
{
    if (to->peer == MPI_PROC_NULL)
        return request_new_over(&result_proc_null, comm, false, request);
    int rc = pml_isend(&comm->p2p, data, to, mode, request);
    if (!rc)
        request_keep(*request, comm);
    return rc;
}

int xmpi_isend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return send_start(comm, &data, &to, SEND_STANDARD, request);
}

int xmpi_issend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return send_start(comm, &data, &to, SEND_SYNCHRONOUS, request);
}

int xmpi_irsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return send_start(comm, &data, &to, SEND_READY, request);
}

int xmpi_irecv(room_t buf, count_t count, committed_t datatype, source_t source, anytag_t tag,
               comm_t comm, request_out_t *request)
{
    if (source == MPI_PROC_NULL)
        return request_new_over(&result_proc_null, comm, false, request);
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope from = envelope_of(source, tag);
    int rc = pml_irecv(&comm->p2p, &data, &from, request);
    if (!rc)
        request_keep(*request, comm);
    return rc;
}

/* ---- persistent ---- */

static int send_prepare(struct comm *comm, const struct buffer *data, const struct envelope *to,
                        enum send_mode mode, struct request **request)
{
    if (to->peer == MPI_PROC_NULL)
        return request_new_over(&result_proc_null, comm, true, request);
    int rc = pml_send_init(&comm->p2p, data, to, mode, request);
    if (!rc)
        request_keep(*request, comm);
    return rc;
}

int xmpi_send_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                   comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return send_prepare(comm, &data, &to, SEND_STANDARD, request);
}

int xmpi_ssend_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return send_prepare(comm, &data, &to, SEND_SYNCHRONOUS, request);
}

int xmpi_rsend_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request)
{
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope to = envelope_of(dest, tag);
    return send_prepare(comm, &data, &to, SEND_READY, request);
}

int xmpi_recv_init(room_t buf, count_t count, committed_t datatype, source_t source,
                   anytag_t tag, comm_t comm, request_out_t *request)
{
    if (source == MPI_PROC_NULL)
        return request_new_over(&result_proc_null, comm, true, request);
    struct buffer data = buffer_of(buf, count, datatype);
    struct envelope from = envelope_of(source, tag);
    int rc = pml_recv_init(&comm->p2p, &data, &from, request);
    if (!rc)
        request_keep(*request, comm);
    return rc;
}
