/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long reductions and scans that go in parts where the memory of others cannot be reached, and
 * buffers that are not significant: the results of a mean and of scans in place, and nothing at
 * ranks that get none.
 *
 * conform-options: -x XMPI_SHM_SINGLE_COPY=none
 */
#include "check.h"
#include "mpix.h"

enum { MOST = 200000 };
static int rank, size;
static double mine[MOST], result[MOST];

static double given(int r, int i)
{
    return r + i % 97;
}

static double sum_upto(int n, int i)
{
    double s = 0;
    for (int r = 0; r < n; r++)
        s += given(r, i);
    return s;
}

static void fill(double *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = given(rank, i);
}

static void forget(void)
{
    for (int i = 0; i < MOST; i++)
        result[i] = -1;
}

static void finish(MPI_Request *request)
{
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* The result is for the root alone; the others give NULL. */
static void test_mean(int n, int root)
{
    double *to = rank == root ? result : NULL;
    MPI_Request request;
    fill(mine, n);
    CHECK_OK(MPI_Reduce(mine, to, n, MPI_DOUBLE, MPIX_AVG, root, MPI_COMM_WORLD));
    for (int i = 0; i < n && rank == root; i += 11)
        CHECK(result[i] == sum_upto(size, i) / size);
    forget();
    CHECK_OK(MPI_Ireduce(mine, to, n, MPI_DOUBLE, MPIX_AVG, root, MPI_COMM_WORLD, &request));
    finish(&request);
    for (int i = 0; i < n && rank == root; i += 11)
        CHECK(result[i] == sum_upto(size, i) / size);
}

static void expect_below(int n)
{
    for (int i = 0; i < n && rank > 0; i += 11)
        CHECK(result[i] == sum_upto(rank, i));
}

/* Rank 0 gets nothing: its place for a result may be none, or that of its operand. */
static void test_exscan(int n)
{
    double *nowhere[] = { result, NULL, mine };
    MPI_Request request;
    fill(mine, n);
    for (int k = 0; k < 3; k++) {
        double *to = rank == 0 ? nowhere[k] : result;
        CHECK_OK(MPI_Exscan(mine, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        expect_below(n);
        forget();
        CHECK_OK(MPI_Iexscan(mine, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
        finish(&request);
        expect_below(n);
        forget();
        CHECK_OK(MPI_Exscan_init(mine, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                                 MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        finish(&request);
        CHECK_OK(MPI_Request_free(&request));
        expect_below(n);
    }
    for (int i = 0; i < n; i += 11)
        CHECK(mine[i] == given(rank, i));
}

static void test_in_place(int n)
{
    fill(result, n);
    CHECK_OK(MPI_Exscan(MPI_IN_PLACE, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    expect_below(n);
    fill(result, n);
    CHECK_OK(MPI_Scan(MPI_IN_PLACE, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i += 11)
        CHECK(result[i] == sum_upto(rank + 1, i));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    for (int n = 1; n <= MOST; n = n < 20000 ? n * 27 : n * 10 + 323) {
        test_mean(n, 0);
        test_mean(n, size - 1);
        test_exscan(n);
        test_in_place(n);
    }
    return check_done();
}
