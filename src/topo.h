/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Virtual topologies: the shape a program gave a communicator.
 */
#ifndef XMPI_TOPO_H
#define XMPI_TOPO_H

#include <stdbool.h>
#include <stdint.h>

struct comm;
struct group;
struct neighbours;

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

/* The topology of a communicator, if it is of this kind. */
int topology_of(const struct comm *comm, enum topology_kind kind,
                const struct topology **found);

struct topology *topology_copy(const struct topology *topology);
void topology_delete(struct topology *topology);

/* The same for a topology of a known kind. */
struct topology *cart_copy(const struct topology *topology);
struct topology *graph_copy(const struct topology *topology);
struct topology *dist_graph_copy(const struct topology *topology);

/* See to it that comm->team has the neighbours that the topology gives this process.
 * MPI_ERR_TOPOLOGY: there is no topology, or the other ends of some edges are missing. */
int topology_neighbours(struct comm *comm);

/* The same for a topology of a known kind: *made, to be freed. */
int cart_neighbours(const struct topology *topology, int rank, struct neighbours **made);
int graph_neighbours(const struct topology *topology, int rank, struct neighbours **made);
int dist_graph_neighbours(const struct topology *topology, int rank, struct neighbours **made);

/* The first n processes of a communicator; rank i is process map[i], map NULL is the identity.
 * NULL when memory is out. */
struct group *topology_group(struct comm *comm, int n, const int *map);

/* Join the processes of `group` in a communicator with this topology.  Takes over both, also on
 * failure; either may be NULL for want of memory.  `step` is an enum context_step. */
int topology_comm(struct comm *old, struct group *group, uint32_t step,
                  struct topology *topology, struct comm **newcomm);

/* ---- distributed graphs: what the two ways to them share ---- */

int dist_no_memory(void);

/* n ranks that there are; n weights that are not negative, or none. */
int dist_check_ranks(const struct comm *comm, const char *name, int n, const int ranks[]);
int dist_check_weights(const char *name, int n, const int weights[]);

/* With room for so many edges; NULL: no memory. */
struct topology *dist_new(int indegree, int outdegree, bool weighted);

/* A communicator with this topology; `function` is what the program called.  Takes over the topology, which may
 * be NULL for want of memory. */
int dist_comm(struct comm *old, struct topology *t, int reorder, const char *function,
              struct comm **newcomm);

#endif
