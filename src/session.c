/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions (MPI 5.0, 11.3): a way into MPI that several libraries of one program can use without
 * knowing of each other.  A session holds the library up, knows process sets by name and makes
 * groups of them; communicators come from groups (MPI_Comm_create_from_group, src/comm.c).
 *
 * What process sets there are is in src/psets.c.
 */
#include "src/session.h"

#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/api/process.h"
#include "src/errhan.h"
#include "src/fuse.h"
#include "src/info.h"
#include "src/library.h"

#include <stdio.h>

/* Sessions are for components that do not know who else is there, so they get the strongest
 * level unless they ask for less. */
static int session_level(const struct info *info, int *level)
{
    const char *name = info_get(info, "thread_level");
    *level = name ? thread_level_named(name) : MPI_THREAD_MULTIPLE;
    if (*level < 0)
        return fail(
            MPI_ERR_INFO_VALUE,
            "argument info has thread_level \"%s\"; it must be the name of a level, such as "
            "MPI_THREAD_MULTIPLE",
            name);
    return MPI_SUCCESS;
}

static struct info *session_hints(int level, const struct info *asked)
{
    char memory[MPI_MAX_INFO_VAL];
    struct info *hints = info_new();
    memory_kinds(asked, memory, sizeof memory);
    if (hints && (info_set(hints, "thread_level", thread_level_name(level)) ||
                  info_set(hints, MEMORY_KINDS_KEY, memory))) {
        info_delete(hints);
        return NULL;
    }
    return hints;
}

static struct session *sessions; /* all */

static void session_enter(struct session *session)
{
    static uint32_t numbers;
    session->number = ++numbers;
    session->next = sessions;
    sessions = session;
}

static void session_leave(const struct session *session)
{
    struct session **at = &sessions;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
}

struct session *session_find(uint32_t number)
{
    struct session *session = sessions;
    while (session && session->number != number)
        session = session->next;
    return session;
}

const struct info *session_info(uint32_t number)
{
    const struct session *session = session_find(number);
    return session ? session->info : NULL;
}

int xmpi_session_init(info_t info, errhandler_t errhandler, session_out_t *session)
{
    int level, rc = session_level(info, &level);
    if (!rc)
        rc = errhandler_check(errhandler, ERRHANDLER_SESSION);
    if (rc)
        return rc;
    struct session *made = object_new(OBJECT_SESSION, sizeof *made);
    struct info *hints = session_hints(level, info);
    if (!made || !hints) {
        rc = fail(MPI_ERR_NO_MEM, "no memory for a session");
        goto undo_objects;
    }
    rc = library_hold(USER_SESSION, level);
    if (rc)
        goto undo_objects;
    session_enter(made);
    made->errhandler = errhandler_hold(errhandler);
    made->info = hints;
    hints->ours = true;
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
    int rc = fuse_check();
    if (rc)
        return rc;
    bsend_forget(&old->pool);
    session_leave(old);
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
