/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Balanced grids against trying everything, and the examples of the standard.
 */
#include "src/dims.h"

#include "mpi.h"
#include "src/api/topology.h"
#include "test/unit/unit.h"

#include <limits.h>

/* Of all non-increasing factorisations: the smallest difference between first and last side, and
 * among those the smallest sum. */
struct best {
    int spread, sum;
};

static void try_all(int n, int k, int most, int first, int sum, struct best *best)
{
    if (k == 1 && n <= most) {
        int spread = (first ? first : n) - n;
        if (spread < best->spread || (spread == best->spread && sum + n < best->sum))
            *best = (struct best){ spread, sum + n };
        return;
    }
    for (int side = 1; k > 1 && side <= n && side <= most; side++)
        if (n % side == 0)
            try_all(n / side, k - 1, side, first ? first : side, sum + side, best);
}

static void check(int n, int k)
{
    struct best best = { INT_MAX, INT_MAX };
    int sides[8], product = 1, sum = 0;
    try_all(n, k, n, 0, 0, &best);
    ck_assert_int_eq(dims_balance(n, k, sides), 0);
    for (int i = 0; i < k; i++) {
        product *= sides[i];
        sum += sides[i];
        if (i > 0)
            ck_assert_int_le(sides[i], sides[i - 1]);
    }
    ck_assert_int_eq(product, n);
    ck_assert_int_eq(sides[0] - sides[k - 1], best.spread);
    ck_assert_int_eq(sum, best.sum);
}

START_TEST(test_all)
{
    for (int n = 1; n <= 2000; n++)
        for (int k = 1; k <= 5; k++)
            check(n, k);
}
END_TEST

START_TEST(test_large)
{
    int sides[10];
    dims_balance(72, 2, sides);
    ck_assert(sides[0] == 9 && sides[1] == 8);
    dims_balance(1 << 30, 10, sides);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(sides[i], 8);
    dims_balance(INT_MAX, 3, sides); /* a prime */
    ck_assert(sides[0] == INT_MAX && sides[1] == 1 && sides[2] == 1);
    dims_balance(1396755360, 3, sides); /* very many divisors */
    ck_assert_int_eq(sides[0] * sides[1] * sides[2], 1396755360);
    ck_assert_int_eq(sides[0] - sides[2], 48);
    dims_balance(735134400, 6, sides);
    ck_assert_int_lt(sides[0] - sides[5], 20);
}
END_TEST

static void create(int n, int ndims, int *dims, int wanted_rc)
{
    ck_assert_int_eq(xmpi_dims_create(n, ndims, dims), wanted_rc);
}

/* MPI 5.0, 8.5.2, examples. */
START_TEST(test_standard)
{
    int a[] = { 0, 0 }, b[] = { 0, 0 }, c[] = { 0, 3, 0 }, d[] = { 0, 3, 0 };
    create(6, 2, a, 0);
    ck_assert(a[0] == 3 && a[1] == 2);
    create(7, 2, b, 0);
    ck_assert(b[0] == 7 && b[1] == 1);
    create(6, 3, c, 0);
    ck_assert(c[0] == 2 && c[1] == 3 && c[2] == 1);
    create(7, 3, d, MPI_ERR_DIMS);
    ck_assert(d[0] == 0 && d[2] == 0);
}
END_TEST

START_TEST(test_mistakes)
{
    int negative[] = { -1, 0 }, fixed[] = { 2, 3 }, wrong[] = { 2, 2 },
        large[] = { INT_MAX, 2 };
    create(6, 2, negative, MPI_ERR_DIMS);
    create(6, 2, fixed, 0);
    create(6, 2, wrong, MPI_ERR_DIMS);
    create(6, 2, large, MPI_ERR_DIMS);
    create(0, 2, fixed, MPI_ERR_ARG);
    create(1, 0, NULL, 0);
}
END_TEST

UNIT_MAIN("dims", test_all, test_large, test_standard, test_mistakes)
