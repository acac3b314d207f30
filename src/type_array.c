/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes cut out of arrays: subarray (a box) and darray (one process's share of a distributed
 * array), MPI 5.0, 5.1.3 and 5.1.4.  Both are built from the fastest dimension outwards: at each
 * level the inner layout is repeated along one dimension, its extent being a whole row, plane, ...
 * of the full array.  The result starts at the array's origin and has its full extent.
 *
 *     sizes 4 x 6, box 2 x 3 at (1, 2):     . . . . . .
 *                                           . . # # # .     row: 3 elements at 2, extent 6
 *                                           . . # # # .     box: 2 rows at 1, extent 4 rows
 *                                           . . . . . .
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "src/api/datatype.h"
#include "src/recipe.h"

/* `length` elements of `old` at `start` in a dimension of `size` of them. */
static struct layout *subarray_slice(const struct layout *old, int64_t size, int64_t length,
                                     int64_t start)
{
    ptrdiff_t offset, extent;
    if (!type_scale(start, old->extent, &offset) || !type_scale(size, old->extent, &extent))
        return NULL;
    return layout_slice(old, (size_t)length, offset, extent);
}

static int order_check(int order)
{
    if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "argument order is %d, must be MPI_ORDER_C or MPI_ORDER_FORTRAN",
                order);
}

static int subarray_check(int ndims, struct counts sizes, struct counts subsizes,
                          struct counts starts)
{
    if (ndims < 1)
        return fail(MPI_ERR_ARG, "argument ndims is %d, must be at least 1", ndims);
    for (int i = 0; i < ndims; i++) {
        int64_t size = counts_at(sizes, i), length = counts_at(subsizes, i);
        int64_t start = counts_at(starts, i);
        if (size < 1)
            return fail(MPI_ERR_ARG, "argument array_of_sizes[%d] is %lld, must be at least 1",
                        i, (long long)size);
        if (length < 1 || length > size)
            return fail(MPI_ERR_ARG,
                        "argument array_of_subsizes[%d] is %lld, must be 1 to %lld", i,
                        (long long)length, (long long)size);
        if (start < 0 || start > size - length)
            return fail(MPI_ERR_ARG, "argument array_of_starts[%d] is %lld, must be 0 to %lld",
                        i, (long long)start, (long long)(size - length));
    }
    return MPI_SUCCESS;
}

static const void *counts_pointer(struct counts counts)
{
    return counts.wide ? (const void *)counts.wide : (const void *)counts.narrow;
}

int xmpi_type_create_subarray(length_t ndims, counts_t array_of_sizes,
                              counts_t array_of_subsizes, counts_t array_of_starts, int order,
                              type_t oldtype, type_out_t *newtype)
{
    int rc = fail_null_array("array_of_sizes", ndims, counts_pointer(array_of_sizes));
    if (!rc)
        rc = fail_null_array("array_of_subsizes", ndims, counts_pointer(array_of_subsizes));
    if (!rc)
        rc = fail_null_array("array_of_starts", ndims, counts_pointer(array_of_starts));
    if (!rc)
        rc = subarray_check(ndims, array_of_sizes, array_of_subsizes, array_of_starts);
    if (!rc)
        rc = order_check(order);
    if (rc)
        return rc;
    struct layout *layout = layout_hold(oldtype->layout);
    for (int i = 0; i < ndims && layout; i++) { /* from the fastest dimension */
        int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        struct layout *inner = layout;
        layout = subarray_slice(inner, counts_at(array_of_sizes, d),
                                counts_at(array_of_subsizes, d), counts_at(array_of_starts, d));
        layout_drop(inner);
    }
    struct recipe *recipe = recipe_new(MPI_COMBINER_SUBARRAY, false);
    recipe_add(recipe, VALUE_INTEGER, ndims);
    recipe_add_counts(recipe, array_of_sizes, ndims);
    recipe_add_counts(recipe, array_of_subsizes, ndims);
    recipe_add_counts(recipe, array_of_starts, ndims);
    recipe_add(recipe, VALUE_INTEGER, order);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype, layout, recipe);
}

