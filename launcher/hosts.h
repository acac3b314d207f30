/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which hosts the job may use.
 */
#ifndef XMPI_LAUNCHER_HOSTS_H
#define XMPI_LAUNCHER_HOSTS_H

#include "launcher/cli.h"

/* The hosts of -host and -hostfile, in order, each once, slots added up; this machine when
 * nothing was said.  *hosts is malloced.  0, or an exit status after a complaint. */
int hosts_find(const struct options *options, struct host **hosts, int *nhosts);

/* Does the name mean this machine? */
bool host_is_local(const char *name);

#endif
