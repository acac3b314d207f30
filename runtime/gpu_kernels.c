/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kernels over CUDA's driver, and their text.  A driver compiles what it is given when it gets it, a
 * kernel in some milliseconds, all of them in a second; so it is given single ones.
 *
 *     .version ... .target ...               head, of all
 *     .visible .entry sum_float( ... ) { ... }
 *     .visible .entry prod_float( ...
 *
 * The text is written by tools/kernels.sh, and compared with its sources by test/device.sh.
 */
#include "runtime/gpu_kernels.h"

#include "runtime/gpu.h"
#include "runtime/gpu_cuda.h"
#include "runtime/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    cuda_module_load_data *module_load_data;
    cuda_module_get_function *module_get_function;
    cuda_module_unload *module_unload;
    cuda_launch_kernel *launch_kernel;
} cuda;

static const struct symbol symbols[] = {
    { "cuModuleLoadData", &cuda.module_load_data },
    { "cuModuleGetFunction", &cuda.module_get_function },
    { "cuModuleUnload", &cuda.module_unload },
    { "cuLaunchKernel", &cuda.launch_kernel },
};

/* Drivers that load kernels when they are first launched may wait for all streams then, and have this
 * function to load them before. */
static cuda_func_load *func_load;
static const struct symbol loader = { "cuFuncLoad", &func_load };

bool kernels_are_here(void)
{
    static int here = -1;
    if (here < 0) {
        here = driver_find(symbols, sizeof symbols / sizeof symbols[0]);
        driver_find(&loader, 1);
    }
    return here;
}

/* ---- text ---- */

static const char text[] =
#include "runtime/reduce_device.inc"
    ;

/* The text of one kernel, to be freed; NULL: there is none of this name. */
static char *kernel_text(const char *name)
{
    char entry[80];
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    const char *head_end = strstr(text, ".visible"), *begin = strstr(text, entry);
    const char *end = begin ? strstr(begin, "\n}\n") : NULL;
    if (!end)
        return NULL;
    size_t head = (size_t)(head_end - text), body = (size_t)(end - begin) + strlen("\n}\n");
    char *one = malloc(head + body + 1);
    if (!one)
        return NULL;
    memcpy(one, text, head);
    memcpy(one + head, begin, body);
    one[head + body] = '\0';
    return one;
}

/* ---- loading ---- */

static struct kernel *kernels;

/* In the context that was entered. */
static cuda_result kernel_load(struct kernel *kernel)
{
    cuda_module module;
    char *one = kernel_text(kernel->name);
    if (!one)
        return CUDA_OUT_OF_MEMORY;
    int levels = driver_stall_begin();
    cuda_result error = cuda.module_load_data(&module, one);
    if (error == 0) {
        error = cuda.module_get_function(&kernel->function, module, kernel->name);
        if (!error && func_load)
            error = func_load(kernel->function);
        if (error)
            cuda.module_unload(module);
    }
    driver_stall_end(levels);
    if (error)
        kernel->function = NULL;
    free(one);
    return error;
}

const struct kernel *kernel_find(const char *name, cuda_context context)
{
    struct kernel *k = kernels;
    while (k && (k->context != context || strcmp(k->name, name) != 0))
        k = k->next;
    if (k || !gpu_may_stall() || !(k = calloc(1, sizeof *k)))
        return k;
    snprintf(k->name, sizeof k->name, "%s", name);
    k->context = context;
    k->error = kernel_load(k);
    k->next = kernels;
    if (k->error)
        log_line("cuda: kernel %s is not to be had: error %d (%s)", name, k->error,
                 driver_error_name(k->error));
    return kernels = k;
}

/* ---- launching ---- */

enum { BLOCK_THREADS = 256, MOST_BLOCKS = 65535 };

/* As many threads as there are 8 bytes, within what a grid may have. */
static unsigned blocks_for(size_t bytes)
{
    size_t blocks = bytes / 8 / BLOCK_THREADS + 1;
    return blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS;
}

void kernel_launch(const struct kernel *kernel, size_t bytes, cuda_stream stream,
                   void **arguments)
{
    int levels = driver_queue_leave();
    cuda_result result = cuda.launch_kernel(kernel->function, blocks_for(bytes), 1, 1,
                                            BLOCK_THREADS, 1, 1, 0, stream, arguments, NULL);
    driver_queue_return(levels);
    driver_note(result, "cuLaunchKernel");
}
