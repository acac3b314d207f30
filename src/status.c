/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statuses (MPI 5.0, 3.2.5).  MPI_Status is eight ints of the ABI: three public ones and five
 * private ones, of which we use
 *
 *     [0] cancelled    [1..2] bytes, 64 bits by memcpy because the struct is aligned to 4
 */
#include "src/status.h"

#include "runtime/fail.h"
#include "src/api/external.h"
#include "src/api/p2p.h"
#include "src/type.h"

#include <string.h>

const struct result result_empty = { .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG };
const struct result result_proc_null = { .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG };

static void status_set_bytes(MPI_Status *status, uint64_t bytes)
{
    memcpy(&status->MPI_internal[1], &bytes, sizeof bytes);
}

static uint64_t status_bytes(const MPI_Status *status)
{
    uint64_t bytes;
    memcpy(&bytes, &status->MPI_internal[1], sizeof bytes);
    return bytes;
}

void status_write(MPI_Status *status, const struct result *result)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = result->source;
    status->MPI_TAG = result->tag;
    status->MPI_internal[0] = result->cancelled;
    status_set_bytes(status, result->bytes);
}

void status_write_empty(MPI_Status *status)
{
    status_write(status, &result_empty);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

struct result status_read(const MPI_Status *status)
{
    return (struct result){ .source = status->MPI_SOURCE,
                            .tag = status->MPI_TAG,
                            .error = status->MPI_ERROR,
                            .cancelled = status->MPI_internal[0] != 0,
                            .bytes = status_bytes(status) };
}

int xmpi_get_count(status_in_t status, type_t datatype, count_out_t *count)
{
    uint64_t bytes = status_bytes(status), size = datatype->layout->size;
    if (bytes == 0)
        *count = 0;
    else
        *count = size && bytes % size == 0 ? (int64_t)(bytes / size) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* Basic items, whole or not; a byte count that ends inside one is MPI_UNDEFINED. */
int xmpi_get_elements(status_in_t status, type_t datatype, count_out_t *count)
{
    uint64_t bytes = status_bytes(status), size = datatype->layout->size;
    uint64_t whole = size ? bytes / size + 1 : 0;
    int64_t items = layout_items_in(datatype->layout, whole, bytes);
    *count = items < 0 ? MPI_UNDEFINED : items;
    return MPI_SUCCESS;
}

int xmpi_status_set_elements(status_out_t status, type_t datatype, count_t count)
{
    const struct layout *layout = datatype->layout;
    if (count > 0 && layout->nparts == 0)
        return fail(MPI_ERR_COUNT, "argument count is %lld, but the datatype has no elements",
                    (long long)count);
    int64_t bytes;
    if (layout->nparts && __builtin_mul_overflow(count / (int64_t)layout->nparts + 1,
                                                 (int64_t)layout->size, &bytes))
        return fail(MPI_ERR_COUNT,
                    "argument count is %lld: so many elements do not fit into 63 bits",
                    (long long)count);
    status_set_bytes(status, layout_bytes_in(layout, (size_t)count));
    return MPI_SUCCESS;
}

int xmpi_status_set_cancelled(status_out_t status, int flag)
{
    status->MPI_internal[0] = flag != 0;
    return MPI_SUCCESS;
}

int xmpi_test_cancelled(status_in_t status, flag_t *flag)
{
    *flag = status->MPI_internal[0] != 0;
    return MPI_SUCCESS;
}

int xmpi_status_get_source(status_in_t status, int_out_t *source)
{
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

int xmpi_status_get_tag(status_in_t status, int_out_t *tag)
{
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}

int xmpi_status_get_error(status_in_t status, int_out_t *error)
{
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}

int xmpi_status_set_source(status_out_t status, int source)
{
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}

int xmpi_status_set_tag(status_out_t status, int tag)
{
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}

int xmpi_status_set_error(status_out_t status, int error)
{
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}
