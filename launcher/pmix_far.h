/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a PMIx server needs of the servers on other hosts of the job, and of other jobs of the same
 * xmpirun, beside what all do together (pmix_meet.h) and names (pmix_names_far.h):
 *
 *     direct modex    what a rank has put, from the host where it runs
 *     events          to all hosts of the job
 */
#ifndef XMPI_LAUNCHER_PMIX_FAR_H
#define XMPI_LAUNCHER_PMIX_FAR_H

#include <pmix_common.h>
#include <stdbool.h>

struct job;
struct upcall;

/* All launchers, before the job runs; `serves`: there is a server here, which calls the job so.  `family`:
 * the first job's name; that of others is this, a dot, and their number. */
void far_open(bool serves, const char *nspace, const char *family);

/* The number of a job; 0: it is none of this xmpirun's. */
int far_job_of(const char *nspace);

/* What ranks of several hosts or jobs do together, UPCALL_MODEX, _READY and _OVER, UPCALL_EVENT.  The
 * upcall is answered. */
void far_handle(struct job *job, struct upcall *upcall);

/* Another launcher waits for data of a rank here, which the library looks for. */
bool far_is_asked(void);

/* A rank of this host has ended. */
void far_here_ended(struct job *job, int world);

/* A client of this server has: what it has not put by now it never will. */
void far_data_ended(const pmix_proc_t *proc);

/* A rank of another host has ended badly: nobody waits for it any more. */
void far_ended(struct job *job, int world);

/* xmpirun: all launchers of all jobs are told so of this job; and what it has not come to yet nobody waits
 * for. */
void far_job_ended(struct job *job, int number, const char *nspace);

/* ---- between pmix_far.c and pmix_far_ends.c ---- */

/* All launchers, before the job runs; `nspace`: its name. */
void far_ends_open(const char *nspace);

#endif
