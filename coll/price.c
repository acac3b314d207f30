/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prices: which ranks may stand for which others, and the performance of those on the model.
 *
 *     one node         all ranks of a cache stand for those of any other
 *     several nodes    the ranks of one node stand for those of any other
 *     with a fabric    the ranks of as many nodes as it takes until the fabric repeats itself
 */
#include "coll/grow.h"

#include "coll/march.h"
#include "coll/steady.h"
#include "runtime/fail.h"
#include "mpi.h"

const struct price_model price_standard = {
    .link = {
        [DISTANCE_CACHE] = { 0.1e-6, 0.03e-6, 0.01e-6, 1 / 20e9, 128 << 10 },
        [DISTANCE_NODE] = { 0.3e-6, 0.03e-6, 0.01e-6, 1 / 10e9, 128 << 10 },
        [DISTANCE_NET] = { 1.5e-6, 0.2e-6, 0.05e-6, 1 / 12.5e9, 16 << 10 },
    },
    .fold = 1 / 20e9,
    .copy = 1 / 20e9,
};

enum {
    FEW_ACTS = 1 << 12,  /* that are performed as soon as a ring is looked at */
    GROWN_ACTS = 1 << 17 /* of smaller ones, from which a large one is foretold */
};

static bool is_power(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static struct seats normal(struct seats seats, int p)
{
    if (seats.per_node >= p)
        seats.per_node = 0;
    if (seats.per_cache >= p || (seats.per_node && seats.per_cache >= seats.per_node))
        seats.per_cache = 0;
    return seats;
}

static struct grouping group(struct seats seats, int p, const struct fabric *fabric)
{
    int node = seats.per_node ? seats.per_node : seats.per_cache ? seats.per_cache : 1;
    int period = seats.per_node && fabric ? fabric->period : 1;
    struct grouping g = { 0, 0 };
    if (seats.per_cache && node % seats.per_cache)
        return g;
    if (p % node == 0 && period > 0 && p / node % period == 0)
        g.shift = node * period;
    if (is_power(p) && is_power(node) && (!seats.per_cache || is_power(seats.per_cache)) &&
        (!seats.per_node || !fabric || fabric->flips))
        g.flip = node;
    return g;
}

struct machine {
    const struct price_model *model;
    struct seats seats;
    const struct fabric *fabric;
};

static int measure(const struct cast *cast, const void *with, double v[STEADY_VALUES])
{
    const struct machine *m = with;
    struct price price;
    int error = sim_perform(cast, m->model, &m->seats, m->fabric, &price);
    v[0] = price_seconds(price);
    v[1] = price.latency;
    v[2] = price.bandwidth;
    v[3] = price.compute;
    return error;
}

/* A ring that is worth it, with nothing between its nodes.  *found: its price. */
static int march(const struct machine *machine, const struct price_query *query, int unit,
                 size_t most, struct sim *sim, bool *found)
{
    struct price_query seated = *query;
    struct march march = { .found = false };
    int error = 0;
    seated.seats = machine->seats;
    if (!machine->fabric && unit > 0 && query->p > FEW_ACTS / unit)
        error = march_run(machine->model, &seated, unit, most, &march);
    *found = march.found;
    if (march.found)
        *sim = (struct sim){ .price = march.price,
                             .acts = march.acts,
                             .actors = unit,
                             .symmetry = SYMMETRY_SHIFT,
                             .rounds = march.rounds };
    return error;
}

/* As it is, or by rings. */
static int perform(const struct price_query *query, size_t most, const void *with,
                   struct sim *sim)
{
    struct machine machine = *(const struct machine *)with;
    machine.seats = normal(query->seats, query->p);
    struct grouping grouping = group(machine.seats, query->p, machine.fabric);
    bool found;
    int error = march(&machine, query, grouping.shift, most, sim, &found);
    if (error || found)
        return error;
    struct steady_job job = { .query = query,
                              .grouping = grouping,
                              .most = most,
                              .measure = measure,
                              .certain = 1,
                              .bend = 0.005,
                              .with = &machine };
    double v[STEADY_VALUES] = { 0 };
    struct steady how = { 0 };
    error = steady_run(&job, v, &how);
    *sim = (struct sim){ .price = { v[1], v[2], v[3] },
                         .acts = how.acts,
                         .actors = how.actors,
                         .symmetry = how.symmetry,
                         .steady = how.ranks,
                         .bend = how.bend };
    return error;
}

static int unit_of(const struct machine *machine)
{
    return machine->seats.per_node    ? machine->seats.per_node
           : machine->seats.per_cache ? machine->seats.per_cache
                                      : 1;
}

/* On fewer nodes, and a network of the same kind that has so many. */
static int perform_smaller(const struct price_query *query, size_t most, const void *with,
                           struct sim *sim)
{
    struct machine machine = *(const struct machine *)with;
    int unit = unit_of(&machine), nodes = (query->p + unit - 1) / unit;
    const struct fabric *fabric = machine.fabric;
    while (fabric && fabric->nodes > nodes)
        fabric = fabric->half;
    if (machine.fabric && (!fabric || fabric->nodes != nodes))
        return fail(MPI_ERR_UNSUPPORTED_OPERATION, "no such network of %d nodes", nodes);
    machine.fabric = fabric;
    size_t links = fabric ? (size_t)fabric->longest : 0; /* that each message has to pass */
    return perform(query, most / (1 + links / 32), &machine, sim);
}

/* Ways on it are longer than on half of it. */
static bool gets_longer(const struct fabric *fabric)
{
    const struct fabric *half = fabric->half;
    return half && fabric->longest > half->longest + half->longest / 8;
}

/* Is it the network that makes too much of it?  Then another one helps, and not another algorithm. */
static int refuse_network(const struct price_model *model, const struct price_query *query,
                          size_t most, int error)
{
    const struct algorithm *a = query->algorithm;
    struct sim plain;
    fail_keep(&plain, error);
    if (sim_run(model, query, NULL, most, &plain) == 0)
        return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "%s:%s on %d ranks: on this network too much of it would have to be "
                    "performed, more than "
                    "%zu steps, and nothing foretells it: ask for fewer ranks, or for another "
                    "network, as wires "
                    "(one for each pair of nodes), on which it has a price",
                    collective_name(a->what), a->name, query->p, most);
    fail_recall(&plain);
    return error;
}

