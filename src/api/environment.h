/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The environment: versions, memory, errors and their handlers, clocks (MPI 5.0, chapter 9).
 */
#ifndef XMPI_API_ENVIRONMENT_H
#define XMPI_API_ENVIRONMENT_H

#include "src/api/kinds.h"

/* ---- versions and machine ---- */

/* The version of the standard. */
anytime int xmpi_get_version(int_out_t *version, int_out_t *subversion);

/* Name and version of the library. */
anytime int xmpi_get_library_version(text_out_t version, int_out_t *resultlen);

/* The name of the node. */
int xmpi_get_processor_name(text_out_t name, int_out_t *resultlen);

/* What the hardware has and where this process runs on it. */
int xmpi_get_hw_resource_info(info_out_t *hw_info);

/* ---- memory ---- */

/* Allocate memory that suits communication. */
int xmpi_alloc_mem(size_arg_t size, info_t info, pointer_out_t baseptr);

/* Free memory of MPI_Alloc_mem. */
int xmpi_free_mem(void *base);

/* ---- error handlers ---- */

/* An error handler for communicators. */
int xmpi_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                                errhandler_out_t *errhandler);

/* Set the error handler of a communicator. */
int xmpi_comm_set_errhandler(comm_t comm, errhandler_t errhandler);

/* The error handler of a communicator. */
int xmpi_comm_get_errhandler(comm_t comm, errhandler_out_t *errhandler);

/* Raise an error on a communicator. */
int xmpi_comm_call_errhandler(comm_t comm, int errorcode);

/* An error handler for windows. */
int xmpi_win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               errhandler_out_t *errhandler);

/* Set the error handler of a window. */
later int xmpi_win_set_errhandler(win_t win, errhandler_t errhandler);

/* The error handler of a window. */
later int xmpi_win_get_errhandler(win_t win, errhandler_out_t *errhandler);

/* Raise an error on a window. */
later int xmpi_win_call_errhandler(win_t win, int errorcode);

/* An error handler for files. */
int xmpi_file_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                                errhandler_out_t *errhandler);

/* Set the error handler of a file; MPI_FILE_NULL sets the one that new files get. */
int xmpi_file_set_errhandler(file_or_null_t file, errhandler_t errhandler);

/* The error handler of a file, or with MPI_FILE_NULL the one that new files get. */
int xmpi_file_get_errhandler(file_or_null_t file, errhandler_out_t *errhandler);

/* Raise an error on a file, or with MPI_FILE_NULL where no file is at hand. */
int xmpi_file_call_errhandler(file_or_null_t fh, int errorcode);

/* An error handler for sessions. */
anytime int
xmpi_session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                               errhandler_out_t *errhandler);

/* Set the error handler of a session. */
int xmpi_session_set_errhandler(session_t session, errhandler_t errhandler);

/* The error handler of a session. */
int xmpi_session_get_errhandler(session_t session, errhandler_out_t *errhandler);

/* Raise an error on a session. */
anytime int xmpi_session_call_errhandler(session_t session, int errorcode);

/* Give an error handler back; objects that use it keep it. */
anytime int xmpi_errhandler_free(errhandler_free_t *errhandler);

/* ---- error codes and classes ---- */

/* The text of an error code or class.  For the code of the calling thread's last failure the
 * details of that failure follow the general text. */
anytime int xmpi_error_string(int errorcode, text_out_t string, int_out_t *resultlen);

/* The class of an error code. */
anytime int xmpi_error_class(int errorcode, int_out_t *errorclass);

/* A new error class. */
anytime int xmpi_add_error_class(int_out_t *errorclass);

/* Take a class of MPI_Add_error_class away again. */
anytime int xmpi_remove_error_class(int errorclass);

/* A new error code in a class. */
anytime int xmpi_add_error_code(int errorclass, int_out_t *errorcode);

/* Take a code of MPI_Add_error_code away again. */
anytime int xmpi_remove_error_code(int errorcode);

/* The text of an added code or class. */
anytime int xmpi_add_error_string(int errorcode, string_t string);

/* Take a text of MPI_Add_error_string away again. */
anytime int xmpi_remove_error_string(int errorcode);

/* ---- clocks ---- */

/* Seconds since some time in the past. */
manual double MPI_Wtime(void);

/* The resolution of MPI_Wtime in seconds. */
manual double MPI_Wtick(void);

#endif
