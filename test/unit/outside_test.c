/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of the program that call the library, from inside of a call: this thread is in that call again
 * afterwards, and in its collective.
 */
#include "src/outside.h"

#include "mpi.h"
#include "src/api/collective.h"
#include "src/api/comm.h"
#include "src/attr.h"
#include "src/comm.h"
#include "src/op.h"
#include "src/type.h"
#include "test/unit/unit.h"

static const struct record_scope scope;
static int calls;

/* What an entry point does first. */
static void call_inside(void)
{
    calls++;
    record_enter("MPI_Type_size", &calls);
}

static void begin(void)
{
    calls = 0;
    record_enter("MPI_Comm_dup", &scope);
    record_now.inside = &scope;
}

static void end(int expected)
{
    ck_assert_int_eq(calls, expected);
    ck_assert_str_eq(record_now.function, "MPI_Comm_dup");
    ck_assert_ptr_eq(record_now.caller, &scope);
    ck_assert_ptr_eq(record_now.inside, &scope);
}

static void fold(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    call_inside();
}

static void fold_wide(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    call_inside();
}

static void fold_with(user_function_t function)
{
    struct op *op;
    struct reduction reduction;
    int in = 1, inout = 2;
    ck_assert_int_eq(xmpi_op_create(function, 1, &op), 0);
    ck_assert_int_eq(op_bind(op, type_of(MPI_INT), &reduction), 0);
    begin();
    reduction.user(&reduction, &in, &inout, 1);
    end(1);
    op_release(op);
}

START_TEST(test_operation)
{
    fold_with((user_function_t){ .narrow = fold });
    fold_with((user_function_t){ .wide = fold_wide });
}
END_TEST

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)key, (void)extra;
    call_inside();
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    call_inside();
    return MPI_SUCCESS;
}

START_TEST(test_attribute)
{
    static struct comm subject;
    struct attributes *copies = NULL;
    int key;
    ck_assert_int_eq(xmpi_comm_create_keyval(copy, delete, &key, NULL), 0);
    ck_assert_int_eq(xmpi_comm_set_attr(&subject, key, NULL), 0);
    begin();
    ck_assert_int_eq(attributes_copy(ATTR_COMM, &subject, subject.attributes, &copies), 0);
    end(1);
    ck_assert_int_eq(attributes_delete(ATTR_COMM, &subject, &subject.attributes), 0);
    ck_assert_int_eq(attributes_delete(ATTR_COMM, &subject, &copies), 0);
    end(3);
    ck_assert_int_eq(xmpi_comm_free_keyval(&key), 0);
}
END_TEST

UNIT_MAIN("outside", test_operation, test_attribute)
