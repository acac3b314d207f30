/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/attach_slice.h"

#include "runtime/fail.h"
#include "runtime/guard.h"
#include "mpi.h"

const char *attach_operand(const struct attached *a, int rank, size_t at, size_t bytes,
                           bool in_place, char *landing)
{
    uint64_t from = attach_offered(a, rank)->in + at;
    const char *there = in_place ? attach_view(a, rank, from, bytes) : NULL;
    if (there)
        return there;
    return attach_read(a, rank, landing, from, bytes) ? landing : NULL;
}

bool attempt_make(void (*try)(void *piece), struct attempt *piece)
{
    *piece = (struct attempt){ .in_place = true };
    if (guarded(try, piece))
        return piece->good;
    /* A fault while reading: others' memory was unmapped under us.  Once more by system call, which returns an error
     * instead. */
    piece->in_place = false;
    try(piece);
    return piece->good;
}

int rest_add(struct rest *rest, struct slice slice, int rank, uint64_t done)
{
    if (done == slice.count)
        return 0;
    if (done == DONE_NEVER)
        return fail(MPI_ERR_BUFFER,
                    "rank %d could read but not write the memory of another, in place; with "
                    "XMPI_SHM_SINGLE_COPY=none it would not try",
                    rank);
    rest->part[rest->n].first = slice.first + done;
    rest->part[rest->n++].count = slice.count - done;
    return 0;
}
