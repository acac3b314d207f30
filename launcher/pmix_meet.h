/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What PMIx clients of several hosts do together: fences, groups, connections.  libpmix calls once per
 * host, when all who take part there are waiting:
 *
 *     host a -- what its ranks gave --> root -- all of it, and a number --> all hosts
 *     host b --------------------------'
 *
 * The root is the job's (mail.h), that of the command line xmpirun.  O(data) through it and down the tree of launchers, however many hosts there are.  Meetings of
 * the same ranks for the same purpose end in the order in which they began.
 */
#ifndef XMPI_LAUNCHER_PMIX_MEET_H
#define XMPI_LAUNCHER_PMIX_MEET_H

#include "launcher/job.h"
#include "launcher/pmix_upcall.h"

/* All launchers, before the job runs; `nspace`: its name. */
void meet_open(const char *nspace);

/* The ranks of this host are there; the upcall is answered when all others are. */
void meet_join(struct job *job, struct upcall *upcall);

/* A rank has ended: who waits for a host of which nobody is left gets an error. */
void meet_ended(struct job *job, int world);

#endif
