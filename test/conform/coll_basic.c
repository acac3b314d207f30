/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Barrier, bcast, gather, scatter, allgather, alltoall in all forms: counts from zero to long,
 * every root, dense types and columns of a matrix.
 */
#include "check.h"
#include "forms.h"

#include <string.h>
#include <unistd.h>

static int rank, size;

/* What process `from` has for process `to`, element i. */
static int value(int from, int to, int i)
{
    return from * 100003 + to * 1009 + i;
}

static void test_barrier(enum form form)
{
    for (int late = 0; late < size; late++) {
        if (rank == late)
            usleep(2000);
        double before = MPI_Wtime(), last;
        all_barrier(form, MPI_COMM_WORLD);
        double after = MPI_Wtime();
        MPI_Allreduce(&before, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        CHECK(after >= last);
    }
}

static void test_bcast(enum form form, int n, MPI_Datatype type, int stride)
{
    for (int root = 0; root < size; root++) {
        int *data = calloc((size_t)(n * stride) + 1, sizeof(int)), good = 1;
        if (rank == root)
            for (int i = 0; i < n; i++)
                data[i * stride] = value(root, 0, i);
        CHECK(all_bcast(form, data, n, type, root, MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < n * stride; i++)
            good &= data[i] == (i % stride ? 0 : value(root, 0, i / stride));
        CHECK(good);
        free(data);
    }
}

static void test_gather(enum form form, int n, MPI_Datatype type, int stride)
{
    for (int root = 0; root < size; root++) {
        int *mine = calloc((size_t)n + 1, sizeof(int)), good = 1;
        int *all = calloc((size_t)(n * stride * size) + 1, sizeof(int));
        for (int i = 0; i < n; i++)
            mine[i] = value(rank, root, i);
        CHECK(all_gather(form, mine, n, MPI_INT, rank == root ? all : NULL, n, type, root,
                         MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; rank == root && i < n * stride * size; i++)
            good &= all[i] == (i % stride ? 0 : value(i / stride / n, root, i / stride % n));
        CHECK(good);
        free(mine);
        free(all);
    }
}

static void test_scatter(enum form form, int n, MPI_Datatype type, int stride)
{
    for (int root = 0; root < size; root++) {
        int *mine = calloc((size_t)n + 1, sizeof(int)), good = 1;
        int *all = calloc((size_t)(n * stride * size) + 1, sizeof(int));
        for (int i = 0; i < n * size; i++)
            all[i * stride] = value(root, i / n, i % n);
        CHECK(all_scatter(form, rank == root ? all : NULL, n, type, mine, n, MPI_INT, root,
                          MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < n; i++)
            good &= mine[i] == value(root, rank, i);
        CHECK(good && mine[n] == 0);
        free(mine);
        free(all);
    }
}

static void test_allgather(enum form form, int n, MPI_Datatype type, int stride)
{
    int *mine = calloc((size_t)n + 1, sizeof(int)), good = 1;
    int *all = calloc((size_t)(n * stride * size) + 1, sizeof(int));
    for (int i = 0; i < n; i++)
        mine[i] = value(rank, 0, i);
    CHECK(all_allgather(form, mine, n, MPI_INT, all, n, type, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < n * stride * size; i++)
        good &= all[i] == (i % stride ? 0 : value(i / stride / n, 0, i / stride % n));
    CHECK(good);
    free(mine);
    free(all);
}

static void test_alltoall(enum form form, int n, MPI_Datatype type, int stride)
{
    int *out = calloc((size_t)(n * size) + 1, sizeof(int)), good = 1;
    int *in = calloc((size_t)(n * stride * size) + 1, sizeof(int));
    for (int i = 0; i < n * size; i++)
        out[i] = value(rank, i / n, i % n);
    CHECK(all_alltoall(form, out, n, MPI_INT, in, n, type, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < n * stride * size; i++)
        good &= in[i] == (i % stride ? 0 : value(i / stride / n, rank, i / stride % n));
    CHECK(good);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 7, 100, 1500, 40000 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype every_third; /* one int, the next one three ints on */
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &every_third);
    MPI_Type_commit(&every_third);
    for (enum form form = BLOCKING; form < FORMS; form++) {
        test_barrier(form);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (int stride = 1; stride <= 3; stride += 2) {
                MPI_Datatype type = stride == 1 ? MPI_INT : every_third;
                test_bcast(form, counts[k], type, stride);
                test_gather(form, counts[k], type, stride);
                test_scatter(form, counts[k], type, stride);
                test_allgather(form, counts[k], type, stride);
                test_alltoall(form, counts[k], type, stride);
            }
    }
    MPI_Type_free(&every_third);
    return check_done();
}
