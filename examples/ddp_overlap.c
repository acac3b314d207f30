/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ddp_overlap - a training step: gradients travel while the next layers are computed.
 *
 *     xmpicc -O2 ddp_overlap.c -o ddp_overlap -ldl
 *     xmpirun -np 2 ./ddp_overlap [layers [floats [steps]]]
 *     xmpirun --map-by ppr:1:gpu ./ddp_overlap             a rank for each GPU, near to it
 *
 * The backward pass goes from the last layer to the first.  When the layers of a bucket are done,
 * their gradients, which lie side by side, are summed over the ranks:
 *
 *     computing stream      layer 7 | layer 6 |e| layer 5 | layer 4 |e| ...        | w | update
 *     communicating stream                    |w| allreduce 7+6     |w| allreduce ..|e|
 *
 * with an event e recorded on one stream and a wait w for it on the other; the host only puts work
 * into the streams.  Exposed communication is what a step takes longer than its computing alone.  Both
 * streams lie side by side in a time line, since the program gives the work of a layer a name:
 *
 *     XMPI_TRACE=ddp.json xmpirun -np 2 ./ddp_overlap          for https://ui.perfetto.dev
 *
 * With the driver of a GPU, streams are CUDA's, and a layer's computing stands for copies within the
 * memory of the device.  Without one the same is done by the processor and MPI_Iallreduce, and the
 * output says so: there, what moves data is taken from what computes.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <mpix.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKET = 2, COPIES = 4, MOST_BUCKETS = 512 };

static int rank, size, layers = 8, steps = 5;
static size_t floats = 1 << 18; /* gradients of a layer */
static float *mine;             /* of one layer, as this rank computes them */

struct machine { /* where layers are computed */
    const char *says;
    void (*compute)(int layer);
    void (*communicate)(int bucket);
    void (*finish)(void); /* the host waits for the end of a step */
    void (*read)(int layer, float *to);
};

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "ddp_overlap: %s does not work\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- a GPU, by CUDA's driver ---- */

typedef uint64_t address;
static struct {
    int (*init)(unsigned flags);
    int (*device)(int *device, int number);
    int (*retain)(void **context, int device);
    int (*set_context)(void *context);
    int (*allocate)(address *at, size_t bytes);
    int (*copy)(address to, address from, size_t bytes, void *stream);
    int (*stream)(void **stream, unsigned flags);
    int (*synchronize)(void *stream);
    int (*event)(void **event, unsigned flags);
    int (*record)(void *event, void *stream);
    int (*wait)(void *stream, void *event, unsigned flags);
} cuda;
static void *computing, *communicating, *event;
static address gradients, scratch;
static MPI_Comm comm;
static MPIX_Stream computed =
    MPIX_STREAM_NULL; /* for the time line; NULL: this thread computes */

static int cuda_open(void)
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
        { "cuMemcpyAsync", &cuda.copy },
        { "cuStreamCreate", &cuda.stream },
        { "cuStreamSynchronize", &cuda.synchronize },
        { "cuEventCreate", &cuda.event },
        { "cuEventRecord", &cuda.record },
        { "cuStreamWaitEvent", &cuda.wait },
    };
    const char *name = getenv("XMPI_LIBCUDA"); /* tests have one that pretends */
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW), *context;
    int device, number = MPIX_Query_cuda_device(); /* one near to this rank */
    for (size_t i = 0; library && i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        must(found != NULL, functions[i].name);
        memcpy(functions[i].at, &found, sizeof found);
    }
    if (!library || number < 0 || cuda.init(0) != 0 || cuda.device(&device, number) != 0)
        return 0;
    must(cuda.retain(&context, device) == 0 && cuda.set_context(context) == 0, "the device");
    return 1;
}

static MPIX_Stream stream_for_mpi(void *of_cuda, const char *name)
{
    MPI_Info info;
    MPIX_Stream stream;
    MPI_Info_create(&info);
    MPI_Info_set(info, "type", "cudaStream_t");
    MPI_Info_set(info, "name", name);
    MPIX_Info_set_hex(info, "value", &of_cuda, sizeof of_cuda);
    MPIX_Stream_create(info, &stream);
    MPI_Info_free(&info);
    return stream;
}

static void cuda_begin(void)
{
    size_t bytes = floats * sizeof(float);
    must(cuda.stream(&computing, 1) == 0 && cuda.stream(&communicating, 1) == 0, "a stream");
    must(cuda.event(&event, 2) == 0, "an event");
    must(cuda.allocate(&gradients, layers * bytes) == 0, "memory of the device");
    must(cuda.allocate(&scratch, bytes) == 0, "memory of the device");
    computed = stream_for_mpi(computing, "computing");
    MPIX_Stream stream = stream_for_mpi(communicating, "communicating");
    MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, &comm);
    MPIX_Stream_free(&stream);
}

static address gradients_of(int layer)
{
    return gradients + layer * floats * sizeof(float);
}

static void cuda_after(void *later, void *earlier)
{
    must(cuda.record(event, earlier) == 0 && cuda.wait(later, event, 0) == 0, "an event");
}

