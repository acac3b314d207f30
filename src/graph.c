/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Graph topologies that every process knows whole (MPI 5.0, 8.5.3 and following).  Bookkeeping:
 * the edges of node i are edges[index[i - 1]] to edges[index[i] - 1].  Every process holds all
 * of it; programs with many processes want distributed graphs (src/dist_graph.c).
 */
#include "coll/neighbours.h"
#include "runtime/fail.h"
#include "src/api/topology.h"
#include "src/context.h"
#include "src/remap.h"
#include "src/topo.h"

#include <stdlib.h>
#include <string.h>

static struct topology *graph_new(int nnodes, int nedges)
{
    struct topology *t = calloc(1, sizeof *t + ((size_t)nnodes + (size_t)nedges) * sizeof(int));
    if (!t)
        return NULL;
    t->kind = TOPOLOGY_GRAPH;
    t->graph.nnodes = nnodes;
    t->graph.nedges = nedges;
    t->graph.index = (int *)(t + 1);
    t->graph.edges = t->graph.index + nnodes;
    return t;
}

static struct topology *graph_fill(int nnodes, const int index[], const int edges[])
{
    int nedges = nnodes > 0 ? index[nnodes - 1] : 0;
    struct topology *t = graph_new(nnodes, nedges);
    if (!t)
        return NULL;
    memcpy(t->graph.index, index, (size_t)nnodes * sizeof(int));
    memcpy(t->graph.edges, edges, (size_t)nedges * sizeof(int));
    return t;
}

struct topology *graph_copy(const struct topology *old)
{
    return graph_fill(old->graph.nnodes, old->graph.index, old->graph.edges);
}

static int graph_check(const struct comm *comm, int nnodes, const int index[],
                       const int edges[])
{
    if (nnodes > comm_size(comm))
        return fail(MPI_ERR_ARG, "the graph has %d nodes, the communicator %d processes",
                    nnodes, comm_size(comm));
    for (int i = 0, before = 0; i < nnodes; before = index[i++])
        if (index[i] < before)
            return fail(MPI_ERR_ARG, "argument indx[%d] is %d, less than the entry before it",
                        i, index[i]);
    if (nnodes > 0 && index[nnodes - 1] > 0 && !edges)
        return fail(MPI_ERR_ARG, "argument edges is NULL, indx says that there are %d",
                    index[nnodes - 1]);
    for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return fail(MPI_ERR_ARG, "argument edges[%d] is %d, the graph has nodes 0 to %d", i,
                        edges[i], nnodes - 1);
    return MPI_SUCCESS;
}

static int graph_pattern(int nnodes, const int index[], const int edges[],
                         struct pattern *pattern)
{
    int nedges = nnodes > 0 ? index[nnodes - 1] : 0;
    struct bond *bonds = malloc(((size_t)nedges + 1) * sizeof *bonds);
    *pattern = (struct pattern){ .n = nnodes, .nbonds = (size_t)nedges, .bonds = bonds };
    if (!bonds)
        return fail(MPI_ERR_NO_MEM, "no memory for %d edges", nedges);
    for (int node = 0, i = 0; node < nnodes; node++)
        for (; i < index[node]; i++)
            bonds[i] = (struct bond){ node, edges[i], 1 };
    return MPI_SUCCESS;
}

/* Which process becomes which node; NULL: everybody its own. */
static int graph_remap(struct comm *comm, int nnodes, const int index[], const int edges[],
                       int **map)
{
    struct pattern pattern = { .n = nnodes };
    *map = NULL;
    if (nnodes <= 2)
        return MPI_SUCCESS;
    int rc = comm_rank(comm) == 0 ? graph_pattern(nnodes, index, edges, &pattern) : 0;
    *map = malloc((size_t)nnodes * sizeof **map);
    if (!rc && !*map)
        rc = fail(MPI_ERR_NO_MEM, "no memory for %d nodes", nnodes);
    if (!rc)
        rc = remap_agree(comm, &pattern, "MPI_Graph_create", *map);
    free((void *)pattern.bonds);
    return rc;
}

int xmpi_graph_create(intra_t comm_old, length_t nnodes, const int indx[], const int edges[],
                      int reorder, comm_out_t *comm_graph)
{
    uint32_t before = comm_old->team.calls;
    int *map = NULL, rc = graph_check(comm_old, nnodes, indx, edges);
    *comm_graph = NULL;
    if (!rc && reorder)
        rc = graph_remap(comm_old, nnodes, indx, edges, &map);
    if (!rc && comm_rank(comm_old) < nnodes)
        rc = topology_comm(comm_old, topology_group(comm_old, nnodes, map), STEP_TOPOLOGY,
                           graph_fill(nnodes, indx, edges), comm_graph);
    else if (!rc)
        rc = comm_of_part(comm_old, &group_empty, STEP_TOPOLOGY, comm_graph); /* is no node */
    free(map);
    return comm_made(comm_old, before, rc, comm_graph);
}

