/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rooms come up from below:
 *
 *     params      the environment is read once
 *     boot        who am I, who else is there: one mapping, no messages
 *     progress    how this process waits: it now knows whether ranks exceed CPUs
 *     pml         links and matching
 *     world       the channels and groups of MPI_COMM_WORLD and MPI_COMM_SELF
 *
 * and go down the other way.  Nobody waits for anybody in either direction.
 *
 * The world model and every session hold the library once.  When the last of them goes, what is
 * still on its way from here is completed; but others may already send for a session that comes
 * next, also after MPI_Finalize.  So the library stays open, flushed and without users, until
 * that session or the end of the process.
 */
#include "src/library.h"

#include "mpi.h"
#include "pml/failure.h"
#include "pml/pml.h"
#include "runtime/assist.h"
#include "runtime/boot.h"
#include "runtime/lock.h"
#include "runtime/param.h"
#include "runtime/record.h"
#include "src/comm.h"

#include <string.h>
#include <unistd.h>

int library_sessions;
int thread_level = MPI_THREAD_SINGLE;
static bool library_is_open;
static pid_t opener; /* a child that was forked closes nothing */
static int users;    /* who hold it */

/* How many CPUs there are for the threads of a rank. */
static int rank_cpus(void)
{
    int each = (int)(boot.segment->cpus / boot.segment->nlocal);
    return each > 1 ? each : 1;
}

static int library_open(void)
{
    params_read();
    int rc = boot_open();
    if (rc)
        return rc;
    record_open(bootseg_record(boot.segment, boot.first + boot.local_rank));
    progress_open(&boot_record(boot.local_rank)->bell, boot.crowded);
    progress_neighbours(&bootseg_rank(boot.segment, 0)->bell, sizeof(struct boot_rank),
                        boot.segment->nlocal, boot.segment->cpus);
    progress_cpus(rank_cpus());
    record_comm_name = comm_name_of;
    trace_open(boot.segment->launcher_pid, boot.segment->trace_fd, &boot.segment->trace_used,
               boot.rank);
    rc = pml_open();
    if (rc)
        goto undo_progress;
    rc = world_open();
    if (rc)
        goto undo_pml;
    rc = assist_open(param_number(ASYNC) != 0);
    if (rc)
        goto undo_world;
    library_is_open = true;
    opener = getpid();
    return MPI_SUCCESS;
undo_world:
    world_close();
undo_pml:
    pml_close();
undo_progress:
    progress_close();
    trace_close();
    record_open(NULL);
    boot_close();
    return rc;
}

static void library_close(void)
{
    library_is_open = false;
    assist_close();
    world_close();
    pml_close();
    progress_close();
    boot_reached(BOOT_FINALIZED);
    trace_close();
    record_open(NULL);
    if (failures_any())
        boot_announce(boot.segment, 0, 0);
    boot_close();
}

/* Threads that have one CPU between them would only wait longer for one another. */
static int engines_wanted(void)
{
    if (thread_level != MPI_THREAD_MULTIPLE)
        return 1;
    if (param_number(ENGINES) > 0)
        return (int)param_number(ENGINES);
    return rank_cpus() > 1 ? ENGINES : 1;
}

/* The calls that get here hold the engine lock.  The highest level asked for counts; a program
 * that is at MPI_THREAD_FUNNELED and asks for more must do so while no other call is under way,
 * since that one may have gone without the lock. */
static void threads_admit(int level)
{
    if (level > thread_level)
        thread_level = level;
    record_area->multiple = thread_level == MPI_THREAD_MULTIPLE;
    pml_engines(engines_wanted());
    threads_of_program(thread_level == MPI_THREAD_MULTIPLE ? THREADS_MANY
                       : thread_level != MPI_THREAD_SINGLE ? THREADS_BESIDE
                                                           : THREADS_ONE);
}

/* Who ends without leaving is told what it forgot to call. */
static void sessions_tell(void)
{
    atomic_store(&boot_record(boot.local_rank)->sessions,
                 users == library_sessions ? (uint32_t)users : 0);
}

int library_hold(enum library_user user, int level)
{
    if (!library_is_open) {
        int rc = library_open();
        if (rc)
            return rc;
    }
    if (users++ == 0)
        boot_reached(BOOT_INITED);
    library_sessions += user == USER_SESSION;
    sessions_tell();
    threads_admit(level);
    return MPI_SUCCESS;
}

/* Others may have messages for a session that comes next.  But after a loss those who wait for a
 * process that gave up would wait for ever; so MPI_Finalize is the end then. */
static void library_rest(enum library_user user)
{
    if (user == USER_SESSION || !failures_any()) {
        boot_reached(BOOT_RESTING);
        return;
    }
    boot_reached(BOOT_FINALIZED);
    boot_announce(boot.segment, 0, 0);
}

int library_drop(enum library_user user)
{
    if (user == USER_WORLD)
        left_behind_log();
    library_sessions -= user == USER_SESSION;
    users--;
    sessions_tell();
    if (users > 0) {
        if (user == USER_WORLD) {
            pml_leave_world();
            last_words(&comm_world.team, false);
        }
        return MPI_SUCCESS;
    }
    pml_flush();
    if (user == USER_WORLD)
        last_words_everywhere(&comm_world.team);
    trace_flush();
    if (users == 0) /* no other thread has begun a session meanwhile */
        library_rest(user);
    return MPI_SUCCESS;
}

__attribute__((destructor)) static void library_end(void)
{
    if (library_is_open && users == 0 && opener == getpid())
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
