/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of old versions of the standard for what has better ones: attributes of communicators,
 * and the first functions with large counts.  (MPI_Info_get and MPI_Info_get_valuelen,
 * deprecated in MPI 4.0, are in src/info.c.)
 */
#include "src/api/comm.h"
#include "src/api/datatype.h"
#include "src/api/deprecated.h"
#include "src/api/external.h"
#include "src/api/p2p.h"

int xmpi_keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn,
                       int_out_t *keyval, void *extra_state)
{
    return xmpi_comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}

int xmpi_keyval_free(int_out_t *keyval)
{
    return xmpi_comm_free_keyval(keyval);
}

int xmpi_attr_put(comm_t comm, int keyval, void *attribute_val)
{
    return xmpi_comm_set_attr(comm, keyval, attribute_val);
}

int xmpi_attr_get(comm_t comm, int keyval, pointer_out_t attribute_val, flag_t *flag)
{
    return xmpi_comm_get_attr(comm, keyval, attribute_val, flag);
}

int xmpi_attr_delete(comm_t comm, int keyval)
{
    return xmpi_comm_delete_attr(comm, keyval);
}

/* ---- large counts before MPI 4.0 ---- */

int xmpi_type_size_x(type_t datatype, large_result_t *size)
{
    return xmpi_type_size(datatype, size);
}

int xmpi_type_get_extent_x(type_t datatype, large_result_t *lb, large_result_t *extent)
{
    return xmpi_type_get_extent(datatype, lb, extent);
}

int xmpi_type_get_true_extent_x(type_t datatype, large_result_t *true_lb,
                                large_result_t *true_extent)
{
    return xmpi_type_get_true_extent(datatype, true_lb, true_extent);
}

int xmpi_get_elements_x(status_in_t status, type_t datatype, large_result_t *count)
{
    return xmpi_get_elements(status, datatype, count);
}

int xmpi_status_set_elements_x(status_out_t status, type_t datatype, MPI_Count count)
{
    return xmpi_status_set_elements(status, datatype, count);
}
