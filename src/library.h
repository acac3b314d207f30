/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's life: what is up, at which thread level, and who needs it.
 */
#ifndef XMPI_LIBRARY_H
#define XMPI_LIBRARY_H

extern int library_sessions; /* how many sessions are open */
extern int thread_level;     /* MPI_THREAD_SINGLE .. MPI_THREAD_MULTIPLE, what was provided */

/* "MPI_THREAD_FUNNELED" */
const char *thread_level_name(int level); /* NULL: no such level */
int thread_level_named(const char *name); /* -1: no such name */

/* Bring the rooms up (boot, progress, pml, the world's channels), or count one more user of
 * them: the world model is one, every session is one. */
enum library_user { USER_WORLD, USER_SESSION };
int library_hold(enum library_user user, int level);

/* One user less; the last one completes what is in flight, and takes everything down if there
 * will be no other. */
int library_drop(enum library_user user);

/* At MPI_Finalize, where XMPI_LOG is 1 or more: a line each for what the program should have ended before
 * (MPI 5.0, 11.2.2), as far as this rank knows of it (left.c). */
void left_behind_log(void);

#endif
