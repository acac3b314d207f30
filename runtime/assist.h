/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that make progress while the program computes: one for good, or one for a while.
 */
#ifndef XMPI_ASSIST_H
#define XMPI_ASSIST_H

#include <stdbool.h>

/* From now on there may be some; `for_good`: start one.  MPI error class. */
int assist_open(bool for_good);

/* The one for good, from within a call of the program; nothing if there is one.  From now on the
 * engine lock is taken by every call, whatever level of threads the program asked for, and the call
 * that is under way has it (engine_hold).  MPI error class. */
int assist_start(void);

/* The same for as long as there is need; nothing if there is one of either kind, or none may be.
 * `is_needed` is asked under the engine lock, after every round of progress. */
void assist_while(bool (*is_needed)(void));

/* The one for a while has ended: put away what is left of it.  For pollers. */
extern bool assist_has_ended;
void assist_reap(void);

/* Stop them and wait for their end.  Without the engine lock. */
void assist_close(void);

#endif
