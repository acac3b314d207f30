/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions where the data are: two vectors in memory of a device, folded by a kernel of that
 * device.  The bits are those of reduce_apply (NaNs excepted: reduce_device.h).
 *
 * Costs a launch and a wait, some 10 us, so who has little data folds copies of it on the host.
 * Nothing here is asynchronous: the result is there when a function returns.  What went wrong says
 * gpu_check.  All of it under the engine lock.
 */
#ifndef XMPI_GPU_REDUCE_H
#define XMPI_GPU_REDUCE_H

#include "runtime/reduce.h"

/* Can vectors of count elements at these addresses, both AWAY, be folded where they lie, and is it
 * worth it (XMPI_CUDA_REDUCE), in a collective of so many ranks or, 1, alone?  NULL: yes, and the kernel is
 * loaded; else why not, a clause, until the next call. */
const char *gpu_reduce_objection(const struct reduction *r, int ranks, size_t count,
                                 const void *one, const void *other);

/* to = a op b over count elements, all AWAY; `to` may be a or b. */
void gpu_reduce(const struct reduction *r, void *to, const void *a, const void *b,
                size_t count);

/* Divide count elements, as reduce_divide does. */
void gpu_divide(const struct reduction *r, void *to, size_t count, int64_t by);

/* Memory for the time of one collective, for kernels that work on `near` (gpu_room.c).  It lies on
 * that device; gpu_room_take_any: or, where that is full, in pinned memory of the host, which the
 * device reaches as well.  NULL: there is none.  Some is kept until gpu_rooms_close, as to allocate it
 * makes a device wait. */
void *gpu_room_take(size_t bytes, const void *near);
void *gpu_room_take_any(size_t bytes, const void *near);
/* Of the host, but pinned: copies from and to a device are several times as fast as elsewhere. */
void *gpu_room_take_pinned(size_t bytes, const void *near);
void gpu_room_give(void *room); /* NULL is allowed */
void gpu_rooms_close(void);

/* As gpu_room_take, of what will not be given back soon: no kept room that is much larger. */
void *gpu_room_take_long(size_t bytes, const void *near);

#endif
