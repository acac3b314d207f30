/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Virtual topologies: the shape a program gave a communicator.
 */
#ifndef XMPI_TOPO_H
#define XMPI_TOPO_H

#include <stdbool.h>

enum topology_kind { TOPOLOGY_CART, TOPOLOGY_GRAPH, TOPOLOGY_DIST_GRAPH };

struct topology {
    enum topology_kind kind;
    union {
        struct {
            int ndims;
            int *dims;
            bool *periods;
            int *coords; /* mine */
        } cart;
        struct {
            int nnodes, nedges;
            int *index, *edges;
        } graph;
        struct {
            int indegree, outdegree;
            bool weighted;
            int *sources, *source_weights, *destinations, *destination_weights;
        } dist;
    };
};

struct topology *topology_copy(const struct topology *topology);
void topology_delete(struct topology *topology);

#endif
