/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The address space of the devices that tests pretend to have: each address of the host has a twin
 * with more bits, that no processor maps, so whoever touches it dies at once.  Device memory is
 * memory of the host, seen by its twin.
 *
 *     0x00007f12_3456_7890     for the test, which looks at its data
 *     0x00407f12_3456_7890     for MPI; only the driver knows what lies there
 *
 *     bits   56, 57     54       55     53       52 and 47 to 51
 *            device     twin     pool   broken   opened: memory of another process, and which
 *
 * What the driver allocates itself (cuMemAlloc_v2) has a twin as well, and an identity.
 */
#ifndef FAKE_H
#define FAKE_H

#include "runtime/cuda_abi.h"

/* ---- what tests find in the driver beside CUDA's functions ---- */

/* A kernel in a stream: a function that sees memory as the test does. */
typedef cuda_result fake_launch_kernel(cuda_stream stream, void (*kernel)(void *),
                                       void *argument);

/* How often this thread has waited for a stream, an event or the device. */
typedef unsigned fake_count_waits(void);

/* ---- addresses ---- */

#define FAKE_DEVICE (UINT64_C(1) << 54)
#define FAKE_BROKEN (UINT64_C(1) << 53) /* besides: copies of this memory fail */
#define FAKE_POOL                                                                              \
    (UINT64_C(1) << 55) /* besides: no context, no handles, as of cuMemAllocAsync */
#define FAKE_OPENED (UINT64_C(1) << 52)

enum {
    FAKE_DEVICES = 4,
    FAKE_DEVICE_SHIFT = 56,
    FAKE_OPENED_SHIFT = 47,
    FAKE_MOST_OPENED = 32
};

static inline void *fake_device(const void *host)
{
    return (void *)((uintptr_t)host | FAKE_DEVICE);
}

/* The same on the device of this number. */
static inline void *fake_device_at(const void *host, int device)
{
    return (void *)((uintptr_t)host | FAKE_DEVICE | (uint64_t)device << FAKE_DEVICE_SHIFT);
}

/* For the test: what lies at an address of a device of this process. */
static inline void *fake_host(const void *device)
{
    return (void *)((uintptr_t)device & ((UINT64_C(1) << FAKE_OPENED_SHIFT) - 1));
}

#endif
