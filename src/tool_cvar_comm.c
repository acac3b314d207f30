/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The control variable that belongs to a communicator, XMPI_COMM_COLL: which algorithms perform its
 * collectives, in the words of XMPI_COLL; "" leaves it to the library.  To be set to the same text
 * on all ranks of the communicator, between two collectives; the info key xmpi_coll is the same
 * thing.  A handle remembers its communicator and notices when it is gone.
 */
#include "src/tool_cvar.h"

#include "runtime/fail.h"
#include "src/handle.h"
#include "src/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comm_handle { /* an MPI_T_cvar_handle */
    struct comm_handle *next;
    MPI_Comm comm;
};
static struct comm_handle *handles;

int tool_comm_alloc(void *object, MPI_T_cvar_handle *handle)
{
    MPI_Comm comm;
    int rc = tool_bind_comm(object, &comm);
    if (rc)
        return rc;
    struct comm_handle *made = malloc(sizeof *made);
    if (!made)
        return fail(MPI_T_ERR_OUT_OF_HANDLES, "no memory for a handle");
    *made = (struct comm_handle){ handles, comm };
    handles = made;
    *handle = (MPI_T_cvar_handle)made;
    return MPI_SUCCESS;
}

bool tool_comm_has(MPI_T_cvar_handle handle)
{
    for (const struct comm_handle *h = handles; h; h = h->next)
        if ((MPI_T_cvar_handle)h == handle)
            return true;
    return false;
}

void tool_comm_free(MPI_T_cvar_handle handle)
{
    struct comm_handle **link = &handles;
    while ((MPI_T_cvar_handle)*link != handle)
        link = &(*link)->next;
    struct comm_handle *gone = *link;
    *link = gone->next;
    free(gone);
}

void tool_cvars_close(void)
{
    while (handles)
        tool_comm_free((MPI_T_cvar_handle)handles);
}

static int comm_of(MPI_T_cvar_handle handle, struct comm **comm)
{
    return tool_bound_comm(((const struct comm_handle *)handle)->comm, comm);
}

int tool_comm_read(MPI_T_cvar_handle handle, char *text)
{
    struct comm *comm;
    int rc = comm_of(handle, &comm);
    if (!rc)
        snprintf(text, TEXT_ROOM, "%s", team_forced(&comm->team));
    return rc;
}

int tool_comm_write(MPI_T_cvar_handle handle, const char *text)
{
    struct comm *comm;
    int rc = comm_of(handle, &comm);
    if (rc)
        return rc;
    if (strnlen(text, TEXT_ROOM) == TEXT_ROOM)
        return fail(MPI_T_ERR_INVALID, "the text in buf is longer than %d bytes",
                    TEXT_ROOM - 1);
    if (!team_force(&comm->team, text, "XMPI_COMM_COLL"))
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID, "%s", fail_text());
}
