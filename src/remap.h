/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Topologies with reorder: which process plays which part, agreed on by all.
 */
#ifndef XMPI_REMAP_H
#define XMPI_REMAP_H

#include "src/comm.h"
#include "src/reorder.h"

/* Map the parts of a pattern to the first pattern->n processes of an intracommunicator: map[i]
 * is the rank of the process that plays part i, the same everywhere.  Collective over the
 * communicator; the bonds and dims of the pattern are looked at on rank 0 only.  `function` names
 * the call in the line that XMPI_LOG=1 shows. */
int remap_agree(struct comm *comm, const struct pattern *pattern, const char *function,
                int *map);

/* The same without communication: what the calling process would be, as far as the node's own
 * table tells.  MPI_UNDEFINED when it gets no part. */
int remap_guess(struct comm *comm, const struct pattern *pattern, int *newrank);

/* Hand the description of my own part over to who plays it, and take that of the part I play.
 * Collective; *in is malloced.  At most INT_MAX bytes. */
int remap_pass(struct comm *comm, const int *map, const void *out, size_t out_bytes, void **in);

#endif
