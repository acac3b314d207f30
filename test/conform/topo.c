/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Topologies: Cartesian grids and their slices, graphs, distributed graphs.
 */
#include "test/conform/check.h"

static int me, n;

static int rank_of(MPI_Comm comm)
{
    int rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    return rank;
}

static int kind_of(MPI_Comm comm)
{
    int kind;
    CHECK_OK(MPI_Topo_test(comm, &kind));
    return kind;
}

static void test_dims(void)
{
    int dims[3] = { 0, 0, 0 };
    CHECK_OK(MPI_Dims_create(72, 2, dims));
    CHECK(dims[0] == 9 && dims[1] == 8);
    dims[0] = dims[1] = 0;
    CHECK_OK(MPI_Dims_create(7, 2, dims));
    CHECK(dims[0] == 7 && dims[1] == 1);
    dims[0] = 0, dims[1] = 3, dims[2] = 0;
    CHECK_OK(MPI_Dims_create(6, 3, dims));
    CHECK(dims[0] == 2 && dims[1] == 3 && dims[2] == 1);
    dims[0] = 0, dims[1] = 3, dims[2] = 0;
    CHECK_ERROR(MPI_Dims_create(7, 3, dims), MPI_ERR_DIMS);
}

/* A ring of rows: every process finds its neighbours by coordinates and by shifting. */
static void test_grid(MPI_Comm grid, const int dims[2], const int periods[2])
{
    int got[2], wraps[2], mine[2], coords[2], ndims, rank, source, dest;
    CHECK(kind_of(grid) == MPI_CART);
    CHECK_OK(MPI_Cartdim_get(grid, &ndims));
    CHECK_OK(MPI_Cart_get(grid, 2, got, wraps, mine));
    CHECK(ndims == 2 && got[0] == dims[0] && got[1] == dims[1]);
    CHECK(!wraps[0] == !periods[0] && !wraps[1] == !periods[1]);
    for (int i = 0; i < dims[0] * dims[1]; i++) {
        CHECK_OK(MPI_Cart_coords(grid, i, 2, coords));
        CHECK(coords[0] == i / dims[1] && coords[1] == i % dims[1]);
        CHECK_OK(MPI_Cart_rank(grid, coords, &rank));
        CHECK(rank == i);
    }
    for (int disp = -2; disp <= 2; disp++) {
        int down = mine[0] + disp, right = mine[1] + disp;
        CHECK_OK(MPI_Cart_shift(grid, 0, disp, &source, &dest));
        int wrapped = ((down % dims[0]) + dims[0]) % dims[0] * dims[1] + mine[1];
        CHECK(dest == wrapped);
        CHECK_OK(MPI_Cart_shift(grid, 1, disp, &source, &dest));
        int inside = right >= 0 && right < dims[1];
        CHECK(dest == (inside ? mine[0] * dims[1] + right : MPI_PROC_NULL));
    }
    coords[0] = mine[0] - 3 * dims[0], coords[1] = mine[1];
    CHECK_OK(MPI_Cart_rank(grid, coords, &rank));
    CHECK(rank == rank_of(grid));
    coords[1] = dims[1];
    CHECK_ERROR(MPI_Cart_rank(grid, coords, &rank), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Cart_coords(grid, 0, 1, coords), MPI_ERR_ARG);
}

static void test_sub(MPI_Comm grid, const int dims[2])
{
    MPI_Comm row, point, dup;
    int rows[2] = { 0, 1 }, nothing[2] = { 0, 0 }, coords[2], sum, first = rank_of(grid);
    CHECK_OK(MPI_Cart_coords(grid, rank_of(grid), 2, coords));
    CHECK_OK(MPI_Cart_sub(grid, rows, &row));
    CHECK(rank_of(row) == coords[1] && kind_of(row) == MPI_CART);
    CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, row));
    CHECK(first == coords[0] * dims[1]);
    CHECK_OK(MPI_Comm_dup(row, &dup));
    CHECK_OK(MPI_Cartdim_get(dup, &sum));
    CHECK(sum == 1);
    CHECK_OK(MPI_Cart_sub(grid, nothing, &point));
    CHECK_OK(MPI_Comm_size(point, &sum));
    CHECK(sum == 1);
    CHECK_OK(MPI_Cartdim_get(point, &sum));
    CHECK(sum == 0);
    CHECK_OK(MPI_Comm_free(&point));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&row));
}

static void test_cart(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, rank;
    MPI_Comm grid;
    CHECK_OK(MPI_Dims_create(n, 2, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    CHECK(rank_of(grid) == me);
    test_grid(grid, dims, periods);
    test_sub(grid, dims);
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank));
    CHECK(rank == MPI_UNDEFINED || (rank >= 0 && rank < n));
    CHECK_OK(MPI_Comm_free(&grid));
}

