/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mapping graphs onto machines: synthetic tables of seats, grids and random graphs, optima by
 * trying all permutations where there are few.
 */
#include "src/reorder.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024, BONDS = 4 * MOST };

static struct seat seats[MOST];
static struct bond bonds[BONDS];
static size_t nbonds;
static int map[MOST], dims[2];

/* ---- machines and graphs ---- */

/* Process i on core i / spread of a machine whose consecutive cores lie on different nodes,
 * packages and caches in turn: the worst order for neighbours in the graph. */
static void seats_scatter(int n, int nodes, int packages, int caches)
{
    for (int i = 0; i < n; i++) {
        int at = i;
        seats[i].node = at % nodes;
        at /= nodes;
        seats[i].package = seats[i].numa = (int16_t)(at % packages);
        at /= packages;
        seats[i].l3 = (int16_t)(seats[i].package * caches + at % caches);
        seats[i].core = (int16_t)(i / nodes);
    }
}

static void seats_unknown(int n)
{
    for (int i = 0; i < n; i++)
        seats[i] = (struct seat){ 0, -1, -1, -1, -1 };
}

static void bond_add(int a, int b, int weight)
{
    ck_assert(nbonds < BONDS);
    bonds[nbonds++] = (struct bond){ a, b, weight };
}

static struct pattern graph_of(int n)
{
    return (struct pattern){ .n = n, .nbonds = nbonds, .bonds = bonds };
}

static struct pattern grid_of(int n)
{
    return (
        struct pattern){ .n = n, .nbonds = nbonds, .bonds = bonds, .ndims = 2, .dims = dims };
}

static void grid(int rows, int columns, bool wraps)
{
    nbonds = 0;
    dims[0] = rows;
    dims[1] = columns;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            if (c + 1 < columns || wraps)
                bond_add(r * columns + c, r * columns + (c + 1) % columns, 1);
            if (r + 1 < rows || wraps)
                bond_add(r * columns + c, (r + 1) % rows * columns + c, 1);
        }
}

/* ---- what must hold ---- */

static void check_permutation(int n)
{
    static bool seen[MOST];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < n; i++) {
        ck_assert_int_ge(map[i], 0);
        ck_assert_int_lt(map[i], n);
        ck_assert(!seen[map[i]]);
        seen[map[i]] = true;
    }
}

static bool is_identity(int n)
{
    for (int i = 0; i < n; i++)
        if (map[i] != i)
            return false;
    return true;
}

static int64_t cost_of(const int *order, int n)
{
    struct pattern p = graph_of(n);
    return reorder_cost(&p, seats, order);
}

/* The cost of the result; it is the identity or cheaper. */
static int64_t mapped_pattern(const struct pattern *p)
{
    ck_assert(reorder_map(p, seats, map));
    check_permutation(p->n);
    int64_t before = cost_of(NULL, p->n), after = cost_of(map, p->n);
    ck_assert(after < before || (after == before && is_identity(p->n)));
    return after;
}

static int64_t mapped(int n)
{
    struct pattern p = graph_of(n);
    return mapped_pattern(&p);
}

static int64_t mapped_grid(int n)
{
    struct pattern p = grid_of(n);
    return mapped_pattern(&p);
}

