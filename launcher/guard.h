/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guardian: a process that outlives a killed launcher for a moment and takes the job down.
 */
#ifndef XMPI_LAUNCHER_GUARD_H
#define XMPI_LAUNCHER_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Start it, before the first rank, once.  `mark` is a string, unique to the job, that every rank has
 * in its environment.  0, or an exit status after a complaint. */
int guard_open(const char *mark, int nranks);

/* Start one for so many agents, before the first of these; later guard_open takes them over. */
int guard_agents(int n);

/* Where the process group of an agent is written; 0: there is none.  It moves in guard_open.  NULL: guard_agents
 * has failed. */
pid_t *guard_agent_group(int agent);

/* Where the process group of a rank is written; the rank itself may do it before exec. */
pid_t *guard_group(int rank);

/* The directory that the guardian removes when the launcher is killed; "" for none. */
void guard_scratch(const char *path);

/* A child of ours has died: was it the guardian?  Then another one is started. */
bool guard_died(pid_t pid);

pid_t guard_pid(void); /* 0: there is none */

/* The job is over and nothing is left to guard. */
void guard_close(void);

enum { GUARD_GRACE_MS = 200 };
#define GUARD_NAME "xmpirun-guard" /* of the process */

#endif
