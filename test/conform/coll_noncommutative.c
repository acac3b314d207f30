/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions with a user operation that is associative and not commutative: composition of
 * affine maps x -> a x + b modulo a prime.  The order of ranks must be kept in every reduction,
 * for every root, in all forms, in place too; the type is a derived one with padding, or one of
 * absolute addresses and negative extent, behind MPI_BOTTOM.
 */
#include "check.h"
#include "forms.h"

#include <stdint.h>

static int rank, size;

enum { PRIME = 10007 };
struct map {
    int32_t a, b;
    int32_t padding; /* not part of the type */
};

/* First f, then g. */
static struct map then(struct map f, struct map g)
{
    return (struct map){ (int32_t)(f.a * g.a % PRIME), (int32_t)((f.b * g.a + g.b) % PRIME),
                         0 };
}

static struct map mine(int r, int i)
{
    return (struct map){ 2 + (r * 31 + i * 17) % 1000, 3 + (r * 77 + i * 5) % 1000, r };
}

static MPI_Datatype map_type, absolute_type;
static MPI_Aint address; /* of the data of absolute_type */

static struct map *data_of(void *base, MPI_Datatype type)
{
    CHECK(type == map_type || type == absolute_type);
    return (struct map *)((uintptr_t)base + (type == absolute_type ? (uintptr_t)address : 0));
}

/* inout = in op inout, `in` being of the lower ranks. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct map *f = data_of(in, *type), *g = data_of(inout, *type);
    int step = *type == absolute_type ? -1 : 1;
    for (int i = 0; i < *n; i++, f += step, g += step) {
        int32_t padding = g->padding;
        *g = then(*f, *g);
        g->padding = padding;
    }
}

static struct map *room(int n)
{
    return calloc((size_t)n + 1, sizeof(struct map));
}

static struct map *filled(int n)
{
    struct map *data = room(n);
    for (int i = 0; i < n; i++)
        data[i] = mine(rank, i);
    return data;
}

/* data[0 .. n) are elements skip, skip + 1, ... of the fold over ranks 0 .. last. */
static int is_fold(const struct map *data, int n, int skip, int last)
{
    int good = 1;
    for (int i = 0; i < n; i++) {
        struct map all = mine(0, skip + i);
        for (int r = 1; r <= last; r++)
            all = then(all, mine(r, skip + i));
        good &= data[i].a == all.a && data[i].b == all.b;
    }
    return good;
}

static void test_reduce(enum form form, int n, MPI_Op op)
{
    for (int root = 0; root < size; root++) {
        struct map *data = filled(n), *all = room(n);
        int here = rank == root;
        all[0].padding = 4711;
        CHECK(
            !all_reduce(form, data, here ? all : NULL, n, map_type, op, root, MPI_COMM_WORLD));
        CHECK(!here || is_fold(all, n, 0, size - 1));
        CHECK(all[0].padding == 4711);
        form_starts = 1;
        CHECK(!all_reduce(form, here ? MPI_IN_PLACE : data, data, n, map_type, op, root,
                          MPI_COMM_WORLD));
        form_starts = 2;
        CHECK(!here || is_fold(data, n, 0, size - 1));
        free(data);
        free(all);
    }
}

static void test_all(enum form form, int n, MPI_Op op)
{
    struct map *data = filled(n), *all = room(n);
    CHECK(!all_allreduce(form, data, all, n, map_type, op, MPI_COMM_WORLD));
    CHECK(is_fold(all, n, 0, size - 1));
    CHECK(!all_scan(form, data, all, n, map_type, op, MPI_COMM_WORLD));
    CHECK(is_fold(all, n, 0, rank));
    CHECK(!all_exscan(form, data, all, n, map_type, op, MPI_COMM_WORLD));
    CHECK(rank == 0 || is_fold(all, n, 0, rank - 1));
    form_starts = 1;
    CHECK(!all_allreduce(form, MPI_IN_PLACE, data, n, map_type, op, MPI_COMM_WORLD));
    form_starts = 2;
    CHECK(is_fold(data, n, 0, size - 1));
    free(data);
    free(all);
}

/* In place, as a type of addresses has one buffer; from its last element to its first. */
static void test_absolute(enum form form, int n, MPI_Op op)
{
    struct map *data = room(n);
    MPI_Datatype moved;
    for (int i = 0; i < n; i++)
        data[n - i] = mine(rank, i);
    MPI_Get_address(&data[n], &address);
    MPI_Type_create_hindexed_block(1, 1, &address, map_type, &moved);
    MPI_Type_create_resized(moved, address, -(MPI_Aint)sizeof(struct map), &absolute_type);
    MPI_Type_commit(&absolute_type);
    MPI_Type_free(&moved);
    form_starts = 1;
    CHECK(!all_allreduce(form, MPI_IN_PLACE, MPI_BOTTOM, n, absolute_type, op, MPI_COMM_WORLD));
    form_starts = 2;
    for (int i = 0; i < n; i++)
        CHECK(is_fold(&data[n - i], 1, i, size - 1));
    MPI_Type_free(&absolute_type);
    free(data);
}

static void test_scattered(enum form form, int n, MPI_Op op)
{
    struct map *data = filled(n * size + size * size), *part = room(n + size);
    CHECK(!all_reduce_scatter_block(form, data, part, n, map_type, op, MPI_COMM_WORLD));
    CHECK(is_fold(part, n, n * rank, size - 1));
    int *counts = malloc(sizeof(int) * (size_t)size), skip = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 2 ? n + r : n / 2;
        skip += r < rank ? counts[r] : 0;
    }
    CHECK(!all_reduce_scatter(form, data, part, counts, map_type, op, MPI_COMM_WORLD));
    CHECK(is_fold(part, counts[rank], skip, size - 1));
    free(counts);
    free(data);
    free(part);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 3, 50, 2000, 30000 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT32_T, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(struct map), &map_type);
    MPI_Type_commit(&map_type);
    MPI_Type_free(&pair);
    MPI_Op op;
    int commutes = 1;
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(!commutes);
    for (enum form form = BLOCKING; form < FORMS; form++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            test_reduce(form, counts[k], op);
            test_all(form, counts[k], op);
            test_absolute(form, counts[k], op);
            test_scattered(form, counts[k], op);
        }
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Type_free(&map_type);
    return check_done();
}
