/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages at the edges: nothing received from nobody, requests freed while they are under way,
 * matched messages whose sender has let go, errors of several requests at once, statuses and
 * counts beyond 2^31.
 *
 * conform-shadow: it frees requests of receives, whose data arrive
 */
#include "test/conform/check.h"

static int me, n, left, right;

static void check_nobody(const MPI_Status *status)
{
    int count = -1;
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK(count == 0);
}

/* No datatype is needed for no data from nobody; for no data from somebody there must be one. */
static void test_nothing(void)
{
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    memset(&status, 0x77, sizeof status);
    CHECK_OK(MPI_Recv(NULL, 0, none, MPI_PROC_NULL, 10, MPI_COMM_WORLD, &status));
    check_nobody(&status);
    memset(&status, 0x77, sizeof status);
    CHECK_OK(MPI_Irecv(NULL, 0, none, MPI_PROC_NULL, 10, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_nobody(&status);
    CHECK_OK(MPI_Recv_init(NULL, 0, none, MPI_PROC_NULL, 10, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_nobody(&status);
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
    check_nobody(&status);
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK_ERROR(MPI_Recv(NULL, 0, none, me, 10, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
}

/* Started persistent sends are freed; the messages arrive all the same, in order. */
static void test_free_started(int count)
{
    enum { N = 4 };
    int *out = malloc(N * sizeof(int) * (size_t)count),
        *in = malloc(sizeof(int) * (size_t)count);
    MPI_Request requests[N];
    for (int i = 0; i < N; i++) {
        int *mine = out + (size_t)i * (size_t)count;
        for (int j = 0; j < count; j++)
            mine[j] = me + i + j;
        CHECK_OK(MPI_Send_init(mine, count, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[i]));
    }
    CHECK_OK(MPI_Startall(N, requests));
    for (int i = 0; i < N; i++) {
        CHECK_OK(MPI_Request_free(&requests[(i + 1) % N]));
        CHECK(requests[(i + 1) % N] == MPI_REQUEST_NULL);
    }
    for (int i = 0; i < N; i++) {
        CHECK_OK(MPI_Recv(in, count, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int j = 0; j < count; j++)
            CHECK(in[j] == left + i + j);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(in);
    free(out);
}

/* A freed receive takes its message; the program learns of it by the next one. */
static void test_free_receive(void)
{
    static int in[2];
    MPI_Request request;
    in[0] = in[1] = -1;
    CHECK_OK(MPI_Recv_init(&in[0], 1, MPI_INT, left, 4, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    int out[2] = { me + 10, me + 20 };
    CHECK_OK(MPI_Send(&out[0], 1, MPI_INT, right, 4, MPI_COMM_WORLD));
    CHECK_OK(MPI_Sendrecv(&out[1], 1, MPI_INT, right, 4, &in[1], 1, MPI_INT, left, 4,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == left + 10 && in[1] == left + 20);
}

/* The message is matched after its send request was freed. */
static void test_mprobe_freed(int count)
{
    char *out = malloc((size_t)count), *in = calloc((size_t)count, 1);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int got;
    memset(out, me + 1, (size_t)count);
    CHECK_OK(MPI_Isend(out, count, MPI_CHAR, right, 5, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &got));
    CHECK(got == count && message != MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Mrecv(in, count, MPI_CHAR, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && in[0] == left + 1 && in[count - 1] == left + 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(in);
    free(out);
}

/* Two short receives among good ones: MPI_ERR_IN_STATUS, and every status says how it went. */
static void start_five(int *in, int *out, MPI_Request *requests)
{
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Irecv(&in[2 * i], i % 2 ? 1 : 2, MPI_INT, left, 20 + i, MPI_COMM_WORLD,
                           &requests[i]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Send(&out[2 * i], 2, MPI_INT, right, 20 + i, MPI_COMM_WORLD));
}

static void check_five(const int *classes, const MPI_Request *requests)
{
    for (int i = 0; i < 5; i++) {
        CHECK(classes[i] == (i % 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

static int class_of(int code)
{
    int class;
    CHECK_OK(MPI_Error_class(code, &class));
    return class;
}

static void test_errors_in_status(void)
{
    int in[10], out[10] = { 0 }, classes[5], indices[5], count, flag = 0, done = 0, rc;
    MPI_Request requests[5];
    MPI_Status statuses[5];
    start_five(in, out, requests);
    CHECK_ERROR(MPI_Waitall(5, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < 5; i++)
        classes[i] = class_of(statuses[i].MPI_ERROR);
    check_five(classes, requests);

    start_five(in, out, requests);
    do
        rc = MPI_Testall(5, requests, &flag, statuses);
    while (!flag && rc == MPI_SUCCESS);
    CHECK_ERROR(rc, MPI_ERR_IN_STATUS);
    for (int i = 0; i < 5; i++)
        classes[i] = class_of(statuses[i].MPI_ERROR);
    check_five(classes, requests);

    for (int wait = 0; wait < 2; wait++, done = 0) {
        start_five(in, out, requests);
        while (done < 5) {
            rc = wait ? MPI_Waitsome(5, requests, &count, indices, statuses)
                      : MPI_Testsome(5, requests, &count, indices, statuses);
            int bad = 0;
            for (int i = 0; i < count; i++) {
                bad |= indices[i] % 2;
                classes[indices[i]] = rc ? class_of(statuses[i].MPI_ERROR) : MPI_SUCCESS;
            }
            CHECK(class_of(rc) == (bad ? MPI_ERR_IN_STATUS : MPI_SUCCESS));
            done += count;
        }
        check_five(classes, requests);
    }
    /* Without statuses the error still comes back, and nothing is written. */
    start_five(in, out, requests);
    CHECK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[4] == MPI_REQUEST_NULL);
}

/* Statuses of messages that nobody has room for. */
static void test_large_status(void)
{
    MPI_Count huge = ((MPI_Count)1 << 33) + 8, elements, copies;
    MPI_Datatype gigabyte;
    MPI_Status status;
    int count, cancelled;
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_BYTE, huge));
    CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &elements));
    CHECK(elements == huge);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK(count == (1 << 30) + 1);
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &elements));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled && elements == huge);
#if MPI_VERSION >= 4
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &copies));
    CHECK(copies == huge / 4);
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count)1 << 30, MPI_CHAR, &gigabyte));
    CHECK_OK(MPI_Type_commit(&gigabyte));
    CHECK_OK(MPI_Get_elements_c(&status, gigabyte, &elements));
    CHECK(elements == huge);
    CHECK_OK(MPI_Get_elements(&status, gigabyte, &count));
    CHECK(count == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count_c(&status, gigabyte, &copies));
    CHECK(copies == MPI_UNDEFINED);
    CHECK_OK(MPI_Status_set_elements_c(&status, gigabyte, (MPI_Count)1 << 33));
    CHECK_OK(MPI_Get_count_c(&status, gigabyte, &copies));
    CHECK(copies == 8);
    CHECK_OK(MPI_Get_count(&status, gigabyte, &count));
    CHECK(count == 8);
    CHECK_OK(MPI_Type_free(&gigabyte));
#else
    (void)copies, (void)gigabyte;
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    left = (me + n - 1) % n;
    right = (me + 1) % n;
    test_nothing();
    for (int count = 1; count <= 1000000; count *= 100)
        test_free_started(count);
    test_free_receive();
    for (int count = 1; count <= 10000000; count *= 100)
        test_mprobe_freed(count);
    test_errors_in_status();
    test_large_status();
    return check_done();
}
