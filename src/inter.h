/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Intercommunicators made of parts of another one.
 */
#ifndef XMPI_INTER_H
#define XMPI_INTER_H

#include "src/comm.h"

/* Processes of the parent's team (an intercommunicator) make a new intercommunicator of these
 * two groups; collective over the members of both.  `step` is an enum context_step. */
int inter_new(struct comm *parent, struct group *group, struct group *remote, uint32_t step,
              struct comm **newcomm);

/* Of an intercommunicator's two groups the one whose leader has the lower world rank is first. */
bool inter_is_first(const struct group *group, const struct group *remote);

/* MPI_Comm_create on an intercommunicator. */
int inter_create(struct comm *comm, struct group *group, struct comm **newcomm);

#endif
