/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What xmpirun shows: --display-map, --dry-run: what will run where; --status: what runs.
 */
#ifndef XMPI_LAUNCHER_SHOW_H
#define XMPI_LAUNCHER_SHOW_H

#include "launcher/plan.h"

#include <stdio.h>

/* Each host with a picture of its cores, then a table of the ranks. */
int plan_show(const struct options *options, const struct plan *plan, FILE *to);

/* The jobs of this user, or that of the xmpirun or rank with this pid, or with this job id; NULL: all.  Exit
 * code. */
int status_main(const char *which);

/* The cores of a machine, a row for each NUMA node, a cell for each core: which ranks are bound to
 * it, '.' for none; '|' between L3 caches.  `ranks` and `placements` have n members. */
void picture_draw(const struct topology *topology, const struct planned *ranks,
                  const struct placement *placements, int n, FILE *to);

#endif