static uint64_t chance(uint64_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* ---- tests ---- */

START_TEST(distances_grow_outwards)
{
    struct seat a = { 0, 0, 0, 0, 0 }, b = a;
    ck_assert_int_eq(seat_distance(&a, &b), 1);
    b.core = 1;
    ck_assert_int_eq(seat_distance(&a, &b), 2);
    b.l3 = 1;
    ck_assert_int_eq(seat_distance(&a, &b), 4);
    b.numa = 1;
    ck_assert_int_eq(seat_distance(&a, &b), 8);
    b.package = 1;
    ck_assert_int_eq(seat_distance(&a, &b), 16);
    b = a;
    b.node = 1;
    ck_assert_int_eq(seat_distance(&a, &b), 64);
    a = b = (struct seat){ 0, -1, -1, -1, -1 };
    ck_assert_int_eq(seat_distance(&a, &b), 16);
}
END_TEST

START_TEST(scattered_grid_comes_together)
{
    seats_scatter(16, 1, 2, 1); /* two packages of eight cores, dealt in turn */
    grid(4, 4, false);
    ck_assert_int_eq(cost_of(NULL, 16), 12 * 16 + 12 * 2);
    ck_assert_int_eq(mapped(16), 4 * 16 + 20 * 2); /* two halves, four bonds between */
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < i; j++)
            ck_assert(i / 8 != j / 8 || seats[map[i]].package == seats[map[j]].package ||
                      i / 4 != j / 4);
}
END_TEST

START_TEST(square_blocks_beat_rows)
{
    seats_scatter(16, 4, 1, 1); /* four nodes of four */
    grid(4, 4, false);
    ck_assert_int_eq(mapped(16), 8 * 64 + 16 * 2); /* four blocks of 2 x 2 */
    ck_assert_int_eq(mapped_grid(16), 8 * 64 + 16 * 2);
    grid(4, 4, true);
    ck_assert_int_eq(mapped(16), 16 * 64 + 16 * 2);
    ck_assert_int_eq(mapped_grid(16), 16 * 64 + 16 * 2);
}
END_TEST

START_TEST(levels_nest)
{
    seats_scatter(64, 4, 2, 2); /* nodes, packages, caches of 16, 8 and 4 */
    grid(8, 8, false);
    /* Blocks of 4 x 4 between nodes, 4 x 2 in packages, 2 x 2 below caches. */
    int64_t best = 16 * 64 + 16 * 16 + 16 * 4 + 64 * 2;
    ck_assert_int_eq(mapped_grid(64), best);
    ck_assert_int_le(mapped(64), best + best / 3);
}
END_TEST

START_TEST(identity_stays_when_nothing_is_better)
{
    for (int i = 0; i < 16; i++)
        seats[i] = (struct seat){ 0, (int16_t)(i / 8), (int16_t)(i / 8), (int16_t)(i / 8),
                                  (int16_t)i };
    grid(4, 4, false);
    mapped(16);
    ck_assert(is_identity(16));
    seats_unknown(16);
    mapped(16);
    ck_assert(is_identity(16));
    seats_scatter(16, 2, 2, 1);
    nbonds = 0; /* nobody talks */
    mapped(16);
    ck_assert(is_identity(16));
    bond_add(3, 3, 5); /* only to itself */
    bond_add(0, 1, 0); /* nothing */
    mapped(16);
    ck_assert(is_identity(16));
    mapped(0);
    mapped(1);
}
END_TEST

START_TEST(weights_decide)
{
    seats_scatter(4, 2, 1, 1); /* 0 and 2, 1 and 3 share a node */
    nbonds = 0;
    bond_add(0, 1, 10);
    bond_add(0, 2, 1);
    bond_add(0, 3, 1);
    ck_assert_int_eq(mapped(4), 10 * 2 + 2 * 64);
    ck_assert_int_eq(seats[map[0]].node, seats[map[1]].node);
}
END_TEST

START_TEST(unequal_nodes_and_loose_parts)
{
    for (int i = 0; i < 10; i++) /* three on node 0, seven on node 1 */
        seats[i] = (struct seat){ i % 3 != 0 || i == 9, -1, -1, -1, -1 };
    nbonds = 0;
    for (int i = 0; i < 5; i++) /* a chain of six with a heavy end, four alone */
        bond_add(i, i + 1, i ? 1 : 9);
    ck_assert_int_eq(mapped(10), 13 * 16);
}
END_TEST

