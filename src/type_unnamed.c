/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predefined datatypes without a name, found by a function:
 *
 *     Fortran's types by precision and range (MPI 5.0, 19.1.9): the smallest type of the platform
 *     that SELECTED_REAL_KIND or SELECTED_INT_KIND would give
 *
 *     pairs of a value and an index (MPI 5.0, 5.1.2) beyond the named ones, for indices of 64 bits
 *     and for values that have several names
 *
 * They are committed and never freed, and equal arguments give the same handle, so every one that
 * was asked for is remembered in a list.  Asked how it was made, one answers with its arguments.
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "runtime/wide.h"
#include "src/api/datatype.h"
#include "src/api/language.h"
#include "src/recipe.h"

#include <float.h>
#include <stdlib.h>

struct wish {
    int combiner;
    int p, r;                   /* Fortran's types */
    struct type *value, *index; /* pairs */
};

struct unnamed {
    struct unnamed *next;
    struct wish wish;
    struct type *type;
};

static struct unnamed *all;

static struct type *type_known(const struct wish *wish)
{
    for (struct unnamed *u = all; u; u = u->next)
        if (u->wish.combiner == wish->combiner && u->wish.p == wish->p &&
            u->wish.r == wish->r && u->wish.value == wish->value &&
            u->wish.index == wish->index)
            return u->type;
    return NULL;
}

static struct recipe *wish_recipe(const struct wish *wish)
{
    struct recipe *recipe = recipe_new(wish->combiner, false);
    if (wish->combiner == MPI_COMBINER_VALUE_INDEX) {
        recipe_add_types(recipe, (struct type *[]){ wish->value, wish->index }, 2);
        return recipe;
    }
    if (wish->combiner != MPI_COMBINER_F90_INTEGER)
        recipe_add(recipe, VALUE_INTEGER, wish->p);
    recipe_add(recipe, VALUE_INTEGER, wish->r);
    return recipe;
}

/* The layout is taken over; NULL: memory is out. */
static int type_remember(const struct wish *wish, struct layout *layout, struct type **newtype)
{
    struct unnamed *new = malloc(sizeof *new);
    if (!new) {
        layout_drop(layout);
        return fail(MPI_ERR_NO_MEM, "no memory left for a new datatype");
    }
    int rc = type_new(&new->type, layout, wish_recipe(wish));
    if (rc) {
        free(new);
        return rc;
    }
    new->type->predefined = new->type->committed = true;
    new->wish = *wish;
    new->next = all;
    all = new;
    *newtype = new->type;
    return MPI_SUCCESS;
}

/* Fortran's: `like` is the predefined type whose values look the same. */
static int type_like(const struct wish *wish, MPI_Datatype like, struct type **newtype)
{
    *newtype = type_known(wish);
    if (*newtype)
        return MPI_SUCCESS;
    return type_remember(wish, layout_hold(type_of(like)->layout), newtype);
}

/* ---- real and complex ---- */

static const struct real {
    int digits, range;
    MPI_Datatype real, complex;
} reals[] = {
    { FLT_DIG, FLT_MAX_10_EXP - 1, MPI_REAL4, MPI_COMPLEX8 },
    { DBL_DIG, DBL_MAX_10_EXP - 1, MPI_REAL8, MPI_COMPLEX16 },
    { LDBL_DIG, LDBL_MAX_10_EXP - 1, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX },
    { FLOAT128_DIGITS, FLOAT128_RANGE, MPI_REAL16, MPI_COMPLEX32 },
};
enum { REALS = sizeof reals / sizeof *reals };

static int precision_check(const char *argument, int value)
{
    if (value >= 0 || value == MPI_UNDEFINED)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "argument %s is %d, must not be negative, or MPI_UNDEFINED",
                argument, value);
}

