/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Performance variables (MPI 5.0, 15.3.7): what pml and runtime count anyway, seen through
 * handles.  A handle of a counter is a stop watch over it: it runs between start and stop and
 * can be set, and no other handle and no other session notices.
 *
 *     value = kept + (running ? counter now - counter at the last start or set : 0)
 *
 * Lengths of queues and the algorithms last used are bound to a communicator; they are what they
 * are, always on and read-only.
 */
#include "src/tool_pvar.h"

#include "pml/pml.h"
#include "runtime/fail.h"
#include "src/api/tool.h"
#include "src/handle.h"

#include <stdlib.h>
#include <string.h>

int xmpi_t_pvar_get_num(int *num_pvar)
{
    return tool_number(num_pvar, tool_pvars());
}

static int index_check(int pvar_index)
{
    if (pvar_index >= 0 && pvar_index < tool_pvars())
        return MPI_SUCCESS;
    return tool_fail_index("pvar_index", pvar_index, tool_pvars(), "performance variables");
}

static MPI_Datatype pvar_type(const struct pvar *pvar)
{
    if (pvar->plans)
        return MPI_INT;
    return pvar->class == MPI_T_PVAR_CLASS_TIMER ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG;
}

int xmpi_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity,
                         int *var_class, MPI_Datatype *datatype, MPI_T_enum *enumtype,
                         char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
                         int *atomic)
{
    int rc = index_check(pvar_index);
    if (rc)
        return rc;
    const struct pvar *pvar = tool_pvar(pvar_index);
    tool_text(pvar->name, name, name_len);
    tool_text(pvar->description, desc, desc_len);
    tool_int(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_int(var_class, pvar->class);
    if (datatype)
        *datatype = pvar_type(pvar);
    if (enumtype)
        *enumtype = (MPI_T_enum)pvar->plans; /* MPI_T_ENUM_NULL is NULL */
    bool of_comm = !pvar->counter;
    tool_int(bind, of_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    tool_int(readonly, of_comm);
    tool_int(continuous, of_comm);
    tool_int(atomic, !of_comm);
    return MPI_SUCCESS;
}

int xmpi_t_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    if (!name || !pvar_index)
        return tool_fail_null(name ? "pvar_index" : "name");
    for (int i = 0; i < tool_pvars(); i++)
        if (strcmp(name, tool_pvar(i)->name) == 0 && var_class == tool_pvar(i)->class)
            return tool_number(pvar_index, i);
    return fail(
        MPI_T_ERR_INVALID_NAME,
        "argument var_class is %d; there is no performance variable \"%s\" of this class",
        var_class, name);
}

/* ---- sessions and handles ---- */

struct watch { /* an MPI_T_pvar_handle */
    struct watch *next;
    const struct pvar *pvar;
    MPI_Comm comm; /* whose queue */
    bool running;
    uint64_t kept, since;
};

struct pvar_session { /* an MPI_T_pvar_session */
    struct pvar_session *next;
    struct watch *watches;
};
static struct pvar_session *sessions;

static int session_of(MPI_T_pvar_session handle, struct pvar_session **found)
{
    *found = sessions;
    while (*found && *found != (struct pvar_session *)handle)
        *found = (*found)->next;
    if (*found)
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_SESSION, "argument session is no session of "
                                           "MPI_T_pvar_session_create");
}

static int watch_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle, struct watch **found)
{
    struct pvar_session *in;
    int rc = session_of(session, &in);
    if (rc)
        return rc;
    *found = in->watches;
    while (*found && *found != (struct watch *)handle)
        *found = (*found)->next;
    if (*found)
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument handle is none of this session");
}

int xmpi_t_pvar_session_create(MPI_T_pvar_session *session)
{
    if (!session)
        return tool_fail_null("session");
    struct pvar_session *made = calloc(1, sizeof *made);
    if (!made)
        return fail(MPI_T_ERR_OUT_OF_SESSIONS, "no memory for a session");
    made->next = sessions;
    sessions = made;
    *session = (MPI_T_pvar_session)made;
    return MPI_SUCCESS;
}

static void session_delete(struct pvar_session *session)
{
    while (session->watches) {
        struct watch *gone = session->watches;
        session->watches = gone->next;
        free(gone);
    }
    struct pvar_session **link = &sessions;
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    free(session);
}

int xmpi_t_pvar_session_free(MPI_T_pvar_session *session)
{
    if (!session)
        return tool_fail_null("session");
    struct pvar_session *gone;
    int rc = session_of(*session, &gone);
    if (rc)
        return rc;
    session_delete(gone);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

void tool_pvars_close(void)
{
    while (sessions)
        session_delete(sessions);
}

int xmpi_t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    struct pvar_session *in;
    int rc = session_of(session, &in);
    if (!rc)
        rc = index_check(pvar_index);
    if (rc)
        return rc;
    if (!handle || !count)
        return tool_fail_null(handle ? "count" : "handle");
    const struct pvar *pvar = tool_pvar(pvar_index);
    MPI_Comm comm = MPI_COMM_NULL;
    if (!pvar->counter && (rc = tool_bind_comm(obj_handle, &comm)))
        return rc;
    struct watch *made = calloc(1, sizeof *made);
    if (!made)
        return fail(MPI_T_ERR_OUT_OF_HANDLES, "no memory for a handle");
    made->pvar = pvar;
    made->comm = comm;
    made->next = in->watches;
    in->watches = made;
    *handle = (MPI_T_pvar_handle)made;
    *count = 1;
    return MPI_SUCCESS;
}

