/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every conformance program needs: CHECK(condition) says file, line, rank and condition and
 * ends the job when the condition does not hold; CHECK_ERROR(call, class) calls with errors
 * returned and wants this class; check_done prints "ok" on rank 0 and finalizes.
 *
 *     int main(int argc, char **argv)
 *     {
 *         MPI_Init(&argc, &argv);
 *         ...
 *         return check_done();
 *     }
 *
 * The programs are plain MPI: they compile with any MPI 4 library, so that the tests themselves
 * can be tested.
 */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static inline int world_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static inline void check_failed(const char *file, int line, const char *what)
{
    int up = 0, down = 1;
    MPI_Initialized(&up);
    MPI_Finalized(&down);
    fprintf(stderr, "%s:%d: rank %d: not true: %s\n", file, line,
            up && !down ? world_rank() : -1, what);
    if (up && !down)
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

static inline void check_class(const char *file, int line, const char *call, int rc, int wanted)
{
    int class = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING] = "", message[2 * MPI_MAX_ERROR_STRING];
    MPI_Error_class(rc, &class);
    if (class == wanted)
        return;
    MPI_Error_string(rc, text, &length);
    snprintf(message, sizeof message, "%s returns class %d, got %d (%s)", call, wanted, class,
             text);
    check_failed(file, line, message);
}

/* The communicator of the call (or MPI_COMM_WORLD and MPI_COMM_SELF) must return errors.  Some
 * libraries are built without argument checks; -DCHECK_NO_ERRORS leaves these lines out. */
#ifdef CHECK_NO_ERRORS
#define CHECK_ERROR(call, class) ((void)0)
#else
#define CHECK_ERROR(call, class) check_class(__FILE__, __LINE__, #call, (call), class)
#endif
#define CHECK_OK(call) check_class(__FILE__, __LINE__, #call, (call), MPI_SUCCESS)

static inline void errors_return(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Do all processes share memory, as on one machine they do as a rule?  Collective. */
static inline int world_is_one_node(void)
{
    MPI_Comm node;
    int size;
    CHECK_OK(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    CHECK_OK(MPI_Comm_size(node, &size));
    CHECK_OK(MPI_Comm_free(&node));
    return size == world_size();
}

static inline int check_done(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0)
        printf("ok\n");
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}

#endif
