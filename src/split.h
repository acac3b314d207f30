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

#endif