START_TEST(grids_of_any_shape_and_size)
{
    for (int rows = 1; rows < 8; rows++)
        for (int columns = 1; columns < 8; columns++) {
            seats_scatter(rows * columns, 1 + rows % 3, 2, 1 + columns % 2);
            grid(rows, columns, rows % 2);
            mapped_grid(rows * columns);
        }
}
END_TEST

/* ---- against all permutations ---- */

static int64_t best_of_all(int n, int *order, int fixed)
{
    if (fixed == n)
        return cost_of(order, n);
    int64_t best = INT64_MAX;
    for (int i = fixed; i < n; i++) {
        int keep = order[fixed];
        order[fixed] = order[i];
        order[i] = keep;
        int64_t cost = best_of_all(n, order, fixed + 1);
        best = cost < best ? cost : best;
        order[i] = order[fixed];
        order[fixed] = keep;
    }
    return best;
}

static void random_case(int n)
{
    for (int i = 0; i < n; i++)
        seats[i] = (struct seat){ (int32_t)chance(2), (int16_t)((int)chance(3) - 1),
                                  (int16_t)((int)chance(3) - 1), (int16_t)((int)chance(3) - 1),
                                  (int16_t)((int)chance(6) - 1) };
    nbonds = 0;
    for (uint64_t edges = chance(3 * (uint64_t)n); edges > 0; edges--)
        bond_add((int)chance((uint64_t)n), (int)chance((uint64_t)n), (int)chance(4));
}

START_TEST(small_graphs_are_near_the_optimum)
{
    int64_t found = 0, optimal = 0, plain = 0;
    for (int round = 0; round < 150; round++) {
        int n = 1 + (int)chance(7), order[8];
        random_case(n);
        for (int i = 0; i < n; i++)
            order[i] = i;
        int64_t best = best_of_all(n, order, 0), mine = mapped(n);
        ck_assert(mine >= best);
        found += mine;
        optimal += best;
        plain += cost_of(NULL, n);
    }
    printf("identity %lld, found %lld, optimal %lld\n", (long long)plain, (long long)found,
           (long long)optimal);
    ck_assert(found * 100 <= optimal * 103);
    ck_assert(found < plain);
}
END_TEST

/* Grids of up to eight places on seats of any kind. */
START_TEST(small_grids_are_at_the_optimum)
{
    const int shapes[][2] = { { 2, 2 }, { 4, 1 }, { 3, 2 }, { 2, 3 }, { 7, 1 }, { 4, 2 } };
    int missed = 0, cases = 0;
    int64_t found = 0, optimal = 0;
    for (int round = 0; round < 60; round++) {
        const int *shape = shapes[round % 6];
        int n = shape[0] * shape[1], order[8];
        random_case(n);
        grid(shape[0], shape[1], round % 2);
        for (int i = 0; i < n; i++)
            order[i] = i;
        int64_t best = best_of_all(n, order, 0), mine = mapped_grid(n);
        ck_assert(mine >= best);
        found += mine;
        optimal += best;
        missed += mine > best;
        cases++;
    }
    printf("grids: found %lld, optimal %lld, %d of %d missed\n", (long long)found,
           (long long)optimal, missed, cases);
    ck_assert(found * 100 <= optimal * 101);
}
END_TEST

START_TEST(large_graphs_are_permutations_too)
{
    for (int round = 0; round < 6; round++) {
        random_case(200 + 100 * round);
        mapped(200 + 100 * round);
    }
}
END_TEST

START_TEST(large_grids_take_little_time)
{
    seats_scatter(1024, 16, 2, 4);
    grid(32, 32, true);
    /* Blocks of 8 x 8 on nodes, 8 x 4 in packages, 4 x 2 below caches. */
    int64_t best = 256 * 64 + 128 * 16 + 384 * 4 + 1280 * 2;
    clock_t start = clock();
    ck_assert_int_eq(mapped_grid(1024), best);
    clock_t middle = clock();
    int64_t grown = mapped(1024);
    printf("32 x 32 on 16 nodes: %lld, grown %lld; %.1f and %.1f ms\n", (long long)best,
           (long long)grown, (double)(middle - start) * 1e3 / CLOCKS_PER_SEC,
           (double)(clock() - middle) * 1e3 / CLOCKS_PER_SEC);
    ck_assert_int_lt(grown, 2 * best);
}
END_TEST

