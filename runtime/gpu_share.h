/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of a device that another process of this node may copy from itself: named by a handle of
 * the driver, and mapped by who was told the name (gpu_share.c).
 */
#ifndef XMPI_GPU_SHARE_H
#define XMPI_GPU_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of some bytes, as it travels.  All zeros: of none. */
struct gpu_share {
    char handle[64];
    uint64_t base, bytes; /* of the allocation, at its owner's */
    uint64_t identity;    /* of the allocation: no other one of this owner ever has it */
    uint64_t offset;      /* where the bytes begin */
};

/* Why another process of this node cannot or had better not read these bytes itself, a clause; NULL: it may. */
const char *gpu_share_objection(const void *at, size_t bytes);

/* Name the bytes.  NULL: done; else why they cannot be named, a clause. */
const char *gpu_share(const void *at, size_t bytes, struct gpu_share *share);

/* The number of the device that this memory belongs to, as this process counts; -1: it has none. */
int gpu_number(const void *at);

/* What a process shares, mapped here until gpu_unmap.  `near` is where the bytes will go, which
 * says by which device.  NULL: it cannot be mapped, and *why is a clause that says so until the next
 * call. */
struct gpu_mapping;
struct gpu_mapping *gpu_map(int owner, const struct gpu_share *share, const void *near,
                            const char **why);

/* Map what could not be, as a stream waited for this process; by who may (gpu_may_stall). */
void gpu_map_wanted(void);
char *gpu_mapping_at(const struct gpu_mapping *mapping, const struct gpu_share *share);

/* `good`: the copies went well.  If not, the memory is mapped anew next time. */
void gpu_unmap(struct gpu_mapping *mapping, bool good);

/* Nothing comes from this owner any more; from any (-1). */
void gpu_unmap_all(int owner);

#endif