/* ---- darray ---- */

/* One dimension of a distributed array as seen by one process. */
struct share {
    int64_t size;  /* elements of the whole dimension */
    int64_t block; /* dealt out in blocks of this many, at most `size` */
    int processes, mine;
};

/* So many blocks, in elements; what reaches the end of the dimension ends there. */
static int64_t share_product(const struct share *s, int64_t blocks)
{
    int64_t elements;
    bool over = __builtin_mul_overflow(s->block, blocks, &elements);
    return over || elements > s->size ? s->size : elements;
}

/* My elements of one dimension: blocks mine, mine + processes, ... the last one may be short. */
static struct layout *layout_share(const struct layout *old, const struct share *s)
{
    ptrdiff_t all_bytes;
    if (!type_scale(s->size, old->extent, &all_bytes))
        return NULL;
    int64_t cycle = share_product(s, s->processes), first = share_product(s, s->mine);
    int64_t whole = 0, rest = 0;
    if (first < s->size) {
        int64_t cycles = (s->size - first) / cycle, tail = (s->size - first) % cycle;
        whole = cycles + (tail >= s->block);
        rest = tail >= s->block ? 0 : tail;
    }
    struct layout *row =
        layout_vector((size_t)whole, (size_t)s->block, cycle * old->extent, old);
    if (!row)
        return NULL;
    size_t lengths[2] = { 1, (size_t)rest };
    ptrdiff_t offsets[2] = { whole ? first * old->extent : 0,
                             rest ? (first + whole * cycle) * old->extent : 0 };
    const struct layout *parts[2] = { row, old };
    struct layout *both = layout_blocks(2, lengths, offsets, parts, false);
    struct layout *share = both ? layout_resized(both, 0, all_bytes) : NULL;
    layout_drop(both);
    layout_drop(row);
    return share;
}

/* Block size of a distribution that has been checked. */
static int64_t share_block(int64_t size, int distribution, int darg, int processes)
{
    if (distribution == MPI_DISTRIBUTE_NONE)
        return size;
    if (darg != MPI_DISTRIBUTE_DFLT_DARG)
        return darg;
    return distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : (size - 1) / processes + 1;
}

struct darray {
    int size, rank, ndims;
    struct counts gsizes;
    const int *distribs, *dargs, *psizes;
    int order;
};

static int distribution_check(const struct darray *a, int i)
{
    int how = a->distribs[i], darg = a->dargs[i], processes = a->psizes[i];
    long long size = (long long)counts_at(a->gsizes, i);
    if (how == MPI_DISTRIBUTE_NONE && processes != 1)
        return fail(
            MPI_ERR_ARG,
            "argument array_of_psizes[%d] is %d, must be 1, as array_of_distribs[%d] is "
            "MPI_DISTRIBUTE_NONE",
            i, processes, i);
    if (how == MPI_DISTRIBUTE_NONE)
        return MPI_SUCCESS;
    if (how != MPI_DISTRIBUTE_BLOCK && how != MPI_DISTRIBUTE_CYCLIC)
        return fail(MPI_ERR_ARG,
                    "argument array_of_distribs[%d] is %d, must be MPI_DISTRIBUTE_BLOCK, "
                    "MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE",
                    i, how);
    if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        return MPI_SUCCESS;
    if (darg < 1)
        return fail(MPI_ERR_ARG,
                    "argument array_of_dargs[%d] is %d, must be at least 1, or "
                    "MPI_DISTRIBUTE_DFLT_DARG",
                    i, darg);
    if (how == MPI_DISTRIBUTE_BLOCK && darg < (size - 1) / processes + 1)
        return fail(MPI_ERR_ARG,
                    "argument array_of_dargs[%d] is %d: with MPI_DISTRIBUTE_BLOCK %d processes "
                    "do not cover %lld elements",
                    i, darg, processes, size);
    return MPI_SUCCESS;
}