/* Neighbours anywhere, so that half of the graph borders on what has grown: each step may look at few of them.  And a
 * graph of pairs, which needs a new beginning for each. */
START_TEST(large_graphs_take_little_time)
{
    enum { PARTS = 1 << 16, DEGREE = 8, SECONDS = 6 };
    struct seat *where = calloc(PARTS, sizeof *where);
    struct bond *ties = malloc((size_t)PARTS * DEGREE * sizeof *ties);
    int *who = malloc(PARTS * sizeof *who), *seen = calloc(PARTS, sizeof *seen);
    ck_assert(where && ties && who && seen);
    for (int i = 0; i < PARTS; i++)
        where[i].node = i % 64;
    for (int degree = DEGREE; degree >= 0; degree -= DEGREE) {
        struct pattern pattern = { .n = PARTS, .bonds = ties };
        for (int i = 0; i < PARTS * degree; i++)
            ties[pattern.nbonds++] =
                (struct bond){ i / DEGREE, rand() % PARTS, 1 + rand() % 9 };
        for (int i = 0; i < PARTS / 2 && !degree; i++)
            ties[pattern.nbonds++] = (struct bond){ i, i + PARTS / 2, 1 };
        clock_t start = clock();
        ck_assert(reorder_map(&pattern, where, who));
        ck_assert_int_lt((clock() - start) / CLOCKS_PER_SEC, SECONDS);
        ck_assert(reorder_cost(&pattern, where, who) <= reorder_cost(&pattern, where, NULL));
        for (int i = 0; i < PARTS; i++)
            seen[who[i]]++;
    }
    for (int i = 0; i < PARTS; i++)
        ck_assert_int_eq(seen[i], 2);
    free(where);
    free(ties);
    free(who);
    free(seen);
}
END_TEST

/* Everybody with everybody, in both directions: exchanges look at all ties of a part. */
START_TEST(dense_graphs_take_little_time)
{
    enum { PARTS = 256, SECONDS = 6 };
    struct bond *ties = malloc((size_t)2 * PARTS * PARTS * sizeof *ties);
    ck_assert(ties);
    seats_scatter(PARTS, 16, 2, 2);
    struct pattern pattern = { .n = PARTS, .bonds = ties };
    for (int i = 0; i < 2 * PARTS * PARTS; i++)
        ties[pattern.nbonds++] =
            (struct bond){ i / PARTS % PARTS, i % PARTS, 1 + rand() % 1000 };
    clock_t start = clock();
    ck_assert(reorder_map(&pattern, seats, map));
    ck_assert_int_lt((clock() - start) / CLOCKS_PER_SEC, SECONDS);
    ck_assert(reorder_cost(&pattern, seats, map) < reorder_cost(&pattern, seats, NULL));
    free(ties);
}
END_TEST

START_TEST(equal_arguments_give_equal_maps)
{
    static int again[MOST];
    random_case(300);
    mapped(300);
    memcpy(again, map, sizeof again);
    mapped(300);
    ck_assert_int_eq(memcmp(again, map, 300 * sizeof *map), 0);
}
END_TEST

UNIT_MAIN("reorder", distances_grow_outwards, scattered_grid_comes_together,
          square_blocks_beat_rows, levels_nest, identity_stays_when_nothing_is_better,
          weights_decide, unequal_nodes_and_loose_parts, grids_of_any_shape_and_size,
          small_graphs_are_near_the_optimum, small_grids_are_at_the_optimum,
          large_graphs_are_permutations_too, large_grids_take_little_time,
          large_graphs_take_little_time, dense_graphs_take_little_time,
          equal_arguments_give_equal_maps)
