/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distributed graphs (MPI 5.0, 8.5.4): every process knows its own edges and no others.
 *
 * MPI_Dist_graph_create_adjacent is given just that, and only needs a ticket; for
 * MPI_Dist_graph_create see dist_edges.c.
 *
 * With reorder all outgoing edges travel to rank 0, which maps them; then each process hands the
 * edges of the part that is its old rank to who plays it.
 */
#include "coll/neighbours.h"
#include "runtime/fail.h"
#include "src/agree.h"
#include "src/api/topology.h"
#include "src/context.h"
#include "src/remap.h"
#include "src/topo.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int dist_no_memory(void)
{
    return fail(MPI_ERR_NO_MEM, "no memory for a distributed graph");
}

struct topology *dist_new(int indegree, int outdegree, bool weighted)
{
    size_t n = ((size_t)indegree + (size_t)outdegree) * (weighted ? 2 : 1);
    struct topology *t = calloc(1, sizeof *t + n * sizeof(int));
    if (!t)
        return NULL;
    t->kind = TOPOLOGY_DIST_GRAPH;
    t->dist.indegree = indegree;
    t->dist.outdegree = outdegree;
    t->dist.weighted = weighted;
    t->dist.sources = (int *)(t + 1);
    t->dist.destinations = t->dist.sources + indegree;
    if (weighted) {
        t->dist.source_weights = t->dist.destinations + outdegree;
        t->dist.destination_weights = t->dist.source_weights + indegree;
    }
    return t;
}