/* The first one that is good enough; what is MPI_UNDEFINED wants nothing. */
static int real_find(int p, int r, const struct real **real)
{
    int rc = precision_check("p", p);
    if (!rc)
        rc = precision_check("r", r);
    if (!rc && p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        rc = fail(MPI_ERR_ARG, "p and r are both MPI_UNDEFINED");
    if (rc)
        return rc;
    for (int i = 0; i < REALS; i++)
        if ((p == MPI_UNDEFINED || p <= reals[i].digits) &&
            (r == MPI_UNDEFINED || r <= reals[i].range)) {
            *real = &reals[i];
            return MPI_SUCCESS;
        }
    const struct real *best = &reals[REALS - 1];
    if (p != MPI_UNDEFINED && p > best->digits)
        return fail(MPI_ERR_ARG, "argument p is %d; the most precise real here has %d digits",
                    p, best->digits);
    return fail(MPI_ERR_ARG, "argument r is %d; the largest range of a real here is %d", r,
                best->range);
}

int xmpi_type_create_f90_real(int p, int r, type_out_t *newtype)
{
    const struct real *real;
    int rc = real_find(p, r, &real);
    if (rc)
        return rc;
    struct wish wish = { .combiner = MPI_COMBINER_F90_REAL, .p = p, .r = r };
    return type_like(&wish, real->real, newtype);
}

int xmpi_type_create_f90_complex(int p, int r, type_out_t *newtype)
{
    const struct real *real;
    int rc = real_find(p, r, &real);
    if (rc)
        return rc;
    struct wish wish = { .combiner = MPI_COMBINER_F90_COMPLEX, .p = p, .r = r };
    return type_like(&wish, real->complex, newtype);
}

/* ---- integer ---- */

int xmpi_type_create_f90_integer(int r, type_out_t *newtype)
{
    static const struct {
        int range;
        MPI_Datatype integer;
    } integers[] = { { 2, MPI_INTEGER1 },
                     { 4, MPI_INTEGER2 },
                     { 9, MPI_INTEGER4 },
                     { 18, MPI_INTEGER8 },
                     { 38, MPI_INTEGER16 } };
    if (r < 0)
        return fail(MPI_ERR_ARG, "argument r is %d, must not be negative", r);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (r <= integers[i].range) {
            struct wish wish = { .combiner = MPI_COMBINER_F90_INTEGER, .r = r };
            return type_like(&wish, integers[i].integer, newtype);
        }
    return fail(MPI_ERR_ARG, "argument r is %d: the largest integer here has 38 digits", r);
}

/* ---- pairs ---- */

static struct type *pair_named(const struct type *value, const struct type *index)
{
    static const struct {
        MPI_Datatype value, index, pair;
    } pairs[] = {
        { MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },
        { MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
        { MPI_LONG, MPI_INT, MPI_LONG_INT },
        { MPI_INT, MPI_INT, MPI_2INT },
        { MPI_SHORT, MPI_INT, MPI_SHORT_INT },
        { MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
        { MPI_REAL, MPI_REAL, MPI_2REAL },
        { MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION },
        { MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].value == value->handle && pairs[i].index == index->handle)
            return type_of(pairs[i].pair);
    return NULL;
}

/* The machine's pair; BASIC_NONE: nobody can reduce such a thing. */
static enum basic pair_basic(enum basic value, enum basic index)
{
    static const enum basic pairs[BASIC_COUNT][2] = {
        [BASIC_INT16] = { BASIC_SHORT_INT, BASIC_NONE },
        [BASIC_INT32] = { BASIC_2INT, BASIC_INT32_INT64 },
        [BASIC_INT64] = { BASIC_LONG_INT, BASIC_INT64_INT64 },
        [BASIC_FLOAT] = { BASIC_FLOAT_INT, BASIC_FLOAT_INT64 },
        [BASIC_DOUBLE] = { BASIC_DOUBLE_INT, BASIC_DOUBLE_INT64 },
        [BASIC_LONG_DOUBLE] = { BASIC_LONG_DOUBLE_INT, BASIC_LONG_DOUBLE_INT64 },
    };
    if (index != BASIC_INT32 && index != BASIC_INT64)
        return BASIC_NONE;
    return pairs[value][index == BASIC_INT64];
}

/* The extent of the C struct of two such members. */
static size_t pair_extent(const struct layout *value, const struct layout *index)
{
    size_t align = value->align > index->align ? value->align : index->align;
    size_t second = (value->size + index->align - 1) / index->align * index->align;
    return (second + index->size + align - 1) / align * align;
}

int xmpi_type_get_value_index(type_t value_type, type_t index_type, type_out_t *pair_type)
{
    *pair_type = NULL;
    if (!value_type->predefined || !index_type->predefined)
        return MPI_SUCCESS;
    *pair_type = pair_named(value_type, index_type);
    struct wish wish = { .combiner = MPI_COMBINER_VALUE_INDEX,
                         .value = value_type,
                         .index = index_type };
    if (!*pair_type)
        *pair_type = type_known(&wish);
    const struct layout *value = value_type->layout, *index = index_type->layout;
    enum basic basic = pair_basic(value->basic, index->basic);
    if (*pair_type || basic == BASIC_NONE)
        return MPI_SUCCESS;
    size_t bytes = value->size + index->size;
    return type_remember(&wish, layout_basic(basic, bytes, pair_extent(value, index)),
                         pair_type);
}
