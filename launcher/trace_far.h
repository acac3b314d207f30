/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces of jobs on several hosts: what ranks of other hosts have written goes to xmpirun, window by
 * window, when the ranks of a host have ended, and is put behind what its own ranks write.
 *
 *     other host                                                   xmpirun
 *       ping (its time), at the begin and at the end  ->
 *                                                     <-  pong (that time, our time)
 *       clock: both measurements
 *       names of functions of a rank, its windows ->
 *                                                     <-  more
 *
 * Clocks.  Of eight round trips the shortest one counts: our time was taken somewhere within it, so
 * the middle is wrong by half of it at most.  Between the two measurements clocks are taken to
 * run evenly.
 *
 * One window is on its way at a time, so nobody needs room for more.
 */
#ifndef XMPI_LAUNCHER_TRACE_FAR_H
#define XMPI_LAUNCHER_TRACE_FAR_H

#include <stdbool.h>
#include <stdint.h>

struct job;

struct far_clock { /* of another host */
    const char *host;
    int number;
    struct far_sample { /* what is to be added to its time, in ns, at this time of it */
        int64_t at, add, error;
    } begin, end;
    struct far_clock *next;
};

/* All launchers of the job, when it starts; `raw`: what the ranks here write into, -1: nothing. */
void trace_far_open(int raw);

/* Not xmpirun: measure, and at the end send what lies in the file. */
void trace_far_begin(struct job *job);
void trace_far_send(struct job *job);

/* xmpirun, at the end.  The clock of a host by its number, NULL: it is ours, or not known; a moment of
 * it as our time; the name of a function that a rank elsewhere has called. */
const struct far_clock *trace_far_clock(int number);
uint64_t trace_far_time(const struct far_clock *clock, uint64_t ns);
const char *trace_far_name(int rank, uint32_t index);
const struct far_clock *trace_far_clocks(void);

#endif
