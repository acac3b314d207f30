/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A datatype: a layout (memory) and what MPI remembers about how it was made.
 */
#ifndef XMPI_TYPE_H
#define XMPI_TYPE_H

#include "mpi.h"
#include "runtime/layout.h"
#include "runtime/object.h"

struct attributes;
struct type_recipe; /* constructor and its arguments, for get_envelope and get_contents */

struct type {
    struct object object; /* OBJECT_TYPE; predefined ones lie in a table of their own */
    struct layout *layout;
    bool predefined, committed;
    MPI_Datatype handle; /* what the user holds */
    struct type_recipe *recipe;
    struct attributes *attributes;
    char name[MPI_MAX_OBJECT_NAME];
};

/* The type behind a handle, NULL when it is none (predefined and derived ones; O(1)). */
struct type *type_of(MPI_Datatype handle);
void type_release(struct type *type);

#endif
