/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Short ways through entry points, from the user's arguments as he gave them: what is marked `quick`
 * (src/quick_p2p.h) or `recalled` (src/recall.h) in src/api.  Each asks for all that the entry point would ask for, by
 * one condition after the other, and leaves it to the entry point to find out which one failed: so it saves no
 * registers for texts of errors.
 */
#ifndef XMPI_SRC_QUICK_H
#define XMPI_SRC_QUICK_H

#include "src/facade.h"

/* Not one of these: the entry point has to look. */
enum { QUICK_NOT = -1 };

/* The world model is up, and nothing is traced. */
static inline bool quick_is_up(void)
{
    return library_state == LIBRARY_ACTIVE && !trace_on;
}

/* The end of a call that took no engine: others may have begun to call meanwhile. */
static inline int quick_end(int rc, struct comm *comm)
{
    if (__builtin_expect(rc == MPI_SUCCESS && !threads_are_many(), 1))
        return MPI_SUCCESS;
    struct entry e = { record_now.function, rc, false };
    return leave(&e, comm);
}

#endif
