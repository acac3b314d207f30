/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The datatype constructors (MPI 5.0, 5.1.2).  All of them are the same three lines: check what
 * the entry point could not, make the layout, write the recipe.  The indexed family and struct
 * first become one list of blocks in bytes.
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "src/api/datatype.h"
#include "src/recipe.h"

#include <stdlib.h>

int xmpi_type_contiguous(count_t count, type_t oldtype, is_large_t large, type_out_t *newtype)
{
    int rc = type_check_supported(oldtype, "oldtype");
    if (rc)
        return rc;
    struct recipe *recipe = recipe_new(MPI_COMBINER_CONTIGUOUS, large);
    recipe_add(recipe, VALUE_COUNT, count);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype, layout_contiguous((size_t)count, oldtype->layout), recipe);
}

int xmpi_type_vector(count_t count, count_t blocklength, wide_t stride, type_t oldtype,
                     is_large_t large, type_out_t *newtype)
{
    int rc = type_check_supported(oldtype, "oldtype");
    if (rc)
        return rc;
    struct recipe *recipe = recipe_new(MPI_COMBINER_VECTOR, large);
    recipe_add(recipe, VALUE_COUNT, count);
    recipe_add(recipe, VALUE_COUNT, blocklength);
    recipe_add(recipe, VALUE_COUNT, stride);
    recipe_add_types(recipe, &oldtype, 1);
    ptrdiff_t bytes;
    struct layout *layout = NULL;
    if (type_scale(stride, oldtype->layout->extent, &bytes))
        layout = layout_vector((size_t)count, (size_t)blocklength, bytes, oldtype->layout);
    return type_new(newtype, layout, recipe);
}

int xmpi_type_create_hvector(count_t count, count_t blocklength, extent_t stride,
                             type_t oldtype, is_large_t large, type_out_t *newtype)
{
    int rc = type_check_supported(oldtype, "oldtype");
    if (rc)
        return rc;
    struct recipe *recipe = recipe_new(MPI_COMBINER_HVECTOR, large);
    recipe_add(recipe, VALUE_COUNT, count);
    recipe_add(recipe, VALUE_COUNT, blocklength);
    recipe_add(recipe, VALUE_ADDRESS, stride);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype,
                    layout_vector((size_t)count, (size_t)blocklength, stride, oldtype->layout),
                    recipe);
}

/* ---- blocks: the common form of the indexed family and struct ---- */

enum { BLOCKS_FEW = 16 };

struct blocks {
    size_t n;
    size_t *lengths;
    ptrdiff_t *offsets;
    const struct layout **layouts; /* one per block, or one for all when `same` */
    struct type **types;           /* of a struct */
    bool same;
    void *room; /* of all four arrays; NULL: they are the short ones */
    size_t few_lengths[BLOCKS_FEW];
    ptrdiff_t few_offsets[BLOCKS_FEW];
    const struct layout *few_layouts[BLOCKS_FEW];
    struct type *few_types[BLOCKS_FEW];
};

static void blocks_free(struct blocks *blocks)
{
    free(blocks->room);
}

static void blocks_use_few(struct blocks *blocks)
{
    blocks->lengths = blocks->few_lengths;
    blocks->offsets = blocks->few_offsets;
    blocks->layouts = blocks->few_layouts;
    blocks->types = blocks->few_types;
}

static int blocks_new(struct blocks *blocks, int64_t n, bool same)
{
    enum { EACH = 4 * sizeof(void *) };
    size_t room = (size_t)n;
    blocks->n = room;
    blocks->same = same;
    blocks->room = NULL;
    if (room <= BLOCKS_FEW) {
        blocks_use_few(blocks);
        return MPI_SUCCESS;
    }
    blocks->room = room <= SIZE_MAX / EACH ? malloc(room * EACH) : NULL;
    if (!blocks->room)
        return fail(MPI_ERR_NO_MEM, "no memory left for a datatype of %lld blocks",
                    (long long)n);
    blocks->layouts = blocks->room;
    blocks->types = (struct type **)(blocks->layouts + room);
    blocks->lengths = (size_t *)(blocks->types + room);
    blocks->offsets = (ptrdiff_t *)(blocks->lengths + room);
    return MPI_SUCCESS;
}

