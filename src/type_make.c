/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The datatype constructors (MPI 5.0, 5.1.2).  All of them are the same three lines: check what
 * the entry point could not, make the layout, write the recipe.
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "src/api/datatype.h"
#include "src/recipe.h"

#include <stdlib.h>

int xmpi_type_contiguous(count_t count, type_t oldtype, is_large_t large, type_out_t *newtype)
{
    struct recipe *recipe = recipe_new(MPI_COMBINER_CONTIGUOUS, large);
    recipe_add(recipe, VALUE_COUNT, count);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype, layout_contiguous((size_t)count, oldtype->layout), recipe);
}

int xmpi_type_vector(count_t count, count_t blocklength, wide_t stride, type_t oldtype,
                     is_large_t large, type_out_t *newtype)
{
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
    struct recipe *recipe = recipe_new(MPI_COMBINER_HVECTOR, large);
    recipe_add(recipe, VALUE_COUNT, count);
    recipe_add(recipe, VALUE_COUNT, blocklength);
    recipe_add(recipe, VALUE_ADDRESS, stride);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype,
                    layout_vector((size_t)count, (size_t)blocklength, stride, oldtype->layout),
                    recipe);
}

/* ---- the indexed family ---- */

static int array_check(bool missing, size_t n, const char *argument)
{
    if (missing && n > 0)
        return fail(MPI_ERR_ARG, "argument %s is NULL, but count is %zu", argument, n);
    return MPI_SUCCESS;
}

static bool counts_missing(struct counts counts)
{
    return !counts.wide && !counts.narrow;
}

static int lengths_check(struct counts lengths, size_t n)
{
    int rc = array_check(counts_missing(lengths), n, "array_of_blocklengths");
    for (size_t i = 0; !rc && i < n; i++) {
        int64_t length = counts_at(lengths, (int64_t)i);
        if (length < 0)
            rc = fail(MPI_ERR_COUNT,
                      "argument array_of_blocklengths[%zu] is %lld, must not be negative", i,
                      (long long)length);
    }
    return rc;
}

/* What the constructors of the family have in common. */
struct indexed {
    int combiner;
    bool large;      /* made by MPI_Type_.._c */
    bool same;       /* all blocks have blocks.length elements */
    bool by_address; /* places are in bytes, not in elements */
    struct block_list blocks;
};

static struct recipe *indexed_recipe(const struct indexed *indexed, struct type *old)
{
    const struct block_list *b = &indexed->blocks;
    struct recipe *recipe = recipe_new(indexed->combiner, indexed->large);
    recipe_add(recipe, VALUE_COUNT, (int64_t)b->n);
    if (indexed->same)
        recipe_add(recipe, VALUE_COUNT, (int64_t)b->length);
    else
        recipe_add_counts(recipe, b->lengths, (int64_t)b->n);
    if (indexed->by_address)
        recipe_add_addresses(recipe, b->places.wide, (int64_t)b->n);
    else
        recipe_add_counts(recipe, b->places, (int64_t)b->n);
    recipe_add_types(recipe, &old, 1);
    return recipe;
}

static int indexed_new(struct indexed *indexed, struct type *old, struct type **newtype)
{
    struct block_list *b = &indexed->blocks;
    int rc = indexed->same ? 0 : lengths_check(b->lengths, b->n);
    if (!rc)
        rc = array_check(counts_missing(b->places), b->n, "array_of_displacements");
    if (rc)
        return rc;
    b->unit = indexed->by_address ? 1 : old->layout->extent;
    return type_new(newtype, layout_indexed(old->layout, b), indexed_recipe(indexed, old));
}

int xmpi_type_indexed(count_t count, counts_t array_of_blocklengths,
                      counts_t array_of_displacements, type_t oldtype, is_large_t large,
                      type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_INDEXED,
                               .large = large,
                               .blocks = { .n = (size_t)count,
                                           .lengths = array_of_blocklengths,
                                           .places = array_of_displacements } };
    return indexed_new(&indexed, oldtype, newtype);
}

int xmpi_type_create_indexed_block(count_t count, count_t blocklength,
                                   counts_t array_of_displacements, type_t oldtype,
                                   is_large_t large, type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_INDEXED_BLOCK,
                               .large = large,
                               .same = true,
                               .blocks = { .n = (size_t)count,
                                           .length = (size_t)blocklength,
                                           .places = array_of_displacements } };
    return indexed_new(&indexed, oldtype, newtype);
}

