/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stopping the ranks of this host, and whatever they leave behind: process groups first, then
 * children that left their group, which are ours because the launcher is the subreaper.
 */
#define _GNU_SOURCE 1
#include "launcher/bare.h"
#include "launcher/guard.h"
#include "launcher/job.h"
#include "launcher/others.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void job_signal(struct job *job, int signal)
{
    for (int i = 0; i < job->nranks; i++)
        if (job->ranks[i].group)
            kill(-job->ranks[i].group, signal);
}

void job_stop(struct job *job, int grace_ms)
{
    if (job->stopping)
        return;
    job->stopping = true;
    if (job->others)
        job->others->stopping(job, grace_ms);
    offspring_stop(job, grace_ms);
    job_signal(job, SIGTERM);
    job_signal(job, SIGCONT);
    job_set_deadline(job, DEADLINE_KILL, grace_ms);
}

/* The guardian of another launcher, which ran on this machine too and was killed. */
static bool is_guardian(pid_t pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, name, sizeof name - 1) > 0 &&
              strncmp(name, GUARD_NAME "\n", sizeof GUARD_NAME) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* Children that are neither ranks nor the guardian: orphans that left their group.  `patient`: guardians
 * end by themselves when they are done.  Returns how many there are. */
static int kill_strays(bool patient)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    while (n == (ssize_t)sizeof text - 1 && text[n - 1] != ' ')
        n--; /* half a number is somebody else's */
    text[n > 0 ? n : 0] = 0;
    int found = 0;
    for (char *p = text, *end; *p; p = end) {
        pid_t pid = (pid_t)strtol(p, &end, 10);
        if (end == p)
            break;
        if (pid > 0 && pid != guard_pid()) {
            if (!patient || !is_guardian(pid))
                kill(pid, SIGKILL);
            found++;
        }
    }
    return found;
}

static bool groups_left(struct job *job)
{
    job_reap(job);
    job_check_groups(job);
    for (int i = 0; i < job->nranks; i++)
        if (job->ranks[i].group)
            return true;
    return false;
}

void job_clean(struct job *job)
{
    if (groups_left(job)) {
        job_signal(job, job->killed ? SIGKILL : SIGTERM);
        job_signal(job, SIGCONT);
        for (int waited = 0; waited < GUARD_GRACE_MS && groups_left(job); waited += 2)
            pause_ms(2);
        job_signal(job, SIGKILL);
        for (int waited = 0; waited < 1000 && groups_left(job); waited += 2)
            pause_ms(2);
    }
    for (int tries = 0; tries < 600 && kill_strays(tries < 500); tries++) {
        pause_ms(2);
        job_reap(job);
    }
}
