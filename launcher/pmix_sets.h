/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process sets for PMIx clients.
 */
#ifndef XMPI_LAUNCHER_PMIX_SETS_H
#define XMPI_LAUNCHER_PMIX_SETS_H

#include "launcher/job.h"
#include "launcher/pmix_upcall.h"

/* Tell the library of the job's sets, once its ranks are registered. */
void sets_define(const struct job *job, const char *nspace);

/* PMIx_Query_info: work on the upcall and answer it. */
void sets_query(const struct job *job, const char *nspace, struct upcall *upcall);

#endif
