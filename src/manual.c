/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entry points that are written by hand because they return no error code or take any number of
 * arguments: clocks, addresses, MPI_Pcontrol, handles as integers, and our extension.
 *
 * The integer form of a predefined handle is its value in mpi.h; of any other one it is the
 * distance from the start of the range where objects live (runtime/object.h), which is never
 * below 4096.  What is no live handle becomes 0, which no handle is; an integer that names
 * nothing becomes the null handle of its class.
 */
#include "runtime/clock.h"
#include "runtime/gpu.h"
#include "src/facade.h"
#include "src/handle.h"

#pragma GCC visibility push(default)

/* ---- clocks and addresses: callable at any time, from any thread ---- */

double PMPI_Wtime(void)
{
    return (double)clock_ns() * 1e-9;
}
ALIAS(MPI_Wtime, PMPI_Wtime);

double PMPI_Wtick(void)
{
    return 1e-9;
}
ALIAS(MPI_Wtick, PMPI_Wtick);

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((char *)base + disp);
}
ALIAS(MPI_Aint_add, PMPI_Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
ALIAS(MPI_Aint_diff, PMPI_Aint_diff);

int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
ALIAS(MPI_Pcontrol, PMPI_Pcontrol);

/* Declared in mpix.h. */
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return gpu_is_here();
}

int MPIX_Query_cuda_device(void);
int MPIX_Query_cuda_device(void)
{
    char why[GPU_CHOICE_CHARS];
    return gpu_choice(why);
}

/* ---- handles as integers ---- */

/* Another thread may be making an object, so the lock is taken. */
static int to_int(const void *handle, enum object_kind kind)
{
    if (handle_is_predefined(handle))
        return (int)(intptr_t)handle;
    engine_take();
    int integer = object_is(handle, kind) ? object_id(handle) : 0;
    engine_give();
    return integer;
}

static void *from_int(int integer, enum object_kind kind, void *null)
{
    if (integer > 0 && integer < OBJECT_FIRST_ID)
        return (void *)(intptr_t)integer;
    engine_take();
    void *object = integer > 0 ? object_from_id(integer, kind) : NULL;
    engine_give();
    return object ? object : null;
}

#define AS_INTEGER(class, type, name, kind, null)                                              \
    int PMPI_##class##_toint(type name)                                                        \
    {                                                                                          \
        return to_int(name, kind);                                                             \
    }                                                                                          \
    ALIAS(MPI_##class##_toint, PMPI_##class##_toint);                                          \
    type PMPI_##class##_fromint(int name)                                                      \
    {                                                                                          \
        return from_int(name, kind, null);                                                     \
    }                                                                                          \
    ALIAS(MPI_##class##_fromint, PMPI_##class##_fromint)

AS_INTEGER(Comm, MPI_Comm, comm, OBJECT_COMM, MPI_COMM_NULL);
AS_INTEGER(Errhandler, MPI_Errhandler, errhandler, OBJECT_ERRHANDLER, MPI_ERRHANDLER_NULL);
AS_INTEGER(File, MPI_File, file, OBJECT_FILE, MPI_FILE_NULL);
AS_INTEGER(Group, MPI_Group, group, OBJECT_GROUP, MPI_GROUP_NULL);
AS_INTEGER(Info, MPI_Info, info, OBJECT_INFO, MPI_INFO_NULL);
AS_INTEGER(Message, MPI_Message, message, OBJECT_MESSAGE, MPI_MESSAGE_NULL);
AS_INTEGER(Op, MPI_Op, op, OBJECT_OP, MPI_OP_NULL);
AS_INTEGER(Request, MPI_Request, request, OBJECT_REQUEST, MPI_REQUEST_NULL);
AS_INTEGER(Session, MPI_Session, session, OBJECT_SESSION, MPI_SESSION_NULL);
AS_INTEGER(Type, MPI_Datatype, datatype, OBJECT_TYPE, MPI_DATATYPE_NULL);
AS_INTEGER(Win, MPI_Win, win, OBJECT_WIN, MPI_WIN_NULL);
