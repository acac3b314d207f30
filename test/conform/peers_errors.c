/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors: classes, codes and texts that a program adds and removes, handlers of communicators,
 * sessions and the null file, raised by hand with codes of the program, and results that are
 * NULL.
 */
#include "test/conform/check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_code = *code;
}

static void check_text(int code, const char *wanted)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(!strcmp(text, wanted) && length == (int)strlen(wanted));
}

static int last_used(void)
{
    int *value, flag;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag);
    return *value;
}

static void test_added(void)
{
    int class, other, code, more, got, before = last_used();
    CHECK(before >= MPI_ERR_LASTCODE);
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_class(&other));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_code(MPI_ERR_TRUNCATE, &more)); /* of a class that was there */
    CHECK(class > MPI_ERR_LASTCODE && class != other && code != class && more != code);
    CHECK(last_used() >= class && last_used() >= more);
    CHECK_OK(MPI_Error_class(code, &got));
    CHECK(got == class);
    CHECK_OK(MPI_Error_class(class, &got));
    CHECK(got == class);
    CHECK_OK(MPI_Error_class(more, &got));
    CHECK(got == MPI_ERR_TRUNCATE);
    check_text(code, ""); /* MPI 5.0, 9.5: an empty string until there is a text */
    CHECK_OK(MPI_Add_error_string(code, "the cat is out"));
    check_text(code, "the cat is out");
    CHECK_OK(MPI_Add_error_string(code, "the cat is back"));
    check_text(code, "the cat is back");
    CHECK_OK(MPI_Add_error_string(class, "cats"));
    check_text(class, "cats");
    CHECK_ERROR(MPI_Add_error_string(MPI_ERR_ARG, "mine"), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Add_error_code(code, &got), MPI_ERR_ARG); /* a code is no class */
    CHECK_ERROR(MPI_Error_class(last_used() + 1, &got), MPI_ERR_ARG);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    CHECK_ERROR(MPI_Remove_error_class(class), MPI_ERR_ARG); /* it still has codes and a text */
    CHECK_ERROR(MPI_Remove_error_code(code), MPI_ERR_ARG);   /* it has a text */
    CHECK_OK(MPI_Remove_error_string(code));
    check_text(code, "");
    CHECK_ERROR(MPI_Remove_error_code(class), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_ERROR(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Error_class(code, &got), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Remove_error_class(class), MPI_ERR_ARG); /* its own text */
    CHECK_OK(MPI_Remove_error_string(class));
    CHECK_OK(MPI_Remove_error_class(class));
    CHECK_ERROR(MPI_Add_error_code(class, &got), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Remove_error_class(MPI_ERR_ARG), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Remove_error_string(MPI_ERR_ARG), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_code(more));
    CHECK_OK(MPI_Remove_error_class(other));
    for (int i = 0; i < 20000; i++) {
        CHECK_OK(MPI_Add_error_class(&class));
        CHECK_OK(MPI_Add_error_code(class, &code));
        CHECK_OK(MPI_Add_error_string(code, "again"));
        CHECK_OK(MPI_Remove_error_string(code));
        CHECK_OK(MPI_Remove_error_code(code));
        CHECK_OK(MPI_Remove_error_class(class));
    }
#endif
}

/* Raised by hand: the handler sees communicator and code, the call succeeds. */
static void test_call(void)
{
    int class, code;
    MPI_Comm comm;
    MPI_Errhandler handler, found;
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_call_errhandler(comm, code)); /* MPI_ERRORS_RETURN */
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Comm_call_errhandler(comm, code));
    CHECK(calls == 1 && last_comm == comm && last_code == code);
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(calls == 2 && last_code == MPI_ERR_OTHER);
    /* The handler lives as long as somebody uses it. */
    CHECK_OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == handler);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    CHECK_OK(MPI_Errhandler_free(&found));
    CHECK_OK(MPI_Comm_call_errhandler(comm, code));
    CHECK(calls == 3);
    CHECK(MPI_Send(NULL, 0, MPI_INT, 100000, 0, comm) != MPI_SUCCESS);
    CHECK(calls == 4 && last_comm == comm);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPI_Comm_call_errhandler(comm, -5), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(calls == 4);
}

static void abort_not(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls += 100;
}

