/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A datatype: a layout (memory) and what MPI remembers about how it was made.  References to a
 * type are held by the user's handle, by requests that move its data, and by the recipes of
 * types built from it, so MPI_Type_free never pulls memory from under anybody.
 */
#ifndef XMPI_TYPE_H
#define XMPI_TYPE_H

#include "mpi.h"
#include "runtime/layout.h"
#include "runtime/object.h"

struct attributes;
struct recipe; /* src/recipe.h: constructor and its arguments */

struct type {
    struct object object; /* OBJECT_TYPE; predefined ones lie in a table of their own */
    struct layout *layout;
    bool predefined, committed;
    bool freed;          /* the handle is gone; other types and operations may still hold it */
    MPI_Datatype handle; /* what the user holds */
    struct recipe *recipe; /* NULL: predefined */
    struct attributes *attributes;
    char name[MPI_MAX_OBJECT_NAME];
};

enum { TYPE_FIRST = 0x200, TYPE_TABLE = 0x100 }; /* the handles of predefined datatypes */
/* By the low eight bits of the handle. */
extern struct type types_predefined[TYPE_TABLE] __attribute__((visibility("hidden")));

/* Fill the table of predefined types once; type_of does it when first asked for one. */
void types_open(void);

/* The type behind a handle, NULL when it is none (predefined and derived ones; O(1)). */
static inline struct type *type_of(MPI_Datatype handle)
{
    uintptr_t bits = (uintptr_t)handle;
    if (__builtin_expect(bits - TYPE_FIRST < TYPE_TABLE, 1)) {
        struct type *type = &types_predefined[bits - TYPE_FIRST];
        if (__builtin_expect(!type->object.kind, 0)) {
            types_open();
            return type->object.kind ? type : NULL;
        }
        return type;
    }
    return object_is(handle, OBJECT_TYPE) ? (struct type *)handle : NULL;
}

/* A derived type over a layout and a recipe; both references are taken over, also on failure.
 * NULL parts mean that making them failed: MPI_ERR_NO_MEM, or MPI_ERR_COUNT when errno is
 * EOVERFLOW, because the layout does not fit into 63 bits. */
int type_new(struct type **type, struct layout *layout, struct recipe *recipe);

/* *bytes = n * each; false and EOVERFLOW when that does not fit. */
bool type_scale(int64_t n, ptrdiff_t each, ptrdiff_t *bytes);

static inline struct type *type_hold(struct type *type)
{
    object_hold(type);
    return type;
}

/* Drop a reference; the last one gives the memory back.  Predefined types stay. */
void type_release(struct type *type);

/* No address, but data of a predefined type is expected: derived types may hold absolute
 * addresses, and then MPI_BOTTOM, which is NULL, is right.  MPI_IN_PLACE never is. */
static inline bool is_no_data(const void *data, int64_t count, const struct type *type)
{
    return (uintptr_t)data <= (uintptr_t)MPI_IN_PLACE && count > 0 && type &&
           (data || type->predefined);
}
int fail_no_data(const char *name, const void *data); /* MPI_ERR_BUFFER: what it is instead */

#endif
