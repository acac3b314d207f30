/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a GPU gives and what MPI makes of it, of buffers in its memory.  bench/gpu.py runs it.
 *
 *     messages    between ranks 0 and 1: one way of a ping-pong, MB/s of a stream of messages; beside the
 *                 same by hand through pinned memory, and beside copies within the device
 *     allreduce   of floats: MPI_Allreduce on the device; on pinned memory with copies to and from there;
 *                 MPIX_Allreduce_enqueue
 *     copies      the driver's copies alone, each waited for, of all ranks at a time
 *     mixed       as messages, but rank 1's memory is the host's: one GPU serves one rank
 *     kernels     MPI_Reduce_local of floats, in bytes read and written, beside copies within the device
 *     order       a producer that is late by DELAY ms in its stream, an operation behind it, a consumer in
 *                 another stream, so often; wrong results are counted, and how long calls took
 *
 * Prints rows "what bytes value unit"; times are medians of batches.  The driver is XMPI_LIBCUDA, or the
 * machine's.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <mpix.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 15, STREAMS = 4 };

typedef uint64_t address;
static struct {
    int (*init)(unsigned flags);
    int (*device)(int *device, int number);
    int (*retain)(void **context, int device);
    int (*set_context)(void *context);
    int (*allocate)(address *at, size_t bytes);
    int (*pin)(void **at, size_t bytes, unsigned flags);
    int (*copy)(address to, address from, size_t bytes, void *stream);
    int (*stream)(void **stream, unsigned flags);
    int (*synchronize)(void *stream);
    int (*event)(void **event, unsigned flags);
    int (*record)(void *event, void *stream);
    int (*wait)(void *stream, void *event, unsigned flags);
    int (*wait_value)(void *stream, address word, uint32_t value, unsigned flags);
} cuda;

static int rank, size;
static size_t most;
static address near_one, near_two, near_three; /* of the device */
static char *pinned_one, *pinned_two, *plain;
static void *stream;

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "gpu: %s does not work\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *pointer(address at)
{
    return (void *)(uintptr_t)at;
}

static void driver_open(void)
{
    static const struct {
        const char *name;
        void *at;
    } functions[] = {
        { "cuInit", &cuda.init },
        { "cuDeviceGet", &cuda.device },
        { "cuDevicePrimaryCtxRetain", &cuda.retain },
        { "cuCtxSetCurrent", &cuda.set_context },
        { "cuMemAlloc_v2", &cuda.allocate },
        { "cuMemHostAlloc", &cuda.pin },
        { "cuMemcpyAsync", &cuda.copy },
        { "cuStreamCreate", &cuda.stream },
        { "cuStreamSynchronize", &cuda.synchronize },
        { "cuEventCreate", &cuda.event },
        { "cuEventRecord", &cuda.record },
        { "cuStreamWaitEvent", &cuda.wait },
        { "cuStreamWaitValue32_v2", &cuda.wait_value },
    };
    const char *name = getenv("XMPI_LIBCUDA");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW), *context;
    int device, number = MPIX_Query_cuda_device();
    must(library != NULL && number >= 0, "the driver of a GPU");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        must(found != NULL, functions[i].name);
        memcpy(functions[i].at, &found, sizeof found);
    }
    must(cuda.init(0) == 0 && cuda.device(&device, number) == 0 &&
             cuda.retain(&context, device) == 0 && cuda.set_context(context) == 0,
         "the device");
}

static void memory_open(void)
{
    must(cuda.allocate(&near_one, most) == 0 && cuda.allocate(&near_two, most) == 0 &&
             cuda.allocate(&near_three, most) == 0,
         "so much memory of the device (--max-bytes)");
    must(cuda.pin((void **)&pinned_one, most, 1) == 0 &&
             cuda.pin((void **)&pinned_two, most, 1) == 0,
         "pinned memory");
    must(cuda.stream(&stream, 1) == 0, "a stream");
    plain = calloc(1, most);
    must(plain != NULL, "memory");
    memset(pinned_one, 0, most);
    must(cuda.copy(near_one, (address)(uintptr_t)pinned_one, most, stream) == 0 &&
             cuda.copy(near_two, near_one, most, stream) == 0 &&
             cuda.copy(near_three, near_one, most, stream) == 0 &&
             cuda.synchronize(stream) == 0,
         "a copy");
}

