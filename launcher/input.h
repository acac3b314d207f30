/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our stdin, when the rank that reads it is on another host.  One piece is on its way at a time.
 */
#ifndef XMPI_LAUNCHER_INPUT_H
#define XMPI_LAUNCHER_INPUT_H

#include "launcher/job.h"

/* Send it to the host (an index in the hosts of `whole`); no bytes: the end. */
typedef void input_send(int host, const char *text, size_t bytes);

/* Once the ranks of this host run. */
void input_start(struct job *job, const struct plan *whole, input_send *send);

/* The piece has been taken. */
void input_go_on(void);

/* We go on after a stop: perhaps in the foreground now. */
void input_continued(void);

#endif
