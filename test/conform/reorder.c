/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Topologies that may reorder: whoever becomes rank i gets the place, the neighbours and the
 * weights of i; processes outside stay outside; and where ranks are bound to cores in turn, pairs
 * that talk end up on one core.
 *
 * conform-options: --bind-to core
 */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <stdbool.h>

static int me, n;

/* Everybody's new rank is another one; `of` gets who became rank i. */
static void who_became(MPI_Comm comm, int *of)
{
    int rank, all[64];
    bool seen[64] = { false };
    CHECK(n <= 64);
    MPI_Comm_rank(comm, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK(all[i] >= 0 && all[i] < n && !seen[all[i]]);
        seen[all[i]] = true;
        of[all[i]] = i;
    }
}

/* The only CPU I may use, -1 when there are several. */
static int my_cpu(void)
{
    cpu_set_t set;
    int cpu = -1;
    if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) != 1)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpu = i;
    return cpu;
}

/* ---- grids ---- */

static void test_cart(int periodic)
{
    int dims[2] = { 0, 0 }, periods[2] = { periodic, !periodic }, coords[2], of[64], rank,
        guess;
    MPI_Comm grid;
    MPI_Dims_create(n, 2, dims);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
    MPI_Comm_rank(grid, &rank);
    who_became(grid, of);
    CHECK_OK(MPI_Cart_coords(grid, rank, 2, coords));
    CHECK(coords[0] == rank / dims[1] && coords[1] == rank % dims[1]);
    CHECK_OK(MPI_Cart_get(grid, 2, dims, periods, coords));
    CHECK(coords[0] == rank / dims[1] && coords[1] == rank % dims[1]);
    for (int dim = 0; dim < 2; dim++) {
        int below, above, got = -7;
        CHECK_OK(MPI_Cart_shift(grid, dim, 1, &below, &above));
        CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, above, 1, &got, 1, MPI_INT, below, 1, grid,
                              MPI_STATUS_IGNORE));
        CHECK(got == (below == MPI_PROC_NULL ? -7 : below));
    }
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &guess));
    CHECK(guess >= 0 && guess < n);
    MPI_Comm_free(&grid);
}

static void test_small_cart(void)
{
    int dims[1] = { n > 1 ? n - 1 : 1 }, periods[1] = { 1 }, rank = -1, size;
    MPI_Comm ring;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &ring));
    CHECK((ring == MPI_COMM_NULL) == (me >= dims[0]));
    if (ring == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(ring, &rank);
    MPI_Comm_size(ring, &size);
    CHECK(size == dims[0] && rank >= 0 && rank < size);
    int sum, wanted = size * (size - 1) / 2;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, ring);
    CHECK(sum == wanted);
    MPI_Comm_free(&ring);
}

/* ---- graphs ---- */

/* 0 with 1, 2 with 3, ... */
static int partner(int rank)
{
    int other = rank ^ 1;
    return other < n ? other : rank;
}

/* Whether the ranks are on one node, and on two CPUs: 0 1 0 1; then pairs can come together. */
static bool cpus_in_turn(const int cpus[])
{
    bool yes = world_is_one_node() && n >= 4 && n % 4 == 0 && cpus[0] >= 0;
    for (int i = 0; i < n; i++)
        yes = yes && cpus[i] == cpus[i % 2] && cpus[0] != cpus[1];
    return yes;
}

static void test_graph(void)
{
    int index[64], edges[64], of[64], rank, count, neighbour, guess;
    MPI_Comm pairs;
    for (int i = 0; i < n; i++) {
        index[i] = i + 1;
        edges[i] = partner(i);
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 1, &pairs));
    MPI_Comm_rank(pairs, &rank);
    who_became(pairs, of);
    CHECK_OK(MPI_Graph_neighbors_count(pairs, rank, &count));
    CHECK(count == 1);
    CHECK_OK(MPI_Graph_neighbors(pairs, rank, 1, &neighbour));
    CHECK(neighbour == partner(rank));
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, &guess));
    CHECK(guess >= 0 && guess < n);
    int cpu = my_cpu(), cpus[64];
    MPI_Allgather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
    if (cpus_in_turn(cpus))
        CHECK(cpus[of[rank]] == cpus[of[partner(rank)]]);
    MPI_Comm_free(&pairs);
}

