/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a datatype was made: the constructor (an MPI_COMBINER_*) and its arguments in the order
 * that MPI_Type_get_contents returns them (MPI 5.0, 5.1.13).  An argument is a series of numbers of
 * one sort, kept as wide as it was given:
 *
 *     MPI_Type_indexed(3, ...)   | 3 | lengths 4 B x 3 | displacements 4 B x 3 |   old type
 *
 * Asked through MPI_Type_get_contents_c, a large recipe shows its counts and addresses as
 * large counts, otherwise they are integers and addresses.
 */
#ifndef XMPI_RECIPE_H
#define XMPI_RECIPE_H

#include "src/type.h"

enum value_sort { VALUE_INTEGER, VALUE_COUNT, VALUE_ADDRESS };

enum {
    RECIPE_SERIES = 8, /* MPI_Type_create_darray has most */
    RECIPE_TYPES = 4,
    RECIPE_FEW = 128 /* bytes */
};

struct series {
    enum value_sort sort;
    bool wide; /* int64_t, or int */
    size_t n;
    size_t at; /* byte of the recipe's numbers */
};

struct recipe {
    int32_t refs;
    int combiner;
    bool large;  /* made by MPI_Type_X_c */
    bool failed; /* memory ran out while it was written */
    int nseries;
    struct series series[RECIPE_SERIES];
    size_t ntypes;
    struct type **types; /* references are held; few_types, or malloced */
    struct type *few_types[RECIPE_TYPES];
    size_t used, room; /* bytes of numbers */
    char *numbers;     /* `few`, or malloced */
    _Alignas(int64_t) char few[RECIPE_FEW];
};

/* A recipe with one reference, NULL when memory is out.  The writers below accept NULL and
 * remember failure, so that a constructor asks once, by handing the recipe to type_new. */
struct recipe *recipe_new(int combiner, bool large);
void recipe_add(struct recipe *recipe, enum value_sort sort, int64_t number);
void recipe_add_counts(struct recipe *recipe, struct counts counts, int64_t n);
void recipe_add_integers(struct recipe *recipe, const int *integers, int n);
void recipe_add_addresses(struct recipe *recipe, const MPI_Aint *addresses, int64_t n);
void recipe_add_types(struct recipe *recipe, struct type *const *types, int64_t n);

/* Number i of a series. */
static inline int64_t recipe_number(const struct recipe *recipe, int series, size_t i)
{
    const struct series *s = &recipe->series[series];
    const char *numbers = recipe->numbers + s->at;
    return s->wide ? ((const int64_t *)numbers)[i] : ((const int *)numbers)[i];
}

struct recipe *recipe_hold(struct recipe *recipe);
void recipe_drop(struct recipe *recipe); /* NULL is fine */

#endif
