/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guardian.  Forked first, in a session of its own, so that no terminal, shell or batch
 * system kills it along with the launcher.  It sleeps in read() on a pipe whose other end only
 * the launcher holds:
 *
 *     launcher ---- pipe ----> guardian         shared page: process group of every rank and agent
 *        |  (end of file: the launcher is gone)
 *        v
 *     TERM to all groups, 200 ms, KILL to all groups, then KILL to whatever still carries
 *     this job's XMPI_BOOT in its environment (a rank below a wrapper that left its group);
 *     at last the job's scratch directory, if it has one, is removed
 *
 * Ranks also ask the kernel to die with the launcher (proc.c), but that does not reach programs
 * below a wrapper script.  If the guardian itself is killed the launcher starts another one.
 *
 * A launcher that starts agents has a guardian from then on, which makes room for that of the job.
 */
#define _GNU_SOURCE 1 /* pipe2, memmem */
#include "launcher/guard.h"

#include "launcher/bare.h"
#include "launcher/out.h"
#include "launcher/scratch.h"
#include "runtime/bootseg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct guard_page {
    char scratch[PATH_MAX];
    int nranks, nagents;
    pid_t group[]; /* those of ranks, then those of agents */
};

static struct {
    struct guard_page *page;
    pid_t pid;
    int pipe;                       /* our end, never written */
    char mark[BOOT_JOB_CHARS + 64]; /* "XMPI_BOOT=...:", in every rank's environment */
} guard;

/* ---- inside the guardian: system calls only ---- */

static bool signal_groups(const struct guard_page *page, int signal)
{
    bool any = false;
    for (int i = 0; i < page->nranks + page->nagents; i++)
        if (page->group[i] > 1 && kill(-page->group[i], signal) == 0)
            any = true;
    return any;
}

/* Does this process have the mark in its environment?  It is read piece by piece; the end of a piece
 * is kept, since the mark may lie across. */
static bool carries_mark(int proc, const char *pid)
{
    static char piece[1 << 16];
    const size_t length = strlen(guard.mark);
    char path[64];
    snprintf(path, sizeof path, "%s/environ", pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t kept = 0;
    ssize_t n;
    bool found = false;
    while (!found && (n = read(fd, piece + kept, sizeof piece - kept)) > 0) {
        size_t used = kept + (size_t)n;
        found = memmem(piece, used, guard.mark, length) != NULL;
        kept = used < length ? used : length - 1;
        memmove(piece, piece + used - kept, kept);
    }
    close(fd);
    return found;
}

/* Kill what carries the mark; the number found. */
static int sweep(void)
{
    static char entries[1 << 15] __attribute__((aligned(8)));
    if (!guard.mark[0]) /* there is no job yet: everybody carries that */
        return 0;
    int found = 0, proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;
    while (proc >= 0 && (n = directory_read(proc, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            struct directory_entry *entry = (struct directory_entry *)(entries + at);
            at += entry->bytes;
            pid_t pid = (pid_t)strtol(entry->name, NULL, 10);
            if (pid > 1 && pid != getpid() && carries_mark(proc, entry->name)) {
                kill(pid, SIGKILL);
                found++;
            }
        }
    if (proc >= 0)
        close(proc);
    return found;
}

static void take_down(const struct guard_page *page)
{
    static const char of_job[] = "xmpirun: the launcher was killed; stopping its ranks\n";
    static const char of_agents[] = "xmpirun: the launcher was killed; stopping its agents\n";
    bool job = guard.mark[0];
    if (write(STDERR_FILENO, job ? of_job : of_agents,
              job ? sizeof of_job - 1 : sizeof of_agents - 1) < 0)
        (void)errno; /* nobody listens any more */
    if (signal_groups(page, SIGTERM)) {
        signal_groups(page, SIGCONT);
        for (int waited = 0; waited < GUARD_GRACE_MS && signal_groups(page, 0); waited += 10)
            pause_ms(10);
        signal_groups(page, SIGKILL);
    }
    for (int tries = 0; tries < 20 && sweep() > 0; tries++)
        pause_ms(5);
    if (page->scratch[0])
        scratch_remove_tree(page->scratch);
}

/* Close what is open from 3 on.  Kernels before 5.9 and some sandboxes have no close_range; then
 * those that a launcher of this size can have. */
static void close_others(const struct guard_page *page)
{
    enum { FILES_PER_RANK = 8, OTHER_FILES = 1024 };
    if (syscall(SYS_close_range, 3, ~0u, 0) == 0)
        return;
    for (int fd = 3; fd < FILES_PER_RANK * (page->nranks + page->nagents) + OTHER_FILES; fd++)
        close(fd);
}

static void guardian(int pipe)
{
    setsid();
    prctl(PR_SET_NAME, GUARD_NAME);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* Keep the pipe as descriptor 0 and stderr for the last words; nothing else of ours, least of
     * all the other end of the pipe. */
    dup2(pipe, 0);
    close(1);
    close_others(guard.page);
    char byte;
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    take_down(guard.page);
    _exit(0);
}

/* ---- the launcher's side ---- */

static int start_guardian(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        guardian(ends[0]);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return -1;
    }
    guard.pid = pid;
    guard.pipe = ends[1];
    return 0;
}

bool guard_died(pid_t pid)
{
    if (!guard.pid || pid != guard.pid)
        return false;
    close(guard.pipe);
    notice("the guardian process %d was killed; starting another one", (int)pid);
    guard.pid = 0;
    if (start_guardian() != 0)
        complain("cannot start another guardian process: %s%s", strerror(errno),
                 files_remedy(errno));
    return true;
}

static int open_page(const char *mark, int nranks, int nagents)
{
    struct guard_page *before = guard.page;
    size_t bytes = sizeof *before + ((size_t)nranks + (size_t)nagents) * sizeof(pid_t);
    struct guard_page *page =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        complain("no memory for a list of %d processes: %s", nranks + nagents, strerror(errno));
        return 1;
    }
    page->nranks = nranks;
    page->nagents = nagents;
    if (before)
        memcpy(page->group + nranks, before->group + before->nranks,
               (size_t)nagents * sizeof(pid_t));
    guard.page = page; /* the one before stays: a guardian may look at it */
    snprintf(guard.mark, sizeof guard.mark, "%s", mark);
    return 0;
}

/* With a guardian of it: 0, or 1 after a complaint. */
static int open_guarded_page(const char *mark, int nranks, int nagents)
{
    int status = open_page(mark, nranks, nagents);
    if (!status && start_guardian() != 0) {
        complain("cannot start the guardian process: %s%s", strerror(errno),
                 files_remedy(errno));
        status = 1;
    }
    return status;
}

int guard_agents(int n)
{
    return open_guarded_page("", 0, n);
}

int guard_open(const char *mark, int nranks)
{
    pid_t before = guard.pid;
    int pipe = guard.pipe;
    int status = open_guarded_page(mark, nranks, guard.page ? guard.page->nagents : 0);
    if (!status && before) { /* that of the agents */
        kill(before, SIGKILL);
        waitpid(before, NULL, 0);
        close(pipe);
    }
    return status;
}

pid_t guard_pid(void)
{
    return guard.pid;
}

void guard_scratch(const char *path)
{
    snprintf(guard.page->scratch, sizeof guard.page->scratch, "%s", path);
}

pid_t *guard_group(int rank)
{
    return &guard.page->group[rank];
}

pid_t *guard_agent_group(int agent)
{
    return guard.page ? &guard.page->group[guard.page->nranks + agent] : NULL;
}

void guard_close(void)
{
    if (!guard.pid)
        return;
    pid_t pid = guard.pid;
    guard.pid = 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