int xmpi_type_create_hindexed(count_t count, counts_t array_of_blocklengths,
                              extents_t array_of_displacements, type_t oldtype,
                              is_large_t large, type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_HINDEXED,
                               .large = large,
                               .by_address = true,
                               .blocks = { .n = (size_t)count,
                                           .lengths = array_of_blocklengths,
                                           .places.wide = array_of_displacements } };
    return indexed_new(&indexed, oldtype, newtype);
}

int xmpi_type_create_hindexed_block(count_t count, count_t blocklength,
                                    extents_t array_of_displacements, type_t oldtype,
                                    is_large_t large, type_out_t *newtype)
{
    struct indexed indexed = { .combiner = MPI_COMBINER_HINDEXED_BLOCK,
                               .large = large,
                               .same = true,
                               .by_address = true,
                               .blocks = { .n = (size_t)count,
                                           .length = (size_t)blocklength,
                                           .places.wide = array_of_displacements } };
    return indexed_new(&indexed, oldtype, newtype);
}

/* ---- struct ---- */

enum { MEMBERS_FEW = 16 };

struct members {
    struct type **types;
    const struct layout **layouts;
    void *heap; /* both arrays; NULL: they are the short ones */
    struct type *few_types[MEMBERS_FEW];
    const struct layout *few_layouts[MEMBERS_FEW];
};

static int members_new(struct members *members, size_t n)
{
    members->types = members->few_types;
    members->layouts = members->few_layouts;
    members->heap = NULL;
    if (n <= MEMBERS_FEW)
        return MPI_SUCCESS;
    members->heap =
        n <= SIZE_MAX / (2 * sizeof(void *)) ? malloc(n * 2 * sizeof(void *)) : NULL;
    if (!members->heap)
        return fail(MPI_ERR_NO_MEM, "no memory left for a datatype of %zu blocks", n);
    members->types = members->heap;
    members->layouts = (const struct layout **)(members->types + n);
    return MPI_SUCCESS;
}

static int members_resolve(struct members *members, size_t n, const MPI_Datatype *handles)
{
    for (size_t i = 0; i < n; i++) {
        struct type *type = type_of(handles[i]);
        if (!type)
            return fail(MPI_ERR_TYPE, "argument array_of_types[%zu] is %s", i,
                        handles[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "no datatype");
        members->types[i] = type;
        members->layouts[i] = type->layout;
    }
    return MPI_SUCCESS;
}

static struct recipe *struct_recipe(const struct block_list *b, struct type *const *types,
                                    bool large)
{
    struct recipe *recipe = recipe_new(MPI_COMBINER_STRUCT, large);
    recipe_add(recipe, VALUE_COUNT, (int64_t)b->n);
    recipe_add_counts(recipe, b->lengths, (int64_t)b->n);
    recipe_add_addresses(recipe, b->places.wide, (int64_t)b->n);
    recipe_add_types(recipe, types, (int64_t)b->n);
    return recipe;
}

static int struct_check(const struct block_list *b, const MPI_Datatype *types)
{
    int rc = array_check(counts_missing(b->lengths), b->n, "array_of_blocklengths");
    if (!rc)
        rc = array_check(!b->places.wide, b->n, "array_of_displacements");
    if (!rc)
        rc = array_check(!types, b->n, "array_of_types");
    return rc;
}

int xmpi_type_create_struct(count_t count, counts_t array_of_blocklengths,
                            extents_t array_of_displacements,
                            const MPI_Datatype array_of_types[], is_large_t large,
                            type_out_t *newtype)
{
    struct block_list blocks = { .n = (size_t)count,
                                 .lengths = array_of_blocklengths,
                                 .places.wide = array_of_displacements,
                                 .unit = 1 };
    struct members members;
    int rc = struct_check(&blocks, array_of_types);
    if (!rc)
        rc = members_new(&members, blocks.n);
    if (rc)
        return rc;
    rc = members_resolve(&members, blocks.n, array_of_types);
    if (!rc)
        rc = lengths_check(blocks.lengths, blocks.n);
    if (!rc)
        rc = type_new(newtype, layout_struct(members.layouts, &blocks),
                      struct_recipe(&blocks, members.types, large));
    free(members.heap);
    return rc;
}

int xmpi_type_create_resized(type_t oldtype, extent_t lb, extent_t extent, is_large_t large,
                             type_out_t *newtype)
{
    struct recipe *recipe = recipe_new(MPI_COMBINER_RESIZED, large);
    recipe_add(recipe, VALUE_ADDRESS, lb);
    recipe_add(recipe, VALUE_ADDRESS, extent);
    recipe_add_types(recipe, &oldtype, 1);
    return type_new(newtype, layout_resized(oldtype->layout, lb, extent), recipe);
}
