/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process sets of a job.
 */
#ifndef XMPI_LAUNCHER_PSETS_H
#define XMPI_LAUNCHER_PSETS_H

#include "launcher/plan.h"

/* What the boot segment says of them (runtime/psets.h); malloced. */
char *psets_write(const struct options *options, const struct plan *plan);

#endif
