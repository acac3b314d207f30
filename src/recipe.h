/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a datatype was made: the constructor (an MPI_COMBINER_*) and its arguments in the order
 * that MPI_Type_get_contents returns them (MPI 5.0, 5.1.13).  Every argument is one value of a
 * sort; asked through MPI_Type_get_contents_c, a large recipe shows its counts and addresses as
 * large counts, otherwise they are integers and addresses.
 */
#ifndef XMPI_RECIPE_H
#define XMPI_RECIPE_H

#include "src/type.h"

enum value_sort { VALUE_INTEGER, VALUE_COUNT, VALUE_ADDRESS };

struct value {
    int64_t number;
    enum value_sort sort;
};

enum { RECIPE_FEW = 12 };

struct recipe {
    int32_t refs;
    int combiner;
    bool large;  /* made by MPI_Type_X_c */
    bool huge;   /* some count does not fit an int */
    bool failed; /* memory ran out while it was written */
    size_t nvalues, capacity;
    struct value *values; /* `few`, or malloced */
    size_t ntypes;
    struct type **types; /* references are held; &only, or malloced */
    struct type *only;
    struct value few[RECIPE_FEW];
};

/* A recipe with one reference, NULL when memory is out.  The writers below accept NULL and
 * remember failure, so that a constructor asks once, by handing the recipe to type_new. */
struct recipe *recipe_new(int combiner, bool large);
void recipe_add(struct recipe *recipe, enum value_sort sort, int64_t number);
void recipe_add_counts(struct recipe *recipe, struct counts counts, int64_t n);
void recipe_add_integers(struct recipe *recipe, const int *integers, int n);
void recipe_add_addresses(struct recipe *recipe, const MPI_Aint *addresses, int64_t n);
void recipe_add_types(struct recipe *recipe, struct type *const *types, int64_t n);

struct recipe *recipe_hold(struct recipe *recipe);
void recipe_drop(struct recipe *recipe); /* NULL is fine */

#endif
