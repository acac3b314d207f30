/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fortran's types by precision and range (MPI 5.0, 19.1.9): the smallest type of the platform
 * that SELECTED_REAL_KIND or SELECTED_INT_KIND would give.  They count as predefined: committed,
 * never freed, and equal arguments give the same handle, so every one that was asked for is
 * remembered in a list.  Asked how it was made, one answers with these arguments.
 */
#include "src/type.h"

#include "runtime/fail.h"
#include "src/api/language.h"
#include "src/recipe.h"

#include <float.h>
#include <stdlib.h>

struct asked_for {
    struct asked_for *next;
    int combiner, p, r;
    struct type *type;
};

static struct asked_for *all;

static struct type *type_known(int combiner, int p, int r)
{
    for (struct asked_for *a = all; a; a = a->next)
        if (a->combiner == combiner && a->p == p && a->r == r)
            return a->type;
    return NULL;
}

static struct recipe *recipe_f90(int combiner, int p, int r)
{
    struct recipe *recipe = recipe_new(combiner, false);
    if (combiner != MPI_COMBINER_F90_INTEGER)
        recipe_add(recipe, VALUE_INTEGER, p);
    recipe_add(recipe, VALUE_INTEGER, r);
    return recipe;
}

/* `like` is the predefined type whose values look the same. */
static int type_remember(const struct asked_for *wish, MPI_Datatype like, struct type **newtype)
{
    struct type *known = type_known(wish->combiner, wish->p, wish->r);
    if (known) {
        *newtype = known;
        return MPI_SUCCESS;
    }
    struct asked_for *entry = malloc(sizeof *entry);
    if (!entry)
        return fail(MPI_ERR_NO_MEM, "no memory left for a new datatype");
    *entry = *wish;
    int rc = type_new(&entry->type, layout_hold(type_of(like)->layout),
                      recipe_f90(wish->combiner, wish->p, wish->r));
    if (rc) {
        free(entry);
        return rc;
    }
    entry->type->predefined = entry->type->committed = true;
    entry->next = all;
    all = entry;
    *newtype = entry->type;
    return MPI_SUCCESS;
}

/* ---- real and complex ---- */

static const struct real {
    int digits, range;
    MPI_Datatype real, complex;
} reals[] = {
    { FLT_DIG, FLT_MAX_10_EXP - 1, MPI_REAL4, MPI_COMPLEX8 },
    { DBL_DIG, DBL_MAX_10_EXP - 1, MPI_REAL8, MPI_COMPLEX16 },
    { LDBL_DIG, LDBL_MAX_10_EXP - 1, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX },
};
enum { REALS = sizeof reals / sizeof *reals };

static int precision_check(const char *argument, int value)
{
    if (value >= 0 || value == MPI_UNDEFINED)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "%s is %d, must not be negative, or MPI_UNDEFINED", argument,
                value);
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
    return fail(MPI_ERR_ARG,
                "p is %d and r is %d: the largest real here has %d digits and range %d", p, r,
                reals[REALS - 1].digits, reals[REALS - 1].range);
}

int xmpi_type_create_f90_real(int p, int r, type_out_t *newtype)
{
    const struct real *real;
    int rc = real_find(p, r, &real);
    if (rc)
        return rc;
    struct asked_for wish = { .combiner = MPI_COMBINER_F90_REAL, .p = p, .r = r };
    return type_remember(&wish, real->real, newtype);
}

int xmpi_type_create_f90_complex(int p, int r, type_out_t *newtype)
{
    const struct real *real;
    int rc = real_find(p, r, &real);
    if (rc)
        return rc;
    struct asked_for wish = { .combiner = MPI_COMBINER_F90_COMPLEX, .p = p, .r = r };
    return type_remember(&wish, real->complex, newtype);
}

/* ---- integer ---- */

int xmpi_type_create_f90_integer(int r, type_out_t *newtype)
{
    static const struct {
        int range;
        MPI_Datatype integer;
    } integers[] = {
        { 2, MPI_INTEGER1 }, { 4, MPI_INTEGER2 }, { 9, MPI_INTEGER4 }, { 18, MPI_INTEGER8 }
    };
    if (r < 0)
        return fail(MPI_ERR_ARG, "r is %d, must not be negative", r);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (r <= integers[i].range) {
            struct asked_for wish = { .combiner = MPI_COMBINER_F90_INTEGER, .r = r };
            return type_remember(&wish, integers[i].integer, newtype);
        }
    return fail(MPI_ERR_ARG, "r is %d: the largest integer here has 18 digits", r);
}
