/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What checks say when an argument is bad, and the checks that no fast path needs.  Each text
 * names the argument and its value and tells what would have been right.
 */
#include "src/checks.h"

/* ---- texts ---- */

void bad_number(struct entry *e, int class, const char *name, int64_t value, const char *rule)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail(class, "argument %s is %lld; %s", name, (long long)value, rule);
}

void bad_rank(struct entry *e, int class, const char *name, int rank, const struct comm *comm,
              const char *also)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail(class, "argument %s is %d; ranks of %s run from 0 to %d%s", name, rank,
                     comm_is_inter(comm) ? "the remote group" : "this communicator",
                     comm->p2p.size - 1, also);
}

void bad_root(struct entry *e, const char *name, int root, const struct comm *comm)
{
    if (comm_is_inter(comm) && root == MPI_PROC_NULL && e->rc == MPI_SUCCESS)
        e->rc =
            fail(MPI_ERR_ROOT,
                 "argument %s is MPI_PROC_NULL, which says that another process of this group "
                 "is the root, but there is none; give MPI_ROOT, or a rank of the remote group",
                 name);
    bad_rank(e, MPI_ERR_ROOT, name, root, comm,
             comm_is_inter(comm) ? " or are MPI_ROOT or MPI_PROC_NULL" : "");
}

void bad_tag(struct entry *e, const char *name, int tag, const char *also)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail(MPI_ERR_TAG, "argument %s is %d; tags run from 0 to MPI_TAG_UB (%d)%s",
                     name, tag, INT32_MAX, also);
}

void bad_pointer(struct entry *e, const char *name)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail_null(MPI_ERR_ARG, name);
}

void bad_buffer(struct entry *e, const char *name, const void *data)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail_no_data(name, data);
}

void bad_bytes(struct entry *e, const char *name, int64_t count, const struct type *type)
{
    if (e->rc == MPI_SUCCESS)
        e->rc =
            fail(MPI_ERR_COUNT,
                 "argument %s is %lld; that many elements of %zu bytes do not fit into 63 bits",
                 name, (long long)count, type->layout->size);
}

void bad_object(struct entry *e, int class, const char *name, const char *rule)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail(class, "argument %s is %s", name, rule);
}

/* The null handle of its class is the lowest value of its range, and programs that never set a
 * variable pass 0 (MPI 5.0, 20.3). */
