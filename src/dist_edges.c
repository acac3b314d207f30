/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Dist_graph_create is given edges of anybody by anybody.  Each edge goes to the process at
 * either end, as a record (is it incoming there, the process at the other end, the weight):
 *
 *     edge 3 -> 5 on rank 0      to 3: out 5        to 5: in 3
 *
 * by one alltoall of counts and one alltoallv of records.  Neighbours then stand in the order of
 * the ranks that contributed them.  Memory: 12 bytes per record, 16 per process for a moment.
 */
#include "src/topo.h"

#include "runtime/fail.h"
#include "src/api/topology.h"
#include "src/comm.h"

#include <limits.h>
#include <stdlib.h>

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
    int rc = dist_check_ranks(comm, "sources", e->n, e->sources);
    if (!rc)
        rc = dist_check_ranks(comm, "destinations", (int)*total, e->destinations);
    if (!rc && e->weighted)
        rc = dist_check_weights("weights", (int)*total, e->weights);
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
        return dist_no_memory();
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
        rc = dist_no_memory();
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
    uint32_t before = comm_old->team.calls;
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
    if (!rc)
        rc = dist_comm(comm_old, t, reorder, "MPI_Dist_graph_create", comm_dist_graph);
    return comm_made(comm_old, before, rc, comm_dist_graph);
}
