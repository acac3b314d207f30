/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of spawned jobs: their launchers write into pipes, and whole lines of it go on to our
 * stdout and stderr, so that lines of different jobs never mix.
 */
#ifndef XMPI_LAUNCHER_RELAY_H
#define XMPI_LAUNCHER_RELAY_H

#include "launcher/out.h"

/* A new pipe to `out` for this job: the end to write into, or -1 with errno. */
int relay_open(struct out *out, int job);

/* The launcher of this job has ended; killed, perhaps inside a line, which shall not run into another one. */
void relay_ended(int job, bool killed);

/* Take what lies in the pipes now. */
void relay_drain(void);

/* All pipes have ended. */
bool relay_is_done(void);

/* Pass on lines that are not complete, and stop reading. */
void relay_close(void);

/* `out` takes text again. */
void relay_resume(const struct out *out);

#endif
