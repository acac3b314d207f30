/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_IN_PLACE in every collective that has it, in all forms.
 */
#include "check.h"
#include "forms.h"

static int rank, size;

static int value(int from, int to, int i)
{
    return from * 100003 + to * 1009 + i;
}

static int *room(int n)
{
    return calloc((size_t)n + 1, sizeof(int));
}

static void test_gather_scatter(enum form form, int n)
{
    for (int root = 0; root < size; root++) {
        int *all = room(n * size), *mine = room(n), good = 1, here = rank == root;
        for (int i = 0; i < n; i++)
            mine[i] = all[rank * n + i] = value(rank, root, i);
        CHECK(!all_gather(form, here ? MPI_IN_PLACE : mine, n, MPI_INT, all, n, MPI_INT, root,
                          MPI_COMM_WORLD));
        for (int i = 0; here && i < n * size; i++)
            good &= all[i] == value(i / n, root, i % n);
        CHECK(good);
        for (int i = 0; i < n * size; i++)
            all[i] = value(root, i / n, i % n);
        CHECK(!all_scatter(form, all, n, MPI_INT, here ? MPI_IN_PLACE : mine, n, MPI_INT, root,
                           MPI_COMM_WORLD));
        for (int i = 0; !here && i < n; i++)
            good &= mine[i] == value(root, rank, i);
        CHECK(good);
        free(all);
        free(mine);
    }
}

