/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a datatype: made, committed, duplicated, freed.  A derived type is an object whose
 * address is its handle; it owns a layout and a recipe, both shared between duplicates.
 * Committing costs nothing, because a layout is final when it is made.
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "src/api/datatype.h"
#include "src/attr.h"
#include "src/recipe.h"

#include <errno.h>
#include <string.h>

bool type_scale(int64_t n, ptrdiff_t each, ptrdiff_t *bytes)
{
    if (!__builtin_mul_overflow(n, each, bytes))
        return true;
    errno = EOVERFLOW;
    return false;
}

int type_new(struct type **type, struct layout *layout, struct recipe *recipe)
{
    bool too_large = !layout && errno == EOVERFLOW;
    struct type *new = NULL;
    if (layout && recipe && !recipe->failed)
        new = object_new(OBJECT_TYPE, sizeof *new);
    if (!new) {
        layout_drop(layout);
        recipe_drop(recipe);
        if (too_large)
            return fail(MPI_ERR_COUNT, "the datatype's size or bounds do not fit into 63 bits: "
                                       "counts, lengths or displacements are too large");
        return fail(MPI_ERR_NO_MEM, "no memory left for a new datatype");
    }
    new->layout = layout;
    new->recipe = recipe;
    new->handle = (MPI_Datatype) new;
    *type = new;
    return MPI_SUCCESS;
}

void type_release(struct type *type)
{
    if (!object_drop(type))
        return;
    if (type->predefined) { /* nobody owns the first reference of a predefined type */
        object_hold(type);
        return;
    }
    layout_drop(type->layout);
    recipe_drop(type->recipe);
    object_delete(type);
}

int xmpi_type_commit(type_at_t datatype)
{
    datatype->committed = true;
    return MPI_SUCCESS;
}

/* Attributes go while the handle still works, because their callbacks are given it. */
int xmpi_type_free(type_free_t *datatype)
{
    struct type *type = *datatype;
    if (type->predefined)
        return fail(MPI_ERR_TYPE, "argument datatype: %s is predefined and cannot be freed",
                    type->name[0] ? type->name : "this type without a name");
    if (type->attributes) {
        int rc = attributes_delete(ATTR_TYPE, type->handle, &type->attributes);
        if (rc)
            return rc;
    }
    type->freed = true;
    type_release(type);
    *datatype = NULL;
    return MPI_SUCCESS;
}

int xmpi_type_dup(type_t oldtype, type_out_t *newtype)
{
    struct recipe *recipe = recipe_new(MPI_COMBINER_DUP, false);
    recipe_add_types(recipe, &oldtype, 1);
    struct type *new;
    int rc = type_new(&new, layout_hold(oldtype->layout), recipe);
    if (rc)
        return rc;
    new->committed = oldtype->committed;
    rc = attributes_copy(ATTR_TYPE, oldtype->handle, oldtype->attributes, &new->attributes);
    if (rc) {
        type_release(new);
        return rc;
    }
    *newtype = new;
    return MPI_SUCCESS;
}

int xmpi_type_set_name(type_t datatype, const char *type_name)
{
    size_t length = strnlen(type_name, MPI_MAX_OBJECT_NAME - 1);
    memcpy(datatype->name, type_name, length);
    datatype->name[length] = '\0';
    return MPI_SUCCESS;
}

int xmpi_type_get_name(type_t datatype, char *type_name, int *resultlen)
{
    const char *name = datatype ? datatype->name : "MPI_DATATYPE_NULL";
    size_t length = strlen(name);
    memcpy(type_name, name, length + 1);
    *resultlen = (int)length;
    return MPI_SUCCESS;
}

int fail_no_data(const char *name, const void *data)
{
    return fail(MPI_ERR_BUFFER, "argument %s is %s", name,
                data ? "MPI_IN_PLACE, which only collectives know"
                     : "NULL; it has to point to the data, or the count has to be 0");
}
