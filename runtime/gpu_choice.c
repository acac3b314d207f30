/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which device a process should take (MPIX_Query_cuda_device).  Where xmpirun has placed ranks,
 * XMPI_GPU names one near to this rank by its place on PCI, which is the same GPU in whatever
 * order CUDA counts.  Where it has not, or that one is not visible, as when a wrapper has set
 * CUDA_VISIBLE_DEVICES, it is the number of the process on its node, modulo the number of devices.
 *
 * Launchers tell that number before MPI_Init, when programs choose their device; the answer is the
 * same then and later.  Under one that sets none of the variables below it is 0 before MPI_Init.
 */
#include "runtime/gpu.h"

#include "runtime/boot.h"
#include "runtime/gpu_cuda.h"
#include "runtime/param.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct driver {
    cuda_init *init;
    cuda_device_get_count *count;
    cuda_device_get *get;
    cuda_device_get_by_pci_bus_id *by_bus;
};

/* The number of this process among those of its node; *from: who says so. */
static int number_here(const char **from)
{
    /* Slurm's last: a batch script has it, too, and other launchers pass that one on. */
    static const char *const names[] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                         "MPI_LOCALRANKID", "SLURM_LOCALID" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(*from = names[i]);
        int number = text && *text ? atoi(text) : -1;
        if (number >= 0)
            return number;
    }
    *from = "the number of the rank on its node";
    return boot.local_rank;
}

/* The device with this place on PCI; -1: CUDA does not show it. */
static int device_at(const struct driver *driver, const char *bus, int count)
{
    int wanted, device;
    if (driver->by_bus(&wanted, bus) != 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (driver->get(&device, i) == 0 && device == wanted)
            return i;
    return -1;
}

int gpu_choice(char why[GPU_CHOICE_CHARS])
{
    struct driver driver;
    const struct symbol symbols[] = { { "cuInit", &driver.init },
                                      { "cuDeviceGetCount", &driver.count },
                                      { "cuDeviceGet", &driver.get },
                                      { "cuDeviceGetByPCIBusId", &driver.by_bus } };
    int count = 0;
    if (!driver_find(symbols, sizeof symbols / sizeof symbols[0]) || driver.init(0) != 0 ||
        driver.count(&count) != 0 || count <= 0) {
        snprintf(why, GPU_CHOICE_CHARS, "CUDA shows no device");
        return -1;
    }
    const char *bus = param_string(GPU), *from = "";
    int device = bus ? device_at(&driver, bus, count) : -1;
    if (device >= 0) {
        snprintf(why, GPU_CHOICE_CHARS, "XMPI_GPU=%s, of %d devices", bus, count);
        return device;
    }
    device = number_here(&from) % count;
    snprintf(why, GPU_CHOICE_CHARS, "%s, modulo %d devices%s%s%s", from, count,
             bus ? "; XMPI_GPU=" : "", bus ? bus : "", bus ? " is not visible" : "");
    return device;
}

/* "Model: \t\t NVIDIA A100-SXM4-40GB" */
static void model_read(const char *path, char model[GPU_MODEL_CHARS])
{
    char line[128];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *name = line + strcspn(line, ":") + 1;
        if (strncmp(line, "Model:", 6) != 0)
            continue;
        name += strspn(name, " \t");
        snprintf(model, GPU_MODEL_CHARS, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (file)
        fclose(file);
}

bool gpu_model(char model[GPU_MODEL_CHARS])
{
    glob_t found = { 0 };
    params_read();
    if (!param_number(CUDA) || (!param_string(LIBCUDA) && access("/dev/nvidiactl", F_OK) != 0))
        return false;
    snprintf(model, GPU_MODEL_CHARS, "unknown");
    if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &found) == 0)
        model_read(found.gl_pathv[0], model);
    globfree(&found);
    return true;
}
