/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing and keeping recipes.  The first numbers and a single type lie in the recipe itself, more
 * of them on the heap; a failed allocation is remembered in the recipe and noticed once, by
 * type_new.
 */
#include "src/recipe.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct recipe *recipe_new(int combiner, bool large)
{
    struct recipe *recipe = malloc(sizeof *recipe);
    if (!recipe)
        return NULL;
    recipe->refs = 1;
    recipe->combiner = combiner;
    recipe->large = large;
    recipe->failed = false;
    recipe->nseries = 0;
    recipe->ntypes = 0;
    recipe->types = NULL;
    recipe->used = 0;
    recipe->room = RECIPE_FEW;
    recipe->numbers = recipe->few;
    return recipe;
}

/* Room for `bytes` more numbers behind `used`; false when memory is out. */
static bool recipe_room(struct recipe *recipe, size_t bytes)
{
    size_t needed = recipe->used + bytes;
    if (needed <= recipe->room)
        return true;
    size_t room = 2 * needed; /* the next argument is often as long */
    bool inside = recipe->numbers == recipe->few;
    char *numbers = realloc(inside ? NULL : recipe->numbers, room);
    if (!numbers)
        return false;
    if (inside)
        memcpy(numbers, recipe->few, recipe->used);
    recipe->numbers = numbers;
    recipe->room = room;
    return true;
}

/* Where to write a series of n numbers; NULL when there is nothing to write, or no memory. */
static void *recipe_series(struct recipe *recipe, enum value_sort sort, bool wide, int64_t n)
{
    if (!recipe || recipe->failed || n <= 0)
        return NULL;
    size_t each = wide ? sizeof(int64_t) : sizeof(int), bytes = (size_t)n * each;
    recipe->used = (recipe->used + each - 1) & ~(each - 1);
    if (!recipe_room(recipe, bytes)) {
        recipe->failed = true;
        return NULL;
    }
    assert(recipe->nseries < RECIPE_SERIES);
    recipe->series[recipe->nseries++] = (struct series){ sort, wide, (size_t)n, recipe->used };
    void *numbers = recipe->numbers + recipe->used;
    recipe->used += bytes;
    return numbers;
}

void recipe_add(struct recipe *recipe, enum value_sort sort, int64_t number)
{
    int64_t *numbers = recipe_series(recipe, sort, true, 1);
    if (numbers)
        *numbers = number;
}

/* memcpy(NULL, x, n) is not allowed. */
static void recipe_copy(void *numbers, const void *from, size_t bytes)
{
    if (numbers)
        memcpy(numbers, from, bytes);
}

void recipe_add_counts(struct recipe *recipe, struct counts counts, int64_t n)
{
    if (!counts.wide) {
        recipe_copy(recipe_series(recipe, VALUE_COUNT, false, n), counts.narrow,
                    (size_t)n * sizeof(int));
        return;
    }
    recipe_copy(recipe_series(recipe, VALUE_COUNT, true, n), counts.wide,
                (size_t)n * sizeof(int64_t));
    if (recipe)
        recipe->large = true;
}

void recipe_add_integers(struct recipe *recipe, const int *integers, int n)
{
    recipe_copy(recipe_series(recipe, VALUE_INTEGER, false, n), integers,
                (size_t)n * sizeof(int));
}

void recipe_add_addresses(struct recipe *recipe, const MPI_Aint *addresses, int64_t n)
{
    recipe_copy(recipe_series(recipe, VALUE_ADDRESS, true, n), addresses,
                (size_t)n * sizeof(MPI_Aint));
}

void recipe_add_types(struct recipe *recipe, struct type *const *types, int64_t n)
{
    if (!recipe || n <= 0)
        return;
    recipe->types =
        n <= RECIPE_TYPES ? recipe->few_types : malloc((size_t)n * sizeof *recipe->types);
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
    if (recipe->types != recipe->few_types)
        free(recipe->types);
    if (recipe->numbers != recipe->few)
        free(recipe->numbers);
    free(recipe);
}
