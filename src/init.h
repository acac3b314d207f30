/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's life: what is up, at which thread level, and who needs it.
 */
#ifndef XMPI_INIT_H
#define XMPI_INIT_H

#include "src/facade.h"

extern int thread_level; /* MPI_THREAD_SINGLE .. MPI_THREAD_MULTIPLE, what was provided */

/* "MPI_THREAD_FUNNELED" */
const char *thread_level_name(int level); /* NULL: no such level */
int thread_level_named(const char *name); /* -1: no such name */

/* Bring the rooms up (boot, progress, pml, the world's channels), or count one more user of
 * them: the world model and every session is one. */
int library_hold(int level);

/* One user less; the last one completes what is in flight, and takes everything down if there
 * will be no other. */
int library_drop(bool for_good);

#endif
