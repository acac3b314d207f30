/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting and ending (MPI 5.0, 11.2 to 11.4).  The rooms come up from below:
 *
 *     params      the environment is read once
 *     boot        who am I, who else is there: one mapping, no messages
 *     progress    how this process waits: it now knows whether ranks exceed CPUs
 *     pml         links and matching
 *     world       the channels and groups of MPI_COMM_WORLD and MPI_COMM_SELF
 *
 * and go down the other way.  Nobody waits for anybody in either direction; what is still on
 * its way from here when the library ends is completed by pml_close.
 *
 * The world model and every session hold the library once.  When MPI_Finalize is the last user
 * all goes down.  When a session is the last, others may already send for the next one, so the
 * library stays open, flushed and without users, until a new session or the end of the process.
 */
#include "src/init.h"

#include "runtime/boot.h"
#include "runtime/param.h"
#include "runtime/progress.h"
#include "src/api/process.h"
#include "src/attr.h"
#include "src/handle.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

int thread_level = MPI_THREAD_SINGLE;
static bool library_is_open;
static int users; /* who hold it */
static pthread_t main_thread;

/* ---- the two communicators that are always there ---- */

static int static_comm_open(struct comm *comm, const char *name, const struct ticket *ticket,
                            struct ranks *ranks)
{
    struct group *group = group_new(ranks);
    if (!group)
        return fail(MPI_ERR_NO_MEM, "no memory for %s", name);
    comm->object = (struct object){ .kind = OBJECT_COMM, .refs = 1 };
    int rc = comm_open(comm, ticket, group, NULL, NULL);
    group_drop(group);
    if (rc)
        comm->object.kind = OBJECT_FREE;
    snprintf(comm->name, sizeof comm->name, "%s", name);
    return rc;
}

static void static_comm_close(struct comm *comm)
{
    comm_close(comm);
    *comm = (struct comm){ 0 };
}

static int static_comms_open(void)
{
    struct ticket world, self;
    ticket_world(&world);
    ticket_self(&self);
    int rc =
        static_comm_open(&comm_world, "MPI_COMM_WORLD", &world, ranks_range(boot.size, 0, 1));
    if (rc)
        return rc;
    rc = static_comm_open(&comm_self, "MPI_COMM_SELF", &self, ranks_range(1, boot.rank, 1));
    if (rc)
        static_comm_close(&comm_world);
    return rc;
}

/* ---- the library ---- */

static int library_open(void)
{
    params_read();
    int rc = boot_open();
    if (rc)
        return rc;
    progress_open(&boot_record(boot.local_rank)->bell, boot.crowded);
    rc = pml_open();
    if (rc)
        goto undo_progress;
    rc = static_comms_open();
    if (rc)
        goto undo_pml;
    main_thread = pthread_self();
    library_is_open = true;
    boot_reached(BOOT_INITED);
    return MPI_SUCCESS;
undo_pml:
    pml_close();
undo_progress:
    progress_close();
    boot_close();
    return rc;
}

static int library_close(void)
{
    library_is_open = false;
    static_comm_close(&comm_self);
    static_comm_close(&comm_world);
    int rc = pml_close();
    progress_close();
    boot_reached(BOOT_FINALIZED);
    boot_close();
    return rc;
}

/* From now on every call takes the engine lock; this one has passed the door without. */
static void threads_admit(int level)
{
    if (level > thread_level)
        thread_level = level;
    if (level == MPI_THREAD_MULTIPLE && !threads_multiple) {
        threads_multiple = true;
        engine_lock();
    }
}

int library_hold(int level)
{
    if (!library_is_open) {
        int rc = library_open();
        if (rc)
            return rc;
    }
    users++;
    threads_admit(level);
    return MPI_SUCCESS;
}

int library_drop(bool for_good)
{
    if (--users > 0)
        return MPI_SUCCESS;
    if (for_good)
        return library_close();
    pml_flush();
    boot_reached(BOOT_FINALIZED);
    return MPI_SUCCESS;
}

/* The end of a process whose last user was a session. */
__attribute__((destructor)) static void library_end(void)
{
    if (library_is_open && users == 0)
        library_close();
}

/* ---- thread levels ---- */

static const struct level {
    int level;
    const char *name;
} levels[] = {
    { MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE" },
    { MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED" },
    { MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED" },
    { MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE" },
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

const char *thread_level_name(int level)
{
    for (int i = 0; i < LEVELS; i++)
        if (levels[i].level == level)
            return levels[i].name;
    return NULL;
}

int thread_level_named(const char *name)
{
    for (int i = 0; i < LEVELS; i++)
        if (!strcmp(levels[i].name, name))
            return levels[i].level;
    return -1;
}

/* ---- the world model ---- */

static int world_init(int level)
{
    if (library_state == LIBRARY_ACTIVE)
        return fail(MPI_ERR_OTHER, "MPI is initialised already; that can be done once");
    if (library_state == LIBRARY_FINALIZED)
        return fail(MPI_ERR_OTHER, "MPI was finalised and cannot be initialised again; "
                                   "sessions (MPI_Session_init) can");
    int rc = library_hold(level);
    if (!rc)
        library_state = LIBRARY_ACTIVE;
    return rc;
}

int xmpi_init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return world_init(MPI_THREAD_SINGLE);
}

int xmpi_init_thread(int *argc, char ***argv, int required, int_out_t *provided)
{
    (void)argc;
    (void)argv;
    if (!thread_level_name(required))
        return fail(MPI_ERR_ARG,
                    "required is %d, which is no thread level; MPI_THREAD_SINGLE is %d, "
                    "FUNNELED %d, SERIALIZED %d, MULTIPLE %d",
                    required, MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                    MPI_THREAD_MULTIPLE);
    int rc = world_init(required);
    if (!rc)
        *provided = thread_level;
    return rc;
}

/* The program may still communicate in the delete functions of these attributes. */
static int last_attributes(struct comm *comm)
{
    return attributes_delete(ATTR_COMM, comm_handle(comm), &comm->attributes);
}

int xmpi_finalize(void)
{
    if (library_state != LIBRARY_ACTIVE)
        return fail(MPI_ERR_OTHER, "MPI_Finalize ends what MPI_Init began, and there is only "
                                   "a session; MPI_Session_finalize ends that");
    int self = last_attributes(&comm_self), world = last_attributes(&comm_world);
    library_state = LIBRARY_FINALIZED;
    int rc = library_drop(true);
    return self ? self : world ? world : rc;
}

int xmpi_initialized(flag_t *flag)
{
    *flag = library_state != LIBRARY_FRESH;
    return MPI_SUCCESS;
}

int xmpi_finalized(flag_t *flag)
{
    *flag = library_state == LIBRARY_FINALIZED;
    return MPI_SUCCESS;
}

int xmpi_query_thread(int_out_t *provided)
{
    *provided = thread_level;
    return MPI_SUCCESS;
}

int xmpi_is_thread_main(flag_t *flag)
{
    *flag = pthread_equal(pthread_self(), main_thread) != 0;
    return MPI_SUCCESS;
}

int xmpi_abort(comm_t comm, int errorcode)
{
    char text[BOOT_TEXT_CHARS];
    snprintf(text, sizeof text, "rank %d of %d called MPI_Abort(%s, %d)", boot.rank, boot.size,
             comm->name[0] ? comm->name : "a communicator without a name", errorcode);
    boot_abort(errorcode, text);
}
