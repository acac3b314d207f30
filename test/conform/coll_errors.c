/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wrong arguments of collectives: arrays, MPI_IN_PLACE where it has no meaning, buffers that are
 * the same.  All on MPI_COMM_SELF, so that nobody waits for the one who failed.
 */
#include "check.h"

#include <limits.h>
#include <stdint.h>

/* Beside MPI_IN_PLACE no other argument of the sender is significant: the arrays may lie nowhere. */
static void test_in_place(MPI_Comm comm)
{
    int a[1] = { 7 }, one[1] = { 1 }, zero[1] = { 0 };
    volatile uintptr_t nowhere = 16;
    const int *none = (const int *)nowhere;
    const MPI_Datatype *untyped = (const MPI_Datatype *)nowhere;
    MPI_Datatype integer[1] = { MPI_INT }, null = MPI_DATATYPE_NULL;
    MPI_Request request;
    CHECK_OK(MPI_Alltoallv(MPI_IN_PLACE, none, none, null, a, one, zero, MPI_INT, comm));
    CHECK_OK(MPI_Alltoallw(MPI_IN_PLACE, none, none, untyped, a, one, zero, integer, comm));
    CHECK_OK(MPI_Ialltoallw(MPI_IN_PLACE, none, none, untyped, a, one, zero, integer, comm,
                            &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(a[0] == 7);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    MPI_Comm self = MPI_COMM_SELF;
    int a[4] = { 0 }, b[4] = { 0 }, one[1] = { 1 }, zero[1] = { 0 }, negative[1] = { -1 };
    MPI_Datatype integer[1] = { MPI_INT }, null[1] = { MPI_DATATYPE_NULL };
    MPI_Request request;

    CHECK_ERROR(MPI_Bcast(a, 1, MPI_INT, 1, self), MPI_ERR_ROOT);
    CHECK_ERROR(MPI_Bcast(a, 1, MPI_INT, -1, self), MPI_ERR_ROOT);
    CHECK_ERROR(MPI_Bcast(a, -1, MPI_INT, 0, self), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, self), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Bcast(NULL, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);

    CHECK_ERROR(MPI_Gather(a, 1, MPI_INT, a, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Gather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Gatherv(a, 1, MPI_INT, b, negative, zero, MPI_INT, 0, self), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Gatherv(a, 1, MPI_INT, b, NULL, zero, MPI_INT, 0, self), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Gatherv(a, 1, MPI_INT, b, one, NULL, MPI_INT, 0, self), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Scatter(a, 1, MPI_INT, a, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Scatterv(a, negative, zero, MPI_INT, b, 1, MPI_INT, 0, self),
                MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Allgather(a, 1, MPI_INT, a, 1, MPI_INT, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allgather(a, 1, MPI_INT, NULL, 1, MPI_INT, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allgatherv(a, 1, MPI_INT, b, negative, zero, MPI_INT, self), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Alltoall(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Alltoallv(a, negative, zero, MPI_INT, b, one, zero, MPI_INT, self),
                MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Alltoallw(a, one, zero, null, b, one, zero, integer, self), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Alltoallw(a, one, zero, integer, b, one, zero, null, self), MPI_ERR_TYPE);

    CHECK_ERROR(MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, 0, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(a, NULL, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Scan(a, a, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Reduce_scatter(a, b, negative, MPI_INT, MPI_SUM, self), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Iallreduce(a, a, 1, MPI_INT, MPI_SUM, self, &request), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Igatherv(a, 1, MPI_INT, b, negative, zero, MPI_INT, 0, self, &request),
                MPI_ERR_COUNT);

    /* My block where it already is, and blocks that begin together; not those that lie apart. */
    int other[1] = { 2 };
    CHECK_ERROR(MPI_Gatherv(a + 2, 1, MPI_INT, a, one, other, MPI_INT, 0, self),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Scatterv(a, one, other, MPI_INT, a + 2, 1, MPI_INT, 0, self),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allgatherv(a + 2, 1, MPI_INT, a, one, other, MPI_INT, self),
                MPI_ERR_BUFFER);
    CHECK_OK(MPI_Allgatherv(a, 1, MPI_INT, a, one, other, MPI_INT, self));
    CHECK_ERROR(MPI_Alltoallv(a, one, other, MPI_INT, a, one, other, MPI_INT, self),
                MPI_ERR_BUFFER);
    CHECK_OK(MPI_Alltoallv(a, one, zero, MPI_INT, a, one, other, MPI_INT, self));
    CHECK_ERROR(MPI_Alltoallw(a, one, other, integer, a, one, other, integer, self),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Reduce_scatter(a, a, one, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Reduce_scatter(a, a, zero, MPI_INT, MPI_SUM, self));
    CHECK_ERROR(MPI_Reduce_local(a, a, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);

    /* Nothing of this has left anything behind. */
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_INT, MPI_SUM, self));
    CHECK_OK(MPI_Alltoallw(a, one, zero, integer, b, one, zero, integer, self));

    test_in_place(self);

    /* The text names the argument. */
    char text[MPI_MAX_ERROR_STRING];
    int length, rc = MPI_Gatherv(a, 1, MPI_INT, b, negative, zero, MPI_INT, 0, self);
    MPI_Error_string(rc, text, &length);
    CHECK(length > 0 && length == (int)strlen(text));
    return check_done();
}
