/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread that makes progress while the program computes.
 */
#ifndef XMPI_ASSIST_H
#define XMPI_ASSIST_H

/* Start it; MPI error class.  From now on the engine lock is taken by every call, whatever level
 * of threads the program asked for: the caller sees to threads_multiple. */
int assist_open(void);

/* Stop it and wait for its end; nothing if there is none.  Without the engine lock. */
void assist_close(void);

#endif
