/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the PMIx server tells the ranks of a job about the job.
 */
#ifndef XMPI_LAUNCHER_PMIX_JOB_H
#define XMPI_LAUNCHER_PMIX_JOB_H

#include "launcher/job.h"

#include <pmix_server.h>

/* Register the job and each of its ranks with the server, as the job `nspace`.  `scratch`: a
 * directory that ranks may put files into.  `parent`: who has spawned it; NULL: nobody. */
pmix_status_t pmix_job_register(const struct job *job, const char *nspace, const char *scratch,
                                const pmix_proc_t *parent);

#endif
