/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting processes, fast.  The child borrows our memory until it executes (as after vfork,
 * but on a stack of its own), so starting one costs the same whatever the launcher holds.
 * Between clone and execve it makes system calls only, in this order:
 *
 *     setpgid        own group (a signal reaches everything below a wrapper), same session
 *                    (sched_yield works only inside one autogroup)
 *     prctl          die when the launcher dies
 *     affinity, descriptors 0-2, chdir, umask, limits, signal dispositions and mask
 *     execve         a text without #! is given to the shell, as execvp does
 *
 * A step that fails stores errno and its name where the launcher, which sleeps meanwhile, reads
 * them.
 */
#define _GNU_SOURCE 1 /* clone */
#include "launcher/proc.h"

#include "launcher/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 1 << 17 };

static struct {
    sigset_t mask;
    struct rlimit files;
    bool files_changed;
    pid_t launcher;
    char *stack;
} keep;

void proc_remember(void)
{
    sigprocmask(SIG_SETMASK, NULL, &keep.mask);
    sigdelset(&keep.mask, SIGINT);
    sigdelset(&keep.mask, SIGTERM);
    getrlimit(RLIMIT_NOFILE, &keep.files);
    keep.launcher = getpid();
}

void proc_need_files(int files)
{
    if (keep.files.rlim_cur >= (rlim_t)files || keep.files.rlim_cur == keep.files.rlim_max)
        return;
    struct rlimit raised = { keep.files.rlim_max, keep.files.rlim_max };
    keep.files_changed = setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

/* ---- in the child ---- */

/* The address sanitizer does not know the child's stack. */
#define ON_OWN_STACK __attribute__((no_sanitize("address")))

ON_OWN_STACK static void give_up(struct proc *proc, const char *step)
{
    proc->error = errno;
    proc->failed = step;
    _exit(127);
}

/* The three streams to 0, 1, 2.  Sources below 3 are moved out of the way first. */
ON_OWN_STACK static void set_streams(struct proc *proc)
{
    int from[3];
    for (int i = 0; i < 3; i++) {
        from[i] = proc->fds[i];
        if (from[i] < 3 && from[i] != i && (from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3)) < 0)
            give_up(proc, "dup");
    }
    for (int i = 0; i < 3; i++) {
        if (from[i] == i)
            fcntl(i, F_SETFD, 0);
        else if (dup2(from[i], i) < 0)
            give_up(proc, "dup2");
    }
}

static void reset_signals(void)
{
    /* Only what the launcher changed, or what a shell ignores for background jobs although we
     * pass it on. */
    static const int changed[] = { SIGPIPE, SIGINT, SIGQUIT };
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++)
        signal(changed[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &keep.mask, NULL);
}

ON_OWN_STACK static void execute(struct proc *proc)
{
    execve(proc->path, proc->argv, proc->envp);
    give_up(proc, "execve");
}

ON_OWN_STACK static int child(void *argument)
{
    struct proc *proc = argument;
    if (setpgid(0, 0) != 0)
        give_up(proc, "setpgid");
    if (proc->group)
        *proc->group = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keep.launcher)
        _exit(127); /* it died before prctl */
    if (proc->cpus && !cpuset_is_empty(proc->cpus) &&
        syscall(SYS_sched_setaffinity, 0, sizeof proc->cpus->word, proc->cpus->word) != 0)
        give_up(proc, "sched_setaffinity");
    set_streams(proc);
    if (proc->wdir && chdir(proc->wdir) != 0)
        give_up(proc, "chdir");
    if (proc->umask >= 0)
        umask((mode_t)proc->umask);
    if (keep.files_changed)
        setrlimit(RLIMIT_NOFILE, &keep.files);
    reset_signals();
    execute(proc);
    return 127;
}

/* ---- in the launcher ---- */

static int start(struct proc *proc)
{
    proc->error = 0;
    proc->failed = NULL;
    proc->pid = -1;
    pid_t pid = clone(child, keep.stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, proc);
    if (pid < 0) {
        proc->failed = "clone";
        return proc->error = errno;
    }
    if (proc->error) {
        waitpid(pid, NULL, 0);
        if (proc->group)
            *proc->group = 0;
        return proc->error;
    }
    proc->pid = pid;
    return 0;
}

/* A text without #! is for the shell, as execvp has it.  Its arguments may be more than the child's stack holds. */
static int start_script(struct proc *proc)
{
    size_t n = 0;
    while (proc->argv[n])
        n++;
    char **argv = calloc(n + 2, sizeof *argv);
    if (!argv)
        return proc->error; /* of the file itself */
    struct proc script = *proc;
    argv[0] = "/bin/sh";
    argv[1] = (char *)proc->path;
    if (n > 0)
        memcpy(argv + 2, proc->argv + 1, n * sizeof *argv);
    script.path = argv[0];
    script.argv = argv;
    if (start(&script) == 0) {
        proc->pid = script.pid;
        proc->error = 0;
        proc->failed = NULL;
    }
    free(argv);
    return proc->error;
}

int proc_start(struct proc *proc)
{
    if (!keep.stack) {
        char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED) {
            proc->failed = "mmap";
            proc->pid = -1;
            return proc->error = errno;
        }
        keep.stack = stack;
    }
    int error = start(proc);
    bool unknown = error == ENOEXEC && strcmp(proc->failed, "execve") == 0;
    return unknown && !foreign_why(proc->path) ? start_script(proc) : error;
}
