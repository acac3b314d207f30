/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random datatypes, nested, by every constructor in both forms, as recipes: a constructor and its
 * arguments.  recipe_read has the recipe of a datatype from MPI_Type_get_contents, made_again makes
 * the same type from scratch, map_of (typemap.h) what the standard says that it is.
 */
#ifndef RANDOM_TYPES_H
#define RANDOM_TYPES_H

#include "check.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { MOST_BYTES = 3000, MOST_SPAN = 100000, MOST_VALUES = 64, MOST_TYPES = 8 };

/* ---- chance ---- */

static uint64_t state;

static int chance(int low, int high)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return low + (int)((state * 0x2545f4914f6cdd1du >> 33) % (uint64_t)(high - low + 1));
}

static void chance_fill(int *values, int n, int low, int high)
{
    for (int i = 0; i < n; i++)
        values[i] = chance(low, high);
}

/* ---- making ---- */

/* The arguments of a constructor in the order of MPI_Type_get_contents; all in one list. */
struct recipe {
    int combiner, n, children;
    MPI_Count value[MOST_VALUES];
    MPI_Datatype child[MOST_TYPES];
};

static void ints(const MPI_Count *values, int n, int *room)
{
    for (int i = 0; i < n; i++)
        room[i] = (int)values[i];
}

static void addresses(const MPI_Count *values, int n, MPI_Aint *room)
{
    for (int i = 0; i < n; i++)
        room[i] = (MPI_Aint)values[i];
}

static MPI_Datatype make_large(const struct recipe *r)
{
    const MPI_Count *v = r->value;
    MPI_Datatype old = r->child[0], t = MPI_DATATYPE_NULL;
    int a[MOST_VALUES], d = (int)v[0];
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        CHECK_OK(MPI_Type_contiguous_c(v[0], old, &t));
        break;
    case MPI_COMBINER_VECTOR:
        CHECK_OK(MPI_Type_vector_c(v[0], v[1], v[2], old, &t));
        break;
    case MPI_COMBINER_HVECTOR:
        CHECK_OK(MPI_Type_create_hvector_c(v[0], v[1], v[2], old, &t));
        break;
    case MPI_COMBINER_INDEXED:
        CHECK_OK(MPI_Type_indexed_c(v[0], v + 1, v + 1 + v[0], old, &t));
        break;
    case MPI_COMBINER_HINDEXED:
        CHECK_OK(MPI_Type_create_hindexed_c(v[0], v + 1, v + 1 + v[0], old, &t));
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        CHECK_OK(MPI_Type_create_indexed_block_c(v[0], v[1], v + 2, old, &t));
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        CHECK_OK(MPI_Type_create_hindexed_block_c(v[0], v[1], v + 2, old, &t));
        break;
    case MPI_COMBINER_STRUCT:
        CHECK_OK(MPI_Type_create_struct_c(v[0], v + 1, v + 1 + v[0], r->child, &t));
        break;
    case MPI_COMBINER_SUBARRAY:
        CHECK_OK(MPI_Type_create_subarray_c(d, v + 1, v + 1 + d, v + 1 + 2 * d,
                                            (int)v[1 + 3 * d], old, &t));
        break;
    case MPI_COMBINER_DARRAY:
        d = (int)v[2];
        ints(v, r->n, a);
        CHECK_OK(MPI_Type_create_darray_c(a[0], a[1], d, v + 3, a + 3 + d, a + 3 + 2 * d,
                                          a + 3 + 3 * d, a[3 + 4 * d], old, &t));
        break;
    case MPI_COMBINER_RESIZED:
        CHECK_OK(MPI_Type_create_resized_c(old, v[0], v[1], &t));
        break;
    default:
        CHECK(false);
    }
    return t;
}

