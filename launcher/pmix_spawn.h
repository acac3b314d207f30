/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx_Spawn, and the clients of spawned jobs.  Jobs on the host of xmpirun have one PMIx server, so
 * fences, data, names and connections between them need nothing more than that it knows them all.  Where one
 * of two jobs is on several hosts each has servers of its own, and they talk by mail (mail.h).
 */
#ifndef XMPI_LAUNCHER_PMIX_SPAWN_H
#define XMPI_LAUNCHER_PMIX_SPAWN_H

#include "launcher/job.h"
#include "launcher/pmix_upcall.h"

struct pack;
struct wish;

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

/* Is it a spawned job, and are its clients this server's? */
bool spawn_knows(const char *nspace);

/* Is it a rank of one; has it ended? */
bool spawn_has(const pmix_proc_t *proc);
bool spawn_has_ended(const pmix_proc_t *proc);

/* Pack a description of such a job (pmix_job.h). */
void spawn_describe(const char *nspace, struct pack *text);

/* xmpirun: the job whose root has the server of this one's clients; 0: it has ended, or there is none. */
int spawn_root_of(int number);

/* xmpirun: the last spawned job before this one that has servers of its own; 0: there is none. */
int spawn_root_before(int number);

/* ---- between pmix_spawn.c and pmix_spawn_far.c ---- */

/* All launchers, before the job runs. */
void spawn_far_open(void);

/* They may spawn. */
void spawn_asks_open(struct job *job);

/* xmpirun: spawn, and answer the upcall. */
void spawn_start(struct upcall *upcall, struct wish *wish, const pmix_proc_t *parent);

#endif
