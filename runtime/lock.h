/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine lock: one recursive lock around the library for MPI_THREAD_MULTIPLE.  Programs
 * that asked for less pay one predicted branch.  Waiting loops let go of it between polls
 * (see runtime/progress.c), so a thread that waits never stops the others.
 */
#ifndef XMPI_LOCK_H
#define XMPI_LOCK_H

#include <stdbool.h>

extern bool threads_multiple; /* set once, by MPI_Init_thread, before a second thread calls */

void engine_lock_slow(void);
void engine_unlock_slow(void);

static inline void engine_lock(void)
{
    if (__builtin_expect(threads_multiple, 0))
        engine_lock_slow();
}

static inline void engine_unlock(void)
{
    if (__builtin_expect(threads_multiple, 0))
        engine_unlock_slow();
}

/* Let other threads in: release all levels this thread holds, wait until one of them had the
 * lock, take them again.  One load when nobody wants it. */
void engine_breathe(void);

/* Around a sleep: give up all levels and return their number, 0 when this thread holds none
 * (always 0 without MPI_THREAD_MULTIPLE); take that many back. */
int engine_release(void);
void engine_retake(int levels);

#endif