static int blocks_set_lengths(struct blocks *blocks, struct counts lengths)
{
    for (size_t i = 0; i < blocks->n; i++) {
        int64_t length = counts_at(lengths, (int64_t)i);
        if (length < 0)
            return fail(MPI_ERR_COUNT,
                        "argument array_of_blocklengths[%zu] is %lld, must not be negative", i,
                        (long long)length);
        blocks->lengths[i] = (size_t)length;
    }
    return MPI_SUCCESS;
}

static int array_check(bool missing, int64_t n, const char *argument)
{
    if (missing && n > 0)
        return fail(MPI_ERR_ARG, "argument %s is NULL, but count is %lld", argument,
                    (long long)n);
    return MPI_SUCCESS;
}

static bool counts_missing(struct counts counts)
{
    return !counts.wide && !counts.narrow;
}

/* Lengths, one for all blocks or one each, and offsets, in elements or in bytes. */
struct indexed {
    int combiner;
    bool large; /* where no array of counts says so */
    int64_t n;
    const int64_t *length; /* of all blocks; NULL: lengths */
    struct counts lengths;
    const MPI_Aint *offsets; /* bytes; NULL: displacements */
    struct counts displacements;
};

static int indexed_check(const struct indexed *indexed, const struct type *old)
{
    int rc = type_check_supported(old, "oldtype");
    if (!rc && !indexed->length)
        rc = array_check(counts_missing(indexed->lengths), indexed->n, "array_of_blocklengths");
    if (!rc && !indexed->offsets)
        rc = array_check(counts_missing(indexed->displacements), indexed->n,
                         "array_of_displacements");
    return rc;
}

static struct recipe *indexed_recipe(const struct indexed *indexed, struct type *old)
{
    struct recipe *recipe = recipe_new(indexed->combiner, indexed->large);
    recipe_add(recipe, VALUE_COUNT, indexed->n);
    if (indexed->length)
        recipe_add(recipe, VALUE_COUNT, *indexed->length);
    else
        recipe_add_counts(recipe, indexed->lengths, indexed->n);
    if (indexed->offsets)
        recipe_add_addresses(recipe, indexed->offsets, indexed->n);
    else
        recipe_add_counts(recipe, indexed->displacements, indexed->n);
    recipe_add_types(recipe, &old, 1);
    return recipe;
}

/* Where the blocks begin, in bytes.  False when that does not fit (EOVERFLOW). */
static bool blocks_place(struct blocks *blocks, const struct indexed *indexed, ptrdiff_t extent)
{
    for (size_t i = 0; i < blocks->n; i++) {
        if (indexed->length)
            blocks->lengths[i] = (size_t)*indexed->length;
        if (indexed->offsets)
            blocks->offsets[i] = indexed->offsets[i];
        else if (!type_scale(counts_at(indexed->displacements, (int64_t)i), extent,
                             &blocks->offsets[i]))
            return false;
    }
    return true;
}

static int indexed_new(const struct indexed *indexed, struct type *old, struct type **newtype)
{
    int rc = indexed_check(indexed, old);
    if (rc)
        return rc;
    struct blocks blocks;
    rc = blocks_new(&blocks, indexed->n, true);
    if (rc)
        return rc;
    blocks.layouts[0] = old->layout;
    if (!indexed->length)
        rc = blocks_set_lengths(&blocks, indexed->lengths);
    struct layout *layout = NULL;
    if (!rc && blocks_place(&blocks, indexed, old->layout->extent))
        layout = layout_blocks(blocks.n, blocks.lengths, blocks.offsets, blocks.layouts, true);
    if (!rc)
        rc = type_new(newtype, layout, indexed_recipe(indexed, old));
    blocks_free(&blocks);
    return rc;
}

int xmpi_type_indexed(count_t count, counts_t array_of_blocklengths,
                      counts_t array_of_displacements, type_t oldtype, type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_INDEXED,
                               .n = count,
                               .lengths = array_of_blocklengths,
                               .displacements = array_of_displacements };
    return indexed_new(&indexed, oldtype, newtype);
}

