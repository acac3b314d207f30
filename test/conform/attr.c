/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes: set, get, delete, copied by MPI_Comm_dup, deleted with the communicator, kept by
 * freed keys, deleted from MPI_COMM_SELF at the end; predefined ones; the old names.
 */
#include "test/conform/check.h"

static int copies, deletes, order[16];

static int copy_add(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    copies++;
    *(long *)out = (long)in + (long)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_count(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    order[deletes++ % 16] = (int)(long)value;
    return MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int refuse_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value;
    return *(int *)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static long value_of(MPI_Comm comm, int key)
{
    void *value = NULL;
    int flag;
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    return flag ? (long)value : -1;
}

static void test_copy(void)
{
    int add, same, none;
    MPI_Comm first, second;
    CHECK_OK(MPI_Comm_create_keyval(copy_add, delete_count, &add, (void *)100));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_count, &none, NULL));
    CHECK(add != same && same != none && add != none && add != MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    CHECK(value_of(first, add) == -1);
    CHECK_OK(MPI_Comm_set_attr(first, add, (void *)1));
    CHECK_OK(MPI_Comm_set_attr(first, same, (void *)2));
    CHECK_OK(MPI_Comm_set_attr(first, none, (void *)3));
    CHECK_OK(MPI_Comm_dup(first, &second));
    CHECK(copies == 1 && deletes == 0);
    CHECK(value_of(second, add) == 101 && value_of(second, same) == 2);
    CHECK(value_of(second, none) == -1 && value_of(first, none) == 3);
    CHECK_OK(MPI_Comm_set_attr(second, add, (void *)7));
    CHECK(deletes == 1 && order[0] == 101 && value_of(second, add) == 7);
    CHECK_OK(MPI_Comm_delete_attr(first, none));
    CHECK(deletes == 2 && order[1] == 3 && value_of(first, none) == -1);
    CHECK_ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, none), MPI_ERR_KEYVAL);
    /* A freed key lives on with its attributes, also for those who kept its number. */
    int freed = add, again = add;
    CHECK_OK(MPI_Comm_free_keyval(&freed));
    CHECK(freed == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_free_keyval(&again));
    CHECK(again == MPI_KEYVAL_INVALID && value_of(first, add) == 1);
    CHECK_ERROR(MPI_Comm_set_attr(first, add, (void *)2), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_delete_attr(second, add));
    CHECK(deletes == 3 && order[2] == 7 && value_of(second, add) == -1);
    CHECK_OK(MPI_Comm_free(&second));
    CHECK_OK(MPI_Comm_free(&first));
    CHECK(deletes == 4 && order[3] == 1);
    CHECK_ERROR(MPI_Comm_free_keyval(&add), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_free_keyval(&same));
    CHECK_OK(MPI_Comm_free_keyval(&none));
}

/* Only MPI_Comm_dup copies. */
static void test_split_does_not_copy(void)
{
    int same;
    MPI_Comm part;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, same, (void *)5));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part));
    CHECK(value_of(part, same) == -1);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, same));
    CHECK_OK(MPI_Comm_free_keyval(&same));
}

static void test_failing_functions(void)
{
    int key, stubborn = 1;
    MPI_Comm first, second = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_create_keyval(refuse_copy, refuse_delete, &key, &stubborn));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    CHECK_OK(MPI_Comm_set_attr(first, key, (void *)9));
    CHECK_ERROR(MPI_Comm_dup(first, &second), MPI_ERR_OTHER);
    CHECK_ERROR(MPI_Comm_delete_attr(first, key), MPI_ERR_OTHER);
    CHECK(value_of(first, key) == 9);
    stubborn = 0;
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_OK(MPI_Comm_free_keyval(&key));
}