/* Part i sends to i + 1 (weight i + 1) and to 2 i (weight 7). */
static void check_dist(MPI_Comm graph, bool weighted)
{
    int rank, of[64], in, out, is_weighted;
    int sources[64], source_weights[64], targets[2], target_weights[2];
    MPI_Comm_rank(graph, &rank);
    who_became(graph, of);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &is_weighted));
    CHECK(out == 2 && !is_weighted == !weighted && in <= 64);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, in, sources,
                                      weighted ? source_weights : MPI_UNWEIGHTED, out, targets,
                                      weighted ? target_weights : MPI_UNWEIGHTED));
    int next = (rank + 1) % n, twice = 2 * rank % n, first = targets[0] == next ? 0 : 1;
    CHECK(targets[first] == next && targets[!first] == twice);
    if (weighted && next != twice)
        CHECK(target_weights[first] == rank + 1 && target_weights[!first] == 7);
    int expected = 0;
    for (int i = 0; i < n; i++)
        expected += ((i + 1) % n == rank) + (2 * i % n == rank);
    CHECK(in == expected);
    for (int i = 0; i < in; i++) {
        bool is_next = (sources[i] + 1) % n == rank, is_twice = 2 * sources[i] % n == rank;
        CHECK(is_next || is_twice);
        if (weighted)
            CHECK((is_next && source_weights[i] == sources[i] + 1) ||
                  (is_twice && source_weights[i] == 7));
    }
    int got[64];
    CHECK_OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, graph));
    for (int i = 0; i < in; i++)
        CHECK(got[i] == sources[i]);
}

static void test_dist(void)
{
    int degree = 2, targets[2] = { (me + 1) % n, 2 * me % n }, weights[2] = { me + 1, 7 };
    MPI_Comm graph;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, targets, weights,
                                   MPI_INFO_NULL, 1, &graph));
    check_dist(graph, true);
    MPI_Comm_free(&graph);
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, targets, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 1, &graph));
    check_dist(graph, false);
    MPI_Comm_free(&graph);
}

static void test_adjacent(void)
{
    int sources[64], source_weights[64], in = 0;
    int targets[2] = { (me + 1) % n, 2 * me % n }, weights[2] = { me + 1, 7 };
    MPI_Comm graph;
    for (int i = 0; i < n; i++) {
        if ((i + 1) % n == me) {
            sources[in] = i;
            source_weights[in++] = i + 1;
        }
        if (2 * i % n == me) {
            sources[in] = i;
            source_weights[in++] = 7;
        }
    }
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources,
                                            in ? source_weights : MPI_WEIGHTS_EMPTY, 2, targets,
                                            weights, MPI_INFO_NULL, 1, &graph));
    check_dist(graph, true);
    MPI_Comm_free(&graph);
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, 2,
                                            targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph));
    check_dist(graph, false);
    MPI_Comm_free(&graph);
}

/* Pairs that talk much, in a ring that talks little. */
static void test_pairs(void)
{
    int degree = 2, of[64], rank, cpu = my_cpu(), cpus[64];
    int targets[2] = { partner(me), (me + 1) % n }, weights[2] = { 100, 1 };
    MPI_Comm graph;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, targets, weights,
                                   MPI_INFO_NULL, 1, &graph));
    MPI_Comm_rank(graph, &rank);
    who_became(graph, of);
    MPI_Allgather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
    if (cpus_in_turn(cpus))
        CHECK(cpus[of[rank]] == cpus[of[partner(rank)]]);
    MPI_Comm_free(&graph);
}

/* A process without edges that does not say MPI_WEIGHTS_EMPTY, as it should: weights still go with their part.  Only
 * even ones send, each to the next one. */
static void test_unsaid_weights(void)
{
    int sends = me % 2 == 0 && n > 1, degree = 1, target = (me + 1) % n, weight = 100 + me;
    int in, out, weighted, rank, to[1], weights[1] = { -1 };
    MPI_Comm graph;
    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, 0, NULL, sends ? MPI_WEIGHTS_EMPTY : MPI_UNWEIGHTED, sends * degree,
        &target, sends ? &weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph));
    MPI_Comm_rank(graph, &rank);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    sends = rank % 2 == 0 && n > 1;
    CHECK(in == 0 && out == sends && weighted == sends);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, 0, NULL, MPI_UNWEIGHTED, out, to,
                                      sends ? weights : NULL));
    CHECK(!sends || (to[0] == (rank + 1) % n && weights[0] == 100 + rank));
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    me = world_rank();
    n = world_size();
    test_cart(0);
    test_cart(1);
    test_small_cart();
    test_graph();
    test_dist();
    test_adjacent();
    test_pairs();
    test_unsaid_weights();
    return check_done();
}