/* ---- what is measured ---- */

static MPI_Comm enqueued = MPI_COMM_NULL;

static void copy(address to, address from, size_t bytes)
{
    must(cuda.copy(to, from, bytes, stream) == 0 && cuda.synchronize(stream) == 0, "a copy");
}

static void to_host(char *to, address from, size_t bytes)
{
    copy((address)(uintptr_t)to, from, bytes);
}

static void to_device(address to, const char *from, size_t bytes)
{
    copy(to, (address)(uintptr_t)from, bytes);
}

static void copies(size_t bytes)
{
    copy(near_two, near_one, bytes);
}

static void copies_to_host(size_t bytes)
{
    to_host(pinned_one, near_one, bytes);
}

static void copies_to_device(size_t bytes)
{
    to_device(near_one, pinned_one, bytes);
}

static void copies_to_plain(size_t bytes)
{
    to_host(plain, near_one, bytes);
}

static void copies_from_plain(size_t bytes)
{
    to_device(near_one, plain, bytes);
}

static void message(void *at, size_t bytes, int turn)
{
    if (rank == turn)
        MPI_Send_c(at, (MPI_Count)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    else
        MPI_Recv_c(at, (MPI_Count)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
}

/* Both ways: the caller divides. */
static void ping_pong(size_t bytes)
{
    message(pointer(near_one), bytes, 0);
    message(pointer(near_one), bytes, 1);
}

static void ping_pong_mixed(size_t bytes)
{
    char *mine = rank == 0 ? pointer(near_one) : plain;
    message(mine, bytes, 0);
    message(mine, bytes, 1);
}

static void ping_pong_mixed_by_hand(size_t bytes)
{
    if (rank == 0)
        to_host(pinned_one, near_one, bytes);
    message(rank == 0 ? pinned_one : plain, bytes, 0);
    message(rank == 0 ? pinned_one : plain, bytes, 1);
    if (rank == 0)
        to_device(near_one, pinned_one, bytes);
}

static void ping_pong_by_hand(size_t bytes)
{
    for (int turn = 0; turn < 2; turn++) {
        if (rank == turn)
            to_host(pinned_one, near_one, bytes);
        message(pinned_one, bytes, turn);
        if (rank != turn)
            to_device(near_one, pinned_one, bytes);
    }
}

static void one_way(size_t bytes)
{
    enum { WINDOW = 8 };
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        if (rank == 0)
            MPI_Isend_c(pointer(near_one), (MPI_Count)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                        &requests[i]);
        else
            MPI_Irecv_c(pointer(near_two), (MPI_Count)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                        &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(size_t bytes)
{
    MPI_Allreduce_c(pointer(near_one), pointer(near_two), (MPI_Count)(bytes / 4), MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
}

static void allreduce_by_hand(size_t bytes)
{
    to_host(pinned_one, near_one, bytes);
    MPI_Allreduce_c(pinned_one, pinned_two, (MPI_Count)(bytes / 4), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    to_device(near_two, pinned_two, bytes);
}

static void allreduce_in_stream(size_t bytes)
{
    MPIX_Allreduce_enqueue(pointer(near_one), pointer(near_two), (int)(bytes / 4), MPI_FLOAT,
                           MPI_SUM, enqueued);
    must(cuda.synchronize(stream) == 0, "the stream");
}

static void fold(size_t bytes)
{
    MPI_Reduce_local_c(pointer(near_one), pointer(near_two), (MPI_Count)(bytes / 4), MPI_FLOAT,
                       MPI_SUM);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a call, the slowest rank's; the median of batches of some milliseconds. */
static double measure(void (*call)(size_t bytes), size_t bytes)
{
    double batch[BATCHES], mine, slowest = 0;
    int calls = 1;
    for (int i = -3; i < BATCHES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int k = 0; k < calls; k++)
            call(bytes);
        mine = (MPI_Wtime() - begin) / calls;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i < 0)
            calls = slowest > 4e-3 ? 1 : slowest > 4e-6 ? (int)(4e-3 / slowest) : 1000;
        else
            batch[i] = slowest;
    }
    qsort(batch, BATCHES, sizeof *batch, by_value);
    return batch[BATCHES / 2];
}

static void row(const char *what, size_t bytes, double value, const char *unit)
{
    if (rank == 0)
        printf("%-22s %10zu %12.3f %s\n", what, bytes, value, unit);
    fflush(stdout);
}

static size_t next_size(size_t bytes)
{
    return bytes < 4096 ? bytes * 8 : bytes * 4;
}

/* ---- parts ---- */

static void part_messages(void)
{
    must(size == 2, "messages on any number of ranks but 2");
    for (size_t bytes = 8; bytes <= most; bytes = next_size(bytes)) {
        row("ping-pong", bytes, 1e6 * measure(ping_pong, bytes) / 2, "us");
        row("by hand", bytes, 1e6 * measure(ping_pong_by_hand, bytes) / 2, "us");
        row("stream", bytes, 8e-6 * (double)bytes / measure(one_way, bytes), "MB/s");
        row("copy", bytes, 1e-6 * (double)bytes / measure(copies, bytes), "MB/s");
    }
}

static void part_mixed(void)
{
    must(size == 2, "messages on any number of ranks but 2");
    for (size_t bytes = 8; bytes <= most; bytes = next_size(bytes)) {
        row("ping-pong", bytes, 1e6 * measure(ping_pong_mixed, bytes) / 2, "us");
        row("by hand", bytes, 1e6 * measure(ping_pong_mixed_by_hand, bytes) / 2, "us");
    }
}

static void part_copies(void)
{
    for (size_t bytes = 8; bytes <= most; bytes = next_size(bytes)) {
        row("to pinned memory", bytes, 1e6 * measure(copies_to_host, bytes), "us");
        row("from pinned memory", bytes, 1e6 * measure(copies_to_device, bytes), "us");
        row("to plain memory", bytes, 1e6 * measure(copies_to_plain, bytes), "us");
        row("from plain memory", bytes, 1e6 * measure(copies_from_plain, bytes), "us");
        row("within the device", bytes, 1e6 * measure(copies, bytes), "us");
    }
}

static void part_allreduce(void)
{
    for (size_t bytes = 8; bytes <= most; bytes = next_size(bytes)) {
        row("allreduce", bytes, 1e6 * measure(allreduce, bytes), "us");
        row("allreduce by hand", bytes, 1e6 * measure(allreduce_by_hand, bytes), "us");
        row("allreduce in a stream", bytes, 1e6 * measure(allreduce_in_stream, bytes), "us");
        row("copy", bytes, 1e6 * measure(copies, bytes), "us");
    }
}

/* A fold reads two vectors and writes one; a copy reads one and writes one. */
static void part_kernels(void)
{
    for (size_t bytes = 4096; bytes <= most; bytes = next_size(bytes)) {
        row("fold", bytes, 3e-9 * (double)bytes / measure(fold, bytes), "GB/s");
        row("copy", bytes, 2e-9 * (double)bytes / measure(copies, bytes), "GB/s");
    }
}

/* ---- order ---- */

struct lane {
    void *computing, *consuming, *event[2];
    uint32_t *gate; /* pinned: the producer waits for its turn */
    int *in, *out;  /* pinned: what it produces, what is consumed */
    address from, to;
    MPI_Comm comm;
};
enum { NUMBERS = 4096, PAGE = 4096 };

static MPI_Comm comm_of(void *of_cuda)
{
    MPI_Info info;
    MPIX_Stream made;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "type", "cudaStream_t");
    MPIX_Info_set_hex(info, "value", &of_cuda, sizeof of_cuda);
    must(MPIX_Stream_create(info, &made) == 0, "MPIX_Stream_create");
    MPIX_Stream_comm_create(MPI_COMM_WORLD, made, &comm);
    MPIX_Stream_free(&made);
    MPI_Info_free(&info);
    return comm;
}

static void lane_open(struct lane *l)
{
    size_t bytes = NUMBERS * sizeof(int);
    void *pinned = NULL;
    must(cuda.stream(&l->computing, 1) == 0 && cuda.stream(&l->consuming, 1) == 0 &&
             cuda.event(&l->event[0], 2) == 0 && cuda.event(&l->event[1], 2) == 0 &&
             cuda.pin(&pinned, PAGE + 2 * bytes, 1) == 0 &&
             cuda.allocate(&l->from, bytes) == 0 && cuda.allocate(&l->to, bytes) == 0,
         "streams and memory");
    l->gate = pinned;
    *l->gate = 0;
    l->in = (int *)((char *)pinned + PAGE);
    l->out = l->in + NUMBERS;
    l->comm = comm_of(l->consuming);
}

static void after(void *event, void *later, void *earlier)
{
    must(cuda.record(event, earlier) == 0 && cuda.wait(later, event, 0) == 0, "an event");
}

/* The seconds that the calls took. */
static double lane_fill(struct lane *l, uint32_t round)
{
    size_t bytes = NUMBERS * sizeof(int);
    for (int i = 0; i < NUMBERS; i++)
        l->in[i] = (int)round * 10 + rank + i;
    memset(l->out, -1, bytes);
    must(cuda.wait_value(l->computing, (address)(uintptr_t)l->gate, round, 0) == 0 &&
             cuda.copy(l->from, (address)(uintptr_t)l->in, bytes, l->computing) == 0,
         "the producer");
    after(l->event[0], l->consuming, l->computing);
    double begin = MPI_Wtime();
    MPIX_Allreduce_enqueue(pointer(l->from), pointer(l->to), NUMBERS, MPI_INT, MPI_SUM,
                           l->comm);
    double seconds = MPI_Wtime() - begin;
    after(l->event[1], l->computing, l->consuming);
    must(cuda.copy((address)(uintptr_t)l->out, l->to, bytes, l->computing) == 0,
         "the consumer");
    return seconds;
}

static int lane_is_wrong(const struct lane *l, int round)
{
    for (int i = 0; i < NUMBERS; i++)
        if (l->out[i] != size * (round * 10 + i) + size * (size - 1) / 2)
            return 1;
    return 0;
}

static void part_order(int rounds, int delay)
{
    static struct lane lanes[STREAMS];
    int wrong = 0, all_wrong;
    double worst = 0, all_worst;
    for (int i = 0; i < STREAMS; i++)
        lane_open(&lanes[i]);
    for (int round = 1; round <= (rounds + STREAMS - 1) / STREAMS; round++) {
        for (int i = 0; i < STREAMS; i++) {
            double seconds = lane_fill(&lanes[i], (uint32_t)round);
            worst = round > 1 && seconds > worst ? seconds : worst;
        }
        usleep((useconds_t)delay * 1000);
        for (int i = 0; i < STREAMS; i++)
            __atomic_store_n(lanes[i].gate, (uint32_t)round, __ATOMIC_RELEASE);
        for (int i = 0; i < STREAMS; i++) {
            must(cuda.synchronize(lanes[i].computing) == 0, "a stream");
            wrong += lane_is_wrong(&lanes[i], round);
        }
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&worst, &all_worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    row("wrong results", (size_t)rounds, all_wrong, "of so many rounds");
    row("longest call", (size_t)rounds, 1e6 * all_worst, "us");
    must(all_wrong == 0, "the order of streams");
    must(all_worst < delay * 1e-3, "a call that waits for nothing");
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    driver_open();
    if (strcmp(part, "order") == 0) {
        part_order(argc > 2 ? atoi(argv[2]) : 1000, argc > 3 ? atoi(argv[3]) : 100);
        MPI_Finalize();
        return 0;
    }
    most = argc > 2 ? strtoull(argv[2], NULL, 10) : 256 << 20;
    memory_open();
    enqueued = comm_of(stream);
    if (strcmp(part, "messages") == 0)
        part_messages();
    else if (strcmp(part, "allreduce") == 0)
        part_allreduce();
    else if (strcmp(part, "kernels") == 0)
        part_kernels();
    else if (strcmp(part, "copies") == 0)
        part_copies();
    else if (strcmp(part, "mixed") == 0)
        part_mixed();
    else
        must(0, "a part that is not messages, mixed, copies, allreduce, kernels or order");
    MPI_Comm_free(&enqueued);
    MPI_Finalize();
    return 0;
}
