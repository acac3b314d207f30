/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asking a datatype what it is: size, extent, and how it was made (MPI 5.0, 5.1.5 to 5.1.13).
 * The types that MPI_Type_get_contents returns are new objects over the same layout and recipe,
 * so that each can be freed on its own.
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "src/api/datatype.h"
#include "src/handle.h"
#include "src/recipe.h"

int xmpi_get_address(const void *location, aint_out_t *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

int xmpi_type_size(type_t datatype, count_out_t *size)
{
    *size = (int64_t)datatype->layout->size;
    return MPI_SUCCESS;
}

int xmpi_type_get_extent(type_t datatype, extent_out_t *lb, extent_out_t *extent)
{
    *lb = datatype->layout->lb;
    *extent = datatype->layout->extent;
    return MPI_SUCCESS;
}

int xmpi_type_get_true_extent(type_t datatype, extent_out_t *true_lb, extent_out_t *true_extent)
{
    *true_lb = datatype->layout->true_lb;
    *true_extent = datatype->layout->true_extent;
    return MPI_SUCCESS;
}

/* ---- how it was made ---- */

/* Where numbers of a recipe appear for the user; `large` when asked through the _c form. */
static enum value_sort sort_shown(const struct recipe *recipe, enum value_sort sort, bool large)
{
    if (sort == VALUE_INTEGER || (large && recipe->large))
        return sort == VALUE_INTEGER ? VALUE_INTEGER : VALUE_COUNT;
    return sort == VALUE_COUNT ? VALUE_INTEGER : VALUE_ADDRESS;
}

static int64_t recipe_shown(const struct recipe *recipe, enum value_sort sort, bool large)
{
    int64_t n = 0;
    for (int i = 0; i < recipe->nseries; i++)
        if (sort_shown(recipe, recipe->series[i].sort, large) == sort)
            n += (int64_t)recipe->series[i].n;
    return n;
}

/* The plain forms have no room for large counts, however small they are. */
static int large_refuse(const struct type *type, const char *function)
{
    if (recipe_shown(type->recipe, VALUE_COUNT, true) == 0)
        return MPI_SUCCESS;
    return fail(MPI_ERR_TYPE, "argument datatype: it was made with large counts, ask with %s",
                function);
}

int xmpi_type_get_envelope(type_t datatype, count_out_t *num_integers,
                           count_out_t *num_addresses, large_out_t num_large_counts,
                           count_out_t *num_datatypes, int_out_t *combiner)
{
    const struct recipe *recipe = datatype->recipe;
    if (!recipe) {
        *num_integers = *num_addresses = *num_datatypes = 0;
        if (num_large_counts)
            *num_large_counts = 0;
        *combiner = MPI_COMBINER_NAMED;
        return MPI_SUCCESS;
    }
    int rc = num_large_counts ? 0 : large_refuse(datatype, "MPI_Type_get_envelope_c");
    if (rc)
        return rc;
    bool large = num_large_counts != NULL;
    *num_integers = recipe_shown(recipe, VALUE_INTEGER, large);
    *num_addresses = recipe_shown(recipe, VALUE_ADDRESS, large);
    *num_datatypes = (int64_t)recipe->ntypes;
    if (num_large_counts)
        *num_large_counts = recipe_shown(recipe, VALUE_COUNT, large);
    *combiner = recipe->combiner;
    return MPI_SUCCESS;
}

/* The user's own reference to a type: predefined ones are themselves. */
static int type_again(struct type *type, MPI_Datatype *handle)
{
    if (!type->predefined) {
        struct type *new;
        int rc = type_new(&new, layout_hold(type->layout), recipe_hold(type->recipe));
        if (rc)
            return rc;
        new->committed = type->committed;
        type = new;
    }
    *handle = type->handle;
    return MPI_SUCCESS;
}

static int types_again(const struct recipe *recipe, MPI_Datatype *handles)
{
    for (size_t i = 0; i < recipe->ntypes; i++) {
        int rc = type_again(recipe->types[i], &handles[i]);
        if (!rc)
            continue;
        while (i-- > 0)
            type_release(type_of(handles[i]));
        return rc;
    }
    return MPI_SUCCESS;
}

static int room_check(const char *argument, int64_t room, int64_t needed)
{
    if (room >= needed)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "argument %s is %lld, the datatype has %lld", argument,
                (long long)room, (long long)needed);
}

/* Where the user wants the values of a recipe. */
struct rooms {
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *counts;
};

