/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Networks: how long routes are, and that a network which says that it looks the same from
 * elsewhere does: otherwise few ranks could not stand for many.
 */
#include "tools/topology.h"

#include "coll/forced.h"
#include "runtime/fail.h"
#include "test/unit/unit.h"

#include <math.h>
#include <string.h>

enum { PLENTY = 4000000 };

static const struct {
    const char *name;
    int nodes;
} networks[] = {
    { "ring", 16 },
    { "ring", 9 },
    { "torus:4x8", 32 },
    { "torus:3x4x5", 60 },
    { "hypercube", 32 },
    { "fat-tree:4", 16 },
    { "fat-tree:6", 54 },
    { "fat-tree:8", 64 },
    { "dragonfly:5x4x2", 40 },
    { "dragonfly+:5x3x2x4", 60 },
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static void open_network(struct topology *t, const char *name, int nodes)
{
    char wrong[TOPOLOGY_WRONG];
    ck_assert_msg(topology_open(t, name, nodes, wrong), "%s: %s", name, wrong);
    t->fabric.hop = 0.1e-6;
    t->fabric.byte = 1e-9;
}

static int hops(struct topology *t, int from, int to)
{
    int link[64];
    ck_assert_int_le(t->fabric.longest, 64);
    int n = t->fabric.route(t, from, to, link);
    ck_assert_int_le(n, t->fabric.longest);
    for (int i = 0; i < n; i++)
        ck_assert(link[i] >= 0 && link[i] < t->fabric.nlinks);
    return n;
}

START_TEST(routes_are_as_long_as_they_should_be)
{
    struct topology t;
    open_network(&t, "ring", 10);
    ck_assert_int_eq(hops(&t, 1, 9), 2);
    ck_assert_int_eq(hops(&t, 9, 4), 5);
    open_network(&t, "torus:4x8", 32);
    ck_assert_int_eq(hops(&t, 0, 31), 2); /* one back in both */
    ck_assert_int_eq(hops(&t, 0, 2 * 8 + 4), 6);
    open_network(&t, "hypercube", 64);
    ck_assert_int_eq(hops(&t, 5, 58), 6);
    open_network(&t, "fat-tree:4", 16);
    ck_assert_int_eq(hops(&t, 0, 1), 0);
    ck_assert_int_eq(hops(&t, 0, 3), 2);
    ck_assert_int_eq(hops(&t, 0, 15), 4);
    open_network(&t, "dragonfly:5x4x2", 40);
    ck_assert_int_eq(hops(&t, 0, 1), 0);
    ck_assert_int_eq(hops(&t, 0, 7), 1);
    for (int a = 0; a < 40; a++)
        for (int b = 0; b < 40; b++)
            ck_assert_int_ge(hops(&t, a, b), a / 8 != b / 8);
}
END_TEST

static void compare_routes(struct topology *t, const int from[2], const int to[2], bool flipped)
{
    int one[64], two[64];
    int n = t->fabric.route(t, from[0], to[0], one);
    ck_assert_int_eq(n, t->fabric.route(t, from[1], to[1], two));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(t->fabric.fold(t, one[i], flipped),
                         t->fabric.fold(t, two[i], flipped));
}

START_TEST(what_looks_the_same_is_the_same)
{
    for (int i = 0; i < NETWORKS; i++) {
        struct topology t;
        int n = networks[i].nodes;
        open_network(&t, networks[i].name, n);
        ck_assert(t.fabric.period > 0 || t.fabric.flips);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                int further = t.fabric.period;
                if (further)
                    compare_routes(&t, (int[]){ a, (a + further) % n },
                                   (int[]){ b, (b + further) % n }, false);
                for (int m = 1; t.fabric.flips && m < n; m *= 2)
                    compare_routes(&t, (int[]){ a, a ^ m }, (int[]){ b, b ^ m }, true);
            }
    }
}
END_TEST

static const struct price_model model = {
    .link = { [DISTANCE_CACHE] = { 1e-6, 0.2e-6, 0.1e-6, 1e-9, 0 },
              [DISTANCE_NET] = { 5e-6, 0.5e-6, 0.3e-6, 2e-9, 0 } },
    .fold = 3e-9,
};

static double performed(const struct price_query *query, const struct fabric *fabric)
{
    struct sim sim;
    ck_assert_msg(sim_run(&model, query, fabric, PLENTY, &sim) == 0, "%s", fail_text());
    return price_seconds(sim.price);
}

/* Everybody performed, and few for all of them. */
static void compare_times(enum collective what, const char *name, const char *network,
                          int nodes)
{
    struct topology t;
    const struct algorithm *a = algorithm_find(what, false, name);
    ck_assert_ptr_nonnull(a);
    struct price_query query = {
        .algorithm = a, .p = 2 * nodes, .bytes = 4096, .seats = { .per_node = 2 }
    };
    open_network(&t, network, nodes);
    double few = performed(&query, &t.fabric);
    t.fabric.period = 0;
    t.fabric.flips = false;
    double all = performed(&query, &t.fabric);
    ck_assert_msg(fabs(few - all) < 1e-9 * all, "%s on %s: %g instead of %g", name, network,
                  few, all);
    double wires = performed(&query, NULL);
    ck_assert_msg(all >= wires * (1 - 1e-9), "%s is faster than wires", network);
}

