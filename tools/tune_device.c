/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From which sizes on data on a GPU had better go which way: two ranks of `xmpi tune` do the same in both
 * ways, in turns, so a disturbance hits both, and medians are compared.  The way is what a knob says
 * (runtime/params.def), which may be set between two operations; but CUDA_BLOCK, which needs a run for
 * each value.
 *
 *     CUDA_IPC       a ping-pong: read by the receiver, or by way of the host
 *     CUDA_REDUCE    an allreduce: folded by kernels, or on the host
 *     CUDA_ENQUEUE   a ping-pong in a stream: on the device itself, or on copies that the stream makes
 *     CUDA_PACK      packing pieces of irregular distances: by a kernel, or by copies
 */
#include "tools/tune.h"

#include "mpi.h"
#include "mpix.h"
#include "runtime/gpu.h"
#include "runtime/gpu_cuda.h"
#include "runtime/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 11, MOST_SIZES = 16, BLOCK_MESSAGE = 8 << 20, PIECE = 64 };

static struct {
    cuda_init *init;
    cuda_device_get *device;
    cuda_result (*retain)(cuda_context *context, int device);
    cuda_result (*set_context)(cuda_context context);
    cuda_mem_alloc *allocate;
    cuda_stream_create *stream_create;
    cuda_stream_synchronize *synchronize;
} cuda;

static int rank;
static char *in, *out; /* of the device */
static cuda_stream stream;
static MPI_Comm enqueued;

static bool device_open(void)
{
    const struct symbol symbols[] = { { "cuInit", &cuda.init },
                                      { "cuDeviceGet", &cuda.device },
                                      { "cuDevicePrimaryCtxRetain", &cuda.retain },
                                      { "cuCtxSetCurrent", &cuda.set_context },
                                      { "cuMemAlloc_v2", &cuda.allocate },
                                      { "cuStreamCreate", &cuda.stream_create },
                                      { "cuStreamSynchronize", &cuda.synchronize } };
    char why[GPU_CHOICE_CHARS];
    int number = gpu_choice(why), device;
    cuda_context context;
    cuda_address first = 0, second = 0;
    bool good = number >= 0 && driver_find(symbols, sizeof symbols / sizeof symbols[0]) &&
                cuda.init(0) == 0 && cuda.device(&device, number) == 0 &&
                cuda.retain(&context, device) == 0 && cuda.set_context(context) == 0 &&
                cuda.allocate(&first, TUNE_MOST_BYTES) == 0 &&
                cuda.allocate(&second, TUNE_MOST_BYTES) == 0 &&
                cuda.stream_create(&stream, CUDA_STREAM_NON_BLOCKING) == 0;
    in = (char *)(uintptr_t)first;
    out = (char *)(uintptr_t)second;
    return good;
}

static void stream_open(void)
{
    MPI_Info info;
    MPIX_Stream made;
    MPI_Info_create(&info);
    MPI_Info_set(info, "type", "cudaStream_t");
    MPIX_Info_set_hex(info, "value", &stream, sizeof stream);
    MPIX_Stream_create(info, &made);
    MPIX_Stream_comm_create(MPI_COMM_WORLD, made, &enqueued);
    MPIX_Stream_free(&made);
    MPI_Info_free(&info);
}

/* ---- what is done ---- */

