/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes where other libraries stumble: keys freed twice, inside their own callbacks and
 * while attributes are left; callbacks that set and delete on the same object; the order in which
 * callbacks run; failed copies.
 */
#include "test/conform/check.h"

static int nseen;
static long seen[64];

static void forget(void)
{
    nseen = 0;
}

static int note_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    seen[nseen++ % 64] = (long)value;
    return MPI_SUCCESS;
}

static int note_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    seen[nseen++ % 64] = 100 + (long)in;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int has(MPI_Comm comm, int key)
{
    void *value;
    int flag;
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    return flag;
}

/* Copied in the order in which they were set, deleted in the opposite one.  The standard wants
 * that for the end of MPI_COMM_SELF (11.2.4) and leaves the rest open; here it is so everywhere. */
static void test_order(void)
{
    MPI_Comm first, second;
    int keys[5];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &first));
    for (long i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_create_keyval(note_copy, note_delete, &keys[i], NULL));
    for (long i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_set_attr(first, keys[(i * 2) % 5], (void *)(i + 1)));
    forget();
    CHECK_OK(MPI_Comm_dup(first, &second));
    CHECK(nseen == 5);
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] == 101 + i);
    forget();
    CHECK_OK(MPI_Comm_free(&second));
    CHECK_OK(MPI_Comm_free(&first));
    CHECK(nseen == 10);
    for (int i = 0; i < 10; i++)
        CHECK(seen[i] == 5 - i % 5);
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_free_keyval(&keys[i]));
}

/* A key freed while three objects use it, twice, by two names. */
static void test_freed_twice(void)
{
    MPI_Comm comms[3];
    int key, first, second;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, note_delete, &key, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[0]));
    CHECK_OK(MPI_Comm_set_attr(comms[0], key, (void *)1));
    CHECK_OK(MPI_Comm_dup(comms[0], &comms[1]));
    first = second = key;
    CHECK_OK(MPI_Comm_free_keyval(&first));
    CHECK_OK(MPI_Comm_free_keyval(&second));
    CHECK(first == MPI_KEYVAL_INVALID && second == MPI_KEYVAL_INVALID);
    CHECK(has(comms[0], key) && has(comms[1], key));
    CHECK_OK(MPI_Comm_dup(comms[1], &comms[2])); /* still copied */
    CHECK(has(comms[2], key));
    forget();
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    CHECK(nseen == 3);
    CHECK_ERROR(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
}

static int free_in_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval;
    seen[nseen++ % 64] = (long)value;
    return *(int *)extra == MPI_KEYVAL_INVALID ? MPI_SUCCESS : MPI_Comm_free_keyval(extra);
}

static int free_in_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    *(void **)out = in;
    *flag = 1;
    return *(int *)extra == MPI_KEYVAL_INVALID ? MPI_SUCCESS : MPI_Comm_free_keyval(extra);
}

/* The last reference to a key goes while its own function runs. */
static void test_freed_inside(void)
{
    MPI_Comm first, second;
    int key;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_in_delete, &key, &key));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &first));
    CHECK_OK(MPI_Comm_set_attr(first, key, (void *)7));
    forget();
    CHECK_OK(MPI_Comm_delete_attr(first, key));
    CHECK(nseen == 1 && seen[0] == 7 && key == MPI_KEYVAL_INVALID);

    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_in_delete, &key, &key));
    CHECK_OK(MPI_Comm_set_attr(first, key, (void *)8));
    CHECK_OK(MPI_Comm_free(&first));
    CHECK(nseen == 2 && seen[1] == 8 && key == MPI_KEYVAL_INVALID);

    CHECK_OK(MPI_Comm_create_keyval(free_in_copy, note_delete, &key, &key));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &first));
    CHECK_OK(MPI_Comm_set_attr(first, key, (void *)9));
    CHECK_OK(MPI_Comm_dup(first, &second));
    CHECK(key == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_OK(MPI_Comm_free(&second));
    CHECK(nseen == 4 && seen[2] == 9 && seen[3] == 9);
}

static int other_key;

static int set_other(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    return MPI_Comm_set_attr(comm, other_key, (void *)5);
}

static int delete_other(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    return has(comm, other_key) ? MPI_Comm_delete_attr(comm, other_key) : MPI_SUCCESS;
}

/* Deleting one attribute sets or deletes another one of the same communicator. */
static void test_neighbours(void)
{
    MPI_Comm comm;
    int setter, deleter;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_delete, &other_key, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, set_other, &setter, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_other, &deleter, NULL));
    for (int order = 0; order < 2; order++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        CHECK_OK(MPI_Comm_set_attr(comm, order ? other_key : deleter, (void *)1));
        CHECK_OK(MPI_Comm_set_attr(comm, order ? deleter : other_key, (void *)2));
        forget();
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK(nseen == 1);
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        CHECK_OK(MPI_Comm_set_attr(comm, setter, (void *)1));
        CHECK_OK(MPI_Comm_delete_attr(comm, setter));
        CHECK(has(comm, other_key) && !has(comm, setter));
        CHECK_OK(MPI_Comm_set_attr(comm, setter, (void *)1));
        forget();
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK(nseen == 2);
    }
    CHECK_OK(MPI_Comm_free_keyval(&other_key));
    CHECK_OK(MPI_Comm_free_keyval(&setter));
    CHECK_OK(MPI_Comm_free_keyval(&deleter));
}

static int refuse_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static void test_failed_dup(void)
{
    MPI_Comm comm, copy;
    MPI_Request request;
    int good, bad;
    CHECK_OK(MPI_Comm_create_keyval(note_copy, note_delete, &good, NULL));
    CHECK_OK(MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &bad, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, good, (void *)3));
    CHECK_OK(MPI_Comm_set_attr(comm, bad, (void *)4));
    forget();
    copy = MPI_COMM_SELF;
    CHECK_ERROR(MPI_Comm_dup(comm, &copy), MPI_ERR_OTHER);
    CHECK(copy == MPI_COMM_NULL);
    CHECK(nseen == 2 && seen[0] == 103 && seen[1] == 3); /* copied, and deleted again */
    copy = MPI_COMM_SELF;
    CHECK_ERROR(MPI_Comm_idup(comm, &copy, &request), MPI_ERR_OTHER);
    CHECK(copy == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_delete_attr(comm, bad));
    CHECK_OK(MPI_Comm_dup(comm, &copy)); /* nothing of the failures is in the way */
    CHECK_OK(MPI_Barrier(copy));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_free_keyval(&good));
    CHECK_OK(MPI_Comm_free_keyval(&bad));
}

static int type_seen;

static int note_type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value;
    type_seen++;
    return *(int *)extra == MPI_KEYVAL_INVALID ? MPI_SUCCESS : MPI_Type_free_keyval(extra);
}

/* The same for datatypes; the type lives on in another one, its attributes do not. */
static void test_types(void)
{
    MPI_Datatype type, copy, array;
    int key, kept, flag;
    void *value;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, note_type_delete, &key, &key));
    kept = key;
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, (void *)1));
    CHECK_OK(MPI_Type_contiguous(2, type, &array));
    CHECK_OK(MPI_Type_get_attr(array, key, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_free(&type));
    CHECK(type_seen == 1 && key == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Type_get_attr(copy, kept, &value, &flag));
    CHECK(flag && value == (void *)1);
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Type_free(&array));
    CHECK(type_seen == 2);
    CHECK_ERROR(MPI_Type_free_keyval(&kept), MPI_ERR_KEYVAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    test_order();
    test_freed_twice();
    test_freed_inside();
    test_neighbours();
    test_failed_dup();
    test_types();
    return check_done();
}
