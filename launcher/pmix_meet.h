/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What PMIx clients of several hosts do together: fences, groups, connections.  libpmix calls once per
 * host, when all who take part there are waiting:
 *
 *     host a -- what its ranks gave --> xmpirun -- all of it, and a number --> all hosts
 *     host b --------------------------'
 *
 * O(data) through xmpirun and down the tree of launchers, however many hosts there are.  Meetings of
 * the same ranks for the same purpose end in the order in which they began.
 */
#ifndef XMPI_LAUNCHER_PMIX_MEET_H
#define XMPI_LAUNCHER_PMIX_MEET_H

#include "launcher/job.h"
#include "launcher/pmix_upcall.h"

/* All launchers of a job on several hosts, before it runs. */
void meet_open(void);

/* The ranks of this host are there; the upcall is answered when all others are. */
void meet_join(struct job *job, struct upcall *upcall);

/* A rank has ended: who waits for a host of which nobody is left gets an error. */
void meet_ended(struct job *job, int world);

#endif
