/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rank writes into its record in the boot segment which GPU it was last asked about, by the first bytes of
 * the GPU's UUID, and reads what the others have written.  Who has not used a GPU yet is not counted: the first
 * operations may take another way than later ones, and each rank decides alone.
 */
#include "runtime/gpu_turns.h"

#include "runtime/boot.h"
#include "runtime/gpu_cuda.h"
#include "runtime/gpu_share.h"

#include <string.h>

enum { DEVICES = 16, OFTEN = 32, SELDOM = 16 };

static struct {
    cuda_device_get *get;
    cuda_device_get_attribute *attribute;
    cuda_device_get_uuid *uuid;
} cuda;

static const struct symbol symbols[] = {
    { "cuDeviceGet", &cuda.get },
    { "cuDeviceGetAttribute", &cuda.attribute },
    { "cuDeviceGetUuid_v2", &cuda.uuid },
};

static struct known {
    unsigned asked; /* how often */
    uint32_t name;  /* of the GPU, 0: it is nothing to take turns at */
    int turns;      /* as last counted */
} known[DEVICES];

static bool functions_are_here(void)
{
    static int here = -1;
    if (here < 0)
        here = driver_find(symbols, sizeof symbols / sizeof symbols[0]);
    return here;
}

bool gpu_works_for_all(int device)
{
    int mps = 0;
    return functions_are_here() && cuda.attribute(&mps, CUDA_DEVICE_MPS, device) == 0 && mps;
}

static uint32_t name_of(int number)
{
    unsigned char uuid[16];
    uint32_t name;
    int device;
    if (!functions_are_here() || cuda.get(&device, number) != 0 ||
        cuda.uuid(uuid, device) != 0 || gpu_works_for_all(device))
        return 0;
    memcpy(&name, uuid, sizeof name);
    return name ? name : 1;
}

static int turns_count(uint32_t name)
{
    int turns = 1;
    for (int i = 0; i < boot.nlocal; i++) {
        struct boot_rank *rank = boot_record(i);
        if (i != boot.local_rank &&
            atomic_load_explicit(&rank->gpu, memory_order_relaxed) == name &&
            atomic_load_explicit(&rank->state, memory_order_relaxed) == BOOT_INITED)
            turns++;
    }
    return turns;
}

int gpu_turns(const void *near)
{
    int number = boot.nlocal > 1 ? gpu_number(near) : -1;
    if (number < 0 || number >= DEVICES)
        return 1;
    struct known *k = &known[number];
    unsigned before = k->asked++;
    if (before == 0)
        k->name = name_of(number);
    if (k->name == 0)
        return 1;
    if (before < OFTEN || before % SELDOM == 0) { /* ranks may be many */
        atomic_store_explicit(&boot_record(boot.local_rank)->gpu, k->name,
                              memory_order_relaxed);
        k->turns = turns_count(k->name);
    }
    return k->turns;
}
