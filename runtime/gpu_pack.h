/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing by kernels: for gpu_move.c, where a move would take many copies of the driver.
 */
#ifndef XMPI_GPU_PACK_H
#define XMPI_GPU_PACK_H

#include "runtime/gpu.h"

/* Put a kernel behind the copies that were begun: packed bytes [skip, skip + bytes) of a buffer that
 * is AWAY to (pack) or from `flat`, as gpu_start does.  False: nothing was begun, copies are to do
 * it. */
bool gpu_pack_start(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                    bool pack);

/* The same with memory that no device reaches, by way of memory of the device; it is over then.
 * False: copies are to do it, all of it. */
bool gpu_pack_by_room(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                      bool pack);

/* Bring to the device what kernels need for this buffer, as neither may be done while operations are
 * put into a stream. */
void gpu_pack_prepare(const struct buffer *buffer, bool pack);

#endif
