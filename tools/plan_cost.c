/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan cost, sim: exact counts of a plan, and its time on a model of a machine.  Whatever is
 * not counted says that it is a model's.
 */
#include "tools/plan.h"

#include "coll/count.h"
#include "coll/sim.h"
#include "runtime/fail.h"
#include "tools/topology.h"

#include <stdio.h>

enum { MOST_STEPS = 8000000 };

static void headline(const struct plan_args *args)
{
    printf("%s:%s on %d ranks", collective_name(args->algorithm->what), args->algorithm->name,
           args->from);
    if (args->nodes > 1)
        printf(", %d nodes of %d", args->nodes, args->from / args->nodes);
    if (args->algorithm->inter) {
        int first = args->split ? args->split : (args->from + 1) / 2;
        printf(", groups of %d and %d", first, args->from - first);
    }
    if (is_neighbourhood(args->algorithm->what))
        printf(args->ndims ? ", a torus of " : ", a ring");
    for (int i = 0; i < args->ndims; i++)
        printf(i ? "x%d" : "%d", args->dims[i]);
    if (args->algorithm->what != COLL_BARRIER)
        printf(", %zu bytes", args->bytes);
    if (args->algorithm->sized)
        printf(" a block, twice: first the sizes of blocks");
    if (args->pieces > 1)
        printf(" in %d pieces", args->pieces);
    if (args->throttle)
        printf(", %d messages at a time", args->throttle);
    printf("\n");
}

static void print_price(const struct price *price)
{
    printf("  model time     %s = latency %s + bandwidth %s + compute %s\n",
           seconds_text(price_seconds(*price)).text, seconds_text(price->latency).text,
           seconds_text(price->bandwidth).text, seconds_text(price->compute).text);
}

static void print_amount(const char *name, const struct amount *amount)
{
    printf("  %-14s %16.0f %20.0f\n", name, amount->most, amount->sum);
}

int plan_cost(const struct plan_args *args)
{
    struct price_query query = plan_query(args);
    struct count c;
    struct price price;
    if (count_of(&query, MOST_STEPS, &c) ||
        price_of(&args->model, &query, MOST_STEPS, &price)) {
        plan_wrong("%s", fail_text());
        return 1;
    }
    headline(args);
    printf("  rounds         %16.0f\n", c.rounds);
    printf("  %-14s %16s %20s\n", "", "busiest rank", "all ranks");
    print_amount("messages sent", &c.messages);
    print_amount("bytes sent", &c.bytes);
    print_amount("bytes folded", &c.folds);
    print_amount("bytes copied", &c.copies);
    print_amount("scratch bytes", &c.scratch);
    print_price(&price);
    return 0;
}

static void say_how(const struct sim *sim)
{
    static const char *const why[] = {
        [SYMMETRY_SHIFT] = "each stands for all that are as many ranks further on",
        [SYMMETRY_FLIP] = "each stands for all that differ in higher bits",
    };
    printf("  performed      %lld steps of %d ranks", (long long)sim->acts, sim->actors);
    if (sim->symmetry)
        printf("; %s", why[sim->symmetry]);
    printf("\n");
    if (sim->rounds)
        printf("                 in %lld rounds, until all are alike\n",
               (long long)sim->rounds);
    if (sim->steady)
        printf("                 in rings of up to %d ranks, which grow evenly", sim->steady);
    if (sim->steady && sim->bend > 0 && !sim->grown)
        printf(" but for %.1g %%", 100 * sim->bend);
    if (sim->steady)
        printf("; the rest is that line\n");
    if (sim->grown)
        printf("                 by smaller ones of up to %d ranks, from which a curve "
               "foretells the rest;\n"
               "                 it would have foretold the last of them within %.2g %%\n",
               sim->grown, 100 * sim->bend);
}

int plan_sim(const struct plan_args *args)
{
    struct price_query query = plan_query(args);
    struct topology topology;
    char wrong[TOPOLOGY_WRONG];
    const char *name = args->topology ? args->topology : "wires";
    int nodes = args->nodes ? args->nodes : 1;
    if (!topology_open(&topology, name, nodes, wrong))
        return plan_wrong("--topology %s: %s", name, wrong);
    for (struct topology *t = &topology; t; t = t->half) {
        t->fabric.hop = args->hop;
        t->fabric.byte = args->wire;
    }
    struct sim sim;
    const struct fabric *fabric = topology.fabric.nlinks && nodes > 1 ? &topology.fabric : NULL;
    int error = sim_run(&args->model, &query, fabric, MOST_STEPS, &sim);
    topology_close(&topology);
    if (error) {
        plan_wrong("%s", fail_text());
        return 1;
    }
    headline(args);
    printf("  model          LogGP, %s%s\n", name, args->nodes > 1 ? "" : ", one node");
    print_price(&sim.price);
    say_how(&sim);
    return 0;
}
