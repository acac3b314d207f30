/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error handlers, classes, codes and strings (MPI 5.0, 9.3 to 9.5).
 */
#include "check.h"

static int called, code_seen;
static MPI_Comm comm_seen;
static MPI_Session session_seen;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    called++;
    comm_seen = *comm;
    code_seen = *code;
    int size; /* the library may be called from here */
    MPI_Comm_size(*comm, &size);
}

static void on_session(MPI_Session *session, int *code, ...)
{
    called++;
    session_seen = *session;
    code_seen = *code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    called += *file == MPI_FILE_NULL;
    code_seen = *code;
}

static void handlers_of_communicators(void)
{
    int value = 0;
    MPI_Comm comm, child;
    MPI_Errhandler mine, got;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_comm, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);

    called = 0;
    int code = MPI_Send(&value, 1, MPI_INT, -55, 0, comm);
    CHECK(called == 1 && comm_seen == comm && code_seen == code);
    FAILS(code, MPI_ERR_RANK, "MPI_Send: argument dest is -55");

    MPI_Comm_dup(comm, &child); /* inherits the handler, which outlives its handle */
    called = 0;
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_call_errhandler(child, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(called == 1 && comm_seen == child && code_seen == MPI_ERR_OTHER);

    called = 0; /* a request's communicator is asked although MPI_Wait does not see it */
    MPI_Request request;
    int small, big[2] = { 1, 2 }, rank;
    MPI_Comm_rank(child, &rank);
    MPI_Irecv(&small, 1, MPI_INT, rank, 0, child, &request);
    MPI_Send(big, 2, MPI_INT, rank, 0, child);
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Wait");
    CHECK(called == 1 && comm_seen == child && request == MPI_REQUEST_NULL);
    MPI_Comm_free(&child);
}

static void handlers_of_the_wrong_kind(void)
{
    MPI_Errhandler for_sessions;
    MPI_Session_create_errhandler(on_session, &for_sessions);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, for_sessions), MPI_ERR_ARG, "errhandler");
    FAILS(MPI_Comm_create_errhandler(NULL, &for_sessions), MPI_ERR_ARG, "comm_errhandler_fn");
    MPI_Errhandler_free(&for_sessions);
    FAILS(MPI_Comm_call_errhandler(MPI_COMM_WORLD, 12345), MPI_ERR_ARG, "12345");
}

static void handlers_of_sessions_and_files(void)
{
    MPI_Errhandler mine, got;
    MPI_Session session;
    MPI_Session_create_errhandler(on_session, &mine);
    MPI_Session_init(MPI_INFO_NULL, mine, &session);
    called = 0;
    int n;
    FAILS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "npset_names");
    CHECK(called == 1 && session_seen == session);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n) == MPI_SUCCESS && n >= 2);
    MPI_Session_finalize(&session);
    CHECK(session == MPI_SESSION_NULL);
    MPI_Errhandler_free(&mine);

    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    MPI_File_create_errhandler(on_file, &mine);
    MPI_File_set_errhandler(MPI_FILE_NULL, mine);
    called = 0;
    CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(called == 1 && code_seen == MPI_ERR_IO);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
}

/* Without any window: what MPI_WIN_NULL is and is not. */
static void null_windows(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, keyval, flag;
    void *value;
    MPI_Errhandler got;
    CHECK(MPI_Win_get_name(MPI_WIN_NULL, name, &length) == MPI_SUCCESS);
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && length == 12);
    FAILS(MPI_Win_set_name(MPI_WIN_NULL, "mine"), MPI_ERR_WIN, "argument win is MPI_WIN_NULL");
    FAILS(MPI_Win_get_errhandler(MPI_WIN_NULL, &got), MPI_ERR_WIN, "MPI_WIN_NULL");
    FAILS(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_WIN), MPI_ERR_WIN, "MPI_WIN_NULL");
    CHECK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL) ==
          MPI_SUCCESS);
    FAILS(MPI_Win_get_attr(MPI_WIN_NULL, keyval, &value, &flag), MPI_ERR_WIN, "MPI_WIN_NULL");
    CHECK(MPI_Win_free_keyval(&keyval) == MPI_SUCCESS && keyval == MPI_KEYVAL_INVALID);
    FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN, "MPI_Win_fence: argument win is");
    FAILS(MPI_File_close(&(MPI_File){ MPI_FILE_NULL }), MPI_ERR_FILE, "MPI_FILE_NULL");
}

static void last_used(int wanted)
{
    int *value, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found);
    CHECK(found && *value == wanted);
}

static void classes_and_codes_of_the_program(void)
{
    int class, code, got, length;
    char text[MPI_MAX_ERROR_STRING];
    last_used(MPI_ERR_LASTCODE);
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && class > MPI_ERR_LASTCODE);
    CHECK(MPI_Add_error_code(class, &code) == MPI_SUCCESS && code > class);
    last_used(code);
    CHECK(MPI_Error_class(code, &got) == MPI_SUCCESS && got == class);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && length == 0 && !text[0]);
    CHECK(MPI_Add_error_string(code, "out of coffee") == MPI_SUCCESS);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && length == 13);
    CHECK(strcmp(text, "out of coffee") == 0);
    FAILS(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG, "errorcode");
    FAILS(MPI_Add_error_code(code, &got), MPI_ERR_ARG, "errorclass");
    FAILS(MPI_Remove_error_class(class), MPI_ERR_ARG, "errorclass");
    FAILS(MPI_Remove_error_code(class), MPI_ERR_ARG, "errorcode");
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    FAILS(MPI_Remove_error_string(code), MPI_ERR_ARG, "errorcode");
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
    FAILS(MPI_Error_class(code, &got), MPI_ERR_ARG, "errorcode");
}

/* Every class of the standard has a text that begins with its name. */
static void texts(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    for (int code = 1; code <= MPI_ERR_ABI; code++) {
        CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
        CHECK(strncmp(text, "MPI_ERR_", 8) == 0 && (int)strlen(text) == length);
        CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS && class == code);
    }
    FAILS(MPI_Error_string(-1, text, &length), MPI_ERR_ARG, "errorcode is -1");
    FAILS(MPI_Error_string(500, text, &length), MPI_ERR_ARG, "errorcode is 500");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    handlers_of_communicators();
    handlers_of_the_wrong_kind();
    handlers_of_sessions_and_files();
    null_windows();
    classes_and_codes_of_the_program();
    texts();
    MPI_Finalize();
    return checks_failed != 0;
}
