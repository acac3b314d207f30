/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What will run where: everything that is decided before the first process starts.
 */
#ifndef XMPI_LAUNCHER_PLAN_H
#define XMPI_LAUNCHER_PLAN_H

#include "launcher/cli.h"

struct planned { /* one rank */
    int app, host;
    int local; /* its number on the host */
};

struct plan {
    struct host *hosts;
    int nhosts, nranks;
    struct planned *ranks;
    struct map_options decided;
    struct placement *placements; /* by rank; NULL: nobody is bound, places are not known */
    bool crowded;
};

/* 0, or an exit status after a complaint. */
int plan_make(const struct options *options, struct plan *plan);

/* --display-map, --dry-run: a table of ranks; --report-bindings: a line per rank. */
void plan_show(const struct options *options, const struct plan *plan, FILE *to);
void plan_show_bindings(const struct plan *plan, FILE *to);

#endif
