/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XMPI_TRACE=FILE: one time line of all ranks, as JSON that Perfetto and Chrome show.
 */
#ifndef XMPI_LAUNCHER_TRACE_H
#define XMPI_LAUNCHER_TRACE_H

struct job;

/* Services: make the file that the ranks write into; look at the clocks of several hosts; write the
 * time line when all have ended, or send it to who does. */
int trace_start(struct job *job);
void trace_started(struct job *job);
void trace_stop(struct job *job);

#endif
