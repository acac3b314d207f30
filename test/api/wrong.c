/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every entry point with every argument made wrong.  The calls are generated (cases.py); each
 * has to return the class of the standard, and a text that names function and argument.
 * Functions that are not built have to say so with their name.
 */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <string.h>

struct wrong {
    const char *function, *argument, *value;
    int class;
    int (*call)(void);
};

/* Right values for the arguments that are not made wrong. */
static char memory[4096], text[8192];
static int ints[16];
static MPI_Count counts[16];
static MPI_Aint aints[16];
static MPI_Offset offsets[4];
static MPI_Status statuses[4];
static MPI_Request requests[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                   MPI_REQUEST_NULL };
static MPI_Datatype types[4] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT }, uncommitted;
static MPI_Comm comms[4];
static MPI_Group groups[4];
static MPI_Op ops[4];
static MPI_Info infos[4], good_info;
static MPI_Errhandler errhandlers[4];
static MPI_Session sessions[4], good_session;
static MPI_Win wins[4];
static MPI_File files[4];
static MPI_Message messages[4];
static MPIX_Stream streams[4];
static void *freed; /* an object's handle after its end */

static void combine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static void combine_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

#include "cases.h"

static void prepare(void)
{
    MPI_Comm comm;
    MPI_Info_create(&good_info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &good_session);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    freed = comm;
    MPI_Comm_free(&comm);
}

static int is_right(const struct wrong *w)
{
    char string[MPI_MAX_ERROR_STRING] = "", wanted[128];
    int class = -1, length = 0;
    int code = w->call();
    MPI_Error_class(code, &class);
    MPI_Error_string(code, string, &length);
    snprintf(wanted, sizeof wanted, "%s: ", w->function);
    int named = strstr(string, wanted) != NULL;
    if (w->argument[0]) {
        snprintf(wanted, sizeof wanted, "argument %s is ", w->argument);
        named = named && strstr(string, wanted);
    }
    if (class == w->class && named && (int)strlen(string) == length)
        return 1;
    printf("%s, %s = %s: class %d instead of %d: %s\n", w->function, w->argument, w->value,
           class, w->class, string);
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    prepare();
    int bad = 0, n = (int)(sizeof cases / sizeof *cases);
    for (int i = 0; i < n; i++)
        bad += !is_right(&cases[i]);
    MPI_Type_free(&uncommitted);
    MPI_Info_free(&good_info);
    MPI_Session_finalize(&good_session);
    MPI_Finalize();
    printf("%d calls with a wrong argument, %d not as they should be\n", n, bad);
    return bad != 0;
}
