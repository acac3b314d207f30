/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distributed graphs (MPI 5.0, 8.5.4): every process knows its own edges and no others.
 *
 * MPI_Dist_graph_create_adjacent is given just that, and only needs a ticket.
 * MPI_Dist_graph_create is given edges of anybody by anybody.  Each edge goes to the process at
 * either end, as a record (is it incoming there, the process at the other end, the weight):
 *
 *     edge 3 -> 5 on rank 0      to 3: out 5        to 5: in 3
 *
 * by one alltoall of counts and one alltoallv of records.  Neighbours then stand in the order of
 * the ranks that contributed them.  Memory: 12 bytes per record, 16 per process for a moment.
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

static int no_memory(void)
{
    return fail(MPI_ERR_NO_MEM, "no memory for a distributed graph");
}

static struct topology *dist_new(int indegree, int outdegree, bool weighted)
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

static int ranks_check(const struct comm *comm, const char *name, int n, const int ranks[])
{
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= comm_size(comm))
            return fail(MPI_ERR_RANK,
                        "argument %s[%d] is %d, the communicator has ranks 0 to %d", name, i,
                        ranks[i], comm_size(comm) - 1);
    return MPI_SUCCESS;
}

static int weights_check(const char *name, int n, const int weights[])
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
        return no_memory();
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
    int rc =
        mine && counts ? gather_counts(comm, n, counts, counts + size, &total) : no_memory();
    if (!rc && rank == 0)
        all = malloc(((size_t)total + 1) * sizeof *all);
    if (!rc && rank == 0 && !all)
        rc = no_memory();
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
        return no_memory();
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
    return new ? MPI_SUCCESS : no_memory();
}

/* Takes over the topology, which may be NULL for want of memory. */
static int dist_comm(struct comm *old, struct topology *t, int reorder, const char *function,
                     struct comm **newcomm)
{
    int *map = NULL, size = comm_size(old), rc = MPI_SUCCESS;
    if (t && reorder && size > 2) {
        map = malloc((size_t)size * sizeof *map);
        rc = map ? dist_map(old, t, function, map) : no_memory();
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
    bool weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
    int rc = ranks_check(comm_old, "sources", indegree, sources);
    if (!rc)
        rc = ranks_check(comm_old, "destinations", outdegree, destinations);
    if (!rc)
        rc = weights_check("sourceweights", indegree, sourceweights);
    if (!rc)
        rc = weights_check("destweights", outdegree, destweights);
    if (rc)
        return rc;
    struct topology *t = dist_new(indegree, outdegree, weighted);
    if (!t)
        return no_memory();
    ints_copy(t->dist.sources, sources, indegree);
    ints_copy(t->dist.destinations, destinations, outdegree);
    if (weighted && indegree > 0)
        ints_copy(t->dist.source_weights, sourceweights, indegree);
    if (weighted && outdegree > 0)
        ints_copy(t->dist.destination_weights, destweights, outdegree);
    return dist_comm(comm_old, t, reorder, "MPI_Dist_graph_create_adjacent", comm_dist_graph);
}

/* ---- edges from anywhere ---- */

struct record { /* an edge as the process at one end hears of it */
    int32_t incoming, other, weight;
};

struct edges { /* as the user gave them */
    int n;
    const int *sources, *degrees, *destinations, *weights;
    bool weighted;
};

struct exchange {
    int size;
    struct record *out, *in;
    int *out_counts, *out_places, *in_counts, *in_places; /* records; one allocation */
};

static int edges_check(const struct comm *comm, const struct edges *e, int64_t *total)
{
    *total = 0;
    for (int i = 0; i < e->n; i++) {
        if (e->degrees[i] < 0)
            return fail(MPI_ERR_ARG, "argument degrees[%d] is %d, it must not be negative", i,
                        e->degrees[i]);
        *total += e->degrees[i];
    }
    if (*total > INT_MAX / 2)
        return fail(MPI_ERR_ARG,
                    "degrees add up to %lld edges from one process, at most %d "
                    "are possible",
                    (long long)*total, INT_MAX / 2);
    if (*total > 0 && !e->destinations)
        return fail(MPI_ERR_ARG, "argument destinations is NULL, degrees add up to %lld",
                    (long long)*total);
    int rc = ranks_check(comm, "sources", e->n, e->sources);
    if (!rc)
        rc = ranks_check(comm, "destinations", (int)*total, e->destinations);
    if (!rc && e->weighted)
        rc = weights_check("weights", (int)*total, e->weights);
    return rc;
}

/* Count the records for each process, or (when there is room) write them. */
static void edges_sort(const struct edges *e, int *at, struct record *out)
{
    for (int i = 0, k = 0; i < e->n; i++)
        for (int j = 0; j < e->degrees[i]; j++, k++) {
            int from = e->sources[i], to = e->destinations[k];
            int weight = e->weighted ? e->weights[k] : 0;
            if (out) {
                out[at[from]] = (struct record){ 0, to, weight };
                out[at[to] + (from == to)] = (struct record){ 1, from, weight };
            }
            at[from]++;
            at[to]++;
        }
}

static int places_of(const int *counts, int n, int *places)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        places[i] = (int)sum;
        sum += counts[i];
        if (sum > INT_MAX)
            return -1;
    }
    return (int)sum;
}

