/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is marked `quick` in src/api: messages with nothing wrong about them and nothing special, from the user's
 * arguments to the slot or the list of receives by one call (pml_isend_quick).  By one thread, or who has the engine
 * (src/quick_shared.c).
 */
#ifndef XMPI_SRC_QUICK_P2P_H
#define XMPI_SRC_QUICK_P2P_H

#include "src/handle.h"
#include "src/quick.h"
#include "src/request.h"
#include "src/status.h"
#include "src/type.h"

/* NULL: not one that is committed, or somebody has to make it first. */
ENTRY_INLINE const struct type *quick_type(MPI_Datatype handle)
{
    uintptr_t i = (uintptr_t)handle - TYPE_FIRST;
    if (__builtin_expect(i < TYPE_TABLE, 1))
        return types_predefined[i].committed ? &types_predefined[i] : NULL;
    const struct type *type = (const struct type *)handle;
    return object_is(type, OBJECT_TYPE) && type->committed ? type : NULL;
}

/* MPI_IN_PLACE is the lowest address but NULL that means something. */
static inline bool quick_is_address(const void *buf)
{
    return (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE;
}

/* The communicator of a send, or of a receive, whose arguments are nothing special; else NULL. */
ENTRY_INLINE struct comm *quick_sends(const void *buf, int64_t count, int dest, int tag,
                                      MPI_Comm handle)
{
    if (!quick_is_up() || count < 0 || tag < 0 || !quick_is_address(buf))
        return NULL;
    struct comm *comm = handle_comm(handle);
    return comm && (unsigned)dest < (unsigned)comm->p2p.size ? comm : NULL;
}

ENTRY_INLINE struct comm *quick_receives(const void *buf, int64_t count, int source, int tag,
                                         MPI_Comm handle)
{
    if (!quick_is_up() || count < 0 || (tag < 0 && tag != MPI_ANY_TAG) ||
        !quick_is_address(buf))
        return NULL;
    struct comm *comm = handle_comm(handle);
    bool known =
        comm && ((unsigned)source < (unsigned)comm->p2p.size || source == MPI_ANY_SOURCE);
    return known ? comm : NULL;
}

ENTRY_INLINE int quick_begun(struct request *made, struct comm *comm, MPI_Request *request)
{
    if (!made)
        return QUICK_NOT;
    request_keep(made, comm);
    *request = request_handle(made);
    return MPI_SUCCESS;
}

ENTRY_INLINE int xmpi_send_quick(const void *buf, int64_t count, MPI_Datatype datatype,
                                 int dest, int tag, MPI_Comm comm_)
{
    struct comm *comm = quick_sends(buf, count, dest, tag, comm_);
    const struct type *type = comm ? quick_type(datatype) : NULL;
    return type && pml_send_quick(&comm->p2p, buf, (size_t)count, type->layout, dest, tag)
               ? MPI_SUCCESS
               : QUICK_NOT;
}

ENTRY_INLINE int xmpi_isend_quick(const void *buf, int64_t count, MPI_Datatype datatype,
                                  int dest, int tag, MPI_Comm comm_, MPI_Request *request)
{
    struct comm *comm = request ? quick_sends(buf, count, dest, tag, comm_) : NULL;
    const struct type *type = comm ? quick_type(datatype) : NULL;
    if (!type)
        return QUICK_NOT;
    return quick_begun(pml_isend_quick(&comm->p2p, buf, (size_t)count, type->layout, dest, tag),
                       comm, request);
}

ENTRY_INLINE int xmpi_irecv_quick(void *buf, int64_t count, MPI_Datatype datatype, int source,
                                  int tag, MPI_Comm comm_, MPI_Request *request)
{
    struct comm *comm = request ? quick_receives(buf, count, source, tag, comm_) : NULL;
    const struct type *type = comm ? quick_type(datatype) : NULL;
    if (!type)
        return QUICK_NOT;
    return quick_begun(
        pml_irecv_quick(&comm->p2p, buf, (size_t)count, type->layout, source, tag), comm,
        request);
}

/* Whatever becomes of it, by the way of MPI_Recv: that has few layers. */
ENTRY_INLINE int xmpi_recv_quick(void *buf, int64_t count, MPI_Datatype datatype, int source,
                                 int tag, MPI_Comm comm_, MPI_Status *status)
{
    struct comm *comm = gpu_possible ? NULL : quick_receives(buf, count, source, tag, comm_);
    const struct type *type = comm ? quick_type(datatype) : NULL;
    int64_t bytes;
    if (!type || __builtin_mul_overflow(count, (int64_t)type->layout->size, &bytes))
        return QUICK_NOT;
    struct buffer data = { buf, (size_t)count, type->layout, HERE };
    struct envelope from = { .peer = source, .tag = tag };
    struct result result;
    int rc = pml_recv(&comm->p2p, &data, &from, &result);
    status_write(status, &result);
    return quick_end(rc, comm);
}

/* The same where threads call at the same time, for an entry point that has all engines: who has one alone has short
 * ways as it is.  QUICK_NOT always of MPI_Recv, which has few layers. */
int xmpi_send_shared(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm);
int xmpi_isend_shared(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request);
int xmpi_irecv_shared(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Request *request);
#define xmpi_recv_shared(...) QUICK_NOT

#endif
