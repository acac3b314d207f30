/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The other hosts of a job, in xmpirun: an agent starts xmpid on each, which calls back.
 */
#ifndef XMPI_LAUNCHER_REMOTE_H
#define XMPI_LAUNCHER_REMOTE_H

#include "launcher/plan.h"
#include "launcher/wire.h"

/* Start an xmpid on every host that is not this machine and wait for all to call; fills in their
 * budgets.  0, or an exit status after a complaint that names the host. */
int remote_ask(const struct options *options, struct host *hosts, int nhosts);

/* Run a job that has ranks on other hosts; the exit code of xmpirun.  After remote_ask. */
int remote_run(const struct options *options, const struct plan *plan);

/* Nothing shall be run after all. */
void remote_dismiss(void);

/* ---- between remote_start.c (until all have called) and remote.c (the job) ---- */

struct agent;

struct remote { /* one other host */
    struct host *host;
    struct agent *agent;
    struct wire *wire; /* NULL: none yet, or lost */
    bool here;         /* it has said hello */
    bool done;         /* nothing is expected from it any more */
    size_t owed[3];    /* bytes of output that were not acknowledged, by stream */
};

struct remotes {
    struct remote *list;
    int n;
    /* Once the job runs: what a host says after its hello, and that it is lost. */
    void (*said)(struct remote *remote, int kind, struct unpack *payload);
    void (*lost)(struct remote *remote, const char *why);
};
extern struct remotes remotes;

/* "; its launch agent says: ...", or "". */
const char *remote_agent_says(struct remote *remote);

/* Its agent has ended badly: how. */
bool remote_agent_failed(const struct remote *remote, char *how, size_t room);

/* A child has ended; was it an agent? */
bool remote_child_died(int pid, int wait_status);

#endif
