/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Standard input of jobs on several hosts.  xmpirun reads a piece; every launcher gives it to the
 * ranks here and to the launchers below that have readers.  The next piece comes when all have
 * taken this one.
 */
#ifndef XMPI_LAUNCHER_INPUT_H
#define XMPI_LAUNCHER_INPUT_H

#include "launcher/remote.h"

/* Before the job: if ranks of this host read, our stdin becomes the end of a pipe, which they read as
 * they would read any stdin of their launcher; input_give fills it.  0, or an exit status after a
 * complaint. */
int input_open(const struct job *job);

/* xmpirun, before the job: who is to read?  0, or an exit status after a complaint. */
int input_prepare(const struct job *job, const struct plan *whole);

/* xmpirun, once the ranks of this host run: begin to read, if anybody elsewhere does. */
void input_start(void);

/* xmpid: a piece for the ranks here and below; no bytes: the end.  `taken` is called when all have
 * taken it, perhaps at once. */
void input_give(const char *text, size_t bytes, void (*taken)(void));

/* This one has taken its piece, or will not need it any more. */
void input_taken(struct remote *remote);

/* xmpirun goes on after a stop: perhaps in the foreground now. */
void input_continued(void);

#endif
