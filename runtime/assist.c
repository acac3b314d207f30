/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread of the library that makes progress while the program computes:
 *
 *     for good      with XMPI_ASYNC=1, and where streams of a device are used
 *     for a while   until what the program has sent to a peer of the network before the two could
 *                   talk has left (pml/ofi/trunk.c)
 *
 * It sleeps on the process's doorbell like any rank that waits, so it costs nothing while no message
 * comes, and stays out of the way while the program itself waits (progress_assist).
 *
 *     program    isend ...  computes  computes  computes  wait: done already
 *     thread        asleep | rung: reads, writes, sends on | asleep
 *
 * A program that computes on every CPU it has shares them with this thread: what it takes for
 * copying is taken from the program, as it would be in calls.  Each call of the library takes the
 * engine lock, 10-20 ns, while there is a thread.  Signals go to the program's own threads.
 */
#include "runtime/assist.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/lock.h"
#include "runtime/log.h"
#include "runtime/progress.h"
#include "runtime/record.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 100000 };

/* All of it is under the engine lock. */
static pthread_t thread;
static bool may_run, running, stop;
static bool (*is_needed)(void); /* NULL: for good */
bool assist_has_ended;

/* Run soon after each wake-up, not when the program's thread has used up its slice, some
 * milliseconds.  Linux 6.12 and later take a wish for short slices; others ignore it. */
static void slices_shorten(void)
{
    struct { /* struct sched_attr, which few C libraries declare */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } wish = { .size = sizeof wish, .runtime = SLICE_NS };
    errno = 0;
    wish.nice = getpriority(PRIO_PROCESS, 0);
    if (errno == 0)
        syscall(SYS_sched_setattr, 0, &wish, 0);
}

static void *assist(void *nothing)
{
    slices_shorten();
    engine_forgo();
    engine_take();
    struct wait w = WAIT_FOR(NULL, NULL);
    w.helps = true;
    while (!stop && (!is_needed || is_needed()))
        progress_assist(&w);
    wait_end(&w);
    assist_has_ended = true;
    engine_give();
    return nothing;
}

static void assist_count(bool yes)
{
    running = yes;
    record_area->helpers = yes;
    threads_of_ours(yes ? 1 : -1);
}

/* 0, or an errno.  It has blocked all signals from the beginning. */
static int assist_begin(bool (*needed)(void))
{
    sigset_t all, before;
    engine_hold();
    is_needed = needed;
    stop = assist_has_ended = false;
    assist_count(true);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, assist, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        assist_count(false);
    return error;
}

/* It has given the lock back, or is about to, and does not take it again (engine_forgo): this takes
 * no time, with the lock or without. */
static void assist_bury(void)
{
    pthread_join(thread, NULL);
    assist_has_ended = false;
    assist_count(false);
}

int assist_start(void)
{
    if (running && !assist_has_ended) {
        is_needed = NULL;
        return MPI_SUCCESS;
    }
    if (running)
        assist_bury();
    int error = assist_begin(NULL);
    if (error)
        return fail(MPI_ERR_OTHER, "no thread could be started that makes progress (%s)",
                    strerror(error));
    return MPI_SUCCESS;
}

void assist_while(bool (*needed)(void))
{
    if (running || !may_run)
        return;
    int error = assist_begin(needed);
    if (error)
        log_line("no thread that makes progress while the program computes: %s",
                 strerror(error));
}

/* A call that has got the lock because of this thread gives it back at its end, if there are still
 * many; so a later one sees to it. */
void assist_reap(void)
{
    if (!engine_is_late())
        assist_bury();
}

int assist_open(bool for_good)
{
    may_run = true;
    return for_good ? assist_start() : MPI_SUCCESS;
}

void assist_close(void)
{
    engine_take();
    may_run = false;
    stop = true;
    progress_nudge();
    engine_give();
    if (running)
        assist_bury();
}
