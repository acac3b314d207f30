/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx_Publish, PMIx_Lookup and PMIx_Unpublish over the table of published names.
 */
#ifndef XMPI_LAUNCHER_PMIX_NAMES_H
#define XMPI_LAUNCHER_PMIX_NAMES_H

#include "launcher/plan.h"
#include "launcher/pmix_upcall.h"

#include <stdint.h>

struct job;

/* Before all others: what runs here.  `waits`: called when a lookup begins to wait, wherever it comes from, for
 * then names_deadline may have changed. */
void names_open(const struct plan *plan, void (*waits)(void));

/* What this host is called. */
const char *names_host(const struct plan *plan);

/* UPCALL_PUBLISH, .._LOOKUP, .._UNPUBLISH: work on it and answer it; a lookup that waits may be answered later.
 * False: it is another one. */
bool names_handle(struct upcall *upcall);

/* When the first waiting lookup gives up, as clock_ns; 0: never.  Call names_tick then. */
uint64_t names_deadline(void);
void names_tick(uint64_t now);

/* The process has ended; with `whole_program` all of its program has. */
void names_ended(const pmix_proc_t *process, bool whole_program);

/* Forget everything. */
void names_clear(void);

/* ---- the table is xmpirun's; other launchers send it what clients ask (pmix_names_far.c) ---- */

/* `serves`: there is a server here. */
void names_far_open(bool serves);

/* The table is elsewhere. */
bool names_are_far(const struct job *job);

/* UPCALL_PUBLISH, .._LOOKUP, .._UNPUBLISH; the upcall is answered. */
void names_ask(struct job *job, struct upcall *upcall);

/* A client here that has asked for names has ended. */
void names_asker_ended(struct job *job, const pmix_proc_t *proc);

#endif