static MPI_Datatype make_small(const struct recipe *r)
{
    int v[MOST_VALUES], n = (int)r->value[0];
    MPI_Aint a[MOST_VALUES];
    MPI_Datatype old = r->child[0], t = MPI_DATATYPE_NULL;
    ints(r->value, r->n, v);
    addresses(r->value, r->n, a);
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        CHECK_OK(MPI_Type_contiguous(n, old, &t));
        break;
    case MPI_COMBINER_VECTOR:
        CHECK_OK(MPI_Type_vector(n, v[1], v[2], old, &t));
        break;
    case MPI_COMBINER_HVECTOR:
        CHECK_OK(MPI_Type_create_hvector(n, v[1], a[2], old, &t));
        break;
    case MPI_COMBINER_INDEXED:
        CHECK_OK(MPI_Type_indexed(n, v + 1, v + 1 + n, old, &t));
        break;
    case MPI_COMBINER_HINDEXED:
        CHECK_OK(MPI_Type_create_hindexed(n, v + 1, a + 1 + n, old, &t));
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        CHECK_OK(MPI_Type_create_indexed_block(n, v[1], v + 2, old, &t));
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        CHECK_OK(MPI_Type_create_hindexed_block(n, v[1], a + 2, old, &t));
        break;
    case MPI_COMBINER_STRUCT:
        CHECK_OK(MPI_Type_create_struct(n, v + 1, a + 1 + n, r->child, &t));
        break;
    case MPI_COMBINER_SUBARRAY:
        CHECK_OK(MPI_Type_create_subarray(n, v + 1, v + 1 + n, v + 1 + 2 * n, v[1 + 3 * n], old,
                                          &t));
        break;
    case MPI_COMBINER_DARRAY:
        n = v[2];
        CHECK_OK(MPI_Type_create_darray(v[0], v[1], n, v + 3, v + 3 + n, v + 3 + 2 * n,
                                        v + 3 + 3 * n, v[3 + 4 * n], old, &t));
        break;
    case MPI_COMBINER_RESIZED:
        CHECK_OK(MPI_Type_create_resized(old, a[0], a[1], &t));
        break;
    default:
        CHECK(false);
    }
    return t;
}

/* MPI_Type_dup has one form. */
static MPI_Datatype make(const struct recipe *r, bool large)
{
    MPI_Datatype t;
    if (r->combiner != MPI_COMBINER_DUP)
        return large ? make_large(r) : make_small(r);
    CHECK_OK(MPI_Type_dup(r->child[0], &t));
    return t;
}

/* ---- random recipes ---- */

static void put(struct recipe *r, const int *values, int n)
{
    for (int i = 0; i < n; i++)
        r->value[r->n++] = values[i];
}

static void put_one(struct recipe *r, int value)
{
    put(r, &value, 1);
}

static void put_blocks(struct recipe *r, bool one_length, int most, int low, int high)
{
    int n = chance(0, most), values[MOST_VALUES];
    put_one(r, n);
    chance_fill(values, n, 0, 4);
    put(r, values, one_length ? 0 : n);
    if (one_length)
        put_one(r, chance(0, 4));
    chance_fill(values, n, low, high);
    put(r, values, n);
}

