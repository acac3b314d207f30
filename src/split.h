/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splitting a communicator, whoever chooses the colours.
 */
#ifndef XMPI_SPLIT_H
#define XMPI_SPLIT_H

#include <stdint.h>

struct comm;

/* Join the processes of my colour; *newcomm is NULL without one (MPI_UNDEFINED). */
int split_by(struct comm *comm, int32_t color, int32_t key, struct comm **newcomm);

/* Around a function that ends with that: who has no memory for it tells the others (comm_made). */
uint32_t split_begin(const struct comm *comm);
int split_end(struct comm *comm, uint32_t begun, int rc, struct comm **newcomm);

#endif
