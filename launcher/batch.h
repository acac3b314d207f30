/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The batch system that this process runs under, as far as its environment tells.
 */
#ifndef XMPI_LAUNCHER_BATCH_H
#define XMPI_LAUNCHER_BATCH_H

#include "launcher/hosts.h"

/* Were the CPUs given to us by a batch system? */
bool batch_is_here(void);

/* What the batch system calls this machine; NULL: it does not say. */
const char *batch_own_name(void);

/* The hosts that it gave us, with slots; none without one.  0, or an exit status after a
 * complaint: its variables make no sense. */
int batch_hosts(struct host_list *list);

/* The launch agent that reaches its hosts; NULL: the usual one. */
const char *batch_agent(void);

#endif
