/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What MPI 4 added to messages and datatypes: large-count forms, send-receive under one request,
 * access to statuses, several requests looked at without being finished, automatic buffers.
 */
#include "check.h"

#include <stdint.h>

static int rank, size, left, right;

static void test_large_forms(void)
{
    int out[4] = { rank, rank + 1, rank + 2, rank + 3 }, in[4] = { 0 };
    MPI_Count count;
    MPI_Status status;
    MPI_Request request;
    CHECK_OK(MPI_Isend_c(out, 4, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv_c(in, 4, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
    CHECK(count == 4 && in[3] == left + 3);
    CHECK_OK(MPI_Allreduce_c(out, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(in[1] == size * (size - 1) / 2 + size);
    MPI_Count *counts = malloc(sizeof(MPI_Count) * (size_t)size);
    MPI_Aint *displs = malloc(sizeof(MPI_Aint) * (size_t)size);
    int *all = calloc((size_t)size * 3, sizeof(int));
    for (int r = 0; r < size; r++) {
        counts[r] = 2;
        displs[r] = 3 * r;
    }
    CHECK_OK(MPI_Allgatherv_c(out, 2, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        CHECK(all[3 * r] == r && all[3 * r + 1] == r + 1 && all[3 * r + 2] == 0);
    free(counts);
    free(displs);
    free(all);
}

static void test_large_types(void)
{
    MPI_Datatype huge, twice;
    MPI_Count bytes, lb, extent, four = (MPI_Count)1 << 32;
    int small;
    CHECK_OK(MPI_Type_contiguous_c(four, MPI_DOUBLE, &huge));
    CHECK_OK(MPI_Type_vector_c(2, 1, 3, huge, &twice));
    CHECK_OK(MPI_Type_size_c(twice, &bytes));
    CHECK(bytes == 2 * 8 * four);
    CHECK_OK(MPI_Type_get_extent_c(twice, &lb, &extent));
    CHECK(lb == 0 && extent == 4 * 8 * four);
    CHECK_OK(MPI_Type_size(twice, &small));
    CHECK(small == MPI_UNDEFINED);
    MPI_Count ni, na, nc, nd, counts[3];
    int combiner, integers[1];
    MPI_Aint addresses[1];
    MPI_Datatype types[1];
    CHECK_OK(MPI_Type_get_envelope_c(huge, &ni, &na, &nc, &nd, &combiner));
    CHECK(combiner == MPI_COMBINER_CONTIGUOUS && ni == 0 && na == 0 && nc == 1 && nd == 1);
    CHECK_OK(MPI_Type_get_contents_c(huge, 0, 0, 1, 1, integers, addresses, counts, types));
    CHECK(counts[0] == four && types[0] == MPI_DOUBLE);
    MPI_Type_free(&huge);
    MPI_Type_free(&twice);
    /* Small numbers through the large form are shown as they were given. */
    CHECK_OK(MPI_Type_vector_c(2, 1, -3, MPI_INT, &twice));
    CHECK_OK(MPI_Type_get_envelope_c(twice, &ni, &na, &nc, &nd, &combiner));
    CHECK(combiner == MPI_COMBINER_VECTOR && ni == 0 && na == 0 && nc == 3 && nd == 1);
    CHECK_OK(MPI_Type_get_contents_c(twice, 0, 0, 3, 1, integers, addresses, counts, types));
    CHECK(counts[0] == 2 && counts[1] == 1 && counts[2] == -3);
    MPI_Type_free(&twice);
}

static void test_isendrecv(void)
{
    for (int n = 1; n <= 100000; n *= 10) {
        int *out = malloc(sizeof(int) * (size_t)n), *in = malloc(sizeof(int) * (size_t)n);
        MPI_Request request;
        MPI_Status status;
        for (int i = 0; i < n; i++)
            out[i] = rank + i;
        CHECK_OK(MPI_Isendrecv(out, n, MPI_INT, right, 2, in, n, MPI_INT, left, 2,
                               MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK(in[0] == left && in[n - 1] == left + n - 1 && status.MPI_SOURCE == left);
        CHECK_OK(MPI_Isendrecv_replace(out, n, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD,
                                       &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK(out[0] == left && out[n - 1] == left + n - 1 && status.MPI_TAG == 3);
        CHECK_OK(MPI_Isendrecv(out, n, MPI_INT, MPI_PROC_NULL, 2, in, n, MPI_INT, MPI_PROC_NULL,
                               2, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
        free(out);
        free(in);
    }
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void test_statuses(void)
{
    MPI_Status status;
    int value;
    memset(&status, 0, sizeof status);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_set_error(&status, MPI_ERR_OTHER);
    MPI_Status_get_source(&status, &value);
    CHECK(value == 3 && status.MPI_SOURCE == 3);
    MPI_Status_get_tag(&status, &value);
    CHECK(value == 4 && status.MPI_TAG == 4);
    MPI_Status_get_error(&status, &value);
    CHECK(value == MPI_ERR_OTHER && status.MPI_ERROR == MPI_ERR_OTHER);
}

static void test_looking(void)
{
    int in[3] = { -1, -1, -1 }, flag = 0, index, indices[3], outcount;
    MPI_Request requests[3];
    MPI_Status statuses[3], status;
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, 10 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request_get_status_any(3, requests, &index, &flag, &status);
    CHECK(!flag && index == MPI_UNDEFINED);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, right, 11, MPI_COMM_WORLD);
    while (!flag)
        MPI_Request_get_status_any(3, requests, &index, &flag, &status);
    CHECK(index == 1 && status.MPI_TAG == 11 && requests[1] != MPI_REQUEST_NULL);
    MPI_Request_get_status_some(3, requests, &outcount, indices, statuses);
    CHECK(outcount == 1 && indices[0] == 1);
    MPI_Request_get_status_all(3, requests, &flag, statuses);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, right, 10, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, right, 12, MPI_COMM_WORLD);
    while (!flag)
        MPI_Request_get_status_all(3, requests, &flag, statuses);
    CHECK(statuses[2].MPI_TAG == 12 && requests[2] != MPI_REQUEST_NULL);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == left && in[1] == left && in[2] == left);
}

static void test_automatic_buffer(void)
{
    void *buffer;
    int n;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < 100; i++) {
        int *data = malloc(sizeof(int) * 1000);
        data[999] = rank + i;
        MPI_Bsend(data, 1000, MPI_INT, right, 5, MPI_COMM_WORLD);
        free(data);
    }
    int in[1000];
    for (int i = 0; i < 100; i++) {
        MPI_Recv(in, 1000, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[999] == left + i);
    }
    MPI_Buffer_flush();
    MPI_Buffer_detach(&buffer, &n);
    CHECK(buffer == MPI_BUFFER_AUTOMATIC);
}
/* A communicator's own buffer, emptied by a request. */
static void test_communicator_buffer(void)
{
    enum { ROOM = 10 * (4000 + MPI_BSEND_OVERHEAD) };
    char *room = malloc(ROOM);
    int data[1000] = { 0 }, in[1000], n;
    void *buffer;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Comm_attach_buffer(comm, room, ROOM));
    for (int i = 0; i < 10; i++) {
        data[0] = rank + i;
        CHECK_OK(MPI_Bsend(data, 1000, MPI_INT, right, 6, comm));
    }
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &request));
    for (int i = 0; i < 10; i++) {
        MPI_Recv(in, 1000, MPI_INT, left, 6, comm, MPI_STATUS_IGNORE);
        CHECK(in[0] == left + i);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Comm_detach_buffer(comm, &buffer, &n));
    CHECK(buffer == room && n == ROOM);
    free(room);
    MPI_Comm_free(&comm);
}
#else
static void test_communicator_buffer(void)
{
}
static void test_statuses(void)
{
}
static void test_looking(void)
{
}
static void test_automatic_buffer(void)
{
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    left = (rank - 1 + size) % size;
    right = (rank + 1) % size;
    test_large_forms();
    test_large_types();
    test_isendrecv();
    test_statuses();
    test_looking();
    test_automatic_buffer();
    test_communicator_buffer();
    return check_done();
}
