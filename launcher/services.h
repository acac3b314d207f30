/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Services: what accompanies a job beside starting and ending it.  A service is a row in the
 * table of services.c; the job calls it at fixed moments, always from the launcher's one
 * thread.  A service with file descriptors of its own adds watches to the loop (loop.h); one
 * with threads of its own hands their news over by an eventfd.
 *
 * Moments, in order:
 *     start        before the first rank; slow work here delays every job
 *     rank_env     before each rank is started, to add variables for it
 *     started      all ranks run; the place for slow work
 *     rank_gone    a rank has ended, with its wait status
 *     other_gone   a rank of another host has ended badly, or is lost
 *     stop         all ranks have ended and their output has been passed on
 */
#ifndef XMPI_LAUNCHER_SERVICES_H
#define XMPI_LAUNCHER_SERVICES_H

#include "launcher/environment.h"

struct job;

struct service {
    const char *name;
    int (*start)(struct job *job); /* 0, or an exit status after a complaint */
    int (*rank_env)(struct job *job, int rank, struct environment *env); /* likewise */
    void (*started)(struct job *job);
    void (*rank_gone)(struct job *job, int rank, int wait_status);
    void (*other_gone)(struct job *job, int world);
    void (*stop)(struct job *job);
};

/* Rows of all services; any function may be NULL.  Ends with a row without a name. */
extern const struct service services[];

int services_start(struct job *job);
int services_rank_env(struct job *job, int rank, struct environment *env);
void services_started(struct job *job);
void services_rank_gone(struct job *job, int rank, int wait_status);
void services_other_gone(struct job *job, int world);
void services_stop(struct job *job);

#endif
