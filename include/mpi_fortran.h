/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles and statuses as Fortran sees them.  The standard has C programs convert them by MPI_X_c2f
 * and MPI_X_f2c; its binary interface leaves these names out, because the size of a Fortran INTEGER
 * is a choice of the compiler.  Libraries that also serve Fortran (FFTW, PT-Scotch, ParMETIS, MUMPS,
 * BLACS ...) call them from C all the same, so mpi.h has them: inline functions over MPI_X_toint and
 * MPI_X_fromint for an INTEGER that is a C int.  No symbol is added to what is linked.
 *
 * A program with definitions of its own says -DXMPI_NO_FORTRAN.
 */
#ifndef MPI_FORTRAN_H_XMPI
#define MPI_FORTRAN_H_XMPI

typedef int MPI_Fint;

#define XMPI_CONVERTERS(P, class, type)                                                        \
    static __inline__ MPI_Fint P##class##_c2f(type handle)                                     \
    {                                                                                          \
        return P##class##_toint(handle);                                                       \
    }                                                                                          \
    static __inline__ type P##class##_f2c(MPI_Fint handle)                                     \
    {                                                                                          \
        return P##class##_fromint(handle);                                                     \
    }

/* ---- statuses: MPI_F_STATUS_SIZE integers, in the same order ---- */

typedef MPI_Status MPI_F08_status;

#define MPI_F_STATUS_IGNORE     ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE   ((MPI_Fint *)0)
#define MPI_F08_STATUS_IGNORE   ((MPI_F08_status *)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)0)

static __inline__ int xmpi_status_copy(const void *from, void *to)
{
    const int *in = (const int *)from;
    int *out = (int *)to, i;

    for (i = 0; i < MPI_F_STATUS_SIZE; i++)
        out[i] = in[i];
    return MPI_SUCCESS;
}

#define XMPI_STATUS_COPY(name, from_type, to_type)                                             \
    static __inline__ int name(const from_type *from, to_type *to)                             \
    {                                                                                          \
        return xmpi_status_copy(from, to);                                                     \
    }

#define XMPI_FORTRAN(P)                                                                        \
    XMPI_CONVERTERS(P, Comm, MPI_Comm)                                                         \
    XMPI_CONVERTERS(P, Errhandler, MPI_Errhandler)                                             \
    XMPI_CONVERTERS(P, File, MPI_File)                                                         \
    XMPI_CONVERTERS(P, Group, MPI_Group)                                                       \
    XMPI_CONVERTERS(P, Info, MPI_Info)                                                         \
    XMPI_CONVERTERS(P, Message, MPI_Message)                                                   \
    XMPI_CONVERTERS(P, Op, MPI_Op)                                                             \
    XMPI_CONVERTERS(P, Request, MPI_Request)                                                   \
    XMPI_CONVERTERS(P, Session, MPI_Session)                                                   \
    XMPI_CONVERTERS(P, Type, MPI_Datatype)                                                     \
    XMPI_CONVERTERS(P, Win, MPI_Win)                                                           \
    XMPI_STATUS_COPY(P##Status_c2f, MPI_Status, MPI_Fint)                                      \
    XMPI_STATUS_COPY(P##Status_f2c, MPI_Fint, MPI_Status)                                      \
    XMPI_STATUS_COPY(P##Status_c2f08, MPI_Status, MPI_F08_status)                              \
    XMPI_STATUS_COPY(P##Status_f082c, MPI_F08_status, MPI_Status)                              \
    XMPI_STATUS_COPY(P##Status_f2f08, MPI_Fint, MPI_F08_status)                                \
    XMPI_STATUS_COPY(P##Status_f082f, MPI_F08_status, MPI_Fint)

XMPI_FORTRAN(MPI_)
XMPI_FORTRAN(PMPI_)

#undef XMPI_FORTRAN
#undef XMPI_CONVERTERS
#undef XMPI_STATUS_COPY

#endif
