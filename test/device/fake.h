/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The address space of the device that tests pretend to have: each address of the host has a twin
 * with one more bit, that no processor maps, so whoever touches it dies at once.  Device memory is
 * memory of the host, seen by its twin.
 *
 *     0x00007f12_3456_7890     for the test, which looks at its data
 *     0x00407f12_3456_7890     for MPI; only the driver knows what lies there
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdint.h>

#define FAKE_DEVICE (UINT64_C(1) << 54)
#define FAKE_BROKEN (UINT64_C(1) << 53) /* besides: copies of this memory fail */

static inline void *fake_device(const void *host)
{
    return (void *)((uintptr_t)host | FAKE_DEVICE);
}

#endif
