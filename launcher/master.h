/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MASTER_ADDR and MASTER_PORT, by which ranks of many frameworks find rank 0.
 */
#ifndef XMPI_LAUNCHER_MASTER_H
#define XMPI_LAUNCHER_MASTER_H

#include "launcher/plan.h"

/* In xmpirun, when all hosts are here: put both into our environment, which all ranks get, unless the
 * user has. */
void master_decide(const struct options *options, const struct plan *plan);

/* What the options say of them, which wins over the environment. */
void master_variables(const struct options *options, struct strings *list);

#endif
