/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XMPI_ASYNC=1: a thread of the library that makes progress while the program computes.  It
 * sleeps on the process's doorbell like any rank that waits, so it costs nothing while no message
 * comes, and stays out of the way while the program itself waits (progress_assist).
 *
 *     program    isend ...  computes  computes  computes  wait: done already
 *     thread        asleep | rung: reads, writes, sends on | asleep
 *
 * A program that computes on every CPU it has shares them with this thread: what it takes for
 * copying is taken from the program, as it would be in calls.  Each call of the library takes the
 * engine lock, 10-20 ns.  Signals go to the program's own threads.
 */
#include "runtime/assist.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/lock.h"
#include "runtime/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 100000 };

static pthread_t thread;
static bool running, stop; /* stop: under the engine lock */

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
    engine_take();
    struct wait w = WAIT_FOR(NULL, NULL);
    while (!stop)
        progress_assist(&w);
    wait_end(&w);
    engine_give();
    return nothing;
}

int assist_open(void)
{
    sigset_t all, before;
    sigfillset(&all);
    stop = false;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, assist, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return fail(MPI_ERR_OTHER, "XMPI_ASYNC=1: no thread could be started (%s)",
                    strerror(error));
    running = true;
    return MPI_SUCCESS;
}

void assist_close(void)
{
    if (!running)
        return;
    engine_take();
    stop = true;
    progress_nudge();
    engine_give();
    pthread_join(thread, NULL);
    running = false;
}
