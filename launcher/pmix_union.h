/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What PMIx clients of several jobs do together, where these have servers of their own: each job's root
 * says when its own part is there (pmix_meet.c), and xmpirun when all are.
 *
 *     root of job 1 -- what its ranks gave, what the job is --> xmpirun -- all of it --> all roots
 *     root of job 2 --------------------------------------------'
 */
#ifndef XMPI_LAUNCHER_PMIX_UNION_H
#define XMPI_LAUNCHER_PMIX_UNION_H

#include "launcher/job.h"
#include "launcher/pack.h"
#include "launcher/pmix_upcall.h"

/* All launchers, before the job runs.  `met`: to all launchers of this job goes this text, which begins with
 * the name of the union.  `nspace`: of this job. */
void union_open(const char *nspace,
                void (*met)(struct job *job, struct unpack *name, struct unpack *text));

/* Pack the name of what these processes do together; nothing where all are of job `nspace`. */
void union_pack(const struct upcall *upcall, const char *nspace, struct pack *name);

/* A root: its own part is there. */
void union_come(struct job *job, const struct unpack *name, pmix_status_t status,
                const struct pack *data);

/* xmpirun: this rank of a job of `size` has ended.  When all of a job's ranks that a union waits for have, the
 * job does not come any more: its root may have heard of no such union. */
void union_ended(struct job *job, const pmix_proc_t *whose, int size);

/* xmpirun: this job has ended, and does not come any more. */
void union_job_ended(struct job *job, int number);

/* Every launcher, before its clients have their answers: what it does not know of these jobs is
 * registered. */
void union_learn(struct unpack *descriptions);

#endif
