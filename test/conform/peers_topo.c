/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Topologies where other libraries stumble: MPI_Dims_create as balanced as factors allow, checked
 * against all ways to write the number; grids and graphs smaller than the communicator, where
 * MPI_Cart_map and MPI_Graph_map must say MPI_UNDEFINED.
 */
#include "test/conform/check.h"

static int me, n;

/* The smallest possible difference between the largest and the smallest factor of `rest` in
 * `left` factors, none below `least` and none above `most`. */
static int best_spread(int rest, int left, int first, int least)
{
    if (left == 1)
        return rest >= least ? rest - first : -1;
    int best = -1;
    for (int f = least; f <= rest; f++) {
        int spread = rest % f ? -1 : best_spread(rest / f, left - 1, first ? first : f, f);
        if (spread >= 0 && (best < 0 || spread < best))
            best = spread;
    }
    return best;
}

static void check_dims(int nodes, int ndims)
{
    int dims[4] = { 0 }, product = 1;
    CHECK_OK(MPI_Dims_create(nodes, ndims, dims));
    for (int i = 0; i < ndims; i++) {
        product *= dims[i];
        CHECK(i == 0 || dims[i] <= dims[i - 1]);
    }
    CHECK(product == nodes);
    if (ndims > 1)
        CHECK(dims[0] - dims[ndims - 1] == best_spread(nodes, ndims, 0, 1));
}

static void test_dims(void)
{
    int two[2] = { 0, 0 }, three[3] = { 0, 0, 0 }, four[4] = { 0, 7, 0, 2 };
    CHECK_OK(MPI_Dims_create(72, 2, two));
    CHECK(two[0] == 9 && two[1] == 8);
    CHECK_OK(MPI_Dims_create(60, 3, three));
    CHECK(three[0] == 5 && three[1] == 4 && three[2] == 3);
    CHECK_OK(MPI_Dims_create(14 * 72, 4, four));
    CHECK(four[0] == 9 && four[1] == 7 && four[2] == 8 && four[3] == 2);
    for (int nodes = 1; nodes <= 200; nodes++)
        for (int ndims = 1; ndims <= 4; ndims++)
            check_dims(nodes, ndims);
    two[0] = two[1] = 0;
    CHECK_OK(MPI_Dims_create(2147483647, 2, two)); /* a prime */
    CHECK(two[0] == 2147483647 && two[1] == 1);
    two[0] = two[1] = 0;
    CHECK_OK(MPI_Dims_create(46340 * 46340, 2, two));
    CHECK(two[0] == 46340 && two[1] == 46340);
    CHECK_OK(MPI_Dims_create(1, 0, two));
    two[0] = -1, two[1] = 0;
    CHECK_ERROR(MPI_Dims_create(4, 2, two), MPI_ERR_DIMS);
    two[0] = 3;
    CHECK_ERROR(MPI_Dims_create(4, 2, two), MPI_ERR_DIMS);
    CHECK_ERROR(MPI_Dims_create(4, 1, NULL), MPI_ERR_ARG);
    two[0] = two[1] = 2;
    CHECK_OK(MPI_Dims_create(4, 2, two));
    two[1] = 3;
    CHECK_ERROR(MPI_Dims_create(4, 2, two), MPI_ERR_DIMS);
}

/* Exactly the places of a grid are given out, everybody else is outside. */
static void check_places(int mine, int places)
{
    int *all = malloc(sizeof(int) * (size_t)n), seen = 0;
    char *taken = calloc((size_t)n, 1);
    CHECK_OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK(all[i] == MPI_UNDEFINED || (all[i] >= 0 && all[i] < places));
        if (all[i] == MPI_UNDEFINED)
            continue;
        CHECK(!taken[all[i]]);
        taken[all[i]] = 1;
        seen++;
    }
    CHECK(seen == places);
    free(taken);
    free(all);
}

static void test_cart_map(void)
{
    int dims[2] = { 1, 1 }, periods[2] = { 0, 1 }, rank;
    for (dims[0] = 1; dims[0] <= n; dims[0]++)
        for (dims[1] = 1; dims[0] * dims[1] <= n; dims[1]++) {
            rank = -7;
            CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank));
            check_places(rank, dims[0] * dims[1]);
        }
    rank = -7;
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &rank));
    check_places(rank, 1);
    dims[0] = n + 1, dims[1] = 1;
    CHECK_ERROR(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank), MPI_ERR_ARG);
}

static void test_graph_map(void)
{
    int index[64], edges[64], rank;
    MPI_Comm graph;
    for (int nodes = 1; nodes <= n; nodes++) {
        for (int i = 0; i < nodes; i++) { /* a ring */
            index[i] = i + 1;
            edges[i] = (i + 1) % nodes;
        }
        rank = -7;
        CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &rank));
        check_places(rank, nodes);
        CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 1, &graph));
        rank = MPI_UNDEFINED;
        if (graph != MPI_COMM_NULL) {
            CHECK_OK(MPI_Comm_rank(graph, &rank));
            CHECK_OK(MPI_Comm_free(&graph));
        }
        check_places(rank, nodes);
    }
}

/* Grids with holes: who is outside gets MPI_COMM_NULL, failed calls do as well. */
static void test_outside(void)
{
    int dims[2] = { n, 2 }, periods[2] = { 0, 0 }, rank = MPI_UNDEFINED;
    MPI_Comm grid = MPI_COMM_SELF;
    CHECK_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid), MPI_ERR_ARG);
    CHECK(grid == MPI_COMM_NULL);
    dims[0] = (n + 1) / 2, dims[1] = 1;
    for (int reorder = 0; reorder < 2; reorder++) {
        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &grid));
        rank = MPI_UNDEFINED;
        if (grid != MPI_COMM_NULL) {
            CHECK_OK(MPI_Comm_rank(grid, &rank));
            CHECK_OK(MPI_Comm_free(&grid));
        }
        check_places(rank, dims[0]);
    }
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid));
    CHECK((grid == MPI_COMM_NULL) == (me != 0));
    if (grid != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&grid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    if (me == 0)
        test_dims();
    test_cart_map();
    test_graph_map();
    test_outside();
    return check_done();
}