void bad_handle(struct entry *e, int class, const char *name, const void *handle,
                const char *what)
{
    static const struct null {
        const void *handle;
        const char *name;
    } nulls[] = {
        { MPI_COMM_NULL, "MPI_COMM_NULL" },
        { MPI_GROUP_NULL, "MPI_GROUP_NULL" },
        { MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL" },
        { MPI_OP_NULL, "MPI_OP_NULL" },
        { MPI_INFO_NULL, "MPI_INFO_NULL" },
        { MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL" },
        { MPI_SESSION_NULL, "MPI_SESSION_NULL" },
        { MPI_WIN_NULL, "MPI_WIN_NULL" },
        { MPI_FILE_NULL, "MPI_FILE_NULL" },
    };
    if (e->rc != MPI_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (nulls[i].handle == handle) {
            e->rc = fail(class, "argument %s is %s", name, nulls[i].name);
            break;
        }
    if (e->rc == MPI_SUCCESS)
        e->rc =
            fail(class, "argument %s is %p, %s", name, handle,
                 handle ? "which is none or was freed before" : "a handle that was never set");
    e->rc = fail(class, "%s; it has to be %s %s", fail_text(),
                 strchr("aeiou", *what) ? "an" : "a", what);
}

void bad_committed(struct entry *e, MPI_Datatype handle, const struct type *type,
                   const char *name)
{
    if (!type)
        bad_handle(e, MPI_ERR_TYPE, name, handle, "datatype");
    else
        bad_object(e, MPI_ERR_TYPE, name,
                   "a datatype that was not committed; call MPI_Type_commit first");
}

struct type *peer_type(struct entry *e, int peer, MPI_Datatype handle, const char *name)
{
    if (peer == MPI_PROC_NULL && handle == MPI_DATATYPE_NULL)
        return type_of(MPI_BYTE);
    bad_committed(e, handle, type_of(handle), name);
    return NULL;
}

/* ---- handles ---- */

struct group *check_group(struct entry *e, MPI_Group handle, const char *name)
{
    struct group *group = handle_group(handle);
    if (!group)
        bad_handle(e, MPI_ERR_GROUP, name, handle, "group");
    return group;
}

struct errhandler *check_errhandler(struct entry *e, MPI_Errhandler handle, const char *name)
{
    struct errhandler *errhandler = handle_errhandler(handle);
    if (!errhandler)
        bad_handle(e, MPI_ERR_ERRHANDLER, name, handle, "error handler");
    return errhandler;
}

struct info *check_info(struct entry *e, MPI_Info handle, const char *name)
{
    return handle == MPI_INFO_NULL ? NULL : check_info_live(e, handle, name);
}

struct info *check_info_live(struct entry *e, MPI_Info handle, const char *name)
{
    struct info *info = handle_info(handle);
    if (!info)
        bad_handle(e, MPI_ERR_INFO, name, handle, "info object");
    return info;
}

struct session *check_session(struct entry *e, MPI_Session handle, const char *name)
{
    struct session *session = handle_session(handle);
    if (!session)
        bad_handle(e, MPI_ERR_SESSION, name, handle, "session");
    return session;
}

struct win *check_win(struct entry *e, MPI_Win handle, const char *name)
{
    struct win *win = handle_win(handle);
    if (!win)
        bad_handle(e, MPI_ERR_WIN, name, handle, "window");
    return win;
}

struct file *check_file(struct entry *e, MPI_File handle, const char *name)
{
    struct file *file = handle_file(handle);
    if (!file)
        bad_handle(e, MPI_ERR_FILE, name, handle, "file");
    return file;
}

struct file *check_file_or_null(struct entry *e, MPI_File handle, const char *name)
{
    return handle == MPI_FILE_NULL ? NULL : check_file(e, handle, name);
}

struct win *check_win_or_null(struct entry *e, MPI_Win handle, const char *name)
{
    return handle == MPI_WIN_NULL ? NULL : check_win(e, handle, name);
}

struct comm *check_comm_or_null(struct entry *e, MPI_Comm handle, const char *name)
{
    return handle == MPI_COMM_NULL ? NULL : check_comm(e, handle, name);
}

struct type *check_type_or_null(struct entry *e, MPI_Datatype handle, const char *name)
{
    return handle == MPI_DATATYPE_NULL ? NULL : check_type(e, handle, name);
}

/* ---- handles behind a pointer ---- */

#define CHECK_AT(function, check, result, handle_type)                                         \
    result *function(struct entry *e, const handle_type *handle, const char *name)             \
    {                                                                                          \
        if (handle)                                                                            \
            return check(e, *handle, name);                                                    \
        bad_pointer(e, name);                                                                  \
        return NULL;                                                                           \
    }

CHECK_AT(check_comm_at, check_comm, struct comm, MPI_Comm)
CHECK_AT(check_group_at, check_group, struct group, MPI_Group)
CHECK_AT(check_type_at, check_type, struct type, MPI_Datatype)
CHECK_AT(check_op_at, check_op, struct op, MPI_Op)
CHECK_AT(check_errhandler_at, check_errhandler, struct errhandler, MPI_Errhandler)
CHECK_AT(check_info_at, check_info_live, struct info, MPI_Info)
CHECK_AT(check_session_at, check_session, struct session, MPI_Session)
CHECK_AT(check_win_at, check_win, struct win, MPI_Win)
CHECK_AT(check_file_at, check_file, struct file, MPI_File)
