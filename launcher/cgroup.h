/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the control groups of Linux allow this process, version 1 and 2.
 */
#ifndef XMPI_LAUNCHER_CGROUP_H
#define XMPI_LAUNCHER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* CPUs' worth of time per second: the least limit on the way from our group to the root; 0 when
 * there is none.  `self` is /proc/self/cgroup, `root` /sys/fs/cgroup but for tests. */
double cgroup_cpu_quota(const char *self, const char *root);

/* Processes killed for lack of memory since boot, as far as we may know; -1 unknown. */
long cgroup_oom_kills(void);

/* Path of our group for a controller ("cpu"; "" for version 2) out of the text of
 * /proc/self/cgroup. */
bool cgroup_path(const char *text, const char *controller, char *path, size_t room);

/* "200000 100000" is 2, "max 100000" is 0 (no limit). */
double cgroup_parse_max(const char *text);

#endif
