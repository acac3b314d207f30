/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every operation that can be put into a stream, with buffers on the device and on the host, plain
 * and with gaps; requests that the stream waits for and that the host waits for; errors now and
 * later; and many operations of all sizes at a time, so that memory is used again.  Where operations
 * work on memory of the device themselves (XMPI_CUDA_ENQUEUE): kernels fold there, and a message is not
 * copied as a whole before it leaves.
 */
#include "driver.h"

enum { N = 600, MANY = 200, LARGEST = 20000, LONG = 4 << 20 };

static int rank, size;
static cuda_stream stream;
static MPI_Comm comm;
static int in[64 * N], out[64 * N];

static void sync_stream(void)
{
    CHECK(driver.stream_synchronize(stream) == 0);
}

/* The data are at `host`; MPI gets this. */
static void *away_or_here(int away, void *host)
{
    return away ? fake_device(host) : host;
}

static void fill(int *data, int n, int first)
{
    for (int i = 0; i < n; i++)
        data[i] = first + i;
}

static void test_messages(int away)
{
    void *from = away_or_here(away, in), *to = away_or_here(away, out);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Request r[2];
    fill(in, N, rank * N);
    fill(out, N, -N);
    CHECK_OK(MPIX_Irecv_enqueue(to, N, MPI_INT, left, 3, comm, &r[0]));
    CHECK_OK(MPIX_Isend_enqueue(from, N - 1, MPI_INT, right, 3, comm, &r[1]));
    CHECK_OK(MPIX_Wait_enqueue(&r[0], &status));
    CHECK_OK(MPIX_Wait_enqueue(&r[1], MPI_STATUS_IGNORE));
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    sync_stream();
    for (int i = 0; i < N - 1; i++)
        CHECK(out[i] == left * N + i);
    CHECK(out[N - 1] == -1); /* the message was shorter */
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 3);
    if (size % 2 != 0)
        return;
    fill(out, N, 0);
    for (int turn = 0; turn < 2; turn++)
        if (rank % 2 == turn)
            CHECK_OK(MPIX_Send_enqueue(from, N, MPI_INT, right, 4, comm));
        else
            CHECK_OK(MPIX_Recv_enqueue(to, N, MPI_INT, left, 4, comm, &status));
    sync_stream();
    CHECK(out[0] == left * N && out[N - 1] == left * N + N - 1 && status.MPI_TAG == 4);
}

