/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations: the table of the predefined ones by the low five bits of the handle, the user's
 * functions, and the binding of either to a datatype, which is what collectives fold with.
 */
#include "src/op.h"

#include "coll/scratch.h"
#include "mpix.h"
#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "runtime/gpu_reduce.h"
#include "src/api/collective.h"
#include "src/outside.h"

#include <limits.h>
#include <stdlib.h>

enum { OP_FIRST = 0x20, OP_TABLE = 0x20 };

#define COMMUTES(op) ((op) != REDUCE_REPLACE && (op) != REDUCE_NO_OP)
#define ROW(mpi, op)                                                                           \
    [(uintptr_t)(mpi)-OP_FIRST] = { .object = { .kind = OBJECT_OP, .refs = 1 },                \
                                    .name = #mpi,                                              \
                                    .predefined = true,                                        \
                                    .commutes = COMMUTES(op),                                  \
                                    .builtin = op,                                             \
                                    .handle = (mpi) }

static struct op ops_predefined[OP_TABLE] = {
    ROW(MPI_SUM, REDUCE_SUM),         ROW(MPI_MIN, REDUCE_MIN),
    ROW(MPI_MAX, REDUCE_MAX),         ROW(MPI_PROD, REDUCE_PROD),
    ROW(MPI_BAND, REDUCE_BAND),       ROW(MPI_BOR, REDUCE_BOR),
    ROW(MPI_BXOR, REDUCE_BXOR),       ROW(MPI_LAND, REDUCE_LAND),
    ROW(MPI_LOR, REDUCE_LOR),         ROW(MPI_LXOR, REDUCE_LXOR),
    ROW(MPI_MINLOC, REDUCE_MINLOC),   ROW(MPI_MAXLOC, REDUCE_MAXLOC),
    ROW(MPI_REPLACE, REDUCE_REPLACE), ROW(MPI_NO_OP, REDUCE_NO_OP),
    ROW(MPIX_AVG, REDUCE_SUM),
};

struct op *op_of(MPI_Op handle)
{
    uintptr_t bits = (uintptr_t)handle;
    if (bits - OP_FIRST < OP_TABLE) {
        struct op *op = &ops_predefined[bits - OP_FIRST];
        return op->object.kind ? op : NULL;
    }
    return object_is(handle, OBJECT_OP) ? (struct op *)handle : NULL;
}

/* ---- the user's functions: called without the engine lock ---- */

/* MPI_User_function counts in int: longer vectors are handed over in pieces. */
static void user_narrow(const struct reduction *r, const void *in, void *inout, size_t count)
{
    MPI_User_function *function = (MPI_User_function *)r->function;
    MPI_Datatype datatype = r->datatype;
    struct outside outside = outside_begin();
    while (count > 0) {
        int piece = count > INT_MAX ? INT_MAX : (int)count;
        function((void *)in, inout, &piece, &datatype);
        ptrdiff_t bytes = piece * r->layout->extent;
        in = buffer_at(in, bytes); /* which may be MPI_BOTTOM */
        inout = buffer_at(inout, bytes);
        count -= (size_t)piece;
    }
    outside_end(&outside);
}

static void user_wide(const struct reduction *r, const void *in, void *inout, size_t count)
{
    MPI_User_function_c *function = (MPI_User_function_c *)r->function;
    MPI_Datatype datatype = r->datatype;
    MPI_Count n = (MPI_Count)count;
    struct outside outside = outside_begin();
    function((void *)in, inout, &n, &datatype);
    outside_end(&outside);
}

void op_hold(struct op *op)
{
    if (op && !op->predefined)
        object_hold(op);
}

void op_release(struct op *op)
{
    if (op && !op->predefined && object_drop(op))
        object_delete(op);
}

