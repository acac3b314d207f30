/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error classes, codes and strings (MPI 5.0, 9.4 and 9.5).  The library itself returns classes
 * only; what exactly went wrong is kept per thread as a text (runtime/fail.h), and
 * MPI_Error_string appends it when it is asked for the code of the thread's last failure.
 * Programs add classes and codes of their own behind MPI_ERR_LASTCODE, in a list that grows.
 */
#include "src/error.h"

#include "mpix.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(class, text) [class] = #class ": " text

static const char *const class_texts[] = {
    [MPI_SUCCESS] = "MPI_SUCCESS: no error",
    ROW(MPI_ERR_BUFFER, "invalid buffer"),
    ROW(MPI_ERR_COUNT, "invalid count"),
    ROW(MPI_ERR_TYPE, "invalid datatype"),
    ROW(MPI_ERR_TAG, "invalid tag"),
    ROW(MPI_ERR_COMM, "invalid communicator"),
    ROW(MPI_ERR_RANK, "invalid rank"),
    ROW(MPI_ERR_REQUEST, "invalid request"),
    ROW(MPI_ERR_ROOT, "invalid root"),
    ROW(MPI_ERR_GROUP, "invalid group"),
    ROW(MPI_ERR_OP, "invalid operation"),
    ROW(MPI_ERR_TOPOLOGY, "invalid topology"),
    ROW(MPI_ERR_DIMS, "invalid dimensions"),
    ROW(MPI_ERR_ARG, "invalid argument"),
    ROW(MPI_ERR_UNKNOWN, "unknown error"),
    ROW(MPI_ERR_TRUNCATE, "message longer than the receive buffer"),
    ROW(MPI_ERR_OTHER, "error that no other class describes"),
    ROW(MPI_ERR_INTERN, "internal error of the library"),
    ROW(MPI_ERR_PENDING, "operation neither failed nor completed"),
    ROW(MPI_ERR_IN_STATUS, "the error codes are in the statuses"),
    ROW(MPI_ERR_ACCESS, "permission denied"),
    ROW(MPI_ERR_AMODE, "invalid file mode"),
    ROW(MPI_ERR_ASSERT, "invalid assertion"),
    ROW(MPI_ERR_BAD_FILE, "invalid file name"),
    ROW(MPI_ERR_BASE, "invalid base address"),
    ROW(MPI_ERR_CONVERSION, "data conversion failed"),
    ROW(MPI_ERR_DISP, "invalid displacement"),
    ROW(MPI_ERR_DUP_DATAREP, "data representation defined before"),
    ROW(MPI_ERR_FILE_EXISTS, "file exists"),
    ROW(MPI_ERR_FILE_IN_USE, "file in use"),
    ROW(MPI_ERR_FILE, "invalid file handle"),
    ROW(MPI_ERR_INFO_KEY, "invalid info key"),
    ROW(MPI_ERR_INFO_NOKEY, "info key not set"),
    ROW(MPI_ERR_INFO_VALUE, "invalid info value"),
    ROW(MPI_ERR_INFO, "invalid info object"),
    ROW(MPI_ERR_IO, "input or output failed"),
    ROW(MPI_ERR_KEYVAL, "invalid attribute key"),
    ROW(MPI_ERR_LOCKTYPE, "invalid lock type"),
    ROW(MPI_ERR_NAME, "name not published"),
    ROW(MPI_ERR_NO_MEM, "out of memory"),
    ROW(MPI_ERR_NOT_SAME, "argument not the same on all processes"),
    ROW(MPI_ERR_NO_SPACE, "no space left"),
    ROW(MPI_ERR_NO_SUCH_FILE, "no such file"),
    ROW(MPI_ERR_PORT, "invalid port"),
    ROW(MPI_ERR_QUOTA, "quota exceeded"),
    ROW(MPI_ERR_READ_ONLY, "read-only file or file system"),
    ROW(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    ROW(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    ROW(MPI_ERR_RMA_RANGE, "access outside the window"),
    ROW(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    ROW(MPI_ERR_RMA_SYNC, "wrong synchronisation of a window"),
    ROW(MPI_ERR_SERVICE, "invalid service name"),
    ROW(MPI_ERR_SIZE, "invalid size"),
    ROW(MPI_ERR_SPAWN, "processes could not be started"),
    ROW(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    ROW(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    ROW(MPI_ERR_WIN, "invalid window"),
    ROW(MPI_ERR_RMA_FLAVOR, "wrong flavour of window"),
    ROW(MPI_ERR_PROC_ABORTED, "process aborted"),
    ROW(MPI_ERR_VALUE_TOO_LARGE, "value does not fit"),
    ROW(MPI_ERR_SESSION, "invalid session"),
    ROW(MPI_ERR_ERRHANDLER, "invalid error handler"),
    ROW(MPI_ERR_ABI, "binary interface misused"),
};

static const char *const tool_texts[] = {
    "MPI_T_ERR_CANNOT_INIT: the tools interface cannot be started",
    "MPI_T_ERR_NOT_ACCESSIBLE: not accessible now",
    "MPI_T_ERR_NOT_INITIALIZED: MPI_T_init_thread was not called",
    "MPI_T_ERR_NOT_SUPPORTED: not supported",
    "MPI_T_ERR_MEMORY: out of memory",
    "MPI_T_ERR_INVALID: invalid argument",
    "MPI_T_ERR_INVALID_INDEX: invalid index",
    "MPI_T_ERR_INVALID_ITEM: invalid item",
    "MPI_T_ERR_INVALID_SESSION: invalid session",
    "MPI_T_ERR_INVALID_HANDLE: invalid handle",
    "MPI_T_ERR_INVALID_NAME: invalid name",
    "MPI_T_ERR_OUT_OF_HANDLES: no handles left",
    "MPI_T_ERR_OUT_OF_SESSIONS: no sessions left",
    "MPI_T_ERR_CVAR_SET_NOT_NOW: the variable cannot be set now",
    "MPI_T_ERR_CVAR_SET_NEVER: the variable cannot be set",
    "MPI_T_ERR_PVAR_NO_WRITE: the variable cannot be written",
    "MPI_T_ERR_PVAR_NO_STARTSTOP: the variable cannot be started or stopped",
    "MPI_T_ERR_PVAR_NO_ATOMIC: the variable cannot be read and reset at once",
};

/* Of mpix.h, from MPIX_ERR_PROC_FAILED on. */
static const char *const extra_texts[] = {
    "MPIX_ERR_PROC_FAILED: a process has failed",
};

enum {
    CLASSES = sizeof class_texts / sizeof *class_texts,
    TOOL_FIRST = MPI_T_ERR_CANNOT_INIT,
    TOOL_CLASSES = sizeof tool_texts / sizeof *tool_texts,
    EXTRA_FIRST = MPIX_ERR_PROC_FAILED,
    EXTRA_CLASSES = sizeof extra_texts / sizeof *extra_texts,
    ADDED_FIRST = MPI_ERR_LASTCODE + 1
};

/* ---- what programs add ---- */

struct added {
    int class;  /* of a code; a class is its own; -1: removed */
    int codes;  /* of a class: how many it has */
    char *text; /* NULL: none */
};
static struct added *added;                /* codes first_added, first_added + 1, ... */
static int nadded, added_room, added_left; /* of them so many are not removed */
static int first_added = ADDED_FIRST;

static struct added *added_find(int code)
{
    long i = (long)code - first_added;
    return i >= 0 && i < nadded && added[i].class >= 0 ? &added[i] : NULL;
}

static bool added_is_class(int code)
{
    const struct added *a = added_find(code);
    return a && a->class == code;
}

/* Numbers are never used again, so a stale code stays an error. */
static int added_new(int class, int *code)
{
    if (nadded == added_room) {
        int room = added_room ? 2 * added_room : 16;
        struct added *more = realloc(added, (size_t)room * sizeof *more);
        if (!more)
            return fail(MPI_ERR_NO_MEM, "no memory for another error code");
        added = more;
        added_room = room;
    }
    struct added *of = added_find(class);
    if (of)
        of->codes++;
    *code = first_added + nadded;
    added[nadded++] = (struct added){ .class = class < 0 ? *code : class };
    added_left++;
    return MPI_SUCCESS;
}

static int added_remove(int code, const char *argument)
{
    struct added *a = added_find(code), *of = added_find(a->class);
    if (a->text)
        return fail(MPI_ERR_ARG, "argument %s is %d, which still has a text: remove it first",
                    argument, code);
    if (of && of != a)
        of->codes--;
    *a = (struct added){ .class = -1 };
    if (--added_left == 0) { /* the table begins anew, the numbers go on */
        first_added += nadded;
        nadded = 0;
    }
    return MPI_SUCCESS;
}

int error_last_used(void)
{
    return first_added - 1 + nadded;
}

/* ---- classes and texts ---- */

/* The class of a code, -1 when there is no such code. */
static int error_class(int code)
{
    if (code >= 0 && code < CLASSES)
        return code;
    if (code >= TOOL_FIRST && code < TOOL_FIRST + TOOL_CLASSES)
        return code;
    if (code >= EXTRA_FIRST && code < EXTRA_FIRST + EXTRA_CLASSES)
        return code;
    const struct added *a = added_find(code);
    return a ? a->class : -1;
}

const char *error_text(int code)
{
    if (code >= 0 && code < CLASSES)
        return class_texts[code];
    if (code >= TOOL_FIRST && code < TOOL_FIRST + TOOL_CLASSES)
        return tool_texts[code - TOOL_FIRST];
    if (code >= EXTRA_FIRST && code < EXTRA_FIRST + EXTRA_CLASSES)
        return extra_texts[code - EXTRA_FIRST];
    const struct added *a = added_find(code);
    return !a ? NULL : a->text ? a->text : "";
}

static _Thread_local struct {
    int code;
    char details[MPI_MAX_ERROR_STRING];
} last;

void error_remember(int code, const char *details)
{
    last.code = code;
    snprintf(last.details, sizeof last.details, "%s", details);
}

void error_die(int code, const char *message)
{
    int class = error_class(code);
    char text[MPI_MAX_ERROR_STRING + 40];
    if (boot.size > 1)
        snprintf(text, sizeof text, "rank %d of %d: %s", boot.rank, boot.size, message);
    else
        snprintf(text, sizeof text, "%s", message);
    boot_abort(class > 0 ? class : MPI_ERR_OTHER, text);
}

/* ---- bodies ---- */

static int fail_code(int code)
{
    return fail(MPI_ERR_ARG, "argument errorcode is %d; there is no such error code", code);
}

int xmpi_error_class(int errorcode, int_out_t *errorclass)
{
    int class = error_class(errorcode);
    if (class < 0)
        return fail_code(errorcode);
    *errorclass = class;
    return MPI_SUCCESS;
}

int xmpi_error_string(int errorcode, text_out_t string, int_out_t *resultlen)
{
    const char *general = error_text(errorcode);
    if (!general)
        return fail_code(errorcode);
    /* The text of an added code is the program's, to the letter. */
    bool ours = errorcode != MPI_SUCCESS && errorcode <= MPI_ERR_LASTCODE;
    bool more = ours && errorcode == last.code && last.details[0];
    int n = snprintf(string, MPI_MAX_ERROR_STRING, "%s%s%s", general, more ? ": " : "",
                     more ? last.details : "");
    *resultlen = n < MPI_MAX_ERROR_STRING ? n : MPI_MAX_ERROR_STRING - 1;
    return MPI_SUCCESS;
}

int xmpi_add_error_class(int_out_t *errorclass)
{
    return added_new(-1, errorclass);
}

int xmpi_add_error_code(int errorclass, int_out_t *errorcode)
{
    if (error_class(errorclass) != errorclass)
        return fail(MPI_ERR_ARG, "argument errorclass is %d; there is no such error class",
                    errorclass);
    return added_new(errorclass, errorcode);
}

int xmpi_add_error_string(int errorcode, string_t string)
{
    struct added *a = added_find(errorcode);
    if (!a)
        return fail(MPI_ERR_ARG,
                    "argument errorcode is %d; only codes made with "
                    "MPI_Add_error_class or MPI_Add_error_code get texts",
                    errorcode);
    char *text = strndup(string, MPI_MAX_ERROR_STRING - 1);
    if (!text)
        return fail(MPI_ERR_NO_MEM, "no memory for an error text");
    free(a->text);
    a->text = text;
    return MPI_SUCCESS;
}

int xmpi_remove_error_class(int errorclass)
{
    if (!added_is_class(errorclass))
        return fail(MPI_ERR_ARG,
                    "argument errorclass is %d; it was not made with "
                    "MPI_Add_error_class",
                    errorclass);
    int codes = added_find(errorclass)->codes;
    if (codes > 0)
        return fail(
            MPI_ERR_ARG,
            "argument errorclass is %d, which still has %d error codes; remove them first",
            errorclass, codes);
    return added_remove(errorclass, "errorclass");
}

int xmpi_remove_error_code(int errorcode)
{
    if (!added_find(errorcode) || added_is_class(errorcode))
        return fail(MPI_ERR_ARG,
                    "argument errorcode is %d; it was not made with "
                    "MPI_Add_error_code",
                    errorcode);
    return added_remove(errorcode, "errorcode");
}

int xmpi_remove_error_string(int errorcode)
{
    struct added *a = added_find(errorcode);
    if (!a || !a->text)
        return fail(MPI_ERR_ARG,
                    "argument errorcode is %d; it has no text of "
                    "MPI_Add_error_string",
                    errorcode);
    free(a->text);
    a->text = NULL;
    return MPI_SUCCESS;
}
