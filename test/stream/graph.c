/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams that are captured into graphs take no operation, and say so; what MPI does meanwhile spoils no
 * capture.  Between two graphs operations are what they always are.
 */
#include "driver.h"

#include <unistd.h>

enum { N = 3000, RUNS = 10, GLOBAL = 0 };

static struct {
    cuda_result (*begin)(cuda_stream stream, int mode);
    cuda_result (*end)(cuda_stream stream, void **graph);
    cuda_result (*instantiate)(void **ready, void *graph, unsigned long long flags);
    cuda_result (*run)(void *ready, cuda_stream stream);
} graphs;

static int rank, size, run;
static cuda_stream stream;
static MPI_Comm comm;
static int in[N], out[N], sent[N], got[N];

/* A kernel of the program: what is sent depends on how often the graph has run. */
static void produce(void *argument)
{
    (void)argument;
    for (int i = 0; i < N; i++) {
        in[i] = run * 1000 + rank + i;
        sent[i] = run * 7 + rank * N + i;
    }
}

static void consume(void *argument)
{
    (void)argument;
    for (int i = 0; i < N; i++)
        out[i] += 1;
    run++;
}

static void capture_begin(void)
{
    CHECK(graphs.begin(stream, GLOBAL) == 0);
}

static void *capture_end(void)
{
    void *graph, *ready;
    CHECK(graphs.end(stream, &graph) == 0);
    CHECK(graphs.instantiate(&ready, graph, 0) == 0);
    return ready;
}

/* A ring of messages, those of even ranks first, in gaps. */
static void exchange(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    if (size % 2)
        return;
    for (int turn = 0; turn < 2; turn++)
        if (rank % 2 == turn)
            CHECK_OK(MPIX_Send_enqueue(fake_device(sent), N, MPI_INT, right, 1, comm));
        else
            CHECK_OK(MPIX_Recv_enqueue(fake_device(got), N, MPI_INT, left, 1, comm,
                                       MPI_STATUS_IGNORE));
}

static void check_run(int number)
{
    int left = (rank + size - 1) % size;
    CHECK(run == number + 1);
    for (int i = 0; i < N; i++) {
        CHECK(out[i] == size * (number * 1000 + i) + size * (size - 1) / 2 + 1);
        CHECK(size % 2 || got[i] == number * 7 + left * N + i);
    }
}

static void *kernel_graph(cuda_host_function *kernel)
{
    capture_begin();
    CHECK(driver.launch(stream, kernel, NULL) == 0);
    return capture_end();
}

static void step(void *before, void *after)
{
    CHECK(graphs.run(before, stream) == 0);
    CHECK_OK(
        MPIX_Allreduce_enqueue(fake_device(in), fake_device(out), N, MPI_INT, MPI_SUM, comm));
    exchange();
    CHECK_OK(MPIX_Barrier_enqueue(comm));
    CHECK(graphs.run(after, stream) == 0);
}

static void test_between(void)
{
    void *before = kernel_graph(produce), *after = kernel_graph(consume);
    CHECK(run == 0 && out[0] == 0);
    for (int i = 0; i < RUNS; i++) {
        step(before, after);
        CHECK(driver.stream_synchronize(stream) == 0);
        check_run(i);
    }
    for (int i = 0; i < RUNS; i++)
        step(before, after);
    CHECK(driver.stream_synchronize(stream) == 0);
    check_run(2 * RUNS - 1);
}

/* Performed now, and the graph is none the worse. */
static void test_beside(void)
{
    static int here[N], there[N];
    capture_begin();
    CHECK(driver.launch(stream, consume, NULL) == 0);
    for (int i = 0; i < N; i++)
        here[i] = i;
    CHECK_OK(MPI_Allreduce(fake_device(here), fake_device(there), N, MPI_INT, MPI_SUM,
                           MPI_COMM_WORLD));
    CHECK(there[N - 1] == size * (N - 1));
    void *ready = capture_end();
    int before = run;
    CHECK(graphs.run(ready, stream) == 0);
    CHECK(driver.stream_synchronize(stream) == 0);
    CHECK(run == before + 1);
}

static void test_refused(void)
{
    MPI_Request before, r = MPI_REQUEST_NULL;
    CHECK_OK(MPIX_Irecv_enqueue(fake_device(got), 1, MPI_INT, rank, 2, comm, &before));
    MPIX_Group_start();
    capture_begin();
    CHECK_ERROR(MPIX_Isend_enqueue(fake_device(sent), 1, MPI_INT, rank, 2, comm, &r),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERROR(
        MPIX_Allreduce_enqueue(fake_device(in), fake_device(out), 1, MPI_INT, MPI_SUM, comm),
        MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERROR(MPIX_Barrier_enqueue(comm), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_ERROR(MPIX_Wait_enqueue(&before, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    capture_end();
    MPIX_Group_end();
    CHECK_OK(MPIX_Isend_enqueue(fake_device(sent), 1, MPI_INT, rank, 2, comm, &r));
    CHECK_OK(MPIX_Wait_enqueue(&before, MPI_STATUS_IGNORE));
    CHECK_OK(MPIX_Wait_enqueue(&r, MPI_STATUS_IGNORE));
    CHECK(driver.stream_synchronize(stream) == 0);
    CHECK(got[0] == sent[0]);
}

/* What was put off before the capture, and is to be performed within it: the end of the group says so. */
static void test_put_off(void)
{
    MPIX_Group_start();
    CHECK_OK(
        MPIX_Allreduce_enqueue(fake_device(in), fake_device(out), 1, MPI_INT, MPI_SUM, comm));
    capture_begin();
    CHECK_ERROR(MPIX_Group_end(), MPI_ERR_UNSUPPORTED_OPERATION);
    capture_end();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    driver_open();
    driver_find(&graphs.begin, "cuStreamBeginCapture_v2");
    driver_find(&graphs.end, "cuStreamEndCapture");
    driver_find(&graphs.instantiate, "cuGraphInstantiateWithFlags");
    driver_find(&graphs.run, "cuGraphLaunch");
    rank = world_rank();
    size = world_size();
    stream = stream_new();
    comm = comm_with(stream);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    test_beside();
    run = 0;
    memset(out, 0, sizeof out);
    test_refused();
    test_between();
    test_put_off();
    MPI_Comm_free(&comm);
    CHECK(driver.stream_destroy(stream) == 0);
    return check_done();
}
