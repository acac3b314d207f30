/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles to objects and back.  A handle below 4096 names a predefined object, any other one is
 * an object's address (runtime/object.h).  All return NULL for what is no live object.
 */
#ifndef XMPI_HANDLE_H
#define XMPI_HANDLE_H

#include "src/comm.h"

struct file;
struct op;
struct session;
struct type;
struct win;

static inline bool handle_is_predefined(const void *handle)
{
    return (uintptr_t)handle < OBJECT_FIRST_ID;
}

ENTRY_INLINE struct comm *handle_comm(MPI_Comm handle)
{
    struct comm *comm = handle == MPI_COMM_WORLD  ? &comm_world
                        : handle == MPI_COMM_SELF ? &comm_self
                                                  : NULL;
    if (comm)
        return comm->object.kind == OBJECT_COMM ? comm : NULL;
    comm = (struct comm *)handle;
    return object_is(comm, OBJECT_COMM) && !comm->freed ? comm : NULL;
}

struct group *handle_group(MPI_Group handle);
struct errhandler *handle_errhandler(MPI_Errhandler handle);
struct info *handle_info(MPI_Info handle);
struct session *handle_session(MPI_Session handle);
struct win *handle_win(MPI_Win handle);
struct file *handle_file(MPI_File handle);

/* Objects to handles; NULL gives the null handle of the kind. */
MPI_Group group_handle(const struct group *group);
MPI_Datatype type_handle(const struct type *type);
MPI_Op op_handle(const struct op *op);
MPI_Errhandler errhandler_handle(const struct errhandler *errhandler);
MPI_Info info_handle(const struct info *info);
static inline MPI_Request request_handle(const struct request *request)
{
    return request ? (MPI_Request)request : MPI_REQUEST_NULL;
}
MPI_Session session_handle(const struct session *session);
MPI_Win win_handle(const struct win *win);
MPI_File file_handle(const struct file *file);

#endif
