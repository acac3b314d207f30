/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages that are not as long as their place.  One of the program may be shorter; of a collective's both
 * ends know the length, so one that is shorter is a mistake of the program, too.
 */
#include "pml/recv.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/param.h"

static int too_long(const struct wire *header, size_t capacity)
{
    return fail(MPI_ERR_TRUNCATE,
                "message of %zu bytes from rank %u with tag %d, the receive buffer holds %zu; "
                "receive with a larger count or ask MPI_Probe for the size first",
                (size_t)header->total, header->source, header->tag, capacity);
}

static int block_too_long(const struct wire *header, size_t room)
{
    return fail(MPI_ERR_TRUNCATE,
                "block of %zu bytes from rank %u, where %zu bytes belong; the counts and "
                "datatypes of both ranks must make the same number of bytes",
                (size_t)header->total, header->source, room);
}

int pml_too_short(size_t bytes, int from, size_t room)
{
    if (param_number(SHORT_BLOCKS))
        return MPI_SUCCESS;
    return fail(
        MPI_ERR_OTHER,
        "block of %zu bytes from rank %d, where %zu bytes belong; the counts and "
        "datatypes of both ranks must make the same number of bytes "
        "(XMPI_SHORT_BLOCKS=1 lets what is shorter pass), and XMPI_COLL, XMPI_TUNING and "
        "XMPI_PLAN must be the same",
        bytes, from, room);
}

int recv_misfit(const struct recv *recv, const struct wire *header)
{
    size_t capacity = buffer_bytes(&recv->data);
    bool said = recv->signature && header->signature;
    if (header->total > capacity)
        return said ? block_too_long(header, capacity) : too_long(header, capacity);
    return said ? pml_too_short(header->total, (int)header->source, capacity) : MPI_SUCCESS;
}