static void put_subarray(struct recipe *r)
{
    int d = chance(1, 3), size[3], length[3], start[3];
    for (int i = 0; i < d; i++) {
        size[i] = chance(1, 6);
        length[i] = chance(1, size[i]);
        start[i] = chance(0, size[i] - length[i]);
    }
    put_one(r, d);
    put(r, size, d);
    put(r, length, d);
    put(r, start, d);
    put_one(r, chance(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN);
}

static void put_darray(struct recipe *r)
{
    int d = chance(1, 3), size[3], deal[3], argument[3], processes[3], all = 1;
    for (int i = 0; i < d; i++) {
        static const int deals[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                     MPI_DISTRIBUTE_CYCLIC };
        size[i] = chance(1, 9);
        deal[i] = deals[chance(0, 2)];
        processes[i] = deal[i] == MPI_DISTRIBUTE_NONE ? 1 : chance(1, 3);
        all *= processes[i];
        argument[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (deal[i] == MPI_DISTRIBUTE_CYCLIC && chance(0, 1))
            argument[i] = chance(1, 4);
        if (deal[i] == MPI_DISTRIBUTE_BLOCK && chance(0, 1))
            argument[i] = (size[i] + processes[i] - 1) / processes[i] + chance(0, 2);
    }
    put_one(r, all);
    put_one(r, chance(0, all - 1));
    put_one(r, d);
    put(r, size, d);
    put(r, deal, d);
    put(r, argument, d);
    put(r, processes, d);
    put_one(r, chance(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN);
}

static MPI_Datatype random_type(int depth);

static void put_arguments(struct recipe *r)
{
    int count = chance(0, 5);
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        put_one(r, count);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        put(r, (int[]){ count, chance(0, 4), chance(-9, 40) }, 3);
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        put_blocks(r, false, 14, -20, 60);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        put_blocks(r, true, 14, -20, 60);
        break;
    case MPI_COMBINER_STRUCT:
        put_blocks(r, false, MOST_TYPES, -100, 300);
        break;
    case MPI_COMBINER_SUBARRAY:
        put_subarray(r);
        break;
    case MPI_COMBINER_DARRAY:
        put_darray(r);
        break;
    case MPI_COMBINER_RESIZED:
        put(r, (int[]){ chance(-30, 30), chance(0, 80) }, 2);
        break;
    default:
        break;
    }
}

static bool is_named(MPI_Datatype type)
{
    MPI_Count integers, places, wide, children;
    int combiner;
    CHECK_OK(MPI_Type_get_envelope_c(type, &integers, &places, &wide, &children, &combiner));
    return combiner == MPI_COMBINER_NAMED;
}

static void types_free(MPI_Datatype *types, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_named(types[i]))
            MPI_Type_free(&types[i]);
}

static MPI_Datatype random_leaf(void)
{
    MPI_Datatype leaves[] = { MPI_CHAR, MPI_SHORT,      MPI_INT,      MPI_DOUBLE,
                              MPI_BYTE, MPI_DOUBLE_INT, MPI_SHORT_INT };
    return leaves[chance(0, (int)(sizeof leaves / sizeof *leaves) - 1)];
}

static MPI_Datatype random_type(int depth)
{
    static const int combiners[] = {
        MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR,         MPI_COMBINER_HVECTOR,
        MPI_COMBINER_INDEXED,    MPI_COMBINER_HINDEXED,       MPI_COMBINER_INDEXED_BLOCK,
        MPI_COMBINER_STRUCT,     MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_SUBARRAY,
        MPI_COMBINER_DARRAY,     MPI_COMBINER_RESIZED,        MPI_COMBINER_DUP,
    };
    if (depth == 0)
        return random_leaf();
    struct recipe r = { .combiner = combiners[chance(0, 11)] };
    put_arguments(&r);
    r.children = r.combiner == MPI_COMBINER_STRUCT ? (int)r.value[0] : 1;
    for (int i = 0; i < r.children; i++)
        r.child[i] = random_type(chance(0, depth - 1));
    MPI_Datatype type = make(&r, chance(0, 1) == 0);
    types_free(r.child, r.children);
    MPI_Count size, low, span;
    MPI_Type_size_c(type, &size);
    MPI_Type_get_true_extent_c(type, &low, &span);
    if (size <= MOST_BYTES && span <= MOST_SPAN)
        return type;
    MPI_Type_free(&type);
    return random_leaf();
}

/* ---- taking apart ---- */

/* Constructors mix integers and large counts in two cases only. */
static void contents_merge(struct recipe *r, const int *integers, int ni, const MPI_Count *wide,
                           int nw)
{
    int before = r->combiner == MPI_COMBINER_DARRAY           ? 3
                 : r->combiner == MPI_COMBINER_SUBARRAY && nw ? 1
                                                              : ni;
    put(r, integers, before);
    for (int i = 0; i < nw; i++)
        r->value[r->n++] = wide[i];
    put(r, integers + before, ni - before);
}

/* What was made by a large form is asked in that form. */
static bool recipe_read(MPI_Datatype type, bool large, struct recipe *r)
{
    int integers[MOST_VALUES], ni, na, nd;
    MPI_Aint places[MOST_VALUES];
    MPI_Count wide[MOST_VALUES], n[4];
    CHECK_OK(MPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &r->combiner));
    r->children = (int)n[3];
    if (large || n[2] > 0) {
        CHECK_OK(MPI_Type_get_contents_c(type, n[0], n[1], n[2], n[3], integers, places, wide,
                                         r->child));
    } else {
        CHECK_OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &r->combiner));
        CHECK(ni == n[0] && na == n[1] && nd == n[3]);
        CHECK_OK(MPI_Type_get_contents(type, ni, na, nd, integers, places, r->child));
    }
    contents_merge(r, integers, (int)n[0], wide, (int)n[2]);
    for (int i = 0; i < (int)n[1]; i++)
        r->value[r->n++] = places[i];
    return n[2] > 0;
}

/* The same type from scratch. */
static MPI_Datatype made_again(MPI_Datatype type, bool large)
{
    struct recipe r = { 0 };
    MPI_Datatype parts[MOST_TYPES];
    if (is_named(type))
        return type;
    bool is_large = recipe_read(type, large, &r);
    memcpy(parts, r.child, sizeof parts);
    for (int i = 0; i < r.children; i++)
        r.child[i] = made_again(parts[i], large);
    types_free(parts, r.children);
    MPI_Datatype again = make(&r, is_large);
    types_free(r.child, r.children);
    return again;
}

#endif