static int darray_check(const struct darray *a)
{
    if (a->size < 1)
        return fail(MPI_ERR_ARG, "argument size is %d, must be at least 1", a->size);
    if (a->rank < 0 || a->rank >= a->size)
        return fail(MPI_ERR_ARG,
                    "argument rank is %d, ranks run from 0 to size - 1, which is %d", a->rank,
                    a->size - 1);
    if (a->ndims < 1)
        return fail(MPI_ERR_ARG, "argument ndims is %d, must be at least 1", a->ndims);
    int64_t processes = 1;
    for (int i = 0; i < a->ndims; i++) {
        int64_t size = counts_at(a->gsizes, i);
        if (size < 1)
            return fail(MPI_ERR_ARG, "argument array_of_gsizes[%d] is %lld, must be at least 1",
                        i, (long long)size);
        if (a->psizes[i] < 1)
            return fail(MPI_ERR_ARG, "argument array_of_psizes[%d] is %d, must be at least 1",
                        i, a->psizes[i]);
        int rc = distribution_check(a, i);
        if (rc)
            return rc;
        processes *= a->psizes[i];
        if (processes > a->size)
            break;
    }
    if (processes != a->size)
        return fail(MPI_ERR_ARG, "array_of_psizes do not multiply to size (%d)", a->size);
    return order_check(a->order);
}

/* Processes are numbered in C order whatever the order of the array (5.1.4). */
static int darray_coordinate(const struct darray *a, int dimension)
{
    int below = 1;
    for (int i = dimension + 1; i < a->ndims; i++)
        below *= a->psizes[i];
    return a->rank / below % a->psizes[dimension];
}

static struct layout *darray_layout(const struct darray *a, struct layout *element)
{
    struct layout *layout = layout_hold(element);
    for (int i = 0; i < a->ndims && layout; i++) {
        int d = a->order == MPI_ORDER_C ? a->ndims - 1 - i : i;
        int64_t size = counts_at(a->gsizes, d);
        int64_t block = share_block(size, a->distribs[d], a->dargs[d], a->psizes[d]);
        struct share share = { .size = size,
                               .block = block < size ? block : size,
                               .processes = a->psizes[d],
                               .mine = darray_coordinate(a, d) };
        struct layout *inner = layout;
        layout = layout_share(inner, &share);
        layout_drop(inner);
    }
    return layout;
}

static struct recipe *darray_recipe(const struct darray *a, struct type *oldtype)
{
    struct recipe *recipe = recipe_new(MPI_COMBINER_DARRAY, false);
    recipe_add(recipe, VALUE_INTEGER, a->size);
    recipe_add(recipe, VALUE_INTEGER, a->rank);
    recipe_add(recipe, VALUE_INTEGER, a->ndims);
    recipe_add_counts(recipe, a->gsizes, a->ndims);
    recipe_add_integers(recipe, a->distribs, a->ndims);
    recipe_add_integers(recipe, a->dargs, a->ndims);
    recipe_add_integers(recipe, a->psizes, a->ndims);
    recipe_add(recipe, VALUE_INTEGER, a->order);
    recipe_add_types(recipe, &oldtype, 1);
    return recipe;
}

int xmpi_type_create_darray(int size, int rank, length_t ndims, counts_t array_of_gsizes,
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, type_t oldtype,
                            type_out_t *newtype)
{
    struct darray array = { .size = size,
                            .rank = rank,
                            .ndims = ndims,
                            .gsizes = array_of_gsizes,
                            .distribs = array_of_distribs,
                            .dargs = array_of_dargs,
                            .psizes = array_of_psizes,
                            .order = order };
    int rc = fail_null_array("array_of_gsizes", ndims, counts_pointer(array_of_gsizes));
    if (!rc)
        rc = fail_null_array("array_of_distribs", ndims, array_of_distribs);
    if (!rc)
        rc = fail_null_array("array_of_dargs", ndims, array_of_dargs);
    if (!rc)
        rc = fail_null_array("array_of_psizes", ndims, array_of_psizes);
    if (!rc)
        rc = darray_check(&array);
    if (rc)
        return rc;
    return type_new(newtype, darray_layout(&array, oldtype->layout),
                    darray_recipe(&array, oldtype));
}