int sim_run(const struct price_model *model, const struct price_query *query,
            const struct fabric *fabric, size_t most, struct sim *sim)
{
    struct machine machine = { model, normal(query->seats, query->p), fabric };
    int error = perform(query, most, &machine, sim);
    if (error != MPI_ERR_UNSUPPORTED_OPERATION || cast_objection(query))
        return error;
    bool found;
    fail_keep(sim, error);
    struct grow_job job = { .query = query,
                            .unit = unit_of(&machine),
                            .most = most / 8 > GROWN_ACTS ? most / 8 : GROWN_ACTS,
                            .ways = fabric && gets_longer(fabric),
                            .perform = perform_smaller,
                            .with = &machine };
    int other = grow_run(&job, sim, &found);
    if (found)
        fail_clear();
    else if (!other)
        fail_recall(sim);
    error = found ? 0 : other ? other : error;
    bool refused = error == MPI_ERR_UNSUPPORTED_OPERATION;
    return refused && fabric ? refuse_network(model, query, most, error) : error;
}

int price_of(const struct price_model *model, const struct price_query *query, size_t most,
             struct price *price)
{
    struct sim sim;
    int error = sim_run(model, query, NULL, most ? most : 1000000, &sim);
    *price = sim.price;
    return error;
}

double price_least(const struct price_model *model, const struct price_query *query)
{
    struct price_query whole = *query;
    struct seats seats = normal(query->seats, query->p);
    struct cast first;
    whole.pieces = 1;
    int error = cast_first(&first, &whole);
    double least = error ? 0 : sim_least(&first, model, &seats);
    if (error)
        fail_clear(); /* who asks for the price is told */
    cast_close(&first);
    return least;
}
