/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the three kinds of topologies share: making a communicator that has one, copying it with
 * the communicator, giving it back.
 *
 * A topology is one allocation: its arrays lie behind the struct.
 */
#include "src/topo.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "src/api/topology.h"
#include "src/context.h"

#include <stdlib.h>

static bool is_identity(int n, const int *map)
{
    for (int i = 0; map && i < n; i++)
        if (map[i] != i)
            return false;
    return true;
}

struct group *topology_group(struct comm *comm, int n, const int *map)
{
    const struct ranks *ranks = comm->group->ranks;
    if (n == ranks->n && is_identity(n, map))
        return group_hold(comm->group);
    struct ranks_draft head = { 0 };
    if (!map)
        ranks_add_part(&head, ranks, n, 0, 1);
    for (int i = 0; map && i < n; i++)
        ranks_add(&head, ranks_world(ranks, map[i]));
    return group_new(ranks_finish(&head));
}

int topology_comm(struct comm *old, struct group *group, uint32_t step,
                  struct topology *topology, struct comm **newcomm)
{
    int rc = topology && group ? comm_of_part(old, group, step, newcomm)
                               : fail(MPI_ERR_NO_MEM, "no memory for a topology");
    if (!rc && *newcomm)
        (*newcomm)->topology = topology;
    else
        topology_delete(topology);
    group_drop(group);
    return rc;
}

int topology_of(const struct comm *comm, enum topology_kind kind, const struct topology **found)
{
    static const char *const names[] = { [TOPOLOGY_CART] = "Cartesian",
                                         [TOPOLOGY_GRAPH] = "graph",
                                         [TOPOLOGY_DIST_GRAPH] = "distributed graph" };
    *found = comm->topology;
    if (!comm->topology || comm->topology->kind != kind)
        return fail(MPI_ERR_TOPOLOGY, "argument comm has no %s topology", names[kind]);
    return MPI_SUCCESS;
}

struct topology *topology_copy(const struct topology *topology)
{
    switch (topology->kind) {
    case TOPOLOGY_CART:
        return cart_copy(topology);
    case TOPOLOGY_GRAPH:
        return graph_copy(topology);
    case TOPOLOGY_DIST_GRAPH:
        return dist_graph_copy(topology);
    }
    return NULL;
}

int topology_neighbours(struct comm *comm)
{
    const struct topology *t = comm->topology;
    struct neighbours **made = &comm->team.neighbours;
    if (*made)
        return MPI_SUCCESS;
    if (!t)
        return fail(MPI_ERR_TOPOLOGY, "argument comm has no topology and so no neighbours");
    switch (t->kind) {
    case TOPOLOGY_CART:
        return cart_neighbours(t, comm_rank(comm), made);
    case TOPOLOGY_GRAPH:
        return graph_neighbours(t, comm_rank(comm), made);
    case TOPOLOGY_DIST_GRAPH:
        return dist_graph_neighbours(t, comm_rank(comm), made);
    }
    return MPI_SUCCESS;
}

void topology_delete(struct topology *topology)
{
    free(topology);
}

int xmpi_topo_test(comm_t comm, int_out_t *status)
{
    static const int names[] = { [TOPOLOGY_CART] = MPI_CART,
                                 [TOPOLOGY_GRAPH] = MPI_GRAPH,
                                 [TOPOLOGY_DIST_GRAPH] = MPI_DIST_GRAPH };
    *status = comm->topology ? names[comm->topology->kind] : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
