/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process sets by name.
 */
#ifndef XMPI_SRC_PSETS_H
#define XMPI_SRC_PSETS_H

#include "runtime/ranks.h"

enum { PSET_WORLD, PSET_SELF, PSETS_OF_STANDARD };

/* The number of a set, the same on all processes; -1: there is none of this name. */
int pset_find(const char *name);

/* Its members; NULL: memory is out. */
struct ranks *pset_ranks(int number);

#endif
