/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The world model: MPI_Init to MPI_Finalize, and MPI_Abort (MPI 5.0, 11.2 and 11.4).  What
 * starting and ending means is in src/library.c.
 */
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/process.h"
#include "src/facade.h"
#include "src/fuse.h"
#include "src/library.h"

#include <pthread.h>
#include <stdio.h>

static pthread_t main_thread;
static int world_level; /* what was provided; sessions may raise the library's level later */

static int world_init(int level)
{
    if (library_state == LIBRARY_ACTIVE)
        return fail(MPI_ERR_OTHER, "MPI is initialised already; that can be done once");
    if (library_state == LIBRARY_FINALIZED)
        return fail(MPI_ERR_OTHER, "MPI was finalised and cannot be initialised again; "
                                   "sessions (MPI_Session_init) can");
    int rc = library_hold(USER_WORLD, level);
    if (rc)
        return rc;
    main_thread = pthread_self();
    world_level = thread_level;
    library_state = LIBRARY_ACTIVE;
    return MPI_SUCCESS;
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
        return fail(
            MPI_ERR_ARG,
            "argument required is %d, which is no thread level; MPI_THREAD_SINGLE is %d, "
            "FUNNELED %d, SERIALIZED %d, MULTIPLE %d",
            required, MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
            MPI_THREAD_MULTIPLE);
    int rc = world_init(required);
    if (!rc)
        *provided = world_level;
    return rc;
}

int xmpi_finalize(void)
{
    if (library_state != LIBRARY_ACTIVE)
        return fail(MPI_ERR_OTHER, "MPI_Finalize ends what MPI_Init began, and there is only "
                                   "a session; MPI_Session_finalize ends that");
    int rc = fuse_check();
    if (rc)
        return rc;
    int callbacks = world_delete_attributes();
    world_forget_handlers();
    library_state = LIBRARY_FINALIZED;
    boot_leaves_world();
    rc = library_drop(USER_WORLD);
    return callbacks ? callbacks : rc;
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
    *provided = library_state == LIBRARY_ACTIVE ? world_level : thread_level;
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
