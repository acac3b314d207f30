/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions (MPI 5.0, 11.3): a way into MPI that several libraries of one program can use without
 * knowing of each other.  A session holds the library up, knows process sets by name and makes
 * groups of them; communicators come from groups (MPI_Comm_create_from_group, src/comm.c).
 *
 * There are the two process sets that the standard demands; their names are URIs, in any case.
 */
#include "src/session.h"

#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/api/process.h"
#include "src/errhan.h"
#include "src/group.h"
#include "src/info.h"
#include "src/library.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const psets[] = { "mpi://WORLD", "mpi://SELF" };
enum { PSETS = sizeof psets / sizeof psets[0] };

/* Sessions are for components that do not know who else is there, so they get the strongest
 * level unless they ask for less. */
static int session_level(const struct info *info, int *level)
{
    const char *name = info_get(info, "thread_level");
    *level = name ? thread_level_named(name) : MPI_THREAD_MULTIPLE;
    if (*level < 0)
        return fail(MPI_ERR_INFO_VALUE,
                    "info has thread_level \"%s\"; it must be the name of a level, such as "
                    "MPI_THREAD_MULTIPLE",
                    name);
    return MPI_SUCCESS;
}

static struct info *session_hints(int level)
{
    struct info *hints = info_new();
    if (hints && (info_set(hints, "thread_level", thread_level_name(level)) ||
                  info_set(hints, MEMORY_KINDS_KEY, MEMORY_KINDS))) {
        info_delete(hints);
        return NULL;
    }
    return hints;
}

int xmpi_session_init(info_t info, errhandler_t errhandler, session_out_t *session)
{
    int level, rc = session_level(info, &level);
    if (!rc)
        rc = errhandler_check(errhandler, ERRHANDLER_SESSION);
    if (rc)
        return rc;
    struct session *made = object_new(OBJECT_SESSION, sizeof *made);
    struct info *hints = session_hints(level);
    if (!made || !hints) {
        rc = fail(MPI_ERR_NO_MEM, "no memory for a session");
        goto undo_objects;
    }
    rc = library_hold(USER_SESSION, level);
    if (rc)
        goto undo_objects;
    static uint32_t numbers;
    made->number = ++numbers;
    made->errhandler = errhandler_hold(errhandler);
    made->info = hints;
    *session = made;
    return MPI_SUCCESS;
undo_objects:
    info_delete(hints);
    if (made)
        object_delete(made);
    return rc;
}

int xmpi_session_finalize(session_free_t *session)
{
    struct session *old = *session;
    bsend_forget(old);
    errhandler_drop(old->errhandler);
    info_delete(old->info);
    object_delete(old);
    *session = NULL;
    return library_drop(USER_SESSION);
}

int xmpi_session_get_info(session_t session, info_out_t *info_used)
{
    *info_used = info_copy(session->info);
    return *info_used ? MPI_SUCCESS : fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

/* ---- process sets ---- */

int xmpi_session_get_num_psets(session_t session, info_t info, int_out_t *npset_names)
{
    (void)session;
    (void)info;
    *npset_names = PSETS;
    return MPI_SUCCESS;
}

int xmpi_session_get_nth_pset(session_t session, info_t info, int n, int_out_t *pset_len,
                              char *pset_name)
{
    (void)session;
    (void)info;
    if (n < 0 || n >= PSETS)
        return fail(MPI_ERR_ARG, "n is %d, there are %d process sets counted from 0", n, PSETS);
    if (*pset_len > 0 && !pset_name)
        return fail(MPI_ERR_ARG, "pset_name is NULL, pset_len says that it has %d bytes",
                    *pset_len);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", psets[n]);
    *pset_len = (int)strlen(psets[n]) + 1;
    return MPI_SUCCESS;
}

static struct ranks *pset_ranks(const char *name)
{
    return strcasecmp(name, psets[0]) ? ranks_range(1, boot.rank, 1)
                                      : ranks_range(boot.size, 0, 1);
}

static int pset_check(const char *name)
{
    for (int i = 0; i < PSETS; i++)
        if (!strcasecmp(name, psets[i]))
            return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "there is no process set \"%s\"; there are %s and %s", name,
                psets[0], psets[1]);
}

int xmpi_session_get_pset_info(session_t session, string_t pset_name, info_out_t *info)
{
    (void)session;
    int rc = pset_check(pset_name);
    if (rc)
        return rc;
    char size[32];
    snprintf(size, sizeof size, "%d", strcasecmp(pset_name, psets[0]) ? 1 : boot.size);
    struct info *made = info_new();
    if (!made || info_set(made, "mpi_size", size)) {
        info_delete(made);
        return fail(MPI_ERR_NO_MEM, "no memory for an info object");
    }
    *info = made;
    return MPI_SUCCESS;
}

int xmpi_group_from_session_pset(session_t session, string_t pset_name, group_out_t *newgroup)
{
    int rc = pset_check(pset_name);
    if (rc)
        return rc;
    *newgroup = group_new(pset_ranks(pset_name));
    if (!*newgroup)
        return fail(MPI_ERR_NO_MEM, "no memory for a group");
    (*newgroup)->session = session->number;
    return MPI_SUCCESS;
}
