/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/attach_slice.h"

#include "runtime/fail.h"
#include "mpi.h"

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
