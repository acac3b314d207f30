/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that use one GPU in turns.  Without NVIDIA's MPS a GPU works for one process at a time, and to change
 * takes it some 130 us: much more than to bring some data to the host and back, for which no turn is needed
 * (docs/devices-measured.md).
 */
#ifndef XMPI_GPU_TURNS_H
#define XMPI_GPU_TURNS_H

#include <stdbool.h>

/* How many ranks of this node, this one included, take turns at the device of this memory, as far as they have
 * said so; 1: nobody else, or all work at a time.  Tells the others about this one.  Under the engine lock. */
int gpu_turns(const void *near);

/* Does this device, by CUDA's handle, work for several processes at a time (MPS)? */
bool gpu_works_for_all(int device);

#endif
