/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators with a topology for tests of collectives between neighbours: grids and graphs drawn at
 * random, and what each process has to know of any of them (learn).
 *
 * What arrives as block b is what that neighbour sent as its block origin[b]: on grids what is sent down
 * comes from above, elsewhere the k-th edge from a process is the k-th that this process has to here.
 */
#ifndef TOPOLOGIES_H
#define TOPOLOGIES_H

#include "random_data.h"

enum { MOST_EDGES = 40, RANKS = 16 };

/* ---- who the neighbours are, and where their blocks come from ---- */

struct list {
    int n, peer[MOST_EDGES];
};

struct shape {
    MPI_Comm comm;
    struct list in, out;
    int origin[MOST_EDGES], rank;
    char name[100];
};

/* The k-th edge from there is the k-th edge to here. */
static inline void match_edges(struct shape *s)
{
    struct list all[RANKS];
    CHECK_OK(
        MPI_Allgather(&s->out, sizeof s->out, MPI_BYTE, all, sizeof s->out, MPI_BYTE, s->comm));
    for (int b = 0; b < s->in.n; b++) {
        const struct list *there = &all[s->in.peer[b]];
        int k = 0, at = 0;
        for (int i = 0; i < b; i++)
            k += s->in.peer[i] == s->in.peer[b];
        while (there->peer[at] != s->rank || k-- > 0)
            CHECK(++at < there->n);
        s->origin[b] = at;
    }
}

static inline void learn_cart(struct shape *s)
{
    int ndims;
    CHECK_OK(MPI_Cartdim_get(s->comm, &ndims));
    s->in.n = s->out.n = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        CHECK_OK(MPI_Cart_shift(s->comm, d, 1, &s->in.peer[2 * d], &s->in.peer[2 * d + 1]));
        s->origin[2 * d] = 2 * d + 1; /* what is sent up comes from below */
        s->origin[2 * d + 1] = 2 * d;
    }
    s->out = s->in;
}

/* Of s->comm. */
static inline void learn(struct shape *s)
{
    int kind, weighted, w[2][MOST_EDGES];
    CHECK_OK(MPI_Comm_rank(s->comm, &s->rank));
    CHECK_OK(MPI_Topo_test(s->comm, &kind));
    if (kind == MPI_CART) {
        learn_cart(s);
        return;
    }
    if (kind == MPI_GRAPH) {
        CHECK_OK(MPI_Graph_neighbors_count(s->comm, s->rank, &s->in.n));
        CHECK_OK(MPI_Graph_neighbors(s->comm, s->rank, s->in.n, s->in.peer));
        s->out = s->in;
    } else {
        CHECK_OK(MPI_Dist_graph_neighbors_count(s->comm, &s->in.n, &s->out.n, &weighted));
        CHECK_OK(MPI_Dist_graph_neighbors(s->comm, s->in.n, s->in.peer,
                                          weighted ? w[0] : MPI_UNWEIGHTED, s->out.n,
                                          s->out.peer, weighted ? w[1] : MPI_UNWEIGHTED));
    }
    match_edges(s);
}

/* ---- drawing ---- */

/* A grid of all processes or, where that is left over, of fewer. */
static inline void draw_grid(struct shape *s, int reorder)
{
    int ndims = draw(&together, 4), dims[3] = { 0 }, periods[3];
    int fixed = draw(&together, 3), side = 1 + draw(&together, 2);
    int n = world_size(), used = n > 1 && one_in(&together, 4) ? n - 1 : n;
    if (ndims > 1 && fixed < ndims && used % side == 0)
        dims[fixed] = side;
    for (int d = 0; d < 3; d++)
        periods[d] = draw(&together, 2);
    if (ndims)
        CHECK_OK(MPI_Dims_create(used, ndims, dims));
    snprintf(s->name, sizeof s->name, "grid of %d dimensions, %d %d %d, wraps %d %d %d", ndims,
             dims[0], dims[1], dims[2], periods[0], periods[1], periods[2]);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &s->comm));
}

struct edges {
    int n, from[MOST_EDGES], to[MOST_EDGES], weight[MOST_EDGES];
};

static inline struct edges draw_edges(void)
{
    int n = world_size(), few = draw(&together, MOST_EDGES + 1);
    int most = 4 * n < MOST_EDGES ? 4 * n : MOST_EDGES;
    struct edges e = { .n = few < most ? few : most };
    bool parallel = draw(&together, 2);
    for (int i = 0; i < e.n; i++) {
        e.from[i] = draw(&together, n);
        e.to[i] = draw(&together, n);
        e.weight[i] = draw(&together, 10);
        if (parallel && i && draw(&together, 2)) {
            e.from[i] = e.from[i - 1];
            e.to[i] = e.to[i - 1];
        }
    }
    return e;
}

/* Each edge goes both ways, but for those to oneself. */
static inline void draw_graph(struct shape *s, int reorder)
{
    struct edges e = draw_edges();
    int index[RANKS], list[2 * MOST_EDGES], at = 0, n = world_size();
    int count = e.n < MOST_EDGES / 2 ? e.n : MOST_EDGES / 2;
    for (int r = 0; r < n; r++) {
        int first = draw(&together, MOST_EDGES);
        for (int k = 0; k < count; k++) {
            int i = (first + k) % count;
            if (e.from[i] == r)
                list[at++] = e.to[i];
            else if (e.to[i] == r)
                list[at++] = e.from[i];
        }
        index[r] = at;
    }
    snprintf(s->name, sizeof s->name, "graph of %d edges", at);
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, list, reorder, &s->comm));
}

static inline void draw_adjacent(struct shape *s, int reorder)
{
    struct edges e = draw_edges();
    struct list in = { 0 }, out = { 0 };
    int weights[2][MOST_EDGES], weighted = draw(&together, 2), me = world_rank();
    for (int i = 0; i < e.n; i++) {
        if (e.to[i] == me) {
            weights[0][in.n] = e.weight[i];
            in.peer[in.n++] = e.from[i];
        }
        if (e.from[i] == me) {
            weights[1][out.n] = e.weight[i];
            out.peer[out.n++] = e.to[i];
        }
    }
    snprintf(s->name, sizeof s->name, "adjacent graph of %d edges", e.n);
    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, in.n, in.peer, weighted ? weights[0] : MPI_UNWEIGHTED, out.n, out.peer,
        weighted ? weights[1] : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &s->comm));
}

static inline void draw_contributed(struct shape *s, int reorder)
{
    struct edges e = draw_edges(), mine = { .n = 0 };
    int degrees[MOST_EDGES], weighted = draw(&together, 2);
    for (int i = 0; i < e.n; i++)
        if (draw(&together, world_size()) == world_rank()) {
            mine.from[mine.n] = e.from[i];
            mine.to[mine.n] = e.to[i];
            mine.weight[mine.n] = e.weight[i];
            degrees[mine.n++] = 1;
        }
    snprintf(s->name, sizeof s->name, "contributed graph of %d edges", e.n);
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, mine.n, mine.from, degrees, mine.to,
                                   weighted ? mine.weight : MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   reorder, &s->comm));
}

#endif
