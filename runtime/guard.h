/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work on memory that may be gone while it is worked on: that of another process, mapped here, which
 * may die.  A load or store there is a SIGBUS, and this process would die as well.
 */
#ifndef XMPI_GUARD_H
#define XMPI_GUARD_H

#include <stdbool.h>

/* Catch SIGBUS from now on, for those who are guarded; a handler of the program's stays the one for all
 * others.  Give it back. */
void guard_open(void);
void guard_close(void);

/* Do it, with SIGBUS unblocked in this thread from now on.  False: some memory was gone, and the work ended there, wherever that was: so it may hold
 * nothing that must be given back, and what it wrote may be half there.  Before guard_open nothing is
 * caught. */
bool guarded(void (*work)(void *), void *what);

#endif