/* The others get their communicators, and the old one is still of use. */
static void refused_on(int who, MPI_Comm comm, MPI_Comm all)
{
    int key, me, n, is_inter, one = 1, sum, stubborn = 0;
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Comm_rank(all, &me));
    CHECK_OK(MPI_Comm_create_keyval(refuse_copy, refuse_delete, &key, &stubborn));
    if (me == who) {
        CHECK_OK(MPI_Comm_set_attr(comm, key, (void *)9));
        CHECK_ERROR(MPI_Comm_idup(comm, &twin, &request), MPI_ERR_OTHER);
        CHECK(twin == MPI_COMM_NULL && request == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Comm_delete_attr(comm, key));
    } else {
        CHECK_OK(MPI_Comm_idup(comm, &twin, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&twin));
    }
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, twin));
    CHECK_OK(MPI_Comm_test_inter(twin, &is_inter));
    CHECK_OK(is_inter ? MPI_Comm_remote_size(twin, &n) : MPI_Comm_size(twin, &n));
    CHECK(sum == n);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_OK(MPI_Comm_free_keyval(&key));
}

static void test_refused_on_one(void)
{
    int me, n;
    MPI_Comm half, inter, plain;
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &plain));
    for (int who = 0; who < n; who++)
        refused_on(who, plain, MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_free(&plain));
    if (n < 2)
        return;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 0, &inter));
    for (int who = 0; who < n; who++)
        refused_on(who, inter, MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
}

static void test_predefined(void)
{
    int *value, flag, key = MPI_TAG_UB;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    CHECK(!flag || *value == MPI_ANY_SOURCE || *value >= 0 || *value == MPI_PROC_NULL);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(!flag || *value == 0 || *value == 1);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value > 0);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    CHECK(!flag || *value >= 0);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
    CHECK_ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, value), MPI_ERR_KEYVAL);
    CHECK_ERROR(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
    CHECK_ERROR(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
    key = MPI_KEYVAL_INVALID;
    CHECK_ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL), MPI_ERR_KEYVAL);
}

static void test_kinds_differ(void)
{
    int key, flag;
    MPI_Datatype type, copy;
    void *value;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    CHECK_ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, (void *)44));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_get_attr(copy, key, &value, &flag));
    CHECK(flag && (long)value == 44);
    CHECK_OK(MPI_Type_set_attr(MPI_INT, key, (void *)45));
    CHECK_OK(MPI_Type_get_attr(MPI_INT, key, &value, &flag));
    CHECK(flag && (long)value == 45);
    CHECK_OK(MPI_Type_delete_attr(MPI_INT, key));
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free_keyval(&key));
}

static void test_many_keys(void)
{
    int stale, key;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    stale = key;
    CHECK_OK(MPI_Comm_free_keyval(&key));
    for (int i = 0; i < 10000; i++) {
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
        CHECK_ERROR(MPI_Comm_set_attr(MPI_COMM_WORLD, stale, NULL), MPI_ERR_KEYVAL);
        CHECK_OK(MPI_Comm_free_keyval(&key));
    }
}

static void test_old_names(void)
{
    int key, flag;
    void *value;
    CHECK_OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
    CHECK_OK(MPI_Attr_put(MPI_COMM_WORLD, key, (void *)8));
    CHECK_OK(MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag));
    CHECK(flag && (long)value == 8);
    CHECK_OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
    CHECK_OK(MPI_Keyval_free(&key));
}

/* Run by MPI_Finalize, before anything else, last set first. */
static int last_seen = 4;
static int at_the_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int finalized, sum, one = 1;
    (void)keyval;
    (void)extra;
    MPI_Finalized(&finalized);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (finalized || sum != 1 || (long)value != --last_seen)
        exit(3);
    return MPI_SUCCESS;
}

static void set_for_the_end(void)
{
    for (long i = 0; i < 4; i++) {
        int key;
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL));
        CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)i));
        CHECK_OK(MPI_Comm_free_keyval(&key));
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    test_copy();
    test_split_does_not_copy();
    test_failing_functions();
    test_refused_on_one();
    test_predefined();
    test_kinds_differ();
    test_many_keys();
    test_old_names();
    set_for_the_end();
    int rc = check_done();
    return rc ? rc : last_seen == 0 ? 0 : 4;
}
