/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx_Publish, PMIx_Lookup and PMIx_Unpublish over the table of published names.
 */
#ifndef XMPI_LAUNCHER_PMIX_NAMES_H
#define XMPI_LAUNCHER_PMIX_NAMES_H

#include "launcher/plan.h"
#include "launcher/pmix_upcall.h"

#include <stdint.h>

/* Before all others: who is on which node. */
void names_open(const struct plan *plan);

/* Each works on the upcall and answers it; a lookup that waits may be answered later. */
void names_publish(struct upcall *upcall);
void names_lookup(struct upcall *upcall);
void names_unpublish(struct upcall *upcall);

/* When the first waiting lookup gives up, as clock_ns; 0: never.  Call names_tick then. */
uint64_t names_deadline(void);
void names_tick(uint64_t now);

/* The process has ended; with `whole_program` all of its program has. */
void names_ended(const pmix_proc_t *process, bool whole_program);

/* Forget everything. */
void names_clear(void);

#endif
