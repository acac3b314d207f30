/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Deprecated functions (MPI 5.0, chapter 16).
 */
#ifndef XMPI_API_DEPRECATED_H
#define XMPI_API_DEPRECATED_H

#include "src/api/kinds.h"

/* MPI_Comm_create_keyval by its old name. */
int xmpi_keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn,
                       int_out_t *keyval, void *extra_state);

/* MPI_Comm_free_keyval by its old name. */
int xmpi_keyval_free(int_out_t *keyval);

/* MPI_Comm_set_attr by its old name. */
int xmpi_attr_put(comm_t comm, int keyval, void *attribute_val);

/* MPI_Comm_get_attr by its old name. */
int xmpi_attr_get(comm_t comm, int keyval, pointer_out_t attribute_val, flag_t *flag);

/* MPI_Comm_delete_attr by its old name. */
int xmpi_attr_delete(comm_t comm, int keyval);

/* The value of a key, cut to valuelen characters; MPI_Info_get_string does it better. */
anytime int xmpi_info_get(info_live_t info, string_t key, int valuelen, text_out_t value,
                          flag_t *flag);

/* The length of a value without the terminating zero. */
anytime int xmpi_info_get_valuelen(info_live_t info, string_t key, int_out_t *valuelen,
                                   flag_t *flag);

/* MPI_Type_size_c by its old name. */
int xmpi_type_size_x(type_t datatype, large_result_t *size);

/* MPI_Type_get_extent_c by its old name. */
int xmpi_type_get_extent_x(type_t datatype, large_result_t *lb, large_result_t *extent);

/* MPI_Type_get_true_extent_c by its old name. */
int xmpi_type_get_true_extent_x(type_t datatype, large_result_t *true_lb,
                                large_result_t *true_extent);

/* MPI_Get_elements_c by its old name. */
int xmpi_get_elements_x(status_in_t status, type_t datatype, large_result_t *count);

/* MPI_Status_set_elements_c by its old name. */
int xmpi_status_set_elements_x(status_out_t status, type_t datatype, MPI_Count count);

#endif
