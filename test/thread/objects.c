/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Local objects, a storm of them in every thread: datatypes, infos, groups, operations, error
 * handlers, attributes with functions that call MPI, handles as integers; and errors, whose texts
 * are each thread's own.
 */
#include "test/thread/threads.h"

enum { ROUNDS = 300 };

static MPI_Comm shared;

static void datatypes(int me, int round)
{
    MPI_Datatype vector, structure, again;
    int extent_wanted = 8 * (me + 2), bytes;
    CHECK_OK(MPI_Type_vector(me + 1, 1, 2, MPI_INT, &vector));
    int lengths[2] = { 1, 1 };
    MPI_Aint places[2] = { 0, 8 * (me + 1) }, low, extent;
    MPI_Datatype parts[2] = { vector, MPI_DOUBLE };
    CHECK_OK(MPI_Type_create_struct(2, lengths, places, parts, &structure));
    CHECK_OK(MPI_Type_commit(&structure));
    CHECK_OK(MPI_Type_free(&vector));
    CHECK_OK(MPI_Type_size(structure, &bytes));
    CHECK_OK(MPI_Type_get_extent(structure, &low, &extent));
    CHECK(bytes == 4 * (me + 1) + 8 && low == 0 && extent == extent_wanted);
    CHECK_OK(MPI_Type_dup(structure, &again));
    CHECK(MPI_Type_fromint(MPI_Type_toint(again)) == again);
    char in[256] = { 0 }, packed[256];
    int position = 0;
    in[0] = (char)round;
    CHECK_OK(MPI_Pack(in, 1, again, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK(position == bytes && packed[0] == (char)round);
    CHECK_OK(MPI_Type_free(&structure));
    CHECK_OK(MPI_Type_free(&again));
}

static void infos(int me, int round)
{
    MPI_Info info, copy;
    char key[32], value[32], got[32];
    int room = sizeof got, flag, n;
    CHECK_OK(MPI_Info_create(&info));
    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof key, "key %d", i);
        snprintf(value, sizeof value, "%d of %d in %d", i, me, round);
        CHECK_OK(MPI_Info_set(info, key, value));
    }
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_get_nkeys(copy, &n));
    CHECK_OK(MPI_Info_get_string(copy, key, &room, got, &flag));
    CHECK(n == 5 && flag && strcmp(got, value) == 0);
    CHECK_OK(MPI_Info_free(&copy));
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void groups_and_operations(int me)
{
    MPI_Group world, part;
    MPI_Op op;
    int first = 0, n, a = me, b = 1;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &first, &part));
    CHECK_OK(MPI_Group_size(part, &n));
    CHECK(n == 1);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Op_create(add, 1, &op));
    CHECK_OK(MPI_Reduce_local(&a, &b, 1, MPI_INT, op));
    CHECK(b == me + 1);
    CHECK_OK(MPI_Op_free(&op));
}

/* ---- attributes ---- */

static int copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    int n;
    (void)key;
    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK(n == 1 && extra == (void *)&shared);
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    int flag;
    (void)comm;
    (void)key;
    (void)extra;
    CHECK_OK(MPI_Initialized(&flag));
    ++*(int *)value;
    return MPI_SUCCESS;
}

static void attributes(int me)
{
    MPI_Comm mine, dup;
    int key, value = 0, flag, *got = NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &mine));
    CHECK_OK(MPI_Comm_create_keyval(copied, deleted, &key, &shared));
    CHECK_OK(MPI_Comm_set_attr(mine, key, &value));
    CHECK_OK(MPI_Comm_dup(mine, &dup));
    CHECK_OK(MPI_Comm_get_attr(dup, key, &got, &flag));
    CHECK(flag && got == &value);
    CHECK_OK(MPI_Comm_free(&mine));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK(value == 2);
    /* and all on one communicator, under a key each */
    CHECK_OK(MPI_Comm_set_attr(shared, key, &value));
    CHECK_OK(MPI_Comm_get_attr(shared, key, &got, &flag));
    CHECK(flag && got == &value);
    CHECK_OK(MPI_Comm_delete_attr(shared, key));
    CHECK(value == 3);
    CHECK_OK(MPI_Comm_free_keyval(&key));
    (void)me;
}

/* ---- errors ---- */

static _Thread_local int raised;
static void count_error(MPI_Comm *comm, int *code, ...)
{
    int n;
    CHECK_OK(MPI_Comm_size(*comm, &n));
    CHECK(*code == MPI_ERR_TAG);
    raised++;
}

static void errors(int me)
{
    char text[MPI_MAX_ERROR_STRING], wanted[32];
    int length, tag = -1000 - me, code;
    MPI_Errhandler handler;
    MPI_Comm mine;
    snprintf(wanted, sizeof wanted, "%d", tag);
    code = MPI_Send(NULL, 0, MPI_INT, 0, tag, MPI_COMM_SELF);
    CHECK(code != MPI_SUCCESS);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, wanted));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &mine));
    CHECK_OK(MPI_Comm_create_errhandler(count_error, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(mine, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    raised = 0;
    CHECK_ERROR(MPI_Send(NULL, 0, MPI_INT, 0, tag, mine), MPI_ERR_TAG);
    CHECK(raised == 1);
    CHECK_OK(MPI_Comm_free(&mine));
    CHECK_OK(MPI_Add_error_class(&code));
    CHECK_OK(MPI_Add_error_string(code, wanted));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, wanted) == 0);
}

static void work(int me)
{
    for (int round = 0; round < ROUNDS; round++) {
        datatypes(me, round);
        infos(me, round);
        groups_and_operations(me);
        if (round % 10 == 0) {
            attributes(me);
            errors(me);
        }
    }
}

int main(int argc, char **argv)
{
    threads_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &shared));
    threads_run(work);
    CHECK_OK(MPI_Comm_free(&shared));
    return check_done();
}
