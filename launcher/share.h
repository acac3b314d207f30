/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The share of another host in a job, as a row of bytes.
 */
#ifndef XMPI_LAUNCHER_SHARE_H
#define XMPI_LAUNCHER_SHARE_H

#include "launcher/job.h"
#include "launcher/pack.h"

/* Give the job its id and process sets, which are the same on all hosts. */
void share_begin(struct job *job, const struct plan *whole);

/* Pack the share of this host (an index in the hosts of `whole`): who runs there, and our command
 * line, environment and directory.  False: nobody does. */
bool share_pack(const struct job *job, const struct plan *whole, int host, struct pack *pack);

/* Take it apart: the plan, and the job's id and process sets; `words` become the command line, and
 * the environment and directory of this process change.  Everything points into the bytes.  0, or an
 * exit status after a complaint. */
int share_take(struct unpack *from, struct job *job, struct plan *plan,
               struct options *options);

#endif