int op_bind(const struct op *op, const struct type *type, struct reduction *reduction)
{
    *reduction = (struct reduction){ .commutes = op->commutes, .layout = type->layout };
    if (!op->predefined) {
        reduction->user = op->wide ? user_wide : user_narrow;
        reduction->function = op->function;
        reduction->datatype = type->handle;
        reduction->wide = op->wide;
        reduction->name = REDUCE_NAME_USER;
        return MPI_SUCCESS;
    }
    if (op->builtin == REDUCE_REPLACE || op->builtin == REDUCE_NO_OP)
        return fail(MPI_ERR_OP, "argument op: %s is for accumulating into windows only",
                    op->name);
    if (!type->predefined)
        return fail(MPI_ERR_OP,
                    "argument op: %s is defined for predefined datatypes only; make an "
                    "operation for this one with MPI_Op_create",
                    op->name);
    reduction->kernel = reduce_find(op->builtin, type->layout->basic);
    reduction->in_float = folding_in_float(op->builtin, type->layout->basic);
    reduction->mean = op->handle == MPIX_AVG;
    reduction->name = (uint8_t)(reduction->mean ? REDUCE_NAME_MEAN : op->builtin + 1);
    if (!reduction->kernel || (reduction->mean && !reduce_has_mean(type->layout->basic)))
        return fail(MPI_ERR_OP, "argument op: %s is not defined for %s", op->name, type->name);
    return MPI_SUCCESS;
}

/* ---- bodies ---- */

int xmpi_op_create(user_function_t user_fn, int commute, op_out_t *op)
{
    struct op *new = object_new(OBJECT_OP, sizeof *new);
    if (!new)
        return fail(MPI_ERR_NO_MEM, "no memory left for a new operation");
    new->name = "user-defined";
    new->commutes = commute != 0;
    new->wide = user_fn.wide != NULL;
    new->function = user_fn.wide ? (void *)user_fn.wide : (void *)user_fn.narrow;
    new->handle = (MPI_Op) new;
    *op = new;
    return MPI_SUCCESS;
}

/* Reductions under way have copied what they need. */
int xmpi_op_free(op_free_t *op)
{
    if ((*op)->predefined)
        return fail(MPI_ERR_OP, "argument op: %s is predefined and cannot be freed",
                    (*op)->name);
    op_release(*op); /* operations in streams may hold it */
    *op = NULL;
    return MPI_SUCCESS;
}

int xmpi_op_commutative(op_t op, flag_t *commute)
{
    *commute = op->commutes;
    return MPI_SUCCESS;
}

/* The same by the device that has the data, or through copies on the host. */
static int reduce_away(const struct reduction *r, const struct buffer *inout,
                       const struct buffer *in)
{
    char *memory[2] = { NULL, NULL };
    if (in->where == inout->where &&
        !gpu_reduce_objection(r, 1, in->count, inout->base, in->base)) {
        gpu_reduce(r, inout->base, in->base, inout->base, in->count);
        return gpu_check();
    }
    struct buffer one = { NULL, in->count, r->layout, HERE }, other = one;
    int error = scratch_typed(&memory[0], &one.base, r->layout, in->count);
    if (!error)
        error = scratch_typed(&memory[1], &other.base, r->layout, in->count);
    if (!error) {
        buffer_copy(&one, in);
        buffer_copy(&other, inout);
        reduce_apply(r, other.base, one.base, other.base, in->count);
        buffer_copy(inout, &other);
        error = gpu_check();
    }
    scratch_give(memory[0]);
    scratch_give(memory[1]);
    return error;
}

int xmpi_reduce_local(in_t inbuf, inout_t inoutbuf, count_t count, committed_t datatype,
                      op_t op)
{
    struct reduction reduction;
    int rc = op_bind(op, datatype, &reduction);
    if (rc)
        return rc;
    if (reduction.mean)
        return fail(MPI_ERR_OP,
                    "argument op: %s is a mean over processes, and there are none here; "
                    "fold with MPI_SUM and divide",
                    op->name);
    if (count > 0 && datatype->predefined && (!inbuf || !inoutbuf))
        return fail_null(MPI_ERR_BUFFER, inbuf ? "inoutbuf" : "inbuf");
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
        return fail(MPI_ERR_BUFFER, "argument %s: MPI_IN_PLACE is not allowed here",
                    inbuf == MPI_IN_PLACE ? "inbuf" : "inoutbuf");
    if (count > 0 && inbuf && inbuf == inoutbuf)
        return fail(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same memory");
    struct buffer in = buffer_user(inbuf, count, datatype->layout);
    struct buffer inout = buffer_user(inoutbuf, count, datatype->layout);
    if (in.where == AWAY || inout.where == AWAY)
        return reduce_away(&reduction, &inout, &in);
    reduce_apply(&reduction, inoutbuf, inbuf, inoutbuf, (size_t)count);
    return MPI_SUCCESS;
}
