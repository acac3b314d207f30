/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes from inside: callbacks that change what they are called for, and what is left after
 * failures.
 */
#include "src/attr.h"

#include "mpi.h"
#include "src/api/comm.h"
#include "src/comm.h"
#include "test/unit/unit.h"

#include <string.h>

static struct comm subject;
static int calls;

static int key_of(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete,
                  void *extra)
{
    int key;
    ck_assert_int_eq(xmpi_comm_create_keyval(copy, delete, &key, extra), 0);
    return key;
}

static long value_of(struct comm *comm, int key)
{
    void *value;
    int flag;
    ck_assert_int_eq(xmpi_comm_get_attr(comm, key, &value, &flag), 0);
    return flag ? (long)value : -1;
}

static int delete_all(void)
{
    return attributes_delete(ATTR_COMM, &subject, &subject.attributes);
}

/* Frees its own key while it is called. */
static int free_my_key(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)value, (void)extra;
    calls++;
    return xmpi_comm_free_keyval(&key);
}

START_TEST(test_key_freed_inside)
{
    int key = key_of(MPI_COMM_DUP_FN, free_my_key, NULL);
    ck_assert_int_eq(xmpi_comm_set_attr(&subject, key, NULL), 0);
    ck_assert_int_eq(delete_all(), 0);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(xmpi_comm_set_attr(&subject, key, NULL), MPI_ERR_KEYVAL);
}
END_TEST

/* Sets an attribute under another key of the same communicator. */
static int set_another(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value;
    calls++;
    return xmpi_comm_set_attr(&subject, *(int *)extra, (void *)5);
}

START_TEST(test_set_inside)
{
    int plain = key_of(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, NULL);
    int key = key_of(MPI_COMM_DUP_FN, set_another, &plain);
    ck_assert_int_eq(xmpi_comm_set_attr(&subject, key, NULL), 0);
    ck_assert_int_eq(xmpi_comm_delete_attr(&subject, key), 0);
    ck_assert_int_eq(value_of(&subject, plain), 5);
    ck_assert_int_eq(value_of(&subject, key), -1);
    ck_assert_int_eq(delete_all(), 0);
    ck_assert_ptr_null(subject.attributes);
}
END_TEST

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value;
    return *(int *)extra;
}

START_TEST(test_refusal_keeps_the_rest)
{
    int answer = MPI_ERR_OTHER;
    int first = key_of(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, NULL);
    int second = key_of(MPI_COMM_DUP_FN, refuse, &answer);
    int third = key_of(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, NULL);
    xmpi_comm_set_attr(&subject, first, (void *)1);
    xmpi_comm_set_attr(&subject, second, (void *)2);
    xmpi_comm_set_attr(&subject, third, (void *)3);
    ck_assert_int_eq(delete_all(), MPI_ERR_OTHER);
    ck_assert_int_eq(value_of(&subject, first), 1);
    ck_assert_int_eq(value_of(&subject, second), 2);
    ck_assert_int_eq(value_of(&subject, third), -1); /* the last set went first */
    ck_assert_int_eq(xmpi_comm_set_attr(&subject, second, NULL), MPI_ERR_OTHER);
    answer = MPI_SUCCESS;
    ck_assert_int_eq(delete_all(), 0);
}
END_TEST

static int copied, dropped;
static int copy_some(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    if ((long)in == 13)
        return MPI_ERR_OTHER;
    copied++;
    *flag = (long)in % 2 == 0;
    memcpy(out, &in, sizeof in);
    return MPI_SUCCESS;
}
static int count_drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    dropped++;
    return MPI_SUCCESS;
}

START_TEST(test_copy_fails_half_way)
{
    struct attributes *to = NULL;
    int keys[3];
    long values[3] = { 2, 4, 13 };
    for (int i = 0; i < 3; i++) {
        keys[i] = key_of(copy_some, count_drop, NULL);
        xmpi_comm_set_attr(&subject, keys[i], (void *)values[i]);
    }
    ck_assert_int_eq(attributes_copy(ATTR_COMM, &subject, subject.attributes, &to),
                     MPI_ERR_OTHER);
    ck_assert(copied == 2 && dropped == 2 && to == NULL);
    xmpi_comm_set_attr(&subject, keys[2], (void *)3); /* not wanted by its copy function */
    ck_assert_int_eq(attributes_copy(ATTR_COMM, &subject, subject.attributes, &to), 0);
    struct comm other = { .attributes = to };
    ck_assert_int_eq(value_of(&other, keys[0]), 2);
    ck_assert_int_eq(value_of(&other, keys[2]), -1);
    ck_assert_int_eq(attributes_delete(ATTR_COMM, &other, &other.attributes), 0);
    ck_assert_int_eq(delete_all(), 0);
    ck_assert_int_eq(dropped, 2 + 1 + 2 + 3);
}
END_TEST

UNIT_MAIN("attr", test_key_freed_inside, test_set_inside, test_refusal_keeps_the_rest,
          test_copy_fails_half_way)