static void ping_pong(int bytes)
{
    for (int turn = 0; turn < 2; turn++)
        if (rank == turn)
            MPI_Send(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void allreduce(int bytes)
{
    MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void ping_pong_in_stream(int bytes)
{
    for (int turn = 0; turn < 2; turn++)
        if (rank == turn)
            MPIX_Send_enqueue(in, bytes, MPI_BYTE, 1 - rank, 0, enqueued);
        else
            MPIX_Recv_enqueue(out, bytes, MPI_BYTE, 1 - rank, 0, enqueued, MPI_STATUS_IGNORE);
    cuda.synchronize(stream);
}

static MPI_Datatype pieces; /* as many as are measured */

static void pack(int n)
{
    int position = 0;
    MPI_Pack(in, 1, pieces, out, n * PIECE, &position, MPI_COMM_WORLD);
}

static void pieces_make(int n)
{
    MPI_Aint at[1 << 10];
    for (int i = 0; i < n; i++)
        at[i] = (MPI_Aint)i * 3 * PIECE + i * i % 7 * PIECE / 4 * 4;
    MPI_Type_create_hindexed_block(n, PIECE, at, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
}

/* ---- measuring ---- */

static double batch(void (*call)(int n), int n, int calls)
{
    double slowest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call(n);
    double mine = (MPI_Wtime() - begin) / calls;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds with the knob at 0, and at 1: whatever the size. */
static void both_measure(enum param_id knob, void (*call)(int n), int n, double seconds[2])
{
    double sample[2][ROUNDS];
    for (int i = -1; i < ROUNDS; i++)
        for (int on = 0; on < 2; on++) {
            params[knob].number = on;
            double once = batch(call, n, i < 0 ? 1 : 4);
            if (i >= 0)
                sample[on][i] = once;
        }
    for (int on = 0; on < 2; on++) {
        qsort(sample[on], ROUNDS, sizeof sample[on][0], by_value);
        seconds[on] = sample[on][ROUNDS / 2];
    }
}

/* The least size from which on the way `on` is faster at every size; 0: there is none. */
static int least_measure(enum param_id knob, void (*call)(int n), int from, int to)
{
    int least = 0;
    double seconds[2];
    long long before = params[knob].number;
    if (rank == 0)
        fprintf(stderr, "xmpi tune: device, %s\n", params[knob].name);
    for (int n = from; n <= to; n *= 2) {
        if (knob == PARAM_ID_CUDA_PACK)
            pieces_make(n);
        both_measure(knob, call, n, seconds);
        least = seconds[1] >= seconds[0] ? 0 : least ? least : n;
        if (knob == PARAM_ID_CUDA_PACK)
            MPI_Type_free(&pieces);
        if (rank == 0)
            printf("# %s %d : %.2fus, without %.2fus\n", params[knob].name, n, 1e6 * seconds[1],
                   1e6 * seconds[0]);
    }
    params[knob].number = before;
    return least;
}

/* What XMPI_CUDA_BLOCK says, which has been set for this run. */
static void block_measure(void)
{
    double least = batch(ping_pong, BLOCK_MESSAGE, 1);
    for (int i = 0; i < ROUNDS; i++) {
        double once = batch(ping_pong, BLOCK_MESSAGE, 2);
        least = once < least ? once : least;
    }
    if (rank == 0)
        printf("%.2f\n", 1e6 * least);
}

static void all_measure(void)
{
    char model[GPU_MODEL_CHARS];
    int ipc = least_measure(PARAM_ID_CUDA_IPC, ping_pong, 1 << 10, 1 << 20);
    int reduce = least_measure(PARAM_ID_CUDA_REDUCE, allreduce, 4 << 10, 2 << 20);
    int enqueue = least_measure(PARAM_ID_CUDA_ENQUEUE, ping_pong_in_stream, 4 << 10, 2 << 20);
    int kernel = least_measure(PARAM_ID_CUDA_PACK, pack, 2, 256);
    if (!gpu_model(model) || rank > 0)
        return;
    /* of packing the knob says how many copies are still made */
    printf("device %s : CUDA_IPC=%d, CUDA_REDUCE=%d, CUDA_ENQUEUE=%d, CUDA_PACK=%d", model, ipc,
           reduce, enqueue, kernel > 1 ? kernel - 1 : kernel);
}

int tune_device_main(int argc, char **argv)
{
    int size;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || !device_open()) {
        fprintf(stderr, "xmpi tune: the device cannot be used by two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    stream_open();
    if (argc > 1 && strcmp(argv[1], "block") == 0)
        block_measure();
    else
        all_measure();
    fflush(stdout);
    MPI_Comm_free(&enqueued);
    MPI_Finalize();
    return 0;
}

/* ---- who starts them ---- */

/* Microseconds of a long message by way of the host with such blocks; < 0: it failed. */
static double block_ask(long block)
{
    char text[32] = "", value[24];
    char *const words[] = { "tune-device", "block", NULL };
    FILE *file = tmpfile();
    if (!file)
        return -1;
    snprintf(value, sizeof value, "%ld", block);
    setenv("XMPI_CUDA_BLOCK", value, 1);
    setenv("XMPI_CUDA_IPC", "0", 1);
    int code = tune_run("2", words, fileno(file));
    unsetenv("XMPI_CUDA_BLOCK");
    unsetenv("XMPI_CUDA_IPC");
    rewind(file);
    bool said = !code && fgets(text, sizeof text, file);
    fclose(file);
    return said ? atof(text) : -1;
}

bool tune_device_is_here(void)
{
    char model[GPU_MODEL_CHARS], why[GPU_CHOICE_CHARS];
    return gpu_model(model) && gpu_choice(why) >= 0;
}

int tune_device(int file)
{
    enum { BLOCKS = 6, TURNS = 2 };
    static const long blocks[BLOCKS] = { 64 << 10,  128 << 10, 256 << 10,
                                         512 << 10, 1 << 20,   2 << 20 };
    double us[BLOCKS];
    int best = 0;
    fprintf(stderr, "xmpi tune: device, CUDA_BLOCK\n");
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < BLOCKS; i++) {
            double once = block_ask(blocks[i]);
            if (once < 0)
                return 1;
            us[i] = turn && us[i] < once ? us[i] : once;
        }
    for (int i = 0; i < BLOCKS; i++) {
        dprintf(file, "# CUDA_BLOCK %ld : %.2fus\n", blocks[i], us[i]);
        best = us[i] < us[best] ? i : best;
    }
    char *const words[] = { "tune-device", NULL };
    int code = tune_run("2", words, file);
    if (!code)
        dprintf(file, ", CUDA_BLOCK=%ld\n", blocks[best]);
    return code;
}
