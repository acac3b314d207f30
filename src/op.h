/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An operation: one of the standard's, or the user's function.
 */
#ifndef XMPI_OP_H
#define XMPI_OP_H

#include "mpi.h"
#include "runtime/reduce.h"
#include "src/type.h"

struct op {
    struct object object; /* OBJECT_OP */
    const char *name;     /* "MPI_SUM"; user's: "user-defined" */
    bool predefined, commutes, wide;
    enum reduce_op builtin;
    MPI_Op handle;
    void *function; /* MPI_User_function * or MPI_User_function_c * */
};

/* The operation behind a handle, NULL when it is none (O(1)). */
struct op *op_of(MPI_Op handle);

/* Keep it for what is under way; predefined ones are not counted.  NULL is allowed. */
void op_hold(struct op *op);
void op_release(struct op *op);

/* Bind an operation to a datatype; MPI_ERR_OP when the standard does not define the pair.  The
 * reduction borrows from the type, and nothing from the operation.  MPI_REPLACE and MPI_NO_OP are
 * not for folding. */
int op_bind(const struct op *op, const struct type *type, struct reduction *reduction);

#endif
