/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing into memory of the program's own (MPI 5.0, 5.2).  The packed form is that of
 * runtime/layout.h: the data bytes in type map order, without a header, so that a packed buffer
 * can be received as the plain type and the other way round.
 */
#include "src/pack.h"

#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "src/api/datatype.h"
#include "src/type.h"

int pack_check(const void *memory, int64_t position, int64_t bytes, int64_t size,
               const char *buffer, const char *argument)
{
    if (!memory && bytes > 0)
        return fail_null(MPI_ERR_BUFFER, buffer);
    if (size < 0)
        return fail(MPI_ERR_ARG, "argument %s is %lld, must not be negative", argument,
                    (long long)size);
    if (position < 0 || position > size)
        return fail(MPI_ERR_ARG, "argument position is %lld, %s has %lld bytes",
                    (long long)position, buffer, (long long)size);
    if (bytes > size - position)
        return fail(MPI_ERR_TRUNCATE, "%lld bytes at position %lld exceed %s of %lld bytes",
                    (long long)bytes, (long long)position, buffer, (long long)size);
    return MPI_SUCCESS;
}

int xmpi_pack(data_t inbuf, count_t incount, committed_t datatype, out_t outbuf,
              bytes_t outsize, position_t *position, comm_t comm)
{
    (void)comm;
    int64_t bytes = incount * (int64_t)datatype->layout->size;
    int rc = pack_check(outbuf, *position, bytes, outsize, "outbuf", "outsize");
    if (rc)
        return rc;
    struct buffer from = buffer_user(inbuf, incount, datatype->layout);
    struct buffer to = buffer_user((char *)outbuf + *position, bytes, &layout_bytes);
    buffer_copy(&to, &from);
    *position += bytes;
    return gpu_check();
}

int xmpi_unpack(in_t inbuf, bytes_t insize, position_t *position, room_t outbuf,
                count_t outcount, committed_t datatype, comm_t comm)
{
    (void)comm;
    int64_t bytes = outcount * (int64_t)datatype->layout->size;
    int rc = pack_check(inbuf, *position, bytes, insize, "inbuf", "insize");
    if (rc)
        return rc;
    struct buffer to = buffer_user(outbuf, outcount, datatype->layout);
    struct buffer from = buffer_user((const char *)inbuf + *position, bytes, &layout_bytes);
    buffer_copy(&to, &from);
    *position += bytes;
    return gpu_check();
}

int xmpi_pack_size(count_t incount, committed_t datatype, comm_t comm, count_out_t *size)
{
    (void)comm;
    *size = incount * (int64_t)datatype->layout->size;
    return MPI_SUCCESS;
}