/* A grid that does not need everybody. */
static void test_small_cart(void)
{
    int one = 1, yes = 1, source, dest, huge = n + 1, zero = 0;
    MPI_Comm grid;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &yes, 0, &grid));
    CHECK((grid == MPI_COMM_NULL) == (me > 0));
    if (grid != MPI_COMM_NULL) {
        CHECK_OK(MPI_Cart_shift(grid, 0, 5, &source, &dest));
        CHECK(source == 0 && dest == 0);
        CHECK_ERROR(MPI_Cart_shift(grid, 1, 1, &source, &dest), MPI_ERR_DIMS);
        CHECK_OK(MPI_Comm_free(&grid));
    }
    CHECK_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 1, &huge, &yes, 0, &grid), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 1, &zero, &yes, 0, &grid), MPI_ERR_DIMS);
    CHECK(kind_of(MPI_COMM_WORLD) == MPI_UNDEFINED);
    CHECK_ERROR(MPI_Cartdim_get(MPI_COMM_WORLD, &one), MPI_ERR_TOPOLOGY);
}

/* A star: node 0 is everybody's neighbour. */
static void test_graph(void)
{
    int index[64], edges[128], got[128], count, nodes, nedges, all = 2 * (n - 1);
    MPI_Comm star, dup;
    for (int i = 0; i < n; i++)
        index[i] = n - 1 + i;
    for (int i = 0; i + 1 < n; i++) {
        edges[i] = i + 1;
        edges[n - 1 + i] = 0;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &star));
    CHECK(kind_of(star) == MPI_GRAPH);
    CHECK_OK(MPI_Comm_dup(star, &dup));
    CHECK_OK(MPI_Graphdims_get(dup, &nodes, &nedges));
    CHECK(nodes == n && nedges == all);
    CHECK_OK(MPI_Graph_neighbors_count(dup, me, &count));
    CHECK(count == (me == 0 ? n - 1 : 1));
    CHECK_OK(MPI_Graph_neighbors(dup, me, count, got));
    for (int i = 0; i < count; i++)
        CHECK(got[i] == (me == 0 ? i + 1 : 0));
    CHECK_OK(MPI_Graph_get(dup, n, all, index, got));
    for (int i = 0; i < all; i++)
        CHECK(got[i] == edges[i]);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&star));
}

static void test_ring(MPI_Comm ring, int weighted)
{
    int in, out, flag, source = -1, dest = -1, inweight = -1, outweight = -1;
    CHECK(kind_of(ring) == MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(ring, &in, &out, &flag));
    CHECK(in == 1 && out == 1 && !flag == !weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(ring, 1, &source, weighted ? &inweight : MPI_UNWEIGHTED,
                                      1, &dest, weighted ? &outweight : MPI_UNWEIGHTED));
    CHECK(source == (me + n - 1) % n && dest == (me + 1) % n);
    CHECK(!weighted || (inweight == source && outweight == me));
}

/* A ring of which every process knows its own edge, and one that process 0 knows alone. */
static void test_dist_graph(void)
{
    MPI_Comm ring, dup;
    int from = (me + n - 1) % n, to = (me + 1) % n;
    int sources[64], degrees[64], targets[64], weights[64];
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &from, 1, &to, &me,
                                            MPI_INFO_NULL, 0, &ring));
    test_ring(ring, 1);
    CHECK_OK(MPI_Comm_dup(ring, &dup));
    test_ring(dup, 1);
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Comm_free(&dup));
    for (int i = 0; i < n; i++) {
        sources[i] = weights[i] = n - 1 - i;
        degrees[i] = 1;
        targets[i] = (n - i) % n;
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, me == 0 ? n : 0, sources, degrees, targets,
                                   weights, MPI_INFO_NULL, 0, &ring));
    test_ring(ring, 1);
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, me == n - 1 ? n : 0, sources, degrees,
                                   targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
    test_ring(ring, 0);
    CHECK_OK(MPI_Comm_free(&ring));
}

/* It says that there are no weights, so it is none to be read where there are edges. */
static void test_no_weights(void)
{
    MPI_Comm graph;
    int one = 1;
    CHECK_ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, MPI_WEIGHTS_EMPTY, 1,
                                               &me, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                               &graph),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 1,
                                               &me, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                               &graph),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &me, MPI_WEIGHTS_EMPTY,
                                      MPI_INFO_NULL, 0, &graph),
                MPI_ERR_ARG);
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    test_dims();
    test_cart();
    test_small_cart();
    test_graph();
    test_dist_graph();
    test_no_weights();
    return check_done();
}
