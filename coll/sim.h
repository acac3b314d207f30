/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective performed on a model of a machine, event by event.
 *
 * Ranks have a CPU, which does one thing at a time, and a way out and in (two CPUs that share
 * memory), nodes have a network interface that their ranks share, and a fabric may have links
 * that are shared by all who come along.  All of them serve in the order of arrival.
 */
#ifndef XMPI_SIM_H
#define XMPI_SIM_H

#include "coll/cast.h"

/* Between the nodes.  Links are numbered; each is used in one direction. */
struct fabric {
    const void *self;
    int (*route)(const void *self, int from, int to, int *link); /* how many */
    int nlinks, longest;                                         /* links of a route */
    double hop, byte; /* seconds per link passed, and per byte on a link */

    /* The fabric looks the same from node n and n + period (modulo all), 0: it does not; and
     * from node n and n xor m, for any m.  `fold` maps a link to the one that stands for it when
     * only the first `period` nodes are performed (flipped: the first node only). */
    int period;
    bool flips;
    int (*fold)(const void *self, int link, bool flipped);

    int nodes;
    const struct fabric *
        half; /* of as many nodes / 2, rounded down: what the larger one is foretold from; or NULL */
};

struct sim {
    struct price price;
    int64_t acts;           /* performed */
    int actors;             /* ranks performed */
    enum symmetry symmetry; /* why so few */
    int steady;             /* ranks of the largest run when the rest is steady; 0: all of it */
    double bend;            /* so far from a line were the runs that the rest follows from */
    int grown; /* ranks of the largest run when a curve foretells the rest (grow.h); else 0 */
    int64_t rounds; /* performed of a ring (march.h), whose others are alike; 0: no such */
};

/* As price_of; fabric NULL: each pair of nodes has a wire of its own. */
int sim_run(const struct price_model *model, const struct price_query *query,
            const struct fabric *fabric, size_t most, struct sim *sim);

/* A prepared cast on the model; what sim_run and price_of are made of. */
int sim_perform(const struct cast *cast, const struct price_model *model,
                const struct seats *seats, const struct fabric *fabric, struct price *price);

/* Seconds that rank 0's own CPU and ways are busy, which no performance can do without. */
double sim_least(const struct cast *first, const struct price_model *model,
                 const struct seats *seats);

#endif
