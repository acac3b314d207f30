/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing and keeping recipes.  The list doubles when full; a failed allocation is remembered in
 * the recipe and noticed once, by type_new.
 */
#include "src/recipe.h"

#include <limits.h>
#include <stdlib.h>

struct recipe *recipe_new(int combiner, bool large)
{
    struct recipe *recipe = calloc(1, sizeof *recipe);
    if (!recipe)
        return NULL;
    recipe->refs = 1;
    recipe->combiner = combiner;
    recipe->large = large;
    return recipe;
}

static bool recipe_grow(struct recipe *recipe)
{
    size_t capacity = recipe->capacity ? 2 * recipe->capacity : 8;
    struct value *values = realloc(recipe->values, capacity * sizeof *values);
    if (!values)
        return false;
    recipe->values = values;
    recipe->capacity = capacity;
    return true;
}

void recipe_add(struct recipe *recipe, enum value_sort sort, int64_t number)
{
    if (!recipe || recipe->failed)
        return;
    if (recipe->nvalues == recipe->capacity && !recipe_grow(recipe)) {
        recipe->failed = true;
        return;
    }
    recipe->values[recipe->nvalues++] = (struct value){ number, sort };
    if (sort == VALUE_COUNT && (number > INT_MAX || number < INT_MIN))
        recipe->huge = true;
}

void recipe_add_counts(struct recipe *recipe, struct counts counts, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        recipe_add(recipe, VALUE_COUNT, counts_at(counts, (int)i));
    if (recipe && counts.wide)
        recipe->large = true;
}

void recipe_add_integers(struct recipe *recipe, const int *integers, int n)
{
    for (int i = 0; i < n; i++)
        recipe_add(recipe, VALUE_INTEGER, integers[i]);
}

void recipe_add_addresses(struct recipe *recipe, const MPI_Aint *addresses, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        recipe_add(recipe, VALUE_ADDRESS, addresses[i]);
}

void recipe_add_types(struct recipe *recipe, struct type *const *types, int64_t n)
{
    if (!recipe || n == 0)
        return;
    recipe->types = malloc((size_t)n * sizeof *recipe->types);
    if (!recipe->types) {
        recipe->failed = true;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        recipe->types[i] = type_hold(types[i]);
    recipe->ntypes = (size_t)n;
}

struct recipe *recipe_hold(struct recipe *recipe)
{
    recipe->refs++;
    return recipe;
}

void recipe_drop(struct recipe *recipe)
{
    if (!recipe || --recipe->refs > 0)
        return;
    for (size_t i = 0; i < recipe->ntypes; i++)
        type_release(recipe->types[i]);
    free(recipe->types);
    free(recipe->values);
    free(recipe);
}