int xmpi_graph_map(intra_t comm, length_t nnodes, const int indx[], const int edges[],
                   int_out_t *newrank)
{
    struct pattern pattern;
    int rc = graph_check(comm, nnodes, indx, edges);
    if (rc)
        return rc;
    rc = graph_pattern(nnodes, indx, edges, &pattern);
    if (!rc)
        rc = remap_guess(comm, &pattern, newrank);
    free((void *)pattern.bonds);
    return rc;
}

/* ---- asking ---- */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

int xmpi_graphdims_get(intra_t comm, int_out_t *nnodes, int_out_t *nedges)
{
    const struct topology *t;
    int rc = topology_of(comm, TOPOLOGY_GRAPH, &t);
    if (rc)
        return rc;
    *nnodes = t->graph.nnodes;
    *nedges = t->graph.nedges;
    return MPI_SUCCESS;
}

int xmpi_graph_get(intra_t comm, length_t maxindex, length_t maxedges, int indx[], int edges[])
{
    const struct topology *t;
    int rc = topology_of(comm, TOPOLOGY_GRAPH, &t);
    if (!rc)
        rc = fail_null_array("indx", maxindex, indx);
    if (!rc)
        rc = fail_null_array("edges", maxedges, edges);
    if (rc)
        return rc;
    memcpy(indx, t->graph.index, (size_t)smaller(maxindex, t->graph.nnodes) * sizeof(int));
    memcpy(edges, t->graph.edges, (size_t)smaller(maxedges, t->graph.nedges) * sizeof(int));
    return MPI_SUCCESS;
}

/* The first edge of a node, and how many it has. */
static int edges_of(const struct topology *t, int node, int *n)
{
    int first = node > 0 ? t->graph.index[node - 1] : 0;
    *n = t->graph.index[node] - first;
    return first;
}

int xmpi_graph_neighbors_count(intra_t comm, rank_t rank, int_out_t *nneighbors)
{
    const struct topology *t;
    int rc = topology_of(comm, TOPOLOGY_GRAPH, &t);
    if (!rc)
        edges_of(t, rank, nneighbors);
    return rc;
}

int xmpi_graph_neighbors(intra_t comm, rank_t rank, length_t maxneighbors, int neighbors[])
{
    const struct topology *t;
    int rc = topology_of(comm, TOPOLOGY_GRAPH, &t);
    if (rc)
        return rc;
    int n, first = edges_of(t, rank, &n);
    memcpy(neighbors, t->graph.edges + first, (size_t)smaller(maxneighbors, n) * sizeof(int));
    return MPI_SUCCESS;
}

/* ---- the neighbours of collectives ---- */

/* Both ends of every pair must list as many edges: one process's list says what it receives as
 * well as what it sends (MPI 5.0, 8.6). */
static int graph_check_pairs(const struct topology *t, int rank)
{
    int *surplus = calloc((size_t)t->graph.nnodes, sizeof *surplus);
    if (!surplus)
        return fail(MPI_ERR_NO_MEM, "no memory to look at %d nodes", t->graph.nnodes);
    int n, first = edges_of(t, rank, &n), rc = MPI_SUCCESS;
    for (int i = 0; i < n; i++)
        surplus[t->graph.edges[first + i]]++;
    for (int node = 0; node < t->graph.nnodes; node++) {
        first = edges_of(t, node, &n);
        for (int i = 0; i < n; i++)
            surplus[node] -= t->graph.edges[first + i] == rank;
    }
    for (int node = 0; node < t->graph.nnodes && !rc; node++)
        if (surplus[node])
            rc = fail(MPI_ERR_TOPOLOGY,
                      "the graph has %d edges %s from node %d to node %d than back; "
                      "neighbourhood collectives need as many",
                      abs(surplus[node]), surplus[node] > 0 ? "more" : "less", rank, node);
    free(surplus);
    return rc;
}

int graph_neighbours(const struct topology *t, int rank, struct neighbours **made)
{
    int rc = graph_check_pairs(t, rank);
    if (rc)
        return rc;
    int count, first = edges_of(t, rank, &count);
    struct neighbours *n = neighbours_new(count, count);
    if (!n)
        return fail(MPI_ERR_NO_MEM, "no memory for %d neighbours", count);
    for (int i = 0; i < count; i++)
        n->source[i].peer = n->destination[i].peer = t->graph.edges[first + i];
    *made = n;
    return MPI_SUCCESS;
}
