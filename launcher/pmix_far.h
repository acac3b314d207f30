/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a PMIx server needs of the servers on other hosts of the job, beside what all do together
 * (pmix_meet.h):
 *
 *     direct modex    what a rank has put, from the host where it runs
 *     events          to all hosts
 *     names           the table of published names is xmpirun's; others send it what clients ask
 */
#ifndef XMPI_LAUNCHER_PMIX_FAR_H
#define XMPI_LAUNCHER_PMIX_FAR_H

#include <stdbool.h>

struct job;
struct upcall;

/* All launchers of a job on several hosts, before it runs; `serves`: there is a server here. */
void far_open(bool serves, const char *nspace);

/* The table of published names is elsewhere. */
bool far_has_names(const struct job *job);

/* What ranks of several hosts do together, UPCALL_MODEX, _READY and _OVER, UPCALL_EVENT; and when
 * names are elsewhere, UPCALL_PUBLISH, .._LOOKUP, .._UNPUBLISH.  The upcall is answered. */
void far_handle(struct job *job, struct upcall *upcall);

/* Another host waits for data of a rank here, which the library looks for. */
bool far_is_asked(void);

/* A rank of this host has ended; has it asked for names, which are elsewhere? */
void far_here_ended(struct job *job, int world, bool named);

/* A rank of another host has ended badly: nobody waits for it any more. */
void far_ended(struct job *job, int world);

#endif
