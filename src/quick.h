/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is marked `quick` in src/api: calls with nothing wrong about them and nothing special, from
 * the user's arguments to the slot or the list of receives by one call (pml_isend_quick).  Each asks
 * for all that the entry point would ask for, by one condition after the other, and leaves it to
 * the entry point to find out which one failed: so it saves no registers for texts of errors.
 */
#ifndef XMPI_SRC_QUICK_H
#define XMPI_SRC_QUICK_H

#include "src/facade.h"
#include "src/handle.h"
#include "src/request.h"
#include "src/type.h"

/* The world model is up, one thread calls, and nothing is traced. */
static inline bool quick_may_enter(void)
{
    return !threads_are_many() && library_state == LIBRARY_ACTIVE && !trace_on;
}

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

ENTRY_INLINE bool xmpi_isend_quick(const void *buf, int64_t count, MPI_Datatype datatype,
                                   int dest, int tag, MPI_Comm comm_, MPI_Request *request)
{
    if (!quick_may_enter() || count < 0 || tag < 0 || !request || !quick_is_address(buf))
        return false;
    struct comm *comm = handle_comm(comm_);
    if (!comm || (unsigned)dest >= (unsigned)comm->p2p.size)
        return false;
    const struct type *type = quick_type(datatype);
    if (!type)
        return false;
    struct request *made =
        pml_isend_quick(&comm->p2p, buf, (size_t)count, type->layout, dest, tag);
    if (!made)
        return false;
    request_keep(made, comm);
    *request = request_handle(made);
    return true;
}

ENTRY_INLINE bool xmpi_irecv_quick(void *buf, int64_t count, MPI_Datatype datatype, int source,
                                   int tag, MPI_Comm comm_, MPI_Request *request)
{
    if (!quick_may_enter() || count < 0 || (tag < 0 && tag != MPI_ANY_TAG) || !request ||
        !quick_is_address(buf))
        return false;
    struct comm *comm = handle_comm(comm_);
    if (!comm || ((unsigned)source >= (unsigned)comm->p2p.size && source != MPI_ANY_SOURCE))
        return false;
    const struct type *type = quick_type(datatype);
    if (!type)
        return false;
    struct request *made =
        pml_irecv_quick(&comm->p2p, buf, (size_t)count, type->layout, source, tag);
    if (!made)
        return false;
    request_keep(made, comm);
    *request = request_handle(made);
    return true;
}

#endif
