/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Questions from outside about a job on several hosts: xmpirun --status (peek.c) on any of them.
 *
 *     who asks -- signal with a number N --> launcher there -- post --> xmpirun -- survey --> all
 *         ^                                        |                        |
 *         `--- finds memfd "xmpi-status-N" --------'<------- text ----------'
 *              among the launcher's files
 *
 * Both ways are open to the owner of the job and to root, and to nobody else: no socket, no file.
 */
#ifndef XMPI_LAUNCHER_INQUIRY_H
#define XMPI_LAUNCHER_INQUIRY_H

#include <signal.h>
#include <stddef.h>

struct job;

#define INQUIRY_SIGNAL (SIGRTMIN + 4)
#define INQUIRY_NAME   "xmpi-status-" /* of the answer, which is sealed when it is complete */

/* Before the job runs. */
void inquiry_open(void);

/* The signal has come. */
void inquiry_came(struct job *job, int number);

/* The other side: ask this launcher.  The answer, to be freed; NULL: there is none in time. */
char *inquiry_ask(int launcher, size_t *bytes);

#endif
