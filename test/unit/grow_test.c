/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prices of very many ranks that are foretold by few, against the same performed in full.
 */
#include "coll/forced.h"
#include "coll/grow.h"
#include "coll/model.h"
#include "runtime/fail.h"
#include "mpi.h"

#include "test/unit/unit.h"
#include "tools/topology.h"

enum { FEW_STEPS = 1 << 14, PLENTY = 4000000 };

static struct price_query query(enum collective what, const char *name, int p, int per_node)
{
    const struct algorithm *a = algorithm_find(what, false, name);
    ck_assert_msg(a != NULL, "no %s", name);
    return (struct price_query){ .algorithm = a, .p = p, .seats = { .per_node = per_node } };
}

START_TEST(foretold_as_performed)
{
    static const struct {
        enum collective what;
        const char *name;
        int p, per_node, pieces, bytes;
    } cases[] = {
        { COLL_ALLREDUCE, "factored", 4096, 32, 1, 1 << 20 },
        { COLL_ALLREDUCE, "factored", 4096, 32, 1, 8 },
        { COLL_ALLREDUCE, "factored", 1536, 16, 1, 64 << 10 },
        { COLL_ALLREDUCE, "levels", 4096, 32, 1, 64 << 10 },
        { COLL_ALLREDUCE, "levels", 4090, 32, 4, 1 << 20 }, /* the last node is not full */
        { COLL_ALLREDUCE, "double-tree", 4096, 32, 4, 1 << 20 },
        { COLL_ALLREDUCE, "dual-root", 2048, 16, 4, 64 << 10 },
        { COLL_REDUCE, "scatter-gather", 4096, 32, 1, 1 << 20 },
        { COLL_BCAST, "binomial", 16384, 32, 1, 64 << 10 },
        { COLL_BCAST, "bine", 8192, 0, 4, 64 << 10 },
        { COLL_BCAST, "chain", 4096, 64, 16, 1 << 20 },
        { COLL_REDUCE, "double-tree", 4096, 64, 4, 1 << 20 },
        { COLL_GATHER, "binomial", 16384, 32, 1, 64 },
        { COLL_SCAN, "doubling", 2048, 32, 1, 1024 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct price_query q =
            query(cases[i].what, cases[i].name, cases[i].p, cases[i].per_node);
        struct sim few, all;
        q.pieces = cases[i].pieces;
        q.bytes = (size_t)cases[i].bytes;
        ck_assert_msg(sim_run(&price_standard, &q, NULL, FEW_STEPS, &few) == 0, "%s: %s",
                      cases[i].name, fail_text());
        ck_assert_int_eq(sim_run(&price_standard, &q, NULL, PLENTY, &all), 0);
        ck_assert_msg(few.grown > 0, "%s on %d ranks is performed", cases[i].name, q.p);
        ck_assert_int_lt(few.grown, q.p);
        ck_assert_int_eq(all.grown, 0);
        double times = price_seconds(few.price) / price_seconds(all.price);
        ck_assert_msg(times > 0.5 && times < 2, "%s on %d ranks: %.2f times as long",
                      cases[i].name, q.p, times);
    }
}
END_TEST

/* A root on a node that the smaller ones have not, too. */
START_TEST(roots_and_odd_numbers)
{
    for (int p = 4000; p < 4200; p += 33) {
        struct price_query q = query(COLL_BCAST, "binomial", p, 32);
        struct sim sim;
        q.bytes = 4096;
        q.root = p - 1;
        ck_assert_msg(sim_run(&price_standard, &q, NULL, FEW_STEPS, &sim) == 0, "%d: %s", p,
                      fail_text());
        ck_assert(price_seconds(sim.price) > 5e-6 && price_seconds(sim.price) < 100e-6);
        ck_assert(sim.bend <= 0.3);
    }
}
END_TEST

static int no_links(const void *self, int from, int to, int *link)
{
    (void)self, (void)from, (void)to, (void)link;
    return 0;
}

/* On networks of which there are smaller ones. */
START_TEST(foretold_on_networks)
{
    static const struct {
        enum collective what;
        const char *name, *network;
        int nodes, bytes;
    } cases[] = {
        { COLL_ALLREDUCE, "doubling", "torus:64x64", 4096, 64 << 10 },
        { COLL_ALLREDUCE, "doubling", "fat-tree:26", 4096, 64 << 10 },
        { COLL_ALLREDUCE, "doubling", "dragonfly:64x8x8", 4096, 64 << 10 },
        { COLL_ALLREDUCE, "doubling", "torus:16x16x16", 4096, 8 },
        { COLL_ALLREDUCE, "halving", "dragonfly+:64x8x8x8", 4096, 1 << 20 },
        { COLL_BCAST, "binomial", "torus:64x64", 4096, 64 << 10 },
        { COLL_BCAST, "binomial", "hypercube", 4096, 64 << 10 },
        { COLL_ALLREDUCE, "doubling", "ring", 512, 8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct price_query q = query(cases[i].what, cases[i].name, cases[i].nodes, 1);
        struct topology network;
        struct sim few, all;
        char wrong[TOPOLOGY_WRONG];
        q.bytes = (size_t)cases[i].bytes;
        ck_assert_msg(topology_open(&network, cases[i].network, cases[i].nodes, wrong), "%s",
                      wrong);
        for (struct topology *t = &network; t; t = t->half) {
            t->fabric.hop = 0.1e-6;
            t->fabric.byte = 1 / 12.5e9;
        }
        ck_assert_msg(sim_run(&price_standard, &q, &network.fabric, 4096, &few) == 0, "%s: %s",
                      cases[i].network, fail_text());
        ck_assert_int_eq(sim_run(&price_standard, &q, &network.fabric, PLENTY, &all), 0);
        topology_close(&network);
        ck_assert_msg(few.grown > 0 && all.grown == 0, "%s on %s: %d, %d", cases[i].name,
                      cases[i].network, few.grown, all.grown);
        double times = price_seconds(few.price) / price_seconds(all.price);
        ck_assert_msg(times > 0.8 && times < 1.25, "%s on %s: %.2f times as long",
                      cases[i].name, cases[i].network, times);
    }
}
END_TEST

/* Two groups, and a network of which there is no smaller one. */
START_TEST(what_does_not_grow)
{
    struct price_query q = { .algorithm = algorithm_find(COLL_BCAST, true, "tree"),
                             .p = 1 << 20 };
    struct sim sim;
    ck_assert_int_eq(sim_run(&price_standard, &q, NULL, FEW_STEPS, &sim),
                     MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "1048576 ranks"));
    fail_clear();
    struct fabric fabric = { .route = no_links, .nlinks = 1, .longest = 1 };
    q = query(COLL_ALLREDUCE, "double-tree", 4096, 32);
    q.bytes = 1 << 20;
    ck_assert_int_eq(sim_run(&price_standard, &q, NULL, FEW_STEPS, &sim), 0);
    ck_assert_int_eq(sim_run(&price_standard, &q, &fabric, FEW_STEPS, &sim),
                     MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert(strstr(fail_text(), "4096 ranks"));
}
END_TEST

static const char *chosen(enum collective what, int ranks, int nodes, size_t bytes)
{
    struct question q = { .what = what,
                          .ranks = ranks,
                          .nodes = nodes,
                          .bytes = bytes,
                          .no_tiny = "no slots",
                          .no_attach = "no slots" };
    struct choice choice;
    static const int first_of_node[] = { 0 };
    static const struct places places = { .levels = 1, .first = { first_of_node } };
    q.places = &places;
    return model_choose(&q, &choice) ? choice.algorithm->name : "nothing";
}

/* Where nodes are many and full, what crosses between them decides. */
START_TEST(many_ranks_choose_what_knows_nodes)
{
    ck_assert_str_eq(chosen(COLL_ALLREDUCE, 4096, 128, 1 << 20), "factored");
    ck_assert_str_eq(chosen(COLL_ALLREDUCE, 65536, 2048, 1 << 20), "factored");
    ck_assert_str_eq(chosen(COLL_ALLREDUCE, 16384, 512, 8), "levels");
    ck_assert_str_eq(chosen(COLL_BCAST, 8192, 64, 1 << 20), "double-tree");
}
END_TEST

UNIT_MAIN("grow", foretold_as_performed, roots_and_odd_numbers, foretold_on_networks,
          what_does_not_grow, many_ranks_choose_what_knows_nodes)
