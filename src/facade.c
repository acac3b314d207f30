/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cold side of entering and leaving: calls at the wrong time, and what happens when a call
 * has failed.  The message is made here, once:
 *
 *     MPI_Send: argument tag is -7; tags run from 0 to MPI_TAG_UB (2147483647)
 *         (rank 2 of communicator "solver")
 *
 * A fatal handler prints it, MPI_Error_string appends it to the text of the class.
 */
#include "config.h"
#include "src/facade.h"

#include "runtime/printable.h"
#include "src/errhan.h"
#include "src/error.h"
#include "src/handle.h"
#include "src/library.h"
#include "src/tool.h"

#include <stdio.h>
#include <string.h>

enum library_state library_state = LIBRARY_FRESH;

static _Thread_local struct comm *blamed;

int enter_early(const char *function)
{
    if (library_sessions > 0)
        return MPI_SUCCESS;
    if (library_state == LIBRARY_FINALIZED)
        return fail(MPI_ERR_OTHER, "%s was called after MPI_Finalize", function);
    return fail(MPI_ERR_OTHER, "%s was called before MPI_Init", function);
}

struct entry enter_tool(const char *function)
{
    struct entry e = enter_anytime(function);
    if (!tool_users && strcmp(function, "MPI_T_init_thread") != 0)
        e.rc = fail(MPI_T_ERR_NOT_INITIALIZED, "call MPI_T_init_thread first");
    return e;
}

void enter_engine_of_comm(MPI_Comm handle)
{
    const struct comm *comm = handle_comm(handle);
    if (!comm)
        engine_take();
    else if (engine_take_solo(comm->p2p.engine) && (gpu_possible || trace_on))
        engine_join();
}

void enter_clash(MPI_Comm handle)
{
    const struct comm *comm = handle_comm(handle);
    if (comm)
        engine_clash(comm->p2p.engine);
}

/* Whether all are of that engine is looked at when it is ours. */
void enter_engine_of_requests(int n, const MPI_Request *handles)
{
    const struct request *first = NULL;
    for (int i = 0; handles && i < n && !first; i++)
        if (object_is(handles[i], OBJECT_REQUEST))
            first = (const struct request *)handles[i];
    if (first && first->ops->in_engine && !first->persistent && !gpu_possible && !trace_on)
        engine_take_solo(request_engine(first) - 1);
    else
        engine_take();
}

void leave_blame(struct comm *comm)
{
    if (!comm || blamed)
        return;
    object_hold(comm);
    blamed = comm;
}

/* ---- failing ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Which communicator, and who I am there. */
static void tell_where(char *text, size_t room, const struct comm *comm)
{
    const char *kind = comm_is_inter(comm) ? "intercommunicator" : "communicator";
    if (comm == &comm_world || comm == &comm_self)
        snprintf(text, room, " (rank %d of %s)", comm_rank(comm), comm->name);
    else if (comm->name[0])
        snprintf(text, room, " (rank %d of %s \"%s\")", comm_rank(comm), kind, comm->name);
    else
        snprintf(text, room, " (rank %d of %d in an unnamed %s)", comm_rank(comm),
                 comm_size(comm), kind);
    printable_here(text, room);
}

/* What is said when the job ends begins with the rank of the world. */
static bool tells_rank(const void *owner)
{
    return owner == &comm_world && errhandler_is_fatal(comm_world.errhandler);
}

static void tell(char *message, size_t room, const struct entry *e, const struct object *owner)
{
    const char *details = fail_text();
    const char *general = error_text(e->rc);
    if (!*details)
        details = general ? general : "unknown error";
    char where[MPI_MAX_OBJECT_NAME + 80] = "";
    if (owner && owner->kind == OBJECT_COMM && !tells_rank(owner))
        tell_where(where, sizeof where, (const struct comm *)owner);
    bool has_name = begins_with(details, e->function);
    snprintf(message, room, "%s%s%s%s", has_name ? "" : e->function, has_name ? "" : ": ",
             details, where);
}

int leave_tool(struct entry *e)
{
    if (e->rc != MPI_SUCCESS) {
        char message[MPI_MAX_ERROR_STRING];
        tell(message, sizeof message, e, NULL);
        error_remember(e->rc, message);
        fail_clear();
    }
    engine_give();
    return e->rc;
}

/* The tables of error codes and handlers belong to functions that are always thread-safe, so the
 * lock is taken here if the call has gone without. */
int leave_error(struct entry *e, void *owner)
{
    struct comm *comm = blamed;
    blamed = NULL;
    if (comm)
        owner = comm;
    engine_join();
    if (!e->locked)
        engine_hold();
    if (trace_on)
        trace_leave(e->function);
    char message[MPI_MAX_ERROR_STRING];
    tell(message, sizeof message, e, owner);
    error_remember(e->rc, message);
    fail_clear();
    call_settle(e); /* the handler is the program's */
    int rc = errhandler_raise(owner, e->rc, message);
    if (comm)
        comm_release(comm);
    leave_lock(e);
    return rc;
}

int leave_unbuilt(struct entry *e, void *owner)
{
    if (e->rc == MPI_SUCCESS)
        e->rc = fail(MPI_ERR_UNSUPPORTED_OPERATION, "not built yet in xmpi " PACKAGE_VERSION);
    return leave_error(e, owner);
}
