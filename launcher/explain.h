/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the launcher says by itself what its ranks wait for.
 */
#ifndef XMPI_LAUNCHER_EXPLAIN_H
#define XMPI_LAUNCHER_EXPLAIN_H

struct job;

/* Print the state of all ranks on stderr, and why: "asked by a signal". */
void explain(struct job *job, const char *why);

/* Begin to watch for deadlocks, as XMPI_HANG says; explain_watch is called at the deadline. */
void explain_begin(struct job *job);
void explain_watch(struct job *job);

#endif
