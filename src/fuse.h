/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of operations: what is asked for between MPIX_Group_start and MPIX_Group_end goes into buckets
 * by communicator, operation and type, in the order of the calls, and is performed at the end.
 *
 *     MPI_Allreduce(a), (b), (c)     bucket a b c           one allreduce
 *     MPI_Iallreduce(d, max)         bucket d               another one
 *     MPI_Allreduce(long one)        too long for a bucket  performed at once, as without a group
 *
 * All ranks make the same buckets, for what decides is the same on all of them.
 */
#ifndef XMPI_FUSE_H
#define XMPI_FUSE_H

#include <stdbool.h>

struct asked;
struct op;
struct request;

extern int fuse_groups; /* open in all threads */
bool fuse_has_group(void);

/* Are operations of this thread put off? */
static inline bool fuse_is_open(void)
{
    return __builtin_expect(fuse_groups != 0, 0) && fuse_has_group();
}

/* An allreduce that was asked for while a group is open; `rc` is what filling it in returned. */
int fuse_run(struct asked *asked, int rc);
int fuse_start(struct asked *asked, int rc, struct request **request);

/* The same for a stream.  False: it is not for a bucket; else *rc is what the call returns. */
bool fuse_enqueue(struct asked *asked, struct op *op, int *rc);

/* MPI_ERR_OTHER when a group is open that was never closed. */
int fuse_check(void);

#endif
