/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random graphs for the neighbourhood collectives: several edges between the same two ranks,
 * edges from a rank to itself, edges to nobody, ranks without edges, and blocks in any order.
 */
#ifndef XMPI_TEST_GRAPH_H
#define XMPI_TEST_GRAPH_H

#include "coll/neighbours.h"

#include <stdint.h>
#include <stdlib.h>

enum { GRAPH_RANKS = 16, GRAPH_EDGES = 64 };

static uint64_t graph_state = 99;
static inline int graph_draw(int below)
{
    graph_state = graph_state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((graph_state >> 33) % (uint64_t)below);
}

static inline void graph_shuffle_blocks(struct edge *edge, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = graph_draw(i + 1), block = edge[i].block;
        edge[i].block = edge[k].block;
        edge[k].block = block;
    }
}

/* How many edges a rank lists: sometimes some that lead to nobody. */
static inline int graph_room(int degree)
{
    return degree + graph_draw(3) * graph_draw(2);
}

/* The graph's edges in the order in which both ends list them; nobody comes last. */
static inline void graph_make(int p, const struct neighbours *of[GRAPH_RANKS])
{
    int from[GRAPH_EDGES], to[GRAPH_EDGES], in[GRAPH_RANKS] = { 0 }, out[GRAPH_RANKS] = { 0 };
    int n = graph_draw(4 * p + 1), crowd = 1 + graph_draw(p);
    for (int i = 0; i < n; i++) {
        from[i] = graph_draw(crowd);
        to[i] = graph_draw(p);
        out[from[i]]++;
        in[to[i]]++;
    }
    for (int r = 0; r < p; r++) {
        struct neighbours *near = neighbours_new(graph_room(in[r]), graph_room(out[r]));
        for (int i = 0, s = 0, d = 0; i < n; i++) {
            if (to[i] == r)
                near->source[s++].peer = from[i];
            if (from[i] == r)
                near->destination[d++].peer = to[i];
        }
        graph_shuffle_blocks(near->source, near->nsources);
        graph_shuffle_blocks(near->destination, near->ndestinations);
        of[r] = near;
    }
}

static inline void graph_free(int p, const struct neighbours *of[GRAPH_RANKS])
{
    for (int r = 0; r < p; r++)
        free((void *)of[r]);
}

#endif
