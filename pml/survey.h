/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which networks there are for jobs on several nodes, which of them would be used, and why: for
 * people who ask (xmpi info).  Opens libfabric and closes nothing; no job is needed.
 */
#ifndef XMPI_SURVEY_H
#define XMPI_SURVEY_H

#include <stdbool.h>

struct network {
    const char *provider, *place; /* "net", "eth0 10.0.0.1" */
    bool used;
    const char *why; /* or why not */
};

/* Calls `tell` for each, the best first.  MPI error class, with a text: none can be used; what there
 * is was told all the same. */
int networks_survey(void (*tell)(void *to, const struct network *network), void *to);

#endif
