/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error handlers (MPI 5.0, 9.3).  A handler belongs to an object: a communicator, a session, a
 * window or a file.  Errors that concern none of them go to MPI_COMM_SELF's handler, and to the
 * initial one while MPI_COMM_SELF does not exist; that is fatal unless the launcher was told
 * otherwise (`-initial-errhandler`).  A fatal handler ends the job
 * with the error class as exit code and one message; a user's function gets the handle of the
 * object and the code, and when it returns the call returns the code.
 */
#include "src/errhan.h"

#include "runtime/fail.h"
#include "runtime/lock.h"
#include "src/api/environment.h"
#include "src/error.h"
#include "src/handle.h"
#include "src/outside.h"
#include "src/session.h"

#include <stdio.h>
#include <string.h>

#define PREDEFINED(what)                                                                       \
    {                                                                                          \
        .object = { .kind = OBJECT_ERRHANDLER, .refs = 1 }, .does = (what)                     \
    }

struct errhandler errors_are_fatal = PREDEFINED(ERRORS_FATAL);
struct errhandler errors_abort = PREDEFINED(ERRORS_ABORT);
struct errhandler errors_return = PREDEFINED(ERRORS_RETURN);

struct object no_file = { .kind = OBJECT_FILE, .refs = 1 };
static struct errhandler *errhandler_no_file = &errors_return;

struct errhandler *errhandler_hold(struct errhandler *errhandler)
{
    bool guarded = engine_guard();
    object_hold(errhandler);
    engine_unguard(guarded);
    return errhandler;
}

static bool is_predefined(const struct errhandler *errhandler)
{
    return errhandler->does != ERRORS_CALL;
}

void errhandler_drop(struct errhandler *errhandler)
{
    bool guarded = engine_guard();
    if (object_drop(errhandler) && !is_predefined(errhandler))
        object_delete(errhandler);
    engine_unguard(guarded);
}

/* Where an object keeps its handler; NULL when it has no place for one. */
static struct errhandler **place_of(void *owner)
{
    struct object *object = owner;
    if (object && object->kind == OBJECT_COMM)
        return &((struct comm *)owner)->errhandler;
    if (object && object->kind == OBJECT_SESSION)
        return &((struct session *)owner)->errhandler;
    if (object == &no_file)
        return &errhandler_no_file;
    return NULL;
}

static bool is_errhandler(const void *owner)
{
    const struct object *object = owner;
    return object && object->kind == OBJECT_ERRHANDLER;
}

/* Which handler an object has: a communicator, session, window or file, or NULL for none.  Calls
 * that make an object with a handler give the handler itself. */
static struct errhandler *errhandler_of(void *owner)
{
    if (is_errhandler(owner))
        return owner;
    struct errhandler **place = place_of(owner);
    if (place)
        return *place;
    return comm_self.object.kind == OBJECT_COMM ? comm_self.errhandler : errhandler_initial();
}

/* ---- raising ---- */

static void call_function(const struct errhandler *errhandler, void *owner, int code)
{
    if (errhandler->kind == ERRHANDLER_SESSION) {
        MPI_Session handle = owner ? session_handle(owner) : MPI_SESSION_NULL;
        ((MPI_Session_errhandler_function *)errhandler->function)(&handle, &code);
    } else if (errhandler->kind == ERRHANDLER_FILE) {
        MPI_File handle = owner == &no_file ? MPI_FILE_NULL : file_handle(owner);
        ((MPI_File_errhandler_function *)errhandler->function)(&handle, &code);
    } else if (errhandler->kind == ERRHANDLER_WIN) {
        MPI_Win handle = win_handle(owner);
        ((MPI_Win_errhandler_function *)errhandler->function)(&handle, &code);
    } else {
        MPI_Comm handle = owner ? comm_handle(owner) : MPI_COMM_SELF;
        ((MPI_Comm_errhandler_function *)errhandler->function)(&handle, &code);
    }
}

/* The function may take its time, or call MPI and wait. */
static void call(const struct errhandler *errhandler, void *owner, int code)
{
    struct outside outside = outside_begin();
    call_function(errhandler, owner, code);
    outside_end(&outside);
}

int errhandler_raise(void *owner, int code, const char *message)
{
    struct errhandler *errhandler = errhandler_hold(errhandler_of(owner));
    if (!place_of(owner))
        owner = NULL;
    if (errhandler_is_fatal(errhandler))
        error_die(code, message);
    if (errhandler->does == ERRORS_CALL)
        call(errhandler, owner, code);
    errhandler_drop(errhandler);
    return code;
}

/* ---- making and freeing ---- */

static int make(enum errhandler_kind kind, void *function, const char *argument,
                struct errhandler **errhandler)
{
    if (!function)
        return fail(MPI_ERR_ARG, "argument %s is NULL; pass a function", argument);
    struct errhandler *made = object_new(OBJECT_ERRHANDLER, sizeof *made);
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory for an error handler");
    made->kind = kind;
    made->does = ERRORS_CALL;
    made->handles = 1;
    made->function = function;
    *errhandler = made;
    return MPI_SUCCESS;
}

