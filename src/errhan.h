/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error handlers: the three predefined ones and the user's functions.
 */
#ifndef XMPI_ERRHAN_H
#define XMPI_ERRHAN_H

#include "mpi.h"
#include "runtime/object.h"

enum errhandler_kind { ERRHANDLER_COMM, ERRHANDLER_SESSION, ERRHANDLER_WIN, ERRHANDLER_FILE };
enum errhandler_does { ERRORS_FATAL, ERRORS_ABORT, ERRORS_RETURN, ERRORS_CALL };

struct errhandler {
    struct object object; /* OBJECT_ERRHANDLER */
    enum errhandler_kind kind;
    enum errhandler_does does;
    int handles;    /* of the program; beside them objects hold it */
    void *function; /* MPI_Comm_errhandler_function * or its siblings */
};

extern struct errhandler errors_are_fatal, errors_abort, errors_return;

/* Stands for MPI_FILE_NULL, whose error handler is asked when a file cannot be opened and which
 * new files inherit. */
extern struct object no_file;

/* Objects hold the error handler they use; the predefined ones are always there. */
struct errhandler *errhandler_hold(struct errhandler *errhandler);
void errhandler_drop(struct errhandler *errhandler);

/* What MPI_COMM_WORLD, MPI_COMM_SELF and communicators of no parent begin with, and what errors
 * meet that concern no object (MPI 5.0, 9.3): MPI_ERRORS_ARE_FATAL, or what mpiexec's
 * -initial-errhandler says. */
struct errhandler *errhandler_initial(void);

/* Does an error end the job? */
static inline bool errhandler_is_fatal(const struct errhandler *errhandler)
{
    return errhandler->does == ERRORS_FATAL || errhandler->does == ERRORS_ABORT;
}

/* A user's function for one kind of object does not fit another. */
int errhandler_check(const struct errhandler *errhandler, enum errhandler_kind kind);

/* The object asked when an MPI_File function fails. */
static inline void *file_owner(void *file)
{
    return file ? file : &no_file;
}

/* Hand an error to the handler of `owner`: returns `code`, or not at all.  `message` is what a
 * fatal handler prints. */
int errhandler_raise(void *owner, int code, const char *message);

#endif
