/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs may do to streams without meaning it: arguments that are none, nothing to do, streams that
 * are gone; the default stream; and a receive that nobody waits for when the program ends.
 */
#include "driver.h"

enum { N = 1000 };

static int rank, size;
static int in[N], out[N];
static void *from, *to; /* the same, of the device */

static void test_arguments(MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    CHECK_ERROR(MPIX_Allreduce_enqueue(from, NULL, 3, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPIX_Allreduce_enqueue(MPI_IN_PLACE, MPI_IN_PLACE, 3, MPI_INT, MPI_SUM, comm),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPIX_Bcast_enqueue(from, 3, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    CHECK_ERROR(MPIX_Bcast_enqueue(from, 3, MPI_INT, size, comm), MPI_ERR_ROOT);
    CHECK_ERROR(MPIX_Bcast_enqueue(from, 3, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_ERROR(MPIX_Irecv_enqueue(from, 3, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Wait_enqueue(NULL, &status), MPI_ERR_ARG);
    CHECK_ERROR(MPIX_Waitall_enqueue(-1, NULL, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    CHECK_ERROR(MPIX_Reduce_scatter_enqueue(from, to, NULL, MPI_INT, MPI_SUM, comm),
                MPI_ERR_ARG);
    CHECK_OK(MPIX_Waitall_enqueue(0, NULL, MPI_STATUSES_IGNORE));
    CHECK_OK(MPIX_Wait_enqueue(&request, &status));
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
}

static void test_nothing(MPI_Comm comm, cuda_stream stream)
{
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPIX_Allreduce_enqueue(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPIX_Send_enqueue(from, 3, MPI_INT, MPI_PROC_NULL, 0, comm));
    CHECK_OK(MPIX_Irecv_enqueue(to, 3, MPI_INT, MPI_PROC_NULL, 0, comm, &request));
    CHECK_OK(MPIX_Wait_enqueue(&request, &status));
    CHECK(driver.stream_synchronize(stream) == 0);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

static void test_sum(MPI_Comm comm, cuda_stream stream)
{
    for (int i = 0; i < N; i++) {
        in[i] = rank + i;
        out[i] = -1;
    }
    CHECK_OK(MPIX_Allreduce_enqueue(from, to, N, MPI_INT, MPI_SUM, comm));
    CHECK(driver.stream_synchronize(stream) == 0);
    for (int i = 0; i < N; i++)
        CHECK(out[i] == size * i + size * (size - 1) / 2);
}

static void test_gone(void)
{
    cuda_stream gone = stream_new();
    MPI_Comm comm = comm_with(gone), copy;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_dup(comm, &copy)); /* has no stream */
    CHECK_ERROR(MPIX_Barrier_enqueue(copy), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK(driver.stream_destroy(gone) == 0);
    CHECK_ERROR(MPIX_Barrier_enqueue(comm), MPI_ERR_OTHER);
    CHECK_ERROR(MPIX_Allreduce_enqueue(from, to, N, MPI_INT, MPI_SUM, comm), MPI_ERR_OTHER);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void test_between_groups(cuda_stream stream)
{
    MPI_Comm half, between, none;
    MPIX_Stream attached = stream_for_mpi(stream);
    if (size > 1) {
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between));
        MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
        CHECK_ERROR(MPIX_Stream_comm_create(between, attached, &none), MPI_ERR_COMM);
        CHECK_OK(MPI_Comm_free(&between));
        CHECK_OK(MPI_Comm_free(&half));
    }
    CHECK_OK(MPIX_Stream_free(&attached));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    driver_open();
    rank = world_rank();
    size = world_size();
    from = fake_device(in);
    to = fake_device(out);
    cuda_stream stream = stream_new();
    MPI_Comm comm = comm_with(stream), by_default = comm_with(NULL);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    test_arguments(comm);
    test_nothing(comm, stream);
    test_sum(comm, stream);
    test_sum(by_default, NULL);
    test_gone();
    test_between_groups(stream);
    MPI_Comm_free(&by_default);
    MPI_Request nobody_waits;
    CHECK_OK(MPIX_Allreduce_enqueue(from, to, N, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPIX_Irecv_enqueue(to, 1, MPI_INT, rank, 7, comm, &nobody_waits));
    CHECK(driver.stream_synchronize(stream) ==
          0); /* whose functions may not be called after the end */
    MPI_Comm_free(&comm);
    return check_done();
}
