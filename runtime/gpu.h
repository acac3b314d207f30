/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of devices: addresses that a program may give to MPI and that the processor must not
 * touch.  Whoever makes a buffer of a user's address asks buffer_where, once; from then on the
 * buffer says where it lies, buffer_flat is NULL for it, and buffer_pack, buffer_unpack and
 * buffer_copy move its bytes by copies of the device.
 *
 *     MPI_Send(address)     buffer_where -> AWAY      one question to the driver
 *     a piece is due        buffer_pack -> gpu_move   device ---> chunk, slot or frame of the link
 *     a piece is here       buffer_unpack -> gpu_move             chunk ---> device
 *
 * Devices are those of CUDA (gpu_cuda.c), of managed memory too, for no processor may touch that
 * while a kernel runs on older machines.  Copies go to the stream of the calling thread
 * (CU_STREAM_PER_THREAD) and are waited for: other streams go on, except the legacy default
 * stream, whose work is waited for as CUDA defines it.  As everywhere in MPI, a program has its
 * data ready before it calls.
 *
 * Costs: a load and a predicted branch per buffer where there is no device.
 */
#ifndef XMPI_GPU_H
#define XMPI_GPU_H

#include "runtime/layout.h"

/* Has this process a driver for devices?  Looks for it the first time: loads a library. */
bool gpu_is_here(void);

/* The device that this process should take, by CUDA's number among those that it shows; -1: none.  And
 * why, for people.  At any time, by any thread. */
enum { GPU_CHOICE_CHARS = 160 };
int gpu_choice(char why[GPU_CHOICE_CHARS]);

/* What the first GPU of this machine is called, as the driver's files have it, without opening the driver;
 * "unknown" where they do not say (XMPI_LIBCUDA).  False: there is none. */
enum { GPU_MODEL_CHARS = 64 };
bool gpu_model(char model[GPU_MODEL_CHARS]);

/* ---- asking ---- */

/* Does this address belong to a device?  Any address may be asked about. */
bool gpu_holds(const void *at);

/* ---- moving ----
 * Both are over when they return.  They return nothing, like the moves of the host; what went wrong
 * says gpu_check. */

/* Packed bytes [skip, skip + bytes) of a buffer to (pack) or from memory of the host. */
void gpu_move(const struct buffer *buffer, size_t skip, char *flat, size_t bytes, bool pack);

/* The same, but only begun; `flat` may be memory of a device, too.  Over after gpu_finish, or when
 * the mark that is set next has been awaited. */
void gpu_move_start(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                    bool pack);

/* What was begun since the last gpu_finish or gpu_mark_set; all zeros: nothing. */
struct gpu_mark {
    void *event, *context;
};
void gpu_mark_set(struct gpu_mark *mark);

/* Wait for it, by any thread.  The mark is nothing then. */
void gpu_mark_await(struct gpu_mark *mark);

/* Memory of the host that devices copy from and to without help of a processor, for copies of the
 * memory at `near`.  NULL: there is none. */
void *gpu_pin(size_t bytes, const void *near);

/* May this thread ask for what may make the driver wait for the device, such as pinned memory?  Not
 * while a stream of the program waits for this process (gpu_stall.c). */
bool gpu_may_stall(void);
void gpu_unpin(void *memory);

/* The first `bytes` packed bytes of one buffer to another, either of which may be anywhere. */
void gpu_copy(const struct buffer *to, const struct buffer *from, size_t bytes);

/* 0, or MPI_ERR_OTHER and a text once after copies that failed: whose, is not known. */
int gpu_check(void);

/* What fails between these two is not for gpu_check: there is another way.  NULL: nothing did; else
 * what, as a clause until the next call. */
void gpu_try(void);
const char *gpu_tried(void);

/* ---- the driver: what gpu_move.c is made of ----
 * Copies are started one by one, in any direction, and waited for together; memory must stay. */
void gpu_start(void *to, const void *from, size_t bytes);

/* `count` pieces of `length` bytes whose distances are `to_step` and `from_step`. */
struct gpu_rows {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step;
    size_t length, count;
};
void gpu_start_rows(const struct gpu_rows *rows);

/* Does it take rows so far apart in one copy?  Else one for each. */
bool gpu_rows_are_one_copy(ptrdiff_t step, size_t length);

void gpu_finish(void);

#endif
