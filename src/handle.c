/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The handles that no fast path needs.  Predefined objects are variables of the library; their
 * handles are the small constants of mpi.h.
 */
#include "src/handle.h"

#include "src/errhan.h"
#include "src/group.h"
#include "src/info.h"
#include "src/op.h"
#include "src/stream.h"
#include "src/type.h"

static void *live(const void *handle, enum object_kind kind)
{
    return object_is(handle, kind) ? (void *)handle : NULL;
}

/* ---- handles to objects ---- */

struct group *handle_group(MPI_Group handle)
{
    return handle == MPI_GROUP_EMPTY ? &group_empty : live(handle, OBJECT_GROUP);
}

struct errhandler *handle_errhandler(MPI_Errhandler handle)
{
    if (handle == MPI_ERRORS_ARE_FATAL)
        return &errors_are_fatal;
    if (handle == MPI_ERRORS_ABORT)
        return &errors_abort;
    if (handle == MPI_ERRORS_RETURN)
        return &errors_return;
    return live(handle, OBJECT_ERRHANDLER);
}

struct info *handle_info(MPI_Info handle)
{
    return handle == MPI_INFO_ENV ? info_env() : live(handle, OBJECT_INFO);
}

struct session *handle_session(MPI_Session handle)
{
    return live(handle, OBJECT_SESSION);
}

struct win *handle_win(MPI_Win handle)
{
    return live(handle, OBJECT_WIN);
}

struct file *handle_file(MPI_File handle)
{
    return live(handle, OBJECT_FILE);
}

/* ---- objects to handles ---- */

MPI_Comm comm_handle(const struct comm *comm)
{
    if (!comm)
        return MPI_COMM_NULL;
    if (comm == &comm_world)
        return MPI_COMM_WORLD;
    return comm == &comm_self ? MPI_COMM_SELF : (MPI_Comm)comm;
}

MPI_Group group_handle(const struct group *group)
{
    if (!group)
        return MPI_GROUP_NULL;
    return group == &group_empty ? MPI_GROUP_EMPTY : (MPI_Group)group;
}

MPI_Datatype type_handle(const struct type *type)
{
    return type ? type->handle : MPI_DATATYPE_NULL;
}

MPI_Op op_handle(const struct op *op)
{
    return op ? op->handle : MPI_OP_NULL;
}

MPI_Errhandler errhandler_handle(const struct errhandler *errhandler)
{
    if (!errhandler)
        return MPI_ERRHANDLER_NULL;
    if (errhandler == &errors_are_fatal)
        return MPI_ERRORS_ARE_FATAL;
    if (errhandler == &errors_abort)
        return MPI_ERRORS_ABORT;
    return errhandler == &errors_return ? MPI_ERRORS_RETURN : (MPI_Errhandler)errhandler;
}

MPI_Info info_handle(const struct info *info)
{
    return info ? (MPI_Info)info : MPI_INFO_NULL;
}

MPI_Session session_handle(const struct session *session)
{
    return session ? (MPI_Session)session : MPI_SESSION_NULL;
}

MPI_Win win_handle(const struct win *win)
{
    return win ? (MPI_Win)win : MPI_WIN_NULL;
}

MPI_File file_handle(const struct file *file)
{
    return file ? (MPI_File)file : MPI_FILE_NULL;
}

/* ---- an extension ---- */

MPIX_Stream stream_handle(const struct stream *stream)
{
    return stream ? (MPIX_Stream)stream : MPIX_STREAM_NULL;
}

static struct stream *check_stream(struct entry *e, MPIX_Stream handle, const char *name)
{
    if (object_is(handle, OBJECT_STREAM))
        return (struct stream *)handle;
    bad_handle(e, MPI_ERR_ARG, name, handle, "stream");
    return NULL;
}

struct stream *check_stream_or_null(struct entry *e, MPIX_Stream handle, const char *name)
{
    return handle == MPIX_STREAM_NULL ? NULL : check_stream(e, handle, name);
}

struct stream *check_stream_at(struct entry *e, const MPIX_Stream *handle, const char *name)
{
    if (handle)
        return check_stream(e, *handle, name);
    bad_pointer(e, name);
    return NULL;
}