static void test_gatherv_scatterv(enum form form, int n)
{
    int *counts = room(size), *displs = room(size), total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 ? n : n / 2;
        displs[r] = ++total;
        total += counts[r];
    }
    for (int root = 0; root < size; root++) {
        int *all = room(total), *mine = room(n), good = 1, here = rank == root;
        for (int i = 0; i < counts[rank]; i++)
            mine[i] = all[displs[rank] + i] = value(rank, root, i);
        CHECK(!all_gatherv(form, here ? MPI_IN_PLACE : mine, counts[rank], MPI_INT, all, counts,
                           displs, MPI_INT, root, MPI_COMM_WORLD));
        for (int r = 0; here && r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                good &= all[displs[r] + i] == value(r, root, i);
        CHECK(good);
        CHECK(!all_scatterv(form, all, counts, displs, MPI_INT, here ? MPI_IN_PLACE : mine,
                            counts[rank], MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < counts[rank]; i++)
            good &= (here ? all[displs[rank] + i] : mine[i]) == value(rank, root, i);
        CHECK(good);
        free(all);
        free(mine);
    }
    int *all = room(total), good = 1;
    for (int i = 0; i < counts[rank]; i++)
        all[displs[rank] + i] = value(rank, 0, i);
    CHECK(!all_allgatherv(form, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs,
                          MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            good &= all[displs[r] + i] == value(r, 0, i);
    CHECK(good);
    free(all);
    free(counts);
    free(displs);
}

static void test_everybody(enum form form, int n)
{
    int *all = room(n * size), *counts = room(size), *displs = room(size), good = 1;
    MPI_Datatype *types = malloc(sizeof *types * (size_t)size);
    for (int i = 0; i < n; i++)
        all[rank * n + i] = value(rank, 0, i);
    CHECK(!all_allgather(form, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT,
                         MPI_COMM_WORLD));
    for (int i = 0; i < n * size; i++)
        good &= all[i] == value(i / n, 0, i % n);
    CHECK(good);
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < n * size; i++)
            all[i] = value(rank, i / n, i % n);
        for (int r = 0; r < size; r++) {
            counts[r] = n;
            displs[r] = r * n * (kind == 2 ? (int)sizeof(int) : 1);
            types[r] = MPI_INT;
        }
        if (kind == 0)
            CHECK(!all_alltoall(form, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT,
                                MPI_COMM_WORLD));
        else if (kind == 1)
            CHECK(!all_alltoallv(form, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts,
                                 displs, MPI_INT, MPI_COMM_WORLD));
        else
            CHECK(!all_alltoallw(form, MPI_IN_PLACE, NULL, NULL, NULL, all, counts, displs,
                                 types, MPI_COMM_WORLD));
        for (int i = 0; i < n * size; i++)
            good &= all[i] == value(i / n, rank, i % n);
        CHECK(good);
    }
    free(types);
    free(counts);
    free(displs);
    free(all);
}

static int sum(int from, int to, int i)
{
    int all = 0;
    for (int r = from; r <= to; r++)
        all += r * 3 + i;
    return all;
}

static void fill(int *data, int n)
{
    for (int i = 0; i < n; i++)
        data[i] = rank * 3 + i;
}

static void test_reductions(enum form form, int n)
{
    int *data = room(n * size), *mine = room(n), good = 1;
    for (int root = 0; root < size; root++) {
        fill(data, n);
        CHECK(!all_reduce(form, rank == root ? MPI_IN_PLACE : data, rank == root ? data : NULL,
                          n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        for (int i = 0; i < n; i++)
            good &= data[i] == (rank == root ? sum(0, size - 1, i) : rank * 3 + i);
        CHECK(good);
    }
    fill(data, n);
    CHECK(!all_allreduce(form, MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        good &= data[i] == sum(0, size - 1, i);
    CHECK(good);
    fill(data, n);
    CHECK(!all_scan(form, MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        good &= data[i] == sum(0, rank, i);
    CHECK(good);
    fill(data, n);
    CHECK(!all_exscan(form, MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; rank > 0 && i < n; i++)
        good &= data[i] == sum(0, rank - 1, i);
    CHECK(good);
    fill(data, n * size);
    CHECK(!all_reduce_scatter_block(form, MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM,
                                    MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        good &= data[i] == sum(0, size - 1, rank * n + i);
    CHECK(good);
    int *counts = room(size), skip = 0, total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 2 ? n : n / 2;
        skip += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    fill(data, total);
    CHECK(!all_reduce_scatter(form, MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM,
                              MPI_COMM_WORLD));
    for (int i = 0; i < counts[rank]; i++)
        good &= data[i] == sum(0, size - 1, skip + i);
    CHECK(good);
    free(counts);
    free(mine);
    free(data);
}

/* Every second int, beginning with this one. */
static MPI_Datatype every_second(MPI_Aint first)
{
    MPI_Datatype one, type;
    int length = 1;
    first *= (MPI_Aint)sizeof(int);
    MPI_Type_create_hindexed(1, &length, &first, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&one);
    return type;
}

/* Not in place, though in one memory: what is sent lies between what is received. */
static void test_between(enum form form)
{
    MPI_Datatype even = every_second(0), odd = every_second(1);
    int *data = room(2 * size), good = 1;
    for (int i = 0; i < size; i++)
        data[2 * i] = value(rank, i, 0);
    CHECK(!all_alltoall(form, data, 1, even, data, 1, odd, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        good &= data[2 * i] == value(rank, i, 0) && data[2 * i + 1] == value(i, rank, 0);
    CHECK(!all_allgather(form, data + 2 * rank, 1, even, data, 1, odd, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        good &= data[2 * i + 1] == value(i, i, 0);
    CHECK(!all_gather(form, data, 1, even, data, 1, odd, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < size; i++)
        good &= data[2 * i + 1] == value(i, 0, 0);
    CHECK(good);
    free(data);
    MPI_Type_free(&even);
    MPI_Type_free(&odd);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 4, 200, 10000 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    form_starts = 1;
    for (enum form form = BLOCKING; form < FORMS; form++) {
        test_between(form);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            test_gather_scatter(form, counts[k]);
            test_gatherv_scatterv(form, counts[k]);
            test_everybody(form, counts[k]);
            test_reductions(form, counts[k]);
        }
    }
    return check_done();
}
