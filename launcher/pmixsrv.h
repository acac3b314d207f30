/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMIx server of a job, as a service (services.h).  It runs when --pmix says so, or when one
 * of the programs might be a PMIx client; ranks of xmpi do not need it.
 */
#ifndef XMPI_LAUNCHER_PMIXSRV_H
#define XMPI_LAUNCHER_PMIXSRV_H

#include "launcher/job.h"

struct environment;

int pmixsrv_start(struct job *job);
int pmixsrv_rank_env(struct job *job, int rank, struct environment *env);
void pmixsrv_started(struct job *job);
void pmixsrv_rank_gone(struct job *job, int rank, int wait_status);
void pmixsrv_other_gone(struct job *job, int world);
void pmixsrv_stop(struct job *job);

#endif