static void cuda_compute(int layer)
{
    size_t bytes = floats * sizeof(float);
    int good = cuda.copy(scratch, (address)(uintptr_t)mine, bytes, computing) == 0;
    for (int i = 0; good && i < COPIES; i++)
        good = cuda.copy(gradients_of(layer), scratch, bytes, computing) == 0;
    must(good, "a copy");
}

static void cuda_communicate(int bucket)
{
    void *at = (void *)(uintptr_t)gradients_of(bucket * BUCKET);
    cuda_after(communicating, computing);
    MPIX_Allreduce_enqueue(MPI_IN_PLACE, at, (int)(BUCKET * floats), MPI_FLOAT, MPI_SUM, comm);
}

static void cuda_finish(void)
{
    cuda_after(computing, communicating); /* the update of the weights would come here */
    must(cuda.synchronize(computing) == 0, "the computing stream");
}

static void cuda_read(int layer, float *to)
{
    address there = (address)(uintptr_t)to;
    must(cuda.copy(there, gradients_of(layer), floats * sizeof *to, computing) == 0 &&
             cuda.synchronize(computing) == 0,
         "reading gradients");
}

/* ---- no GPU ---- */

static float *host_gradients, *host_scratch;
static MPI_Request requests[MOST_BUCKETS];
static int nrequests;

static void host_begin(void)
{
    host_gradients = calloc(layers * floats, sizeof *host_gradients);
    host_scratch = calloc(floats, sizeof *host_scratch);
    must(host_gradients && host_scratch, "memory");
}

static void host_compute(int layer)
{
    memcpy(host_scratch, mine, floats * sizeof *mine);
    for (int i = 0; i < COPIES; i++)
        memcpy(host_gradients + layer * floats, host_scratch, floats * sizeof *mine);
}

static void host_communicate(int bucket)
{
    MPI_Iallreduce(MPI_IN_PLACE, host_gradients + bucket * BUCKET * floats,
                   (int)(BUCKET * floats), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &requests[nrequests++]);
}

static void host_finish(void)
{
    MPI_Waitall(nrequests, requests, MPI_STATUSES_IGNORE);
    nrequests = 0;
}

static void host_read(int layer, float *to)
{
    memcpy(to, host_gradients + layer * floats, floats * sizeof *to);
}

/* ---- steps ---- */

static const struct machine device = { "a GPU: two streams, allreduce enqueued", cuda_compute,
                                       cuda_communicate, cuda_finish, cuda_read };
static const struct machine host = {
    "no driver of a GPU: the processor computes and communicates, by MPI_Iallreduce; "
    "this says nothing about a GPU",
    host_compute, host_communicate, host_finish, host_read
};

static void compute_named(const struct machine *on, int layer)
{
    char name[32];
    snprintf(name, sizeof name, "layer %d", layer);
    MPIX_Trace_begin(name, computed);
    on->compute(layer);
    MPIX_Trace_end(computed);
}

/* Seconds per step, the longest of all ranks. */
static double run(const struct machine *on, int compute, int communicate)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        for (int layer = layers - 1; layer >= 0; layer--) {
            if (compute)
                compute_named(on, layer);
            if (communicate && layer % BUCKET == 0)
                on->communicate(layer / BUCKET);
        }
        on->finish();
    }
    double mean = (MPI_Wtime() - begin) / steps, longest;
    MPI_Allreduce(&mean, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static void check(const struct machine *on)
{
    float *sum = malloc(floats * sizeof *sum);
    for (int layer = 0; layer < layers; layer++) {
        on->read(layer, sum);
        must(sum[0] == size * (size + 1) / 2 && sum[floats - 1] == sum[0], "the sum");
    }
    free(sum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    layers = argc > 1 ? atoi(argv[1]) / BUCKET * BUCKET : layers;
    floats = argc > 2 ? (size_t)atol(argv[2]) : floats;
    steps = argc > 3 ? atoi(argv[3]) : steps;
    must(layers > 0 && layers <= MOST_BUCKETS * BUCKET && floats > 0 && steps > 0, "this size");
    mine = malloc(floats * sizeof *mine);
    for (size_t i = 0; i < floats; i++)
        mine[i] = (float)(rank + 1);
    const struct machine *on = MPIX_Query_cuda_support() && cuda_open() ? &device : &host;
    if (on == &device)
        cuda_begin();
    else
        host_begin();
    run(on, 1, 1); /* pinned memory and connections are made */
    double alone = run(on, 1, 0), moving = run(on, 0, 1), both = run(on, 1, 1);
    check(on);
    if (rank == 0)
        printf("%s\n%d ranks, %d layers of %zu floats, buckets of %d layers; ms per step:\n"
               "  computing %.3f  communication %.3f  together %.3f\n"
               "  exposed communication %.3f\n",
               on->says, size, layers, floats, BUCKET, alone * 1e3, moving * 1e3, both * 1e3,
               (both > alone ? both - alone : 0) * 1e3);
    if (on == &device) {
        MPI_Comm_free(&comm);
        MPIX_Stream_free(&computed);
    }
    MPI_Finalize();
    return 0;
}
