/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The application binary interface: versions, Fortran's properties, handles as integers
 * (MPI 5.0, chapter 20).
 */
#ifndef XMPI_API_ABI_H
#define XMPI_API_ABI_H

#include "src/api/kinds.h"

/* The version of the binary interface. */
anytime int xmpi_abi_get_version(int_out_t *abi_major, int_out_t *abi_minor);

/* The sizes of MPI_Aint, MPI_Count and MPI_Offset. */
anytime int xmpi_abi_get_info(info_out_t *info);

/* What is known about Fortran's types; MPI_INFO_NULL when nothing is. */
anytime int xmpi_abi_get_fortran_info(info_out_t *info);

/* Tell the library about Fortran's types, once. */
anytime int xmpi_abi_set_fortran_info(info_live_t info);

/* The bit patterns of .TRUE. and .FALSE. of a LOGICAL of this many bytes. */
anytime int xmpi_abi_get_fortran_booleans(int logical_size, pointer_out_t logical_true,
                                          pointer_out_t logical_false, flag_t *is_set);

/* Tell the library the bit patterns of .TRUE. and .FALSE., once. */
anytime int xmpi_abi_set_fortran_booleans(int logical_size, void *logical_true,
                                          void *logical_false);

/* The integer form of a handle. */
manual int MPI_Comm_toint(MPI_Comm comm);

/* The handle of an integer form. */
manual MPI_Comm MPI_Comm_fromint(int comm);

/* The integer form of a handle. */
manual int MPI_Errhandler_toint(MPI_Errhandler errhandler);

/* The handle of an integer form. */
manual MPI_Errhandler MPI_Errhandler_fromint(int errhandler);

/* The integer form of a handle. */
manual int MPI_File_toint(MPI_File file);

/* The handle of an integer form. */
manual MPI_File MPI_File_fromint(int file);

/* The integer form of a handle. */
manual int MPI_Group_toint(MPI_Group group);

/* The handle of an integer form. */
manual MPI_Group MPI_Group_fromint(int group);

/* The integer form of a handle. */
manual int MPI_Info_toint(MPI_Info info);

/* The handle of an integer form. */
manual MPI_Info MPI_Info_fromint(int info);

/* The integer form of a handle. */
manual int MPI_Message_toint(MPI_Message message);

/* The handle of an integer form. */
manual MPI_Message MPI_Message_fromint(int message);

/* The integer form of a handle. */
manual int MPI_Op_toint(MPI_Op op);

/* The handle of an integer form. */
manual MPI_Op MPI_Op_fromint(int op);

/* The integer form of a handle. */
manual int MPI_Request_toint(MPI_Request request);

/* The handle of an integer form. */
manual MPI_Request MPI_Request_fromint(int request);

/* The integer form of a handle. */
manual int MPI_Session_toint(MPI_Session session);

/* The handle of an integer form. */
manual MPI_Session MPI_Session_fromint(int session);

/* The integer form of a handle. */
manual int MPI_Type_toint(MPI_Datatype datatype);

/* The handle of an integer form. */
manual MPI_Datatype MPI_Type_fromint(int datatype);

/* The integer form of a handle. */
manual int MPI_Win_toint(MPI_Win win);

/* The handle of an integer form. */
manual MPI_Win MPI_Win_fromint(int win);

#endif
