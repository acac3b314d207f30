/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Extension, declared for programs in mpix.h: small reductions put together.  Not part of MPI 5.0.
 */
#ifndef XMPI_API_FUSION_H
#define XMPI_API_FUSION_H

#include "src/api/kinds.h"

/* Open a group: MPI_Allreduce, MPI_Iallreduce and MPIX_Allreduce_enqueue of this thread are put off
 * until MPIX_Group_end, which combines small ones of the same communicator, operation and type with
 * few messages. */
int xmpix_group_start(void);

/* Close the group that was opened last.  If it is the outermost one, perform what was put off: the
 * blocking ones are over when this returns, the nonblocking ones have begun, and those of streams are
 * in their streams. */
int xmpix_group_end(void);

#endif
