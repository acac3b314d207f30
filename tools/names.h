/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is said about names of collectives and algorithms that do not exist: the nearest, and all.
 */
#ifndef XMPI_TOOLS_NAMES_H
#define XMPI_TOOLS_NAMES_H

#include "coll/call.h"

/* A sentence without its end, in memory that the next call uses again.  An algorithm is typed without
 * its collective. */
const char *names_no_collective(const char *typed);
const char *names_no_algorithm(enum collective what, const char *typed);

#endif
