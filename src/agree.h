/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the processes of a communicator tell each other before they make a new one.
 */
#ifndef XMPI_AGREE_H
#define XMPI_AGREE_H

#include <stddef.h>
#include <stdint.h>

struct comm;

/* Every team member's record of `bytes`, in team order, everywhere. */
int team_allgather(struct comm *comm, const void *mine, size_t bytes, void *all);

/* to[i] = a[i] joined with b[i] for `bytes` of records; associative and commutative. */
typedef void fold_kernel(void *to, const void *a, const void *b, size_t bytes);

/* Fold everybody's record of `bytes`; all get the result.  Intracommunicators only. */
int team_fold(struct comm *comm, fold_kernel *kernel, void *record, size_t bytes);

/* The largest of everybody's numbers, n of them; of both groups of an intercommunicator. */
int team_largest(struct comm *comm, int32_t *numbers, int n);

#endif
