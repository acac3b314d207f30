/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the PMIx server tells the ranks of a job about the job.
 */
#ifndef XMPI_LAUNCHER_PMIX_JOB_H
#define XMPI_LAUNCHER_PMIX_JOB_H

#include "launcher/job.h"

#include <pmix_server.h>

struct pack;
struct unpack;

/* What PMIx calls the job of this launcher. */
void pmix_job_name(const struct job *job, pmix_nspace_t nspace);

/* And the first job of all; `nspace`: the former. */
const char *pmix_job_family(const struct job *job, const char *nspace);

/* Register the job and each of its ranks with the server, as the job `nspace`.  `scratch`: a
 * directory that ranks may put files into.  `parent`: who has spawned it; NULL: as its options say. */
pmix_status_t pmix_job_register(const struct job *job, const char *nspace, const char *scratch,
                                const pmix_proc_t *parent);

/* Pack what servers of other jobs tell their clients about it: its name, and keys and values. */
void pmix_job_describe(const struct job *job, const char *nspace, struct pack *text);

/* Take one such description, and register the job unless it is known, or the server's own. */
void pmix_job_learn(struct unpack *text, const char *own);

#endif
