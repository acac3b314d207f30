/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which kernel performs a reduction: operation and type give its name.
 *
 *     allreduce of floats on device 1      sum_float in the context of device 1
 *       first time   kernel_text -> cuModuleLoadData -> cuModuleGetFunction
 *       each time    cuLaunchKernel in the stream of the thread, cuStreamSynchronize
 *
 * Memory of a pool has no context of its own: then that of the thread serves.
 */
#include "runtime/gpu_reduce.h"

#include "runtime/gpu.h"
#include "runtime/gpu_cuda.h"
#include "runtime/gpu_kernels.h"
#include "runtime/gpu_turns.h"
#include "runtime/layout_inside.h"
#include "runtime/param.h"

#include <stdio.h>

/* ---- names: those of reduce_arith.c and its kind ---- */

static const struct names {
    const char *sum, *order, *bits, *loc;
} names[BASIC_COUNT] = {
    [BASIC_INT8] = { "8", "int8", "8", NULL },
    [BASIC_INT16] = { "16", "int16", "16", NULL },
    [BASIC_INT32] = { "32", "int32", "32", NULL },
    [BASIC_INT64] = { "64", "int64", "64", NULL },
    [BASIC_UINT8] = { "8", "uint8", "8", NULL },
    [BASIC_UINT16] = { "16", "uint16", "16", NULL },
    [BASIC_UINT32] = { "32", "uint32", "32", NULL },
    [BASIC_UINT64] = { "64", "uint64", "64", NULL },
    [BASIC_FLOAT16] = { "half", "half", NULL, NULL },
    [BASIC_BFLOAT16] = { "bfloat", "bfloat", NULL, NULL },
    [BASIC_FLOAT] = { "float", "float", NULL, NULL },
    [BASIC_DOUBLE] = { "double", "double", NULL, NULL },
    [BASIC_FLOAT_COMPLEX] = { "float_complex", NULL, NULL, NULL },
    [BASIC_DOUBLE_COMPLEX] = { "double_complex", NULL, NULL, NULL },
    [BASIC_BOOL] = { NULL, NULL, "8", NULL },
    [BASIC_LOGICAL8] = { NULL, NULL, "8", NULL },
    [BASIC_LOGICAL16] = { NULL, NULL, "16", NULL },
    [BASIC_LOGICAL32] = { NULL, NULL, "32", NULL },
    [BASIC_LOGICAL64] = { NULL, NULL, "64", NULL },
    [BASIC_BYTE] = { NULL, NULL, "8", NULL },
    [BASIC_FLOAT_INT] = { NULL, NULL, NULL, "float_int" },
    [BASIC_DOUBLE_INT] = { NULL, NULL, NULL, "double_int" },
    [BASIC_LONG_INT] = { NULL, NULL, NULL, "long_int" },
    [BASIC_2INT] = { NULL, NULL, NULL, "two_int" },
    [BASIC_SHORT_INT] = { NULL, NULL, NULL, "short_int" },
    [BASIC_2FLOAT] = { NULL, NULL, NULL, "two_float" },
    [BASIC_2DOUBLE] = { NULL, NULL, NULL, "two_double" },
    [BASIC_INT32_INT64] = { NULL, NULL, NULL, "int32_int64" },
    [BASIC_INT64_INT64] = { NULL, NULL, NULL, "int64_int64" },
    [BASIC_FLOAT_INT64] = { NULL, NULL, NULL, "float_int64" },
    [BASIC_DOUBLE_INT64] = { NULL, NULL, NULL, "double_int64" },
};

static bool is_logical(enum basic basic)
{
    return basic >= BASIC_LOGICAL8 && basic <= BASIC_LOGICAL64;
}

/* False: there is no such kernel. */
static bool kernel_name(char name[KERNEL_NAME_CHARS], enum reduce_op op, enum basic basic)
{
    static const char *const words[REDUCE_OPS] = { "sum_", "min_", "max_",    "prod_",
                                                   "band", "bor",  "bxor",    "land",
                                                   "lor",  "lxor", "minloc_", "maxloc_" };
    const struct names *n = &names[basic];
    const char *of = op == REDUCE_SUM || op == REDUCE_PROD        ? n->sum
                     : op == REDUCE_MIN || op == REDUCE_MAX       ? n->order
                     : op >= REDUCE_BAND && op <= REDUCE_LXOR     ? n->bits
                     : op == REDUCE_MINLOC || op == REDUCE_MAXLOC ? n->loc
                                                                  : NULL;
    if (of)
        snprintf(name, KERNEL_NAME_CHARS, "%s%s%s", is_logical(basic) ? "f" : "", words[op],
                 of);
    return of;
}

/* The operation of a builtin reduction; a mean is a sum. */
static enum reduce_op op_of(const struct reduction *r)
{
    return r->name == REDUCE_NAME_MEAN ? REDUCE_SUM : (enum reduce_op)(r->name - 1);
}

/* ---- asking ---- */