int xmpi_type_create_indexed_block(count_t count, count_t blocklength,
                                   counts_t array_of_displacements, type_t oldtype,
                                   type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_INDEXED_BLOCK,
                               .n = count,
                               .length = &blocklength,
                               .displacements = array_of_displacements };
    return indexed_new(&indexed, oldtype, newtype);
}

int xmpi_type_create_hindexed(count_t count, counts_t array_of_blocklengths,
                              extents_t array_of_displacements, type_t oldtype,
                              type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_HINDEXED,
                               .n = count,
                               .lengths = array_of_blocklengths,
                               .offsets = array_of_displacements };
    return indexed_new(&indexed, oldtype, newtype);
}

int xmpi_type_create_hindexed_block(count_t count, count_t blocklength,
                                    extents_t array_of_displacements, type_t oldtype,
                                    is_large_t large, type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_HINDEXED_BLOCK,
                               .large = large,
                               .n = count,
                               .length = &blocklength,
                               .offsets = array_of_displacements };
    return indexed_new(&indexed, oldtype, newtype);
}

/* ---- struct ---- */

static int types_resolve(int64_t n, const MPI_Datatype *handles, struct type **types)
{
    for (int64_t i = 0; i < n; i++) {
        types[i] = type_of(handles[i]);
        if (!types[i])
            return fail(MPI_ERR_TYPE, "argument array_of_types[%lld] is %s", (long long)i,
                        handles[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "no datatype");
        if (!types[i]->layout)
            return fail(MPI_ERR_TYPE,
                        "array_of_types[%lld]: %s is not supported on this platform",
                        (long long)i, types[i]->name);
    }
    return MPI_SUCCESS;
}

static struct recipe *struct_recipe(int64_t n, struct counts lengths, const MPI_Aint *offsets,
                                    struct type *const *types)
{
    struct recipe *recipe = recipe_new(MPI_COMBINER_STRUCT, false);
    recipe_add(recipe, VALUE_COUNT, n);
    recipe_add_counts(recipe, lengths, n);
    recipe_add_addresses(recipe, offsets, n);
    recipe_add_types(recipe, types, n);
    return recipe;
}

static int struct_check(int64_t n, struct counts lengths, const MPI_Aint *offsets,
                        const MPI_Datatype *types)
{
    int rc = array_check(counts_missing(lengths), n, "array_of_blocklengths");
    if (!rc)
        rc = array_check(!offsets, n, "array_of_displacements");
    if (!rc)
        rc = array_check(!types, n, "array_of_types");
    return rc;
}

int xmpi_type_create_struct(count_t count, counts_t array_of_blocklengths,
                            extents_t array_of_displacements,
                            const MPI_Datatype array_of_types[], type_out_t *newtype)
{
    struct blocks blocks;
    int rc = struct_check(count, array_of_blocklengths, array_of_displacements, array_of_types);
    if (!rc)
        rc = blocks_new(&blocks, count, false);
    if (rc)
        return rc;
    struct type **types = blocks.types;
    rc = types_resolve(count, array_of_types, types);
    if (!rc)
        rc = blocks_set_lengths(&blocks, array_of_blocklengths);
    if (rc)
        goto free_blocks;
    for (size_t i = 0; i < blocks.n; i++) {
        blocks.offsets[i] = array_of_displacements[i];
        blocks.layouts[i] = types[i]->layout;
    }
    rc = type_new(
        newtype, layout_blocks(blocks.n, blocks.lengths, blocks.offsets, blocks.layouts, false),
        struct_recipe(count, array_of_blocklengths, array_of_displacements, types));
free_blocks:
    blocks_free(&blocks);
    return rc;
}

int xmpi_type_create_resized(type_t oldtype, extent_t lb, extent_t extent, is_large_t large,
                             type_out_t *newtype)
{
    int rc = type_check_supported(oldtype, "oldtype");
    if (rc)
        return rc;
    struct recipe *recipe = recipe_new(MPI_COMBINER_RESIZED, large);
    recipe_add(recipe, VALUE_ADDRESS, lb);
    recipe_add(recipe, VALUE_ADDRESS, extent);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype, layout_resized(oldtype->layout, lb, extent), recipe);
}
