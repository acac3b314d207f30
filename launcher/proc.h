/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting one process.
 */
#ifndef XMPI_LAUNCHER_PROC_H
#define XMPI_LAUNCHER_PROC_H

#include "launcher/cpuset.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct proc {
    const char *path; /* the file to execute */
    char **argv, **envp;
    const char *wdir; /* NULL: ours */
    int umask;        /* -1: ours */
    int fds[3];
    const struct cpuset *cpus; /* NULL or empty: anywhere */
    pid_t *group;              /* where the child writes its process group before exec */

    /* results */
    pid_t pid;
    int error;          /* errno of the step that failed, 0: it runs */
    const char *failed; /* "chdir", "execve", ... */
};

/* Remember what children must get back: signal mask, limits.  Before the launcher changes
 * them. */
void proc_remember(void);

/* Start it: own process group, same session, killed by the kernel when the launcher dies.
 * Returns proc->error. */
int proc_start(struct proc *proc);

/* Raise the limit of open files to hold `files`; children get the old one. */
void proc_need_files(int files);

#endif
