/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the launcher says by itself what its ranks wait for.
 */
#ifndef XMPI_LAUNCHER_EXPLAIN_H
#define XMPI_LAUNCHER_EXPLAIN_H

#include <stddef.h>

struct job;
struct situation;

/* Print the state of all ranks on stderr, and why: "asked by a signal"; on several hosts as soon as
 * all have answered.  `then`, if any, is called afterwards. */
void explain(struct job *job, const char *why, void (*then)(struct job *job));

/* The same as a text of `bytes` below a heading of one line, from what a survey has found
 * (survey.h); to be freed. */
char *explain_text(const struct job *job, const char *heading, const struct situation *ranks,
                   int missing, double settled, size_t *bytes);

/* At DEADLINE_SURVEY: who has not answered yet is not waited for. */
void explain_late(struct job *job);

/* Begin to watch for deadlocks, as XMPI_HANG says; explain_watch is called at the deadline. */
void explain_begin(struct job *job);
void explain_watch(struct job *job);

#endif
