/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests and probes that find nothing, made again and again: for the flight recorder (runtime/record.h) that
 * is a wait, for whatever they ask for.
 *
 *     told         after 0.2 to 0.3 s in which nothing was received or begun
 *     not told     where the program computes: more of the CPU goes by between two tests than one takes (timed
 *                  once in 17 tests), or 0.1 ms where it sleeps in between; or 0.1 s of the clock.  It may be
 *                  about to send, and looks now and then
 *
 * All that is asked for meanwhile is told as one wait for any of it.  A test that finds something costs
 * nothing for this, and of those that find nothing every 17th looks at the clock.
 */
#ifndef XMPI_POLLING_H
#define XMPI_POLLING_H

#include "runtime/progress.h"

enum { POLLING_MISSES = 17 }; /* per look */

extern bool polling_is_told __attribute__((visibility("hidden")));

/* How long a program takes between two tests, and how long the second one takes, is being measured. */
extern bool polling_times_gap __attribute__((visibility("hidden")));
extern bool polling_times_test __attribute__((visibility("hidden")));

/* The calling thread has slept in a test: that was not the program. */
void polling_napped(void);

/* The round of progress of a test begins, with polling_times_gap set. */
void polling_gap_over(void);

/* By polling_missed alone. */
void polling_look(record_teller *tell, const void *what, uintptr_t key);

/* A call that does not wait has made progress and not found what it asks for, which `tell` can say.  The same
 * key, not 0: the same question as before. */
static inline void polling_missed(record_teller *tell, const void *what, uintptr_t key)
{
    bool now = polling_is_told | polling_times_test | (progress_empty % POLLING_MISSES == 0);
    if (__builtin_expect(now, 0))
        polling_look(tell, what, key);
}

/* This thread begins to wait, and is to be told of as one that does. */
void polling_over(void);

/* There is a new record area. */
void polling_forget(void);

#endif
