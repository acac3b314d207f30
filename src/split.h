/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two steps of splitting a communicator: hear everybody's vote, join those of my colour.
 */
#ifndef XMPI_SPLIT_H
#define XMPI_SPLIT_H

#include "src/comm.h"

struct vote {
    int32_t color, key; /* MPI_UNDEFINED: no new communicator for this process */
};

/* Every team member's record of `bytes`, in team order, everywhere. */
int team_allgather(struct comm *comm, const void *mine, size_t bytes, void *all);

/* All votes are known: join the processes of my colour; *newcomm stays as it is without one. */
int split_count(struct comm *comm, const struct vote *votes, struct comm **newcomm);

#endif
