/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitioned communication: numbers of partitions that differ, partitions that break elements,
 * pairing by the order of the calls, arrival, messages beside it, MPI_PROC_NULL, itself as a
 * peer, requests that are never started, and what goes wrong.
 */
#include "check.h"

enum { ROUNDS = 3, TAG = 5 };

/* Rank 0 sends to the last rank, which is rank 0 itself when it is alone. */
static int from_here(void)
{
    return world_rank() == 0;
}

static int to_here(void)
{
    return world_rank() == world_size() - 1;
}

static void ready_in_odd_order(MPI_Request request, int partitions)
{
    for (int i = partitions - 1; i >= 0; i -= 2)
        MPI_Pready(i, request);
    for (int i = partitions - 2; i >= 0; i -= 2)
        MPI_Pready(i, request);
}

static void await_one_by_one(MPI_Request request, int partitions)
{
    for (int i = 0; i < partitions; i++) {
        int here = 0;
        while (!here)
            MPI_Parrived(request, i, &here);
    }
}

/* `total` ints in s and r partitions. */
static void counts_differ(int total, int s, int r)
{
    int *out = malloc((size_t)total * sizeof *out), *in = malloc((size_t)total * sizeof *in);
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    if (to_here())
        MPI_Precv_init(in, r, total / r, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
    if (from_here())
        MPI_Psend_init(out, s, total / s, MPI_INT, world_size() - 1, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < ROUNDS; round++) {
        if (to_here()) {
            memset(in, 255, (size_t)total * sizeof *in);
            MPI_Start(&requests[0]);
        }
        if (from_here()) {
            for (int i = 0; i < total; i++)
                out[i] = i + round;
            MPI_Start(&requests[1]);
            ready_in_odd_order(requests[1], s);
        }
        if (to_here())
            await_one_by_one(requests[0], r);
        for (int i = 0; to_here() && i < total; i++)
            CHECK(in[i] == i + round);
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        if (to_here()) {
            int count;
            MPI_Get_count(&statuses[0], MPI_INT, &count);
            CHECK(count == total && statuses[0].MPI_SOURCE == 0 && statuses[0].MPI_TAG == TAG);
        }
    }
    for (int i = 0; i < 2; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
    free(out);
    free(in);
}

/* 12 ints: four partitions of a vector with three of them, three of a vector with four. */
static void elements_break(void)
{
    enum { N = 12 };
    int out[4 * 6], in[3 * 8];
    MPI_Datatype three, four, wide_three, wide_four;
    MPI_Type_vector(3, 1, 2, MPI_INT, &three);
    MPI_Type_create_resized(three, 0, 6 * sizeof(int), &wide_three);
    MPI_Type_vector(4, 1, 2, MPI_INT, &four);
    MPI_Type_create_resized(four, 0, 8 * sizeof(int), &wide_four);
    MPI_Type_commit(&wide_three);
    MPI_Type_commit(&wide_four);
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    if (from_here())
        MPI_Psend_init(out, 4, 1, wide_three, world_size() - 1, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &requests[1]);
    if (to_here())
        MPI_Precv_init(in, 3, 1, wide_four, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
    MPI_Type_free(&three);
    MPI_Type_free(&four);
    MPI_Type_free(&wide_three);
    MPI_Type_free(&wide_four);
    for (int i = 0; i < 4 * 6; i++)
        out[i] = i % 2 ? -1 : i / 2;
    for (int i = 0; i < 3 * 8; i++)
        in[i] = -7;
    if (to_here())
        MPI_Start(&requests[0]);
    if (from_here()) {
        MPI_Start(&requests[1]);
        MPI_Pready_range(1, 3, requests[1]);
        MPI_Pready_list(1, (int[]){ 0 }, requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; to_here() && i < N; i++)
        CHECK(in[2 * i] == i && in[2 * i + 1] == -7);
    for (int i = 0; i < 2; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
}

/* Two pairs of equal envelopes: the first sends belong to the first receives, even when started
 * the other way round; and a message of the program with that tag goes elsewhere. */
static void order_pairs(void)
{
    int out[2] = { 10, 20 }, in[2] = { 0, 0 }, plain = 0;
    MPI_Request sends[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Request receives[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL }, any = MPI_REQUEST_NULL;
    if (to_here())
        MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    for (int i = 0; i < 2; i++) {
        if (from_here())
            MPI_Psend_init(&out[i], 1, 1, MPI_INT, world_size() - 1, TAG, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &sends[i]);
        if (to_here())
            MPI_Precv_init(&in[i], 1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &receives[i]);
    }
    if (from_here()) {
        MPI_Start(&sends[1]);
        MPI_Pready(0, sends[1]);
        MPI_Start(&sends[0]);
        MPI_Pready(0, sends[0]);
    }
    if (to_here())
        MPI_Startall(2, receives);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    int flag = 0;
    MPI_Status status;
    while (to_here() && !flag)
        MPI_Request_get_status(receives[0], &flag, &status);
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    if (to_here()) {
        CHECK(in[0] == 10 && in[1] == 20);
        MPI_Test(&any, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (from_here())
        MPI_Send(&(int){ 30 }, 1, MPI_INT, world_size() - 1, TAG, MPI_COMM_WORLD);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    CHECK(!to_here() || plain == 30);
    for (int i = 0; i < 2; i++) {
        if (from_here())
            MPI_Request_free(&sends[i]);
        if (to_here())
            MPI_Request_free(&receives[i]);
    }
}

/* Freed while it runs, freed before it began, and the pairs behind them. */
static void freed_early(void)
{
    static int out[3] = { 1, 2, 3 }, in[3];
    MPI_Request sends[3], receives[3];
    for (int i = 0; i < 3; i++) {
        if (from_here())
            MPI_Psend_init(&out[i], 1, 1, MPI_INT, world_size() - 1, TAG, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &sends[i]);
        if (to_here())
            MPI_Precv_init(&in[i], 1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &receives[i]);
    }
    if (to_here()) {
        MPI_Request_free(&receives[0]);
        MPI_Startall(2, &receives[1]);
        MPI_Request_free(&receives[1]);
    }
    if (from_here()) {
        MPI_Request_free(&sends[0]);
        MPI_Startall(2, &sends[1]);
        MPI_Pready(0, sends[1]);
        MPI_Pready(0, sends[2]);
        MPI_Request_free(&sends[1]);
        MPI_Wait(&sends[2], MPI_STATUS_IGNORE);
        MPI_Request_free(&sends[2]);
    }
    if (to_here()) {
        MPI_Wait(&receives[2], MPI_STATUS_IGNORE);
        CHECK(in[0] == 0 && in[2] == 3);
        MPI_Request_free(&receives[2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The count of a partition has no narrow form (MPI 5.0, 4.2.1). */
static void beyond_int(void)
{
    MPI_Count count = ((MPI_Count)1 << 31) + 1;
    MPI_Request request;
    char byte = 0;
    CHECK_OK(MPI_Psend_init(&byte, 1, count, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &request));
    MPI_Request_free(&request);
    CHECK_OK(MPI_Precv_init(&byte, 1, count, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &request));
    MPI_Request_free(&request);
}

static void nobody(void)
{
    int value = 1, here = 0;
    MPI_Request requests[2];
    MPI_Psend_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 1, requests[0]);
    MPI_Parrived(requests[1], 0, &here);
    CHECK(here);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    CHECK(statuses[1].MPI_SOURCE == MPI_PROC_NULL && value == 1);
    MPI_Parrived(requests[1], 1, &here);
    CHECK(here);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void too_much(void)
{
    int out[4] = { 1, 2, 3, 4 }, in[3] = { 0, 0, 9 };
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    if (from_here())
        MPI_Psend_init(out, 2, 2, MPI_INT, world_size() - 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &send);
    if (to_here())
        MPI_Precv_init(in, 1, 2, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    if (to_here())
        MPI_Start(&receive);
    if (from_here()) {
        MPI_Start(&send);
        MPI_Pready_range(0, 1, send);
    }
    if (to_here()) {
        char text[MPI_MAX_ERROR_STRING];
        int length, code = MPI_Wait(&receive, MPI_STATUS_IGNORE);
        CHECK_ERROR(code, MPI_ERR_TRUNCATE);
        MPI_Error_string(code, text, &length);
        CHECK(strstr(text, "16 bytes (2 partitions of 8), the receive buffer holds 8"));
        CHECK(in[0] == 1 && in[1] == 2 && in[2] == 9);
        MPI_Request_free(&receive);
    }
    if (from_here()) {
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Request_free(&send);
    }
}

static void mistakes(void)
{
    int value = 0, here;
    MPI_Request send, receive, null = MPI_REQUEST_NULL;
    MPI_Psend_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &send);
    MPI_Precv_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &receive);
    CHECK_ERROR(
        MPI_Psend_init(&value, -1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &null),
        MPI_ERR_ARG);
    CHECK_ERROR(MPI_Precv_init(&value, 1, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                               MPI_INFO_NULL, &null),
                MPI_ERR_RANK);
    CHECK_ERROR(MPI_Precv_init(&value, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                               MPI_INFO_NULL, &null),
                MPI_ERR_TAG);
    CHECK_ERROR(MPI_Psend_init_c(&value, 3, INT64_MAX / 2, MPI_INT, 0, TAG, MPI_COMM_WORLD,
                                 MPI_INFO_NULL, &null),
                MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Psend_init(MPI_IN_PLACE, 1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD,
                               MPI_INFO_NULL, &null),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Pready(0, send), MPI_ERR_REQUEST); /* inactive */
    MPI_Start(&send);
    CHECK_ERROR(MPI_Start(&send), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Pready(2, send), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Pready(-1, send), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Pready_range(0, 2, send), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Pready_list(1, (int[]){ 2 }, send), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Pready(0, receive), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Pready(0, null), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Parrived(send, 0, &here), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Parrived(receive, 2, &here), MPI_ERR_ARG);
    here = 0; /* as complete as an inactive one (4.2.2) */
    CHECK_OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &here));
    CHECK(here);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

static void ready_twice(void)
{
    int out = 1, in = 0, here = 0;
    MPI_Request send, receive;
    MPI_Psend_init(&out, 1, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_INFO_NULL, &send);
    MPI_Precv_init(&in, 1, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_INFO_NULL, &receive);
    MPI_Start(&send);
    MPI_Pready(0, send);
    CHECK_ERROR(MPI_Pready(0, send), MPI_ERR_ARG);
    CHECK_OK(MPI_Parrived(receive, 0, &here)); /* never started */
    CHECK(here);
    MPI_Start(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(in == 1);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    counts_differ(12, 4, 4);
    counts_differ(12, 4, 3);
    counts_differ(12, 1, 6);
    counts_differ(12, 6, 1);
    counts_differ(1 << 20, 4, 16); /* too long to be sent unasked */
    elements_break();
    order_pairs();
    freed_early();
    nobody();
    beyond_int();
    too_much();
    mistakes();
    ready_twice();
    return check_done();
}