int xmpi_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                                errhandler_out_t *errhandler)
{
    return make(ERRHANDLER_COMM, (void *)comm_errhandler_fn, "comm_errhandler_fn", errhandler);
}

int xmpi_session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                   errhandler_out_t *errhandler)
{
    return make(ERRHANDLER_SESSION, (void *)session_errhandler_fn, "session_errhandler_fn",
                errhandler);
}

int xmpi_win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               errhandler_out_t *errhandler)
{
    return make(ERRHANDLER_WIN, (void *)win_errhandler_fn, "win_errhandler_fn", errhandler);
}

int xmpi_file_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                                errhandler_out_t *errhandler)
{
    return make(ERRHANDLER_FILE, (void *)file_errhandler_fn, "file_errhandler_fn", errhandler);
}

static void handles_change(struct errhandler *errhandler, int by)
{
    bool guarded = engine_guard();
    errhandler->handles += by;
    engine_unguard(guarded);
}

/* A predefined handler may be "freed": MPI_Comm_get_errhandler hands them out like any other. */
int xmpi_errhandler_free(errhandler_free_t *errhandler)
{
    if (!is_predefined(*errhandler)) {
        handles_change(*errhandler, -1);
        errhandler_drop(*errhandler);
    }
    *errhandler = NULL;
    return MPI_SUCCESS;
}

/* ---- attaching ---- */

int errhandler_check(const struct errhandler *errhandler, enum errhandler_kind kind)
{
    static const char *const names[] = { "communicators", "sessions", "windows", "files" };
    if (is_predefined(errhandler) || errhandler->kind == kind)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "argument errhandler was made for %s; this needs one for %s",
                names[errhandler->kind], names[kind]);
}

static int set(void *owner, enum errhandler_kind kind, struct errhandler *errhandler)
{
    int rc = errhandler_check(errhandler, kind);
    if (rc)
        return rc;
    struct errhandler **place = place_of(owner);
    errhandler_hold(errhandler);
    errhandler_drop(*place);
    *place = errhandler;
    return MPI_SUCCESS;
}

static int get(void *owner, struct errhandler **errhandler)
{
    *errhandler = errhandler_hold(errhandler_of(owner));
    if (!is_predefined(*errhandler))
        handles_change(*errhandler, 1);
    return MPI_SUCCESS;
}

/* MPI_X_call_errhandler: the program raises an error itself.  It returns MPI_SUCCESS when the
 * handler returns. */
static int raise_known(void *owner, const char *function, int code)
{
    const char *general = error_text(code);
    if (!general)
        return fail(MPI_ERR_ARG, "argument errorcode is %d; there is no such error code", code);
    char message[MPI_MAX_ERROR_STRING];
    snprintf(message, sizeof message, "%s: the program raised error %d, %s", function, code,
             general);
    error_remember(code, "raised by the program");
    errhandler_raise(owner, code, message);
    return MPI_SUCCESS;
}

static int raise_for(void *owner, const char *function, int code)
{
    bool guarded = engine_guard();
    int rc = raise_known(owner, function, code);
    engine_unguard(guarded);
    return rc;
}

int xmpi_comm_set_errhandler(comm_t comm, errhandler_t errhandler)
{
    return set(comm, ERRHANDLER_COMM, errhandler);
}

int xmpi_comm_get_errhandler(comm_t comm, errhandler_out_t *errhandler)
{
    return get(comm, errhandler);
}

int xmpi_comm_call_errhandler(comm_t comm, int errorcode)
{
    return raise_for(comm, "MPI_Comm_call_errhandler", errorcode);
}

int xmpi_session_set_errhandler(session_t session, errhandler_t errhandler)
{
    return set(session, ERRHANDLER_SESSION, errhandler);
}

int xmpi_session_get_errhandler(session_t session, errhandler_out_t *errhandler)
{
    return get(session, errhandler);
}

int xmpi_session_call_errhandler(session_t session, int errorcode)
{
    return raise_for(session, "MPI_Session_call_errhandler", errorcode);
}

/* Files are not built; MPI_FILE_NULL has a handler all the same. */
int xmpi_file_set_errhandler(file_or_null_t file, errhandler_t errhandler)
{
    return set(file ? (void *)file : &no_file, ERRHANDLER_FILE, errhandler);
}

int xmpi_file_get_errhandler(file_or_null_t file, errhandler_out_t *errhandler)
{
    return get(file ? (void *)file : &no_file, errhandler);
}

int xmpi_file_call_errhandler(file_or_null_t fh, int errorcode)
{
    return raise_for(fh ? (void *)fh : &no_file, "MPI_File_call_errhandler", errorcode);
}
