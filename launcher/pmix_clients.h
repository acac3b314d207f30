/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMIx clients of a job, from PMIx_Init to their end.
 *
 * A client is to the launcher what an MPI process is: between PMIx_Init and PMIx_Finalize its
 * record in the boot segment says BOOT_INITED, so that one exit policy (verdict.c) holds for all.
 * An xmpi process that uses the segment keeps its own record; nothing is written into that one.
 */
#ifndef XMPI_LAUNCHER_PMIX_CLIENTS_H
#define XMPI_LAUNCHER_PMIX_CLIENTS_H

#include "launcher/job.h"

#include <pmix_server.h>

/* Before the server: fills in the functions that it shall call.  The name stays the caller's.
 * -1 with errno when there are no descriptors left. */
int clients_open(struct job *job, const char *nspace, pmix_server_module_t *module);

/* After it: take notice of broken connections. */
pmix_status_t clients_watch(void);

/* The name of a rank of this host. */
pmix_proc_t clients_proc(int rank);

/* The ranks of this host have been started; `where`: the server's directory. */
void clients_started(const char *where);

/* The process that was started for a rank has ended. */
void clients_gone(int rank, int wait_status);

/* A rank of another host has ended badly. */
void clients_other_gone(int world);

/* Tell the clients of its job that this rank has died. */
void clients_announce(const pmix_proc_t *dead);

void clients_close(void);

#endif
