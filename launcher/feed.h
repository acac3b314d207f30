/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Standard input of the ranks: one rank's, everybody's, or nobody's.
 */
#ifndef XMPI_LAUNCHER_FEED_H
#define XMPI_LAUNCHER_FEED_H

#include <stdbool.h>

/* `rank`: who reads, or STDIN_ALL, STDIN_NONE (iof.h).  0, or an exit status after a
 * complaint. */
int feed_open(int rank, int nranks);

/* This rank reads our stdin itself; no pump. */
bool feed_is_direct(int rank);

/* *theirs: the end of the pipe that the rank reads, -1 when it is fed by no pipe. */
int feed_prepare(int rank, int *theirs);

/* Continued after a stop: perhaps in the foreground now. */
void feed_continued(void);

void feed_close(void);

#endif