static void ints_copy(int *to, const int *from, int n)
{
    if (to && from && n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

struct topology *dist_graph_copy(const struct topology *old)
{
    int in = old->dist.indegree, out = old->dist.outdegree;
    struct topology *t = dist_new(in, out, old->dist.weighted);
    if (!t)
        return NULL;
    ints_copy(t->dist.sources, old->dist.sources, in);
    ints_copy(t->dist.destinations, old->dist.destinations, out);
    ints_copy(t->dist.source_weights, old->dist.source_weights, in);
    ints_copy(t->dist.destination_weights, old->dist.destination_weights, out);
    return t;
}

int dist_check_ranks(const struct comm *comm, const char *name, int n, const int ranks[])
{
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= comm_size(comm))
            return fail(MPI_ERR_RANK,
                        "argument %s[%d] is %d, the communicator has ranks 0 to %d", name, i,
                        ranks[i], comm_size(comm) - 1);
    return MPI_SUCCESS;
}

int dist_check_weights(const char *name, int n, const int weights[])
{
    if (weights == MPI_UNWEIGHTED || (weights == MPI_WEIGHTS_EMPTY && n == 0))
        return MPI_SUCCESS;
    if (weights == MPI_WEIGHTS_EMPTY)
        return fail(
            MPI_ERR_ARG,
            "argument %s is MPI_WEIGHTS_EMPTY, but there %s %d edge%s; pass weights, or "
            "MPI_UNWEIGHTED on all processes",
            name, n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    int rc = fail_null_array(name, n, weights);
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        if (weights[i] < 0)
            return fail(MPI_ERR_ARG, "argument %s[%d] is %d, weights are not negative", name, i,
                        weights[i]);
    return MPI_SUCCESS;
}

/* ---- reordering ---- */

/* A process's outgoing edges as bonds; *n of them. */
static struct bond *bonds_of(const struct topology *t, int rank, int *n)
{
    struct bond *bonds = malloc(((size_t)t->dist.outdegree + 1) * sizeof *bonds);
    *n = bonds ? t->dist.outdegree : 0;
    for (int i = 0; i < *n; i++)
        bonds[i] = (struct bond){ rank, t->dist.destinations[i],
                                  t->dist.weighted ? t->dist.destination_weights[i] : 1 };
    return bonds;
}

/* Everybody's numbers of bonds, and where they begin, on rank 0.  More than 2^31 - 1 in all are
 * not looked at: *total is 0 then, and nobody's are sent. */
static int gather_counts(struct comm *comm, int n, int *counts, int *places, int *total)
{
    int size = comm_size(comm), rc = team_allgather(comm, &n, sizeof n, counts);
    int64_t sum = 0;
    for (int i = 0; !rc && i < size; i++) {
        places[i] = (int)sum;
        sum += counts[i];
        if (sum > INT_MAX)
            break;
    }
    *total = sum > INT_MAX ? 0 : (int)sum;
    return rc;
}

static int gather_bonds(struct comm *comm, struct bond *mine, struct bond *all,
                        const int *counts, const int *places)
{
    struct layout *bond = layout_contiguous(sizeof *mine, &layout_bytes);
    if (!bond)
        return dist_no_memory();
    struct call call = {
        .what = COLL_GATHERV,
        .serves = served_now(),
        .send = { .base = mine, .layout = bond, .count = (size_t)counts[comm_rank(comm)] },
        .recv = { .base = all,
                  .layout = bond,
                  .vector = true,
                  .counts = { .narrow = counts },
                  .displs = { .narrow = places } },
    };
    int rc = coll_run(&comm->team, &call);
    layout_drop(bond);
    return rc;
}

static int dist_map(struct comm *comm, const struct topology *t, const char *function, int *map)
{
    int n, total = 0, size = comm_size(comm), rank = comm_rank(comm);
    struct bond *mine = bonds_of(t, rank, &n), *all = NULL;
    int *counts = malloc(2 * (size_t)size * sizeof *counts);
    int rc = mine && counts ? gather_counts(comm, n, counts, counts + size, &total)
                            : dist_no_memory();
    if (!rc && rank == 0)
        all = malloc(((size_t)total + 1) * sizeof *all);
    if (!rc && rank == 0 && !all)
        rc = dist_no_memory();
    if (!rc && total > 0)
        rc = gather_bonds(comm, mine, all, counts, counts + size);
    struct pattern pattern = { .n = size, .nbonds = rc ? 0 : (size_t)total, .bonds = all };
    if (!rc)
        rc = remap_agree(comm, &pattern, function, map);
    free(all);
    free(counts);
    free(mine);
    return rc;
}

/* How a part travels: its numbers of edges, whether they have weights, then dist.sources and what follows. */
enum { PART_IN, PART_OUT, PART_WEIGHTED, PART_HEAD };

static size_t dist_ints(const struct topology *t)
{
    return ((size_t)t->dist.indegree + (size_t)t->dist.outdegree) * (t->dist.weighted ? 2 : 1);
}

/* My old part goes to who plays it, *t becomes the one I play.  Whether it has weights is its own affair, too: a
 * process without edges may not have said. */
static int dist_pass(struct comm *comm, const int *map, struct topology **t)
{
    struct topology *old = *t;
    size_t ints = dist_ints(old);
    int *out = malloc((PART_HEAD + ints) * sizeof *out), *in;
    if (!out)
        return dist_no_memory();
    out[PART_IN] = old->dist.indegree;
    out[PART_OUT] = old->dist.outdegree;
    out[PART_WEIGHTED] = old->dist.weighted;
    memcpy(out + PART_HEAD, old->dist.sources, ints * sizeof *out);
    int rc = remap_pass(comm, map, out, (PART_HEAD + ints) * sizeof *out, (void **)&in);
    free(out);
    if (rc)
        return rc;
    struct topology *new = dist_new(in[PART_IN], in[PART_OUT], in[PART_WEIGHTED]);
    if (new) {
        memcpy(new->dist.sources, in + PART_HEAD, dist_ints(new) * sizeof *in);
        topology_delete(old);
        *t = new;
    }
    free(in);
    return new ? MPI_SUCCESS : dist_no_memory();
}

int dist_comm(struct comm *old, struct topology *t, int reorder, const char *function,
              struct comm **newcomm)
{
    int *map = NULL, size = comm_size(old), rc = MPI_SUCCESS;
    if (t && reorder && size > 2) {
        map = malloc((size_t)size * sizeof *map);
        rc = map ? dist_map(old, t, function, map) : dist_no_memory();
        if (!rc)
            rc = dist_pass(old, map, &t);
    }
    if (!rc)
        rc = topology_comm(old, topology_group(old, size, map), STEP_TOPOLOGY, t, newcomm);
    else
        topology_delete(t);
    free(map);
    return rc;
}

/* ---- everybody gives its own edges ---- */

int xmpi_dist_graph_create_adjacent(intra_t comm_old, length_t indegree, const int sources[],
                                    const int sourceweights[], length_t outdegree,
                                    const int destinations[], const int destweights[],
                                    info_t info, int reorder, comm_out_t *comm_dist_graph)
{
    (void)info;
    uint32_t before = comm_old->team.calls;
    bool weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
    int rc = dist_check_ranks(comm_old, "sources", indegree, sources);
    if (!rc)
        rc = dist_check_ranks(comm_old, "destinations", outdegree, destinations);
    if (!rc)
        rc = dist_check_weights("sourceweights", indegree, sourceweights);
    if (!rc)
        rc = dist_check_weights("destweights", outdegree, destweights);
    if (rc)
        return rc;
    struct topology *t = dist_new(indegree, outdegree, weighted);
    if (!t)
        return comm_made(comm_old, before, dist_no_memory(), comm_dist_graph);
    ints_copy(t->dist.sources, sources, indegree);
    ints_copy(t->dist.destinations, destinations, outdegree);
    if (weighted && indegree > 0)
        ints_copy(t->dist.source_weights, sourceweights, indegree);
    if (weighted && outdegree > 0)
        ints_copy(t->dist.destination_weights, destweights, outdegree);
    rc = dist_comm(comm_old, t, reorder, "MPI_Dist_graph_create_adjacent", comm_dist_graph);
    return comm_made(comm_old, before, rc, comm_dist_graph);
}

/* ---- asking ---- */

int xmpi_dist_graph_neighbors_count(intra_t comm, int_out_t *indegree, int_out_t *outdegree,
                                    flag_t *weighted)
{
    const struct topology *t;
    int rc = topology_of(comm, TOPOLOGY_DIST_GRAPH, &t);
    if (rc)
        return rc;
    *indegree = t->dist.indegree;
    *outdegree = t->dist.outdegree;
    *weighted = t->dist.weighted;
    return MPI_SUCCESS;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int *weights_room(int weights[])
{
    return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? NULL : weights;
}

int xmpi_dist_graph_neighbors(intra_t comm, length_t maxindegree, int sources[],
                              int sourceweights[], length_t maxoutdegree, int destinations[],
                              int destweights[])
{
    const struct topology *t;
    int rc = topology_of(comm, TOPOLOGY_DIST_GRAPH, &t);
    if (!rc)
        rc = fail_null_array("sources", maxindegree, sources);
    if (!rc)
        rc = fail_null_array("sourceweights", maxindegree, sourceweights);
    if (!rc)
        rc = fail_null_array("destinations", maxoutdegree, destinations);
    if (!rc)
        rc = fail_null_array("destweights", maxoutdegree, destweights);
    if (rc)
        return rc;
    int in = smaller(maxindegree, t->dist.indegree);
    int out = smaller(maxoutdegree, t->dist.outdegree);
    ints_copy(sources, t->dist.sources, in);
    ints_copy(destinations, t->dist.destinations, out);
    ints_copy(weights_room(sourceweights), t->dist.source_weights, in);
    ints_copy(weights_room(destweights), t->dist.destination_weights, out);
    return MPI_SUCCESS;
}

/* ---- the neighbours of collectives ---- */

int dist_graph_neighbours(const struct topology *t, int rank, struct neighbours **made)
{
    int in = t->dist.indegree, out = t->dist.outdegree, to_me = 0, from_me = 0;
    struct neighbours *n = neighbours_new(in, out);
    if (!n)
        return dist_no_memory();
    for (int i = 0; i < in; i++) {
        n->source[i].peer = t->dist.sources[i];
        from_me += t->dist.sources[i] == rank;
    }
    for (int i = 0; i < out; i++) {
        n->destination[i].peer = t->dist.destinations[i];
        to_me += t->dist.destinations[i] == rank;
    }
    if (to_me == from_me) {
        *made = n;
        return MPI_SUCCESS;
    }
    free(n);
    return fail(MPI_ERR_TOPOLOGY,
                "rank %d is among its own destinations %d times, among its sources %d times",
                rank, to_me, from_me);
}
