/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files (MPI 5.0, chapter 14).
 */
#ifndef XMPI_API_IO_H
#define XMPI_API_IO_H

#include "src/api/kinds.h"

/* Open a file. */
later int xmpi_file_open(intra_t comm, string_t filename, int amode, info_t info,
                         file_out_t *fh);

/* Close a file. */
later int xmpi_file_close(file_free_t *fh);

/* Delete a file. */
later int xmpi_file_delete(string_t filename, info_t info);

/* Set the size of a file. */
later int xmpi_file_set_size(file_t fh, MPI_Offset size);

/* Reserve space for a file. */
later int xmpi_file_preallocate(file_t fh, MPI_Offset size);

/* The size of a file. */
later int xmpi_file_get_size(file_t fh, offset_out_t *size);

/* The group of processes that opened a file. */
later int xmpi_file_get_group(file_t fh, group_out_t *group);

/* How a file was opened. */
later int xmpi_file_get_amode(file_t fh, int_out_t *amode);

/* Set hints. */
later int xmpi_file_set_info(file_t fh, info_t info);

/* The hints in use. */
later int xmpi_file_get_info(file_t fh, info_out_t *info_used);

/* Choose the part of a file that this process sees. */
later int xmpi_file_set_view(file_t fh, MPI_Offset disp, type_t etype, type_t filetype,
                             string_t datarep, info_t info);

/* The part of a file that this process sees. */
later int xmpi_file_get_view(file_t fh, offset_out_t *disp, type_out_t *etype,
                             type_out_t *filetype, text_out_t datarep);

/* Read at an offset. */
later int xmpi_file_read_at(file_t fh, MPI_Offset offset, out_t buf, count_t count,
                            committed_t datatype, status_t status);

/* Start to read at an offset. */
later int xmpi_file_iread_at(file_t fh, MPI_Offset offset, out_t buf, count_t count,
                             committed_t datatype, request_out_t *request);

/* Read at an offset, together with all processes. */
later int xmpi_file_read_at_all(file_t fh, MPI_Offset offset, out_t buf, count_t count,
                                committed_t datatype, status_t status);

/* Start to read at an offset, together with all processes. */
later int xmpi_file_iread_at_all(file_t fh, MPI_Offset offset, out_t buf, count_t count,
                                 committed_t datatype, request_out_t *request);

/* Begin to read at an offset, together with all processes. */
later int xmpi_file_read_at_all_begin(file_t fh, MPI_Offset offset, out_t buf, count_t count,
                                      committed_t datatype);

/* Complete what was begun. */
later int xmpi_file_read_at_all_end(file_t fh, out_t buf, status_t status);

/* Write at an offset. */
later int xmpi_file_write_at(file_t fh, MPI_Offset offset, in_t buf, count_t count,
                             committed_t datatype, status_t status);

/* Start to write at an offset. */
later int xmpi_file_iwrite_at(file_t fh, MPI_Offset offset, in_t buf, count_t count,
                              committed_t datatype, request_out_t *request);

/* Write at an offset, together with all processes. */
later int xmpi_file_write_at_all(file_t fh, MPI_Offset offset, in_t buf, count_t count,
                                 committed_t datatype, status_t status);

/* Start to write at an offset, together with all processes. */
later int xmpi_file_iwrite_at_all(file_t fh, MPI_Offset offset, in_t buf, count_t count,
                                  committed_t datatype, request_out_t *request);

/* Begin to write at an offset, together with all processes. */
later int xmpi_file_write_at_all_begin(file_t fh, MPI_Offset offset, in_t buf, count_t count,
                                       committed_t datatype);

/* Complete what was begun. */
later int xmpi_file_write_at_all_end(file_t fh, in_t buf, status_t status);

/* Read at the process's own file pointer. */
later int xmpi_file_read(file_t fh, out_t buf, count_t count, committed_t datatype,
                         status_t status);

/* Start to read at the process's own file pointer. */
later int xmpi_file_iread(file_t fh, out_t buf, count_t count, committed_t datatype,
                          request_out_t *request);

/* Read at the process's own file pointer, together with all processes. */
later int xmpi_file_read_all(file_t fh, out_t buf, count_t count, committed_t datatype,
                             status_t status);

/* Start to read at the process's own file pointer, together with all processes. */
later int xmpi_file_iread_all(file_t fh, out_t buf, count_t count, committed_t datatype,
                              request_out_t *request);