/* Requests that the host waits for, and all at once. */
static void test_requests(int away)
{
    void *from = away_or_here(away, in), *to = away_or_here(away, out);
    MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status status[3];
    fill(in, N, rank);
    fill(out, N, -N);
    CHECK_OK(MPIX_Irecv_enqueue(to, N, MPI_INT, rank, 0, comm, &r[0]));
    CHECK_OK(MPIX_Isend_enqueue(from, N, MPI_INT, rank, 0, comm, &r[1]));
    CHECK_ERROR(MPI_Cancel(&r[0]), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Waitall(2, r, status));
    CHECK(out[0] == rank && out[N - 1] == rank + N - 1 && status[0].MPI_SOURCE == rank);
    fill(out, N, -N);
    CHECK_OK(MPIX_Irecv_enqueue(to, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]));
    CHECK_OK(MPIX_Isend_enqueue(from, N, MPI_INT, rank, 8, comm, &r[1]));
    CHECK_OK(MPIX_Waitall_enqueue(3, r, status));
    sync_stream();
    CHECK(out[0] == rank && status[0].MPI_TAG == 8 && r[0] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Irecv(out, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &r[0]));
    CHECK_ERROR(MPIX_Wait_enqueue(&r[0], MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
}

/* Every second int of a buffer. */
static void test_gaps(int away)
{
    MPI_Datatype gaps;
    MPI_Type_vector(N, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    fill(in, 2 * N, rank);
    fill(out, 2 * N, -2 * N);
    if (rank == 0)
        fill(out, 2 * N, 1000);
    CHECK_OK(MPIX_Bcast_enqueue(away_or_here(away, out), 1, gaps, 0, comm));
    MPI_Type_free(&gaps);
    sync_stream();
    for (int i = 0; i < N; i++) {
        CHECK(out[2 * i] == 1000 + 2 * i);
        CHECK(out[2 * i + 1] == (rank ? -2 * N : 1000) + 2 * i + 1);
    }
}

static void test_moving_collectives(int away)
{
    void *from = away_or_here(away, in), *to = away_or_here(away, out);
    fill(in, size * N, rank * 100000);
    CHECK_OK(MPIX_Allgather_enqueue(from, N, MPI_INT, to, N, MPI_INT, comm));
    sync_stream();
    for (int i = 0; i < size; i++)
        CHECK(out[i * N] == i * 100000 && out[i * N + N - 1] == i * 100000 + N - 1);
    fill(&out[rank * N], N, rank);
    CHECK_OK(MPIX_Allgather_enqueue(MPI_IN_PLACE, 0, MPI_INT, to, N, MPI_INT, comm));
    sync_stream();
    for (int i = 0; i < size; i++)
        CHECK(out[i * N] == i && out[i * N + N - 1] == i + N - 1);
    CHECK_OK(MPIX_Alltoall_enqueue(from, N, MPI_INT, to, N, MPI_INT, comm));
    sync_stream();
    for (int i = 0; i < size; i++)
        CHECK(out[i * N] == i * 100000 + rank * N);
    CHECK_OK(MPIX_Alltoall_enqueue(MPI_IN_PLACE, 0, MPI_INT, to, N, MPI_INT, comm));
    CHECK_OK(MPIX_Barrier_enqueue(comm));
    sync_stream();
    for (int i = 0; i < size; i++)
        CHECK(out[i * N] == rank * 100000 + i * N);
}

/* Does an operation get the device's memory itself, if so many are there? */
static int works_there(int n)
{
    const char *least = getenv("XMPI_CUDA_ENQUEUE");
    int is_few = getenv("FAKE_MPS") || getenv("CUDA_DEVICE_MAX_CONNECTIONS"); /* queues */
    long bytes = least ? atol(least) : is_few ? 0 : 64 << 10;
    return bytes > 0 && n * (long)sizeof(int) >= bytes;
}

/* A message of many pieces: what is pinned is bounded. */
static void test_long_messages(void)
{
    int n = LONG / (int)sizeof(int), right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *from = malloc(LONG), *to = malloc(LONG);
    MPI_Request r[2];
    for (int round = 0; round < 3; round++) {
        fill(from, n, rank + round);
        fill(to, n, -n);
        CHECK_OK(MPIX_Irecv_enqueue(fake_device(to), n, MPI_INT, left, 5, comm, &r[0]));
        CHECK_OK(MPIX_Isend_enqueue(fake_device(from), n, MPI_INT, right, 5, comm, &r[1]));
        CHECK_OK(MPIX_Waitall_enqueue(2, r, MPI_STATUSES_IGNORE));
        sync_stream();
        for (int i = 0; i < n; i++)
            CHECK(to[i] == left + round + i);
    }
    CHECK(works_there(N) ? driver.pinned() < LONG : works_there(n) || driver.pinned() >= LONG);
    free(from);
    free(to);
}

/* Kernels fold where operations work on the device. */
static void test_folding(void)
{
    unsigned launches = driver.launches();
    fill(in, N, rank);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPIX_Allreduce_enqueue(fake_device(in), fake_device(out), N, MPI_INT, MPI_SUM,
                                        comm));
    sync_stream();
    for (int i = 0; i < N; i++)
        CHECK(out[i] == size * i + size * (size - 1) / 2);
    if (size > 1)
        CHECK((driver.launches() > launches) == works_there(N));
}

static void test_reductions(int away)
{
    void *from = away_or_here(away, in), *to = away_or_here(away, out);
    int counts[64], before = 0;
    fill(in, size * N, 1);
    fill(out, size * N, -1);
    CHECK_OK(MPIX_Reduce_enqueue(from, to, N, MPI_INT, MPI_SUM, size - 1, comm));
    sync_stream();
    CHECK(out[N - 1] == (rank == size - 1 ? size * N : N - 2));
    fill(out, N, 5);
    CHECK_OK(MPIX_Reduce_enqueue(rank ? to : MPI_IN_PLACE, rank ? NULL : to, N, MPI_INT,
                                 MPI_MAX, 0, comm));
    CHECK_OK(MPIX_Allreduce_enqueue(MPI_IN_PLACE, to, N, MPI_INT, MPI_SUM, comm));
    sync_stream();
    CHECK(out[0] == 5 * size && out[N - 1] == (N + 4) * size);
    CHECK_OK(MPIX_Reduce_scatter_block_enqueue(from, to, N, MPI_INT, MPI_SUM, comm));
    sync_stream();
    CHECK(out[0] == size * (rank * N + 1));
    for (int i = 0; i < size; i++)
        counts[i] = i + 1;
    for (int i = 0; i < rank; i++)
        before += counts[i];
    fill(out, N, -7);
    CHECK_OK(MPIX_Reduce_scatter_enqueue(from, to, counts, MPI_INT, MPI_SUM, comm));
    memset(counts, 0, sizeof counts); /* the call has looked at them */
    sync_stream();
    CHECK(out[0] == size * (before + 1) && out[rank + 1] == -7 + rank + 1);
    fill(out, N, 1);
    CHECK_OK(MPIX_Reduce_scatter_block_enqueue(MPI_IN_PLACE, to, 2, MPI_INT, MPI_SUM, comm));
    sync_stream();
    CHECK(out[1] == size * (2 * rank + 2) && out[2] == 3);
}

static void add(void *from, void *to, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

/* What the program gives back while the operation is in the stream. */
static void test_freed_early(void)
{
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Comm short_lived = comm_with(stream);
    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    fill(in, N, 1);
    CHECK_OK(MPIX_Allreduce_enqueue(fake_device(in), fake_device(out), N, MPI_INT, op, comm));
    CHECK_OK(MPIX_Bcast_enqueue(fake_device(in), N / 2, pair, 0, short_lived));
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Comm_free(&short_lived);
    sync_stream();
    CHECK(out[N - 1] == size * N);
}

/* Operations of many sizes in two streams at once: what one has passed, the next ones get. */
static void test_many(void)
{
    cuda_stream other = stream_new();
    MPI_Comm comms[2] = { comm, comm_with(other) };
    int *data[MANY];
    unsigned waits = driver.waits();
    for (int i = 0; i < MANY; i++) {
        int n = 1 + i * 7919 % LARGEST;
        data[i] = malloc((size_t)n * sizeof(int));
        fill(data[i], n, i);
        CHECK_OK(MPIX_Allreduce_enqueue(MPI_IN_PLACE, fake_device(data[i]), n, MPI_INT, MPI_SUM,
                                        comms[i % 2]));
    }
    CHECK(driver.waits() == waits);
    sync_stream();
    CHECK(driver.stream_synchronize(other) == 0);
    for (int i = 0; i < MANY; i++) {
        int last = i * 7919 % LARGEST;
        CHECK(data[i][0] == size * i && data[i][last] == size * (i + last));
        free(data[i]);
    }
    MPI_Comm_free(&comms[1]);
    CHECK(driver.stream_destroy(other) == 0);
}

static void test_errors_now(void)
{
    MPI_Info info;
    MPIX_Stream made;
    MPI_Comm plain;
    MPI_Request request = MPI_REQUEST_NULL;
    int *counts = calloc((size_t)size, sizeof *counts);
    CHECK_ERROR(MPIX_Barrier_enqueue(MPI_COMM_WORLD), MPI_ERR_COMM);
    CHECK_ERROR(MPIX_Isend_enqueue(in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request),
                MPI_ERR_COMM);
    CHECK_ERROR(MPIX_Reduce_scatter_enqueue(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                MPI_ERR_COMM);
    free(counts);
    CHECK_ERROR(MPIX_Send_enqueue(in, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_ERROR(MPIX_Send_enqueue(in, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    CHECK_ERROR(MPIX_Allreduce_enqueue(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    CHECK_ERROR(MPIX_Allreduce_enqueue(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "type", "hipStream_t"));
    CHECK_ERROR(MPIX_Stream_create(info, &made), MPI_ERR_ARG);
    CHECK_OK(MPI_Info_set(info, "type", "cudaStream_t"));
    CHECK_ERROR(MPIX_Stream_create(info, &made), MPI_ERR_ARG);
    CHECK_OK(MPI_Info_set(info, "value", "00xy"));
    CHECK_ERROR(MPIX_Stream_create(info, &made), MPI_ERR_ARG);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPIX_Stream_create(MPI_INFO_NULL, &made)); /* of no device */
    CHECK_OK(MPIX_Stream_comm_create(MPI_COMM_WORLD, made, &plain));
    MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
    CHECK_ERROR(MPIX_Barrier_enqueue(plain), MPI_ERR_COMM);
    CHECK_OK(MPI_Barrier(plain));
    CHECK_OK(MPI_Comm_free(&plain));
    CHECK_OK(MPIX_Stream_free(&made));
    CHECK_ERROR(MPIX_Stream_free(&made), MPI_ERR_ARG);
    CHECK_OK(MPIX_Stream_comm_create(MPI_COMM_WORLD, MPIX_STREAM_NULL, &plain));
    CHECK_OK(MPI_Comm_free(&plain));
}

/* What nobody waits for is told by the next call of the stream, once. */
static void test_errors_later(void)
{
    MPI_Status status;
    MPI_Request r[2];
    CHECK_OK(MPIX_Irecv_enqueue(fake_device(out), 1, MPI_INT, rank, 0, comm, &r[0]));
    CHECK_OK(MPIX_Isend_enqueue(fake_device(in), 2, MPI_INT, rank, 0, comm, &r[1]));
    CHECK_ERROR(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPIX_Isend_enqueue(fake_device(in), 2, MPI_INT, rank, 0, comm, &r[1]));
    CHECK_OK(MPIX_Recv_enqueue(fake_device(out), 1, MPI_INT, rank, 0, comm, &status));
    sync_stream();
    CHECK(status.MPI_ERROR == MPI_ERR_TRUNCATE);
    CHECK_ERROR(MPIX_Barrier_enqueue(comm), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPIX_Barrier_enqueue(comm));
    sync_stream();
}

/* A program can ask what it may pass. */
static void test_discovery(void)
{
    MPI_Info info;
    MPI_Session session;
    char value[MPI_MAX_INFO_VAL];
    const char *asked = "mpi,system,cuda:device";
    int flag, room = sizeof value;
    CHECK(MPIX_Query_cuda_support() == 1);
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, value, &flag));
    CHECK(flag && strstr(value, ",cuda:device,cuda:host,cuda:managed"));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_memory_alloc_kinds", "rocm,cuda:device"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_get_info(session, &info));
    room = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, value, &flag));
    CHECK(flag && !strcmp(value, asked));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    driver_open();
    rank = world_rank();
    size = world_size();
    stream = stream_new();
    comm = comm_with(stream);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int away = 0; away < 2; away++) {
        test_messages(away);
        test_requests(away);
        test_gaps(away);
        test_moving_collectives(away);
        test_reductions(away);
    }
    test_folding();
    test_freed_early();
    test_many();
    test_long_messages();
    test_discovery();
    test_errors_now();
    test_errors_later();
    MPI_Comm_free(&comm);
    CHECK(driver.stream_destroy(stream) == 0);
    return check_done();
}
