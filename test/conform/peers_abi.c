/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles as integers (MPI 5.0, 20.3): every class, predefined and made ones, there and back, and
 * what is no handle.  Needs an MPI 5 library; others leave the checks out.
 */
#include "test/conform/check.h"

#include <stdint.h>

#if MPI_VERSION >= 5

#define ROUND(class, handle)                                                                   \
    do {                                                                                       \
        int integer = MPI_##class##_toint(handle);                                             \
        CHECK(integer > 0);                                                                    \
        CHECK(MPI_##class##_fromint(integer) == (handle));                                     \
    } while (0)

#define PREDEFINED(class, handle)                                                              \
    do {                                                                                       \
        ROUND(class, handle);                                                                  \
        CHECK(MPI_##class##_toint(handle) == (int)(intptr_t)(handle));                         \
    } while (0)

static void test_predefined(void)
{
    PREDEFINED(Comm, MPI_COMM_WORLD);
    PREDEFINED(Comm, MPI_COMM_SELF);
    PREDEFINED(Comm, MPI_COMM_NULL);
    PREDEFINED(Group, MPI_GROUP_EMPTY);
    PREDEFINED(Group, MPI_GROUP_NULL);
    PREDEFINED(Type, MPI_INT);
    PREDEFINED(Type, MPI_DOUBLE_INT);
    PREDEFINED(Type, MPI_DATATYPE_NULL);
    PREDEFINED(Op, MPI_SUM);
    PREDEFINED(Op, MPI_NO_OP);
    PREDEFINED(Op, MPI_OP_NULL);
    PREDEFINED(Errhandler, MPI_ERRORS_RETURN);
    PREDEFINED(Errhandler, MPI_ERRHANDLER_NULL);
    PREDEFINED(Info, MPI_INFO_ENV);
    PREDEFINED(Info, MPI_INFO_NULL);
    PREDEFINED(Message, MPI_MESSAGE_NO_PROC);
    PREDEFINED(Message, MPI_MESSAGE_NULL);
    PREDEFINED(Request, MPI_REQUEST_NULL);
    PREDEFINED(Session, MPI_SESSION_NULL);
    PREDEFINED(Win, MPI_WIN_NULL);
    PREDEFINED(File, MPI_FILE_NULL);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static void test_made(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Info info;
    MPI_Session session;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Op_create(add, 1, &op));
    CHECK_OK(MPI_Comm_create_errhandler(on_error, &handler));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    ROUND(Comm, comm);
    ROUND(Group, group);
    ROUND(Type, type);
    ROUND(Op, op);
    ROUND(Errhandler, handler);
    ROUND(Info, info);
    ROUND(Session, session);
    int stale = MPI_Type_toint(type);
    CHECK(MPI_Comm_toint((MPI_Comm)type) == 0); /* another kind of object */
    CHECK(MPI_Comm_fromint(stale) == MPI_COMM_NULL);
    CHECK_OK(MPI_Type_free(&type));
    CHECK(MPI_Type_fromint(stale) == MPI_DATATYPE_NULL); /* nothing has come there since */
    CHECK(MPI_Type_fromint(-1) == MPI_DATATYPE_NULL);
    CHECK(MPI_Comm_fromint(0) == MPI_COMM_NULL);
    CHECK(MPI_Comm_fromint(2147483647) == MPI_COMM_NULL);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&comm));
}

/* What lives only while something is under way. */
static void test_messages(void)
{
    int me = world_rank(), value = me, got[3] = { -1, -1, -1 };
    MPI_Request requests[3];
    MPI_Message message;
    CHECK_OK(MPI_Irecv(&got[0], 1, MPI_INT, me, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]));
    for (int i = 0; i < 3; i++)
        ROUND(Request, requests[i]);
    /* A request that goes through an integer is as good as before. */
    requests[1] = MPI_Request_fromint(MPI_Request_toint(requests[1]));
    CHECK_OK(MPI_Start(&requests[1]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK(got[0] == me);
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, me, 2, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Mprobe(me, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    ROUND(Message, message);
    message = MPI_Message_fromint(MPI_Message_toint(message));
    CHECK_OK(MPI_Mrecv(&got[1], 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(got[1] == me);
}

/* A hundred thousand of them: no number twice, and no search. */
static void test_many(void)
{
    enum { N = 100000 };
    MPI_Group *groups = malloc(N * sizeof *groups), world;
    int *numbers = malloc(N * sizeof *numbers);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < N; i++) {
        int rank = i % world_size();
        CHECK_OK(MPI_Group_incl(world, 1, &rank, &groups[i]));
        numbers[i] = MPI_Group_toint(groups[i]);
    }
    for (int i = 0; i < N; i++) {
        CHECK(numbers[i] == MPI_Group_toint(groups[i]));
        CHECK(MPI_Group_fromint(numbers[i]) == groups[i]);
    }
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Group_free(&groups[i]));
    CHECK_OK(MPI_Group_free(&world));
    free(numbers);
    free(groups);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    test_predefined();
    test_made();
    test_messages();
    test_many();
    return check_done();
}
#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return check_done();
}
#endif