START_TEST(few_nodes_stand_for_many)
{
    for (int i = 0; i < NETWORKS; i++)
        compare_times(COLL_ALLREDUCE, "ring", networks[i].name, networks[i].nodes);
    compare_times(COLL_ALLREDUCE, "doubling", "hypercube", 32);
    compare_times(COLL_ALLREDUCE, "doubling", "fat-tree:8", 64);
}
END_TEST

/* Eight nodes shift by four on a ring: every link is wanted by four messages at once. */
START_TEST(links_are_shared)
{
    struct topology t;
    struct cast cast;
    struct price price[2];
    const struct algorithm *a = algorithm_find(COLL_ALLREDUCE, false, "doubling");
    ck_assert_ptr_nonnull(a);
    struct price_query query = { .algorithm = a, .p = 8, .bytes = 1000000 };
    struct price_model slow = { .link = { [DISTANCE_NET] = { .byte = 1e-12 } } };
    struct seats seats = { .per_node = 1 };
    open_network(&t, "ring", 8);
    t.fabric.hop = 0;
    ck_assert_int_eq(cast_open(&cast, &query, 1, (struct grouping){ 0, 0 }, PLENTY), 0);
    ck_assert_int_eq(sim_perform(&cast, &slow, &seats, &t.fabric, &price[0]), 0);
    ck_assert_int_eq(sim_perform(&cast, &slow, &seats, NULL, &price[1]), 0);
    ck_assert_double_ge(price_seconds(price[0]), price_seconds(price[1]) + 3e-3);
    cast_close(&cast);
}
END_TEST

/* One message that nobody disturbs: its end comes no sooner than the slowest of interfaces and links lets it. */
START_TEST(a_slow_link_takes_its_time)
{
    struct topology t;
    struct cast cast;
    struct price price;
    const struct algorithm *a = algorithm_find(COLL_BCAST, false, "binomial");
    ck_assert_ptr_nonnull(a);
    struct price_query query = { .algorithm = a, .p = 2, .bytes = 1000000 };
    struct seats seats = { .per_node = 1 };
    open_network(&t, "ring", 2);
    t.fabric.hop = 0;
    ck_assert_int_eq(cast_open(&cast, &query, 1, (struct grouping){ 0, 0 }, PLENTY), 0);
    for (double byte = 1e-12; byte < 1e-7; byte *= 10) {
        struct price_model net = { .link = { [DISTANCE_NET] = { .byte = byte } } };
        ck_assert_int_eq(sim_perform(&cast, &net, &seats, &t.fabric, &price), 0);
        ck_assert_double_eq_tol(price_seconds(price), 1e6 * fmax(byte, t.fabric.byte), 1e-12);
    }
    cast_close(&cast);
}
END_TEST

START_TEST(what_cannot_be_says_so)
{
    static const struct {
        const char *name, *text;
        int nodes;
    } cases[] = {
        { "star", "there is wires", 4 },
        { "torus", "torus:4x4", 4 },
        { "torus:4x", "torus:4x4", 4 },
        { "torus:4x4", "16 nodes, not 8", 8 },
        { "torus:4096x4097", "has 16777216 nodes at most, and 1048576 on a side", 8 },
        { "torus:1048577", "has 16777216 nodes at most", 8 },
        { "dragonfly:99999999999999999999x1x1", "has 16777216 nodes at most", 8 },
        { "torus:1x1x1x1x1x1x2", "a torus has 6 dimensions at most", 2 },
        { "torus:0x4", "torus:4x4", 4 },
        { "torus:-4", "torus:4x4", 4 },
        { "dragonfly:1x1x1x1x1x1x1", "dragonfly:9x4x2", 1 },
        { "hypercube", "power of two", 12 },
        { "fat-tree:5", "even number", 8 },
        { "fat-tree:4", "16 nodes, not 17", 17 },
        { "ring:4", "as in ring", 4 },
        { "dragonfly:3x2", "dragonfly:9x4x2", 6 },
        { "dragonfly:65536x1x1", "4295032832 links, more than 268435456", 65536 },
        { "dragonfly:4096x4096x1", "take fewer groups", 4096 * 4096 },
        { "dragonfly+:46341x1x1x1", "take fewer groups", 46341 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct topology t;
        char wrong[TOPOLOGY_WRONG] = "";
        ck_assert(!topology_open(&t, cases[i].name, cases[i].nodes, wrong));
        ck_assert_msg(strstr(wrong, cases[i].text), "%s: %s", cases[i].name, wrong);
    }
}
END_TEST

UNIT_MAIN("topology", routes_are_as_long_as_they_should_be, what_looks_the_same_is_the_same,
          few_nodes_stand_for_many, links_are_shared, a_slow_link_takes_its_time,
          what_cannot_be_says_so)