/* The handler of the communicator at hand is called; without one, MPI_COMM_SELF's. */
static void test_whose(void)
{
    MPI_Errhandler handler, other;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    calls = 0;
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &handler));
    CHECK_OK(MPI_Comm_create_errhandler(abort_not, &other));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, other));
    CHECK(MPI_Type_commit(&type) != MPI_SUCCESS);
    CHECK(calls == 1 && last_comm == MPI_COMM_SELF);
    CHECK(MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS);
    CHECK(calls == 2);
    CHECK(MPI_Bcast(NULL, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(calls == 102);
    errors_return();
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Errhandler_free(&other));
}

/* One kind of handler does not fit another kind of object. */
static void test_kinds(void)
{
    MPI_Errhandler handler, file = MPI_ERRHANDLER_NULL;
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &handler));
    CHECK_ERROR(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, file), MPI_ERR_ERRHANDLER);
    CHECK_ERROR(MPI_Comm_set_errhandler(MPI_COMM_NULL, handler), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Errhandler_free(&file), MPI_ERR_ERRHANDLER);
    CHECK_OK(MPI_Errhandler_free(&handler));
    /* The null file has the handler that opening asks (MPI 5.0, 14.7); it returns errors. */
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &file));
    CHECK(file == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &file));
    CHECK(file == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER));
    CHECK(MPI_Win_set_errhandler(MPI_WIN_NULL, MPI_ERRORS_RETURN) != MPI_SUCCESS);
    CHECK(MPI_Win_get_errhandler(MPI_WIN_NULL, &file) != MPI_SUCCESS);
    CHECK(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_OTHER) != MPI_SUCCESS);
}

/* Results with no place to go. */
static void test_null_results(void)
{
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Group group;
    int rank = 0, range[1][3] = { { 0, 0, 1 } };
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_ERROR(MPI_Comm_size(comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_rank(comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_group(comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_dup(comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_split(comm, 0, 0, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_create(comm, group, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_create_group(comm, group, 0, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Comm_get_info(comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_size(group, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_rank(group, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_incl(group, 1, &rank, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_range_incl(group, 1, range, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_union(group, group, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Group_translate_ranks(group, 1, &rank, group, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_contiguous(2, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_vector(2, 1, 2, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_get_extent(MPI_INT, NULL, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_get_true_extent(MPI_INT, NULL, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Isend(&rank, 1, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Ibarrier(comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Get_count(NULL, MPI_INT, &rank), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Info_create(NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Error_class(MPI_ERR_ARG, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Op_create(NULL, 1, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Group_free(&group));
}

#if MPI_VERSION >= 4
static MPI_Session last_session;

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
    last_session = *session;
    last_code = *code;
}

static void test_sessions(void)
{
    MPI_Errhandler handler, found;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Info info;
    int code;
    calls = 0;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    CHECK(MPI_Group_from_session_pset(session, "mpi://nowhere", &group) != MPI_SUCCESS);
    CHECK(calls == 1 && last_session == session);
    CHECK_OK(MPI_Add_error_code(MPI_ERR_OTHER, &code));
    CHECK_OK(MPI_Session_call_errhandler(session, code));
    CHECK(calls == 2 && last_code == code);
    CHECK_OK(MPI_Session_get_errhandler(session, &found));
    CHECK(found == handler);
    CHECK_OK(MPI_Errhandler_free(&found));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK(calls == 3);
    CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPI_Group_from_session_pset(session, "mpi://nowhere", &group), MPI_ERR_ARG);
    CHECK(calls == 3);
    CHECK_OK(MPI_Session_finalize(&session));
    /* The handler given to a call that makes something hears of its failure (11.3.1, 7.4.2). */
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_NO_SUCH_LEVEL"));
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(MPI_GROUP_NULL, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &comm) != MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    calls = 0;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    CHECK(MPI_Session_init(info, handler, &session) != MPI_SUCCESS);
    CHECK(calls == 1 && last_session == MPI_SESSION_NULL);
    errors_return();
    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &group));
    CHECK(MPI_Comm_create_from_group(group, "wrong kind", MPI_INFO_NULL, handler, &comm) !=
          MPI_SUCCESS);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Info_free(&info));
}
#else
static void test_sessions(void)
{
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    test_added();
    test_call();
    test_whose();
    test_kinds();
    test_null_results();
    test_sessions();
    return check_done();
}