/* Items that a kernel counts, one behind the other. */
static bool items_are_an_array(const struct layout *l)
{
    return l->true_lb == 0 &&
           (l->dense || (l->nitems == 1 && l->extent == (ptrdiff_t)basic_extent(l->basic)));
}

static const char *kernel_objection(const char *name, cuda_context context)
{
    static char why[120];
    if (!driver_enter(context))
        return "its context cannot be entered";
    const struct kernel *kernel = kernel_find(name, context);
    driver_leave(context);
    if (kernel && kernel->function)
        return NULL;
    if (!kernel && !gpu_may_stall())
        return "the kernel is not loaded, and a stream waits for this process";
    snprintf(why, sizeof why, "the driver does not take the kernel: error %d (%s)",
             kernel ? kernel->error : CUDA_OUT_OF_MEMORY,
             driver_error_name(kernel ? kernel->error : CUDA_OUT_OF_MEMORY));
    return why;
}

/* More ranks take more steps, each of which costs a device 20 us and more; the host does with few. */
static size_t steps_of(int ranks)
{
    return ranks < 2 ? 1 : ranks < 8 ? (size_t)ranks - 1 : 8;
}

enum { TWO_TURNS_BYTES = 4 << 20 };

/* The least vector that is folded on a device at which ranks take turns: to fold is to change more often than
 * to bring the data to the host. */
static size_t turns_least(const void *near)
{
    int turns = gpu_turns(near);
    return turns == 1 ? 0 : turns == 2 ? TWO_TURNS_BYTES : SIZE_MAX;
}

static const char *size_objection(size_t bytes, int ranks, const void *near)
{
    size_t least = (size_t)param_number(CUDA_REDUCE);
    if (least == 0 || bytes < least)
        return "vectors of this size are (XMPI_CUDA_REDUCE)";
    if (param_is_given(CUDA_REDUCE))
        return NULL;
    if (bytes < least * steps_of(ranks))
        return "vectors of this size are, of so many ranks (XMPI_CUDA_REDUCE)";
    if (bytes < turns_least(near))
        return "ranks take turns at their GPU (MPS lets them work at a time; XMPI_CUDA_REDUCE)";
    return NULL;
}

const char *gpu_reduce_objection(const struct reduction *r, int ranks, size_t count,
                                 const void *one, const void *other)
{
    char name[KERNEL_NAME_CHARS];
    const char *why = size_objection(count * r->layout->size, ranks, one);
    if (why)
        return why;
    if (!r->kernel)
        return "the operation is the program's own";
    if (!items_are_an_array(r->layout))
        return "the elements have gaps";
    if ((address_of(one) | address_of(other)) & (r->layout->align - 1))
        return "the buffers are not aligned as their type is";
    if (!kernel_name(name, op_of(r), r->layout->basic))
        return "no device calculates with this type";
    if (!kernels_are_here())
        return "the driver has no functions for kernels";
    cuda_context context = driver_context_for(one);
    if (!context)
        return "there is no context of the device";
    if (driver_context_for(other) != context)
        return "the buffers are of different devices";
    return kernel_objection(name, context);
}

/* ---- launching ---- */

/* And wait. */
static void kernel_run(const char *name, void *at, size_t bytes, void **arguments)
{
    cuda_context context = driver_context_for(at);
    if (!driver_enter(context)) {
        driver_note(CUDA_NOT_INITIALIZED, "cuCtxPushCurrent");
        return;
    }
    cuda_stream stream = driver_stream();
    const struct kernel *kernel = kernel_find(name, context);
    if (!kernel || !kernel->function)
        driver_note(kernel ? kernel->error : CUDA_OUT_OF_MEMORY, "cuModuleLoadData");
    else
        kernel_launch(kernel, bytes, stream, arguments);
    driver_wait(stream);
    driver_leave(context);
}

void gpu_reduce(const struct reduction *r, void *to, const void *a, const void *b, size_t count)
{
    char name[KERNEL_NAME_CHARS];
    size_t items = count * r->layout->nitems;
    void *arguments[] = { &to, &a, &b, &items };
    if (items > 0 && kernel_name(name, op_of(r), r->layout->basic))
        kernel_run(name, to, count * r->layout->size, arguments);
}

void gpu_divide(const struct reduction *r, void *to, size_t count, int64_t by)
{
    char name[KERNEL_NAME_CHARS];
    enum basic basic = r->layout->basic;
    bool complex = basic == BASIC_FLOAT_COMPLEX || basic == BASIC_DOUBLE_COMPLEX;
    enum basic part = !complex                       ? basic
                      : basic == BASIC_FLOAT_COMPLEX ? BASIC_FLOAT
                                                     : BASIC_DOUBLE;
    size_t numbers = count * r->layout->nitems * (complex ? 2 : 1);
    void *arguments[] = { &to, &numbers, &by };
    snprintf(name, sizeof name, "divide_%s", names[part].sum);
    if (numbers > 0)
        kernel_run(name, to, count * r->layout->size, arguments);
}
