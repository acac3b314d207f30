/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an algorithm would cost: seconds, split in three, by a model of the machine.
 *
 * A pure function of its arguments, the same on every rank: no clock, no wires, no memory kept.
 * The model is LogGP by distance; the plans of the ranks are performed on it (sim.h), so there is no
 * second description of an algorithm that could be wrong.
 */
#ifndef XMPI_PRICE_H
#define XMPI_PRICE_H

#include "coll/rules.h"

#include <stddef.h>

/* How far two ranks are from each other. */
enum distance {
    DISTANCE_CACHE, /* they share a cache */
    DISTANCE_NODE,  /* they share a node */
    DISTANCE_NET,   /* they share a network */
    DISTANCES
};

/* A message of n bytes: `overhead` of the sender's CPU; gap + n * byte on the way out, and `latency`
 * later as long on the way in; `overhead` of the receiver's CPU: 2 o + L + g + n G when alone.  All in seconds. */
struct link_price {
    double latency, overhead, gap, byte;
    size_t eager; /* longer messages wait for their receive, two latencies more; 0: none do */
};

struct price_model {
    struct link_price link[DISTANCES];
    double fold; /* seconds per byte folded */
    double copy; /* seconds per byte copied inside a rank */
};

/* Where ranks are: rank r on node r / per_node, at cache r / per_cache.  0: all on one. */
struct seats {
    int per_node, per_cache;
};

static inline int seats_node(const struct seats *seats, int rank)
{
    return seats->per_node ? rank / seats->per_node : 0;
}

static inline enum distance seats_apart(const struct seats *seats, int a, int b)
{
    if (seats_node(seats, a) != seats_node(seats, b))
        return DISTANCE_NET;
    bool near = !seats->per_cache || a / seats->per_cache == b / seats->per_cache;
    return near ? DISTANCE_CACHE : DISTANCE_NODE;
}

/* What is asked for.  `bytes` are counted as in rules.c: the vector of a broadcast, a reduction, a
 * scan; one block of all others. */
struct price_query {
    const struct algorithm *algorithm;
    int p, root, pieces, radix; /* pieces and radix: 0 = the algorithm's own */
    size_t bytes;
    struct seats seats;
    int split;       /* between two groups: ranks of the first; 0 = half of them */
    const int *dims; /* between neighbours: of a torus; NULL = one ring of all */
    int ndims;
    int throttle;  /* 0: as the algorithm says */
    double enough; /* seconds: where it is longer any price above this will do; 0: none */
};

static inline int price_split(const struct price_query *query)
{
    return !query->algorithm->inter ? 0 : query->split ? query->split : (query->p + 1) / 2;
}

static inline int price_radix(const struct price_query *query)
{
    return query->radix ? query->radix : query->algorithm->radix;
}

/* Along the longest path of things that wait for each other.  Their sum is the time. */
struct price {
    double latency, bandwidth, compute;
};

static inline double price_seconds(struct price price)
{
    return price.latency + price.bandwidth + price.compute;
}

/* A machine of today, for want of measurements: 0.1 us and 20 GB/s at a cache, 0.3 us and 10 GB/s
 * in a node, 1.5 us and 12.5 GB/s between nodes, folding at 20 GB/s. */
extern const struct price_model price_standard;

/* The price of one collective, from the first rank's start to the last one's end.  0;
 * MPI_ERR_UNSUPPORTED_OPERATION with a reason when this algorithm has no price at this size: it
 * is no plan (tiny), or more than `most` steps would have to be performed (0: a million, some tenths of a
 * second).  What is performed twice (sized.c) is priced so, with blocks that are equal.  Plans whose ranks all
 * do alike are performed for one node only, so they have a price at any size that their one rank's plan fits. */
int price_of(const struct price_model *model, const struct price_query *query, size_t most,
             struct price *price);

/* What the price of it is at least, in pieces or not: a glance at the plan of rank 0. */
double price_least(const struct price_model *model, const struct price_query *query);

#endif