/* Begin to read at the process's own file pointer, together with all processes. */
later int xmpi_file_read_all_begin(file_t fh, out_t buf, count_t count, committed_t datatype);

/* Complete what was begun. */
later int xmpi_file_read_all_end(file_t fh, out_t buf, status_t status);

/* Write at the process's own file pointer. */
later int xmpi_file_write(file_t fh, in_t buf, count_t count, committed_t datatype,
                          status_t status);

/* Start to write at the process's own file pointer. */
later int xmpi_file_iwrite(file_t fh, in_t buf, count_t count, committed_t datatype,
                           request_out_t *request);

/* Write at the process's own file pointer, together with all processes. */
later int xmpi_file_write_all(file_t fh, in_t buf, count_t count, committed_t datatype,
                              status_t status);

/* Start to write at the process's own file pointer, together with all processes. */
later int xmpi_file_iwrite_all(file_t fh, in_t buf, count_t count, committed_t datatype,
                               request_out_t *request);

/* Begin to write at the process's own file pointer, together with all processes. */
later int xmpi_file_write_all_begin(file_t fh, in_t buf, count_t count, committed_t datatype);

/* Complete what was begun. */
later int xmpi_file_write_all_end(file_t fh, in_t buf, status_t status);

/* Read at the shared file pointer. */
later int xmpi_file_read_shared(file_t fh, out_t buf, count_t count, committed_t datatype,
                                status_t status);

/* Start to read at the shared file pointer. */
later int xmpi_file_iread_shared(file_t fh, out_t buf, count_t count, committed_t datatype,
                                 request_out_t *request);

/* Read at the shared file pointer, in the order of ranks. */
later int xmpi_file_read_ordered(file_t fh, out_t buf, count_t count, committed_t datatype,
                                 status_t status);

/* Begin to read at the shared file pointer, in the order of ranks. */
later int xmpi_file_read_ordered_begin(file_t fh, out_t buf, count_t count,
                                       committed_t datatype);

/* Complete what was begun. */
later int xmpi_file_read_ordered_end(file_t fh, out_t buf, status_t status);

/* Write at the shared file pointer. */
later int xmpi_file_write_shared(file_t fh, in_t buf, count_t count, committed_t datatype,
                                 status_t status);

/* Start to write at the shared file pointer. */
later int xmpi_file_iwrite_shared(file_t fh, in_t buf, count_t count, committed_t datatype,
                                  request_out_t *request);

/* Write at the shared file pointer, in the order of ranks. */
later int xmpi_file_write_ordered(file_t fh, in_t buf, count_t count, committed_t datatype,
                                  status_t status);

/* Begin to write at the shared file pointer, in the order of ranks. */
later int xmpi_file_write_ordered_begin(file_t fh, in_t buf, count_t count,
                                        committed_t datatype);

/* Complete what was begun. */
later int xmpi_file_write_ordered_end(file_t fh, in_t buf, status_t status);

/* Move the file pointer of this process. */
later int xmpi_file_seek(file_t fh, MPI_Offset offset, int whence);

/* Where the file pointer of this process is. */
later int xmpi_file_get_position(file_t fh, offset_out_t *offset);

/* The byte in the file that an offset in the view means. */
later int xmpi_file_get_byte_offset(file_t fh, MPI_Offset offset, offset_out_t *disp);

/* Move the shared file pointer. */
later int xmpi_file_seek_shared(file_t fh, MPI_Offset offset, int whence);

/* Where the shared file pointer is. */
later int xmpi_file_get_position_shared(file_t fh, offset_out_t *offset);

/* The extent that a datatype has in the file. */
later int xmpi_file_get_type_extent(file_t fh, type_t datatype, extent_out_t *extent);

/* A data representation of the program. */
later int xmpi_register_datarep(string_t datarep, conversion_t read_conversion_fn,
                                conversion_t write_conversion_fn,
                                MPI_Datarep_extent_function *dtype_file_extent_fn,
                                void *extra_state);

/* Shall accesses that overlap behave as if one came after the other? */
later int xmpi_file_set_atomicity(file_t fh, int flag);

/* Do accesses that overlap behave as if one came after the other? */
later int xmpi_file_get_atomicity(file_t fh, flag_t *flag);

/* Bring everything written to the storage device. */
later int xmpi_file_sync(file_t fh);

#endif
