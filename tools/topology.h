/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Networks between nodes, for the simulator.
 */
#ifndef XMPI_TOPOLOGY_H
#define XMPI_TOPOLOGY_H

#include "coll/sim.h"

enum { TOPOLOGY_DIMS = 6, TOPOLOGY_WRONG = 200 };

struct topology {
    struct fabric fabric; /* self is the topology, which therefore must not move */
    int ndims, dim[TOPOLOGY_DIMS];
    struct topology *half; /* the fabric's */
};

/* From "torus:4x4" for so many nodes.  False, with a text that names a remedy, when there is none
 * of that name or it does not have so many nodes.  "wires" has no fabric: nlinks is 0. */
bool topology_open(struct topology *topology, const char *name, int nodes,
                   char wrong[TOPOLOGY_WRONG]);
void topology_close(struct topology *topology);

#endif
