/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx_Spawn, and the clients of spawned jobs.  Jobs of one xmpirun have one PMIx server, so fences,
 * data, names and connections between them need nothing more than that it knows them all.
 */
#ifndef XMPI_LAUNCHER_PMIX_SPAWN_H
#define XMPI_LAUNCHER_PMIX_SPAWN_H

#include "launcher/job.h"
#include "launcher/pmix_upcall.h"

/* Before all others: the first job, its name, and the server's directory, which stay the caller's. */
void spawn_open(struct job *job, const char *nspace, const char *folder);

/* PMIx_Spawn: answered when all ranks run, or cannot. */
void spawn_handle(struct upcall *upcall);

/* An upcall of a client of a spawned job?  Those that concern one client are worked on here, but for
 * names. */
bool spawn_handle_client(struct upcall *upcall);

/* When spawn_tick must be called, as clock_ns; 0: never. */
uint64_t spawn_deadline(void);
void spawn_tick(uint64_t now);

/* Is it a job of this xmpirun, and not the first one? */
bool spawn_knows(const char *nspace);

#endif