static int exchange_open(struct exchange *x, int size, int64_t edges)
{
    *x = (struct exchange){ .size = size };
    x->out_counts = calloc(4 * (size_t)size, sizeof(int));
    x->out = malloc((2 * (size_t)edges + 1) * sizeof *x->out);
    if (!x->out_counts || !x->out)
        return no_memory();
    x->out_places = x->out_counts + size;
    x->in_counts = x->out_places + size;
    x->in_places = x->in_counts + size;
    return MPI_SUCCESS;
}

static void exchange_close(struct exchange *x)
{
    free(x->out);
    free(x->in);
    free(x->out_counts);
}

static int exchange_counts(struct comm *comm, struct exchange *x)
{
    struct call call = {
        .what = COLL_ALLTOALL,
        .serves = served_now(),
        .send = { .base = x->out_counts, .layout = &layout_bytes, .count = sizeof(int) },
        .recv = { .base = x->in_counts, .layout = &layout_bytes, .count = sizeof(int) },
    };
    return coll_run(&comm->team, &call);
}

static int exchange_records(struct comm *comm, struct exchange *x, const struct layout *record)
{
    struct call call = {
        .what = COLL_ALLTOALLV,
        .serves = served_now(),
        .send = { .base = x->out,
                  .layout = record,
                  .vector = true,
                  .counts = { .narrow = x->out_counts },
                  .displs = { .narrow = x->out_places } },
        .recv = { .base = x->in,
                  .layout = record,
                  .vector = true,
                  .counts = { .narrow = x->in_counts },
                  .displs = { .narrow = x->in_places } },
    };
    return coll_run(&comm->team, &call);
}

/* Every edge reaches both its ends; *n becomes how many records came here. */
static int exchange_run(struct comm *comm, struct exchange *x, const struct edges *e, int *n)
{
    edges_sort(e, x->out_counts, NULL);
    places_of(x->out_counts, x->size, x->out_places);
    edges_sort(e, x->out_places, x->out);
    places_of(x->out_counts, x->size, x->out_places);
    int rc = exchange_counts(comm, x);
    if (rc)
        return rc;
    *n = places_of(x->in_counts, x->size, x->in_places);
    x->in = *n < 0 ? NULL : malloc(((size_t)*n + 1) * sizeof *x->in);
    struct layout *record = layout_contiguous(sizeof *x->in, &layout_bytes);
    if (x->in && record)
        rc = exchange_records(comm, x, record);
    else
        rc = no_memory();
    if (record)
        layout_drop(record);
    return rc;
}

static struct topology *dist_of_records(const struct record *records, int n, bool weighted)
{
    int in = 0;
    for (int i = 0; i < n; i++)
        in += records[i].incoming;
    struct topology *t = dist_new(in, n - in, weighted);
    for (int i = 0, source = 0, destination = 0; t && i < n; i++) {
        const struct record *r = &records[i];
        int at = r->incoming ? source++ : destination++;
        (r->incoming ? t->dist.sources : t->dist.destinations)[at] = r->other;
        if (weighted)
            (r->incoming ? t->dist.source_weights : t->dist.destination_weights)[at] =
                r->weight;
    }
    return t;
}

int xmpi_dist_graph_create(intra_t comm_old, length_t n, const int sources[],
                           const int degrees[], const int destinations[], const int weights[],
                           info_t info, int reorder, comm_out_t *comm_dist_graph)
{
    (void)info;
    struct edges edges = {
        n, sources, degrees, destinations, weights, weights != MPI_UNWEIGHTED
    };
    int64_t total;
    int rc = edges_check(comm_old, &edges, &total), nrecords;
    if (rc)
        return rc;
    struct exchange x;
    rc = exchange_open(&x, comm_size(comm_old), total);
    if (!rc)
        rc = exchange_run(comm_old, &x, &edges, &nrecords);
    struct topology *t = rc ? NULL : dist_of_records(x.in, nrecords, edges.weighted);
    exchange_close(&x);
    return rc ? rc : dist_comm(comm_old, t, reorder, "MPI_Dist_graph_create", comm_dist_graph);
}

/* ---- asking ---- */

static int dist_of(const struct comm *comm, const struct topology **dist)
{
    *dist = comm->topology;
    if (!comm->topology || comm->topology->kind != TOPOLOGY_DIST_GRAPH)
        return fail(MPI_ERR_TOPOLOGY, "argument comm has no distributed graph topology");
    return MPI_SUCCESS;
}

int xmpi_dist_graph_neighbors_count(intra_t comm, int_out_t *indegree, int_out_t *outdegree,
                                    flag_t *weighted)
{
    const struct topology *t;
    int rc = dist_of(comm, &t);
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
    int rc = dist_of(comm, &t);
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
        return no_memory();
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
