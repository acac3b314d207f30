/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error handlers: the three predefined ones and the user's functions.
 */
#ifndef XMPI_ERRHAN_H
#define XMPI_ERRHAN_H

#include "mpi.h"
#include "runtime/object.h"

struct comm;

enum errhandler_kind { ERRHANDLER_COMM, ERRHANDLER_SESSION, ERRHANDLER_WIN, ERRHANDLER_FILE };
enum errhandler_does { ERRORS_FATAL, ERRORS_ABORT, ERRORS_RETURN, ERRORS_CALL };

struct errhandler {
    struct object object; /* OBJECT_ERRHANDLER */
    enum errhandler_kind kind;
    enum errhandler_does does;
    void *function;
};

extern struct errhandler errors_are_fatal, errors_abort, errors_return;

/* Hand an error code to the handler of an object; returns what the entry point returns. */
int errhandler_call_comm(struct comm *comm, const char *function, int code);

#endif
