/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing and keeping recipes.  The first values and a single type lie in the recipe itself, more
 * of them on the heap; a failed allocation is remembered in the recipe and noticed once, by
 * type_new.
 */
#include "src/recipe.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct recipe *recipe_new(int combiner, bool large)
{
    struct recipe *recipe = malloc(sizeof *recipe);
    if (!recipe)
        return NULL;
    memset(recipe, 0, offsetof(struct recipe, few));
    recipe->values = recipe->few;
    recipe->capacity = RECIPE_FEW;
    recipe->refs = 1;
    recipe->combiner = combiner;
    recipe->large = large;
    return recipe;
}

/* Room for n more values; where it was before, or NULL when memory is out. */
static struct value *recipe_room(struct recipe *recipe, size_t n)
{
    size_t needed = recipe->nvalues + n, room = 4 * recipe->capacity;
    if (needed <= recipe->capacity)
        return recipe->values + recipe->nvalues;
    room = needed > room ? needed : room;
    bool inside = recipe->values == recipe->few;
    struct value *values = realloc(inside ? NULL : recipe->values, room * sizeof *values);
    if (!values)
        return NULL;
    if (inside)
        memcpy(values, recipe->few, sizeof recipe->few);
    recipe->values = values;
    recipe->capacity = room;
    return values + recipe->nvalues;
}

/* Where to write n more values; NULL when there is nothing to write, or no memory. */
static struct value *recipe_more(struct recipe *recipe, int64_t n)
{
    if (!recipe || recipe->failed || n <= 0)
        return NULL;
    struct value *values = recipe_room(recipe, (size_t)n);
    if (values)
        recipe->nvalues += (size_t)n;
    else
        recipe->failed = true;
    return values;
}

static inline bool is_huge(int64_t number)
{
    return number != (int)number;
}

void recipe_add(struct recipe *recipe, enum value_sort sort, int64_t number)
{
    struct value *value = recipe_more(recipe, 1);
    if (!value)
        return;
    *value = (struct value){ number, sort };
    recipe->huge |= sort == VALUE_COUNT && is_huge(number);
}

void recipe_add_counts(struct recipe *recipe, struct counts counts, int64_t n)
{
    struct value *values = recipe_more(recipe, n);
    for (int64_t i = 0; values && i < n; i++) {
        values[i] = (struct value){ counts_at(counts, i), VALUE_COUNT };
        recipe->huge |= is_huge(values[i].number);
    }
    if (recipe && counts.wide)
        recipe->large = true;
}

void recipe_add_integers(struct recipe *recipe, const int *integers, int n)
{
    struct value *values = recipe_more(recipe, n);
    for (int i = 0; values && i < n; i++)
        values[i] = (struct value){ integers[i], VALUE_INTEGER };
}

void recipe_add_addresses(struct recipe *recipe, const MPI_Aint *addresses, int64_t n)
{
    struct value *values = recipe_more(recipe, n);
    for (int64_t i = 0; values && i < n; i++)
        values[i] = (struct value){ addresses[i], VALUE_ADDRESS };
}

void recipe_add_types(struct recipe *recipe, struct type *const *types, int64_t n)
{
    if (!recipe || n == 0)
        return;
    recipe->types = n == 1 ? &recipe->only : malloc((size_t)n * sizeof *recipe->types);
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
    if (recipe->types != &recipe->only)
        free(recipe->types);
    if (recipe->values != recipe->few)
        free(recipe->values);
    free(recipe);
}