static void series_show(struct rooms *rooms, const struct recipe *recipe, int series,
                        enum value_sort sort)
{
    for (size_t i = 0; i < recipe->series[series].n; i++) {
        int64_t number = recipe_number(recipe, series, i);
        if (sort == VALUE_INTEGER)
            *rooms->integers++ = (int)number;
        else if (sort == VALUE_ADDRESS)
            *rooms->addresses++ = number;
        else
            *rooms->counts++ = number;
    }
}

static void rooms_fill(struct rooms rooms, const struct recipe *recipe, bool large)
{
    for (int i = 0; i < recipe->nseries; i++)
        series_show(&rooms, recipe, i, sort_shown(recipe, recipe->series[i].sort, large));
}

/* MPI_Type_get_contents comes without an array for large counts. */
int xmpi_type_get_contents(type_t datatype, count_t max_integers, count_t max_addresses,
                           large_t max_large_counts, count_t max_datatypes, is_large_t large,
                           int array_of_integers[], MPI_Aint array_of_addresses[],
                           large_array_t array_of_large_counts,
                           MPI_Datatype array_of_datatypes[])
{
    const struct recipe *recipe = datatype->recipe;
    if (!recipe)
        return fail(MPI_ERR_TYPE, "argument datatype: %s is predefined and has no contents",
                    datatype->name);
    int rc = large ? 0 : large_refuse(datatype, "MPI_Type_get_contents_c");
    if (!rc)
        rc = room_check("max_integers", max_integers,
                        recipe_shown(recipe, VALUE_INTEGER, large));
    if (!rc)
        rc = room_check("max_addresses", max_addresses,
                        recipe_shown(recipe, VALUE_ADDRESS, large));
    if (!rc)
        rc = room_check("max_large_counts", max_large_counts,
                        recipe_shown(recipe, VALUE_COUNT, large));
    if (!rc)
        rc = room_check("max_datatypes", max_datatypes, (int64_t)recipe->ntypes);
    if (!rc)
        rc = fail_null_array("array_of_integers", max_integers, array_of_integers);
    if (!rc)
        rc = fail_null_array("array_of_addresses", max_addresses, array_of_addresses);
    if (!rc)
        rc = fail_null_array("array_of_large_counts", max_large_counts, array_of_large_counts);
    if (!rc)
        rc = fail_null_array("array_of_datatypes", max_datatypes, array_of_datatypes);
    if (!rc)
        rc = types_again(recipe, array_of_datatypes);
    if (rc)
        return rc;
    struct rooms rooms = { array_of_integers, array_of_addresses, array_of_large_counts };
    rooms_fill(rooms, recipe, large);
    return MPI_SUCCESS;
}

/* ---- finding a predefined type ---- */

static MPI_Datatype match_integer(int size)
{
    return size == 1    ? MPI_INTEGER1
           : size == 2  ? MPI_INTEGER2
           : size == 4  ? MPI_INTEGER4
           : size == 8  ? MPI_INTEGER8
           : size == 16 ? MPI_INTEGER16
                        : MPI_DATATYPE_NULL;
}

static MPI_Datatype match_real(int size)
{
    return size == 2    ? MPI_REAL2
           : size == 4  ? MPI_REAL4
           : size == 8  ? MPI_REAL8
           : size == 16 ? MPI_REAL16
                        : MPI_DATATYPE_NULL;
}

static MPI_Datatype match_complex(int size)
{
    return size == 4    ? MPI_COMPLEX4
           : size == 8  ? MPI_COMPLEX8
           : size == 16 ? MPI_COMPLEX16
           : size == 32 ? MPI_COMPLEX32
                        : MPI_DATATYPE_NULL;
}

int xmpi_type_match_size(int typeclass, int size, type_out_t *datatype)
{
    MPI_Datatype match = MPI_DATATYPE_NULL;
    if (typeclass == MPI_TYPECLASS_INTEGER)
        match = match_integer(size);
    else if (typeclass == MPI_TYPECLASS_REAL)
        match = match_real(size);
    else if (typeclass == MPI_TYPECLASS_COMPLEX)
        match = match_complex(size);
    else
        return fail(MPI_ERR_ARG,
                    "argument typeclass is %d, must be MPI_TYPECLASS_INTEGER, _REAL or "
                    "_COMPLEX",
                    typeclass);
    if (match == MPI_DATATYPE_NULL)
        return fail(MPI_ERR_ARG, "argument size is %d: no type of this class has that size",
                    size);
    *datatype = type_of(match);
    return MPI_SUCCESS;
}
