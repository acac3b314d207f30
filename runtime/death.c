/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See death.h.  A pidfd rather than kill(pid, 0): it tells of a process that has died and was not
 * reaped, as when xmpirun is stopped or some other launcher does not care; and it cannot mean a
 * process that came later.  It needs one PID namespace: ranks say which one is theirs, and those
 * of another one are not watched.
 *
 * Those of a segment that are no node (XMPI_SHM=0) watch each other as well.
 *
 * Each rank watches the next one behind it that is inside MPI, and asks each time who that is: one
 * that came to MPI after the first look would be watched by nobody.  So the cost does not grow with
 * the number of ranks: one descriptor and, while it sleeps, three system calls per second.
 */
#define _GNU_SOURCE
#include "runtime/death.h"

#include "runtime/clock.h"
#include "runtime/param.h"
#include "runtime/progress.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- processes on other nodes ---- */

struct stranger {
    struct stranger *next;
    int world;
};
static struct stranger *_Atomic strangers;

int death_tell(int world)
{
    const struct boot_rank *record = boot_neighbour(world);
    if (record) {
        boot_announce(boot.segment, (int)(record - bootseg_rank(boot.segment, 0)), BOOT_DEAD);
        return 0;
    }
    struct stranger *stranger = malloc(sizeof *stranger);
    if (!stranger)
        return -1;
    stranger->world = world;
    stranger->next = atomic_load(&strangers);
    while (!atomic_compare_exchange_weak(&strangers, &stranger->next, stranger))
        ;
    atomic_fetch_add(&boot.segment->dead_epoch, 1);
    doorbell_wake(&boot_record(boot.local_rank)->bell);
    return 0;
}

int death_of_stranger(void)
{
    struct stranger *stranger = atomic_load(&strangers);
    while (stranger && !atomic_compare_exchange_weak(&strangers, &stranger, stranger->next))
        ;
    int world = stranger ? stranger->world : -1;
    free(stranger);
    return world;
}

/* ---- words ---- */

void death_text(uint32_t dead, char *text, size_t room)
{
    int status = (int)(dead & 0xffff);
    if (dead == 0)
        snprintf(text, room, "has left MPI after a failure");
    else if (!(dead & BOOT_DEAD_STATUS))
        snprintf(text, room, "has died");
    else if (WIFSIGNALED(status))
        snprintf(text, room, "was killed by signal %d (%s%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), dead & BOOT_DEAD_MEMORY ? ", out of memory" : "");
    else
        snprintf(text, room, "exited with code %d without calling %s", WEXITSTATUS(status),
                 dead & BOOT_DEAD_SESSION ? "MPI_Session_finalize" : "MPI_Finalize");
}

/* ---- watching the neighbour ---- */

enum { WATCH_MS = 200, PATIENT_LOOKS = 3 }; /* with the naps: 0.5 to 0.8 s after a death */

static struct {
    bool chosen;   /* somebody is watched */
    int fd;        /* pidfd; -1: it had gone and been reaped when it was chosen */
    int index;     /* of its record */
    int gone;      /* looks that found it dead; who reaps it gets some more to say why */
    uint64_t next; /* when to look again */
} watched;

static bool is_watchable(const struct boot_rank *record)
{
    return atomic_load(&record->state) == BOOT_INITED && !atomic_load(&record->dead) &&
           record->namespace != 0 &&
           record->namespace == boot_record(boot.local_rank)->namespace;
}

static void watch_drop(void)
{
    if (watched.chosen && watched.fd >= 0)
        close(watched.fd);
    if (watched.gone > 0)
        progress_naps_hurry(false);
    watched.chosen = false;
    watched.gone = 0;
}

/* The next one behind us that is inside MPI: its index, or -1. */
static int watch_next(void)
{
    int n = boot.segment->nlocal;
    for (int i = 1; i < n; i++) {
        int index = (boot.first + boot.local_rank + i) % n;
        if (is_watchable(bootseg_rank(boot.segment, index)))
            return index;
    }
    return -1;
}

static void watch_choose(void)
{
    int index = watch_next();
    if (watched.chosen && watched.index == index)
        return;
    watch_drop();
    if (index < 0)
        return;
    int pid = atomic_load(&bootseg_rank(boot.segment, index)->pid);
    watched.index = index;
    watched.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    watched.chosen = watched.fd >= 0 || errno == ESRCH;
}

static bool watched_is_gone(void)
{
    struct pollfd look = { .fd = watched.fd, .events = POLLIN };
    return watched.fd < 0 || poll(&look, 1, 0) > 0;
}

void death_watch(void)
{
    uint64_t now = clock_ns();
    if (now < watched.next || param_under_valgrind())
        return;
    watched.next = now + WATCH_MS * 1000000ull;
    watch_choose();
    if (!watched.chosen || !watched_is_gone())
        return;
    if (++watched.gone == 1)
        progress_naps_hurry(true);
    if (watched.gone == PATIENT_LOOKS)
        boot_announce(boot.segment, watched.index, BOOT_DEAD);
}

void death_close(void)
{
    watch_drop();
    while (death_of_stranger() >= 0)
        ;
}
