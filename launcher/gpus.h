/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which GPUs of a machine ranks may use: those that NVIDIA's driver shows us and that nobody keeps us
 * from; of these the ones that users choose by CUDA_VISIBLE_DEVICES.
 */
#ifndef XMPI_LAUNCHER_GPUS_H
#define XMPI_LAUNCHER_GPUS_H

#include "launcher/topo.h"

struct options;

/* Add the GPUs of the machine whose files are below `root` ("": this one); topology_load has done that.
 * Where there is no driver it is one system call. */
void gpus_find(struct topology *topology, const char *root);

/* Leave those that this value of CUDA_VISIBLE_DEVICES names, as CUDA does: numbers, in the order of
 * PCI, or UUIDs or their beginnings, or parts of GPUs (MIG-GPU-UUID/1/0), up to the first that is neither.  NULL: all. */
void gpus_keep_visible(struct topology *topology, const char *visible);

/* The value of CUDA_VISIBLE_DEVICES that ranks will find; NULL: none. */
const char *gpus_visible(const struct options *options);

#endif
