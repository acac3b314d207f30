/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduce, allreduce, reduce_scatter(_block), scan, exscan in all forms with predefined
 * operations: every root, counts from zero to long, values that give exact results.
 */
#include "check.h"
#include "forms.h"

static int rank, size;

/* Contribution of a process to element i: small integers, so that sums are exact. */
static long term(int from, int i)
{
    return (from * 7 + i * 3) % 11 - 4;
}

static long folded(int first, int last, int i, MPI_Op op)
{
    long all = term(first, i);
    for (int r = first + 1; r <= last; r++) {
        long next = term(r, i);
        if (op == MPI_SUM)
            all += next;
        else if (op == MPI_MAX)
            all = next > all ? next : all;
        else
            all = next < all ? next : all;
    }
    return all;
}

struct vector {
    int n;
    long *longs;
    double *doubles;
};

static struct vector vector_new(int n, int from)
{
    struct vector v = { n, calloc((size_t)n + 1, sizeof(long)),
                        calloc((size_t)n + 1, sizeof(double)) };
    for (int i = 0; i < n; i++) {
        v.longs[i] = from < 0 ? 99 : term(from, i);
        v.doubles[i] = (double)v.longs[i];
    }
    return v;
}

static void vector_free(struct vector *v)
{
    free(v->longs);
    free(v->doubles);
}

/* Elements are `skip`, skip + 1, ... of the fold over processes first to last. */
static int vector_is(const struct vector *v, int n, int skip, int first, int last, MPI_Op op)
{
    int good = 1;
    for (int i = 0; i < n; i++) {
        long expected = folded(first, last, skip + i, op);
        good &= v->longs[i] == expected && v->doubles[i] == (double)expected;
    }
    return good;
}

static void test_reduce(enum form form, int n, MPI_Op op)
{
    struct vector mine = vector_new(n, rank);
    for (int root = 0; root < size; root++) {
        struct vector all = vector_new(n, -1);
        int here = rank == root;
        CHECK(!all_reduce(form, mine.longs, here ? all.longs : NULL, n, MPI_LONG, op, root,
                          MPI_COMM_WORLD));
        CHECK(!all_reduce(form, mine.doubles, here ? all.doubles : NULL, n, MPI_DOUBLE, op,
                          root, MPI_COMM_WORLD));
        CHECK(!here || vector_is(&all, n, 0, 0, size - 1, op));
        vector_free(&all);
    }
    vector_free(&mine);
}

static void test_allreduce(enum form form, int n, MPI_Op op)
{
    struct vector mine = vector_new(n, rank), all = vector_new(n, -1);
    CHECK(!all_allreduce(form, mine.longs, all.longs, n, MPI_LONG, op, MPI_COMM_WORLD));
    CHECK(!all_allreduce(form, mine.doubles, all.doubles, n, MPI_DOUBLE, op, MPI_COMM_WORLD));
    CHECK(vector_is(&all, n, 0, 0, size - 1, op));
    CHECK(n == 0 || mine.longs[n - 1] == term(rank, n - 1));
    vector_free(&mine);
    vector_free(&all);
}

static void test_scans(enum form form, int n, MPI_Op op)
{
    struct vector mine = vector_new(n, rank), all = vector_new(n, -1);
    CHECK(!all_scan(form, mine.longs, all.longs, n, MPI_LONG, op, MPI_COMM_WORLD));
    CHECK(!all_scan(form, mine.doubles, all.doubles, n, MPI_DOUBLE, op, MPI_COMM_WORLD));
    CHECK(vector_is(&all, n, 0, 0, rank, op));
    CHECK(!all_exscan(form, mine.longs, all.longs, n, MPI_LONG, op, MPI_COMM_WORLD));
    CHECK(!all_exscan(form, mine.doubles, all.doubles, n, MPI_DOUBLE, op, MPI_COMM_WORLD));
    CHECK(rank == 0 || vector_is(&all, n, 0, 0, rank - 1, op));
    vector_free(&mine);
    vector_free(&all);
}

static void test_reduce_scatter(enum form form, int n, MPI_Op op)
{
    int total = 0, skip = 0, *counts = malloc(sizeof(int) * (size_t)size);
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 == 1 ? 0 : n + r;
        skip += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    struct vector mine = vector_new(total, rank), part = vector_new(counts[rank], -1);
    CHECK(!all_reduce_scatter(form, mine.longs, part.longs, counts, MPI_LONG, op,
                              MPI_COMM_WORLD));
    CHECK(!all_reduce_scatter(form, mine.doubles, part.doubles, counts, MPI_DOUBLE, op,
                              MPI_COMM_WORLD));
    CHECK(vector_is(&part, counts[rank], skip, 0, size - 1, op));
    vector_free(&mine);
    vector_free(&part);
    free(counts);
}

static void test_reduce_scatter_block(enum form form, int n, MPI_Op op)
{
    struct vector mine = vector_new(n * size, rank), part = vector_new(n, -1);
    CHECK(!all_reduce_scatter_block(form, mine.longs, part.longs, n, MPI_LONG, op,
                                    MPI_COMM_WORLD));
    CHECK(!all_reduce_scatter_block(form, mine.doubles, part.doubles, n, MPI_DOUBLE, op,
                                    MPI_COMM_WORLD));
    CHECK(vector_is(&part, n, n * rank, 0, size - 1, op));
    vector_free(&mine);
    vector_free(&part);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 9, 64, 1000, 30000 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op ops[] = { MPI_SUM, MPI_MAX, MPI_MIN };
    for (enum form form = BLOCKING; form < FORMS; form++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (size_t o = 0; o < (counts[k] > 1000 ? 1 : 3); o++) {
                test_reduce(form, counts[k], ops[o]);
                test_allreduce(form, counts[k], ops[o]);
                test_scans(form, counts[k], ops[o]);
                test_reduce_scatter(form, counts[k], ops[o]);
                test_reduce_scatter_block(form, counts[k], ops[o]);
            }
    return check_done();
}