int xmpi_t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    if (!handle)
        return tool_fail_null("handle");
    struct watch *gone;
    int rc = watch_of(session, *handle, &gone);
    if (rc)
        return rc;
    struct watch **link = &((struct pvar_session *)session)->watches;
    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    free(gone);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* ---- values ---- */

static uint64_t counter_now(const struct watch *watch)
{
    pml_count();
    return *watch->pvar->counter;
}

static uint64_t watch_value(const struct watch *watch)
{
    return watch->kept + (watch->running ? counter_now(watch) - watch->since : 0);
}

static void watch_set(struct watch *watch, uint64_t value)
{
    watch->kept = value;
    watch->since = counter_now(watch);
}

static void watch_run(struct watch *watch, bool run)
{
    watch_set(watch, watch_value(watch));
    watch->running = run;
}

/* Start or stop one handle, or with MPI_T_PVAR_ALL_HANDLES all of which that can be said. */
static int watches_run(MPI_T_pvar_session session, MPI_T_pvar_handle handle, bool run)
{
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        struct pvar_session *in;
        int rc = session_of(session, &in);
        for (struct watch *watch = rc ? NULL : in->watches; watch; watch = watch->next)
            if (watch->pvar->counter)
                watch_run(watch, run);
        return rc;
    }
    struct watch *watch;
    int rc = watch_of(session, handle, &watch);
    if (!rc && !watch->pvar->counter)
        rc = fail(MPI_T_ERR_PVAR_NO_STARTSTOP, "%s is always on", watch->pvar->name);
    if (!rc)
        watch_run(watch, run);
    return rc;
}

int xmpi_t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return watches_run(session, handle, true);
}

int xmpi_t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return watches_run(session, handle, false);
}

/* A variable of a communicator. */
static int watch_read_comm(const struct watch *watch, void *buf)
{
    struct comm *comm;
    int rc = tool_bound_comm(watch->comm, &comm);
    if (rc)
        return rc;
    if (watch->pvar->plans)
        *(int *)buf = tool_plan_state(watch->pvar, &comm->team);
    else
        *(unsigned long long *)buf = watch->pvar->length(&comm->p2p);
    return MPI_SUCCESS;
}

static int watch_read(const struct watch *watch, void *buf)
{
    if (!buf)
        return tool_fail_null("buf");
    if (!watch->pvar->counter)
        return watch_read_comm(watch, buf);
    if (watch->pvar->class == MPI_T_PVAR_CLASS_TIMER)
        *(double *)buf = (double)watch_value(watch) * 1e-9;
    else
        *(unsigned long long *)buf = watch_value(watch);
    return MPI_SUCCESS;
}

static int watch_check_settable(const struct watch *watch)
{
    if (watch->pvar->counter)
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_PVAR_NO_WRITE, "%s is read-only", watch->pvar->name);
}

int xmpi_t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct watch *watch;
    int rc = watch_of(session, handle, &watch);
    return rc ? rc : watch_read(watch, buf);
}

/* 1e10 s are three centuries, and fit into 64 bits as nanoseconds. */
static int watch_set_seconds(struct watch *watch, double seconds)
{
    if (!(seconds >= 0 && seconds < 1e10))
        return fail(MPI_T_ERR_INVALID, "the value in buf is %g; seconds run from 0 to 1e10",
                    seconds);
    watch_set(watch, (uint64_t)(seconds * 1e9 + 0.5));
    return MPI_SUCCESS;
}

int xmpi_t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    struct watch *watch;
    int rc = watch_of(session, handle, &watch);
    if (!rc)
        rc = watch_check_settable(watch);
    if (!rc && !buf)
        rc = tool_fail_null("buf");
    if (rc)
        return rc;
    if (watch->pvar->class == MPI_T_PVAR_CLASS_TIMER)
        return watch_set_seconds(watch, *(const double *)buf);
    watch_set(watch, *(const unsigned long long *)buf);
    return MPI_SUCCESS;
}

int xmpi_t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        struct pvar_session *in;
        int rc = session_of(session, &in);
        for (struct watch *watch = rc ? NULL : in->watches; watch; watch = watch->next)
            if (watch->pvar->counter)
                watch_set(watch, 0);
        return rc;
    }
    struct watch *watch;
    int rc = watch_of(session, handle, &watch);
    if (!rc)
        rc = watch_check_settable(watch);
    if (!rc)
        watch_set(watch, 0);
    return rc;
}

int xmpi_t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct watch *watch;
    int rc = watch_of(session, handle, &watch);
    if (!rc)
        rc = watch_check_settable(watch);
    if (!rc)
        rc = watch_read(watch, buf);
    if (!rc)
        watch_set(watch, 0);
    return rc;
}
