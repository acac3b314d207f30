/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the pretended driver share.
 */
#ifndef FAKE_INSIDE_H
#define FAKE_INSIDE_H

#include "fake.h"
#include "runtime/cuda_abi.h"

#include <stdbool.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    MAPPING_FAILED = 205,
    ALREADY_MAPPED = 208,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    MISALIGNED_ADDRESS = 716,
    NOT_PERMITTED = 800,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    ILLEGAL_STATE = 401
};

#define EXPORT __attribute__((visibility("default")))

/* One for each device; a context is one of these. */
extern char fake_contexts[FAKE_DEVICES];

/* The context of the calling thread, or NULL. */
cuda_context fake_current(void);

/* Is it memory of a device, and of which one? */
bool fake_is_device(cuda_address at);
int fake_device_of(cuda_address at);

/* Copy now, between any two addresses of any kind. */
cuda_result fake_copy(cuda_address to, cuda_address from, size_t bytes);
cuda_result fake_copy_rows(const struct cuda_copy_2d *rows);

/* What a kernel does: a value from memory that its device reaches, or to it.  ILLEGAL_ADDRESS,
 * MISALIGNED_ADDRESS. */
cuda_result fake_kernel_move(cuda_address at, void *value, size_t bytes, bool write);

/* At the end of a stream (fake_ptx.h). */
struct ptx_launch;
cuda_result fake_kernel_add(const struct ptx_launch *launch, cuda_stream stream);
cuda_result fake_queue_kernel(cuda_stream stream, const struct ptx_launch *launch);

/* May this thread call the driver now?  SUCCESS, or why not. */
cuda_result fake_may_call(void);

/* May it make a call that a graph, which is being captured, would not hold?  If not, the capture is
 * spoilt. */
cuda_result fake_may_call_now(void);

/* Is this thread in a function of the host that a stream has called? */
bool fake_is_host_function(void);

/* Somebody waits for the device. */
void fake_waits_count(void);

/* With FAKE_STRICT=1: wait for all that streams hold, which may be for ever, as a driver may that
 * allocates and the like; `default_one`: as a stream does that waits for the default stream, and that for
 * all that do not say that they wait for nobody. */
void fake_stall(bool default_one);

/* How often an event was recorded in streams that were made, how often they came there, and what had
 * gone wrong. */
struct fake_mark {
    uint32_t asked, reached;
    cuda_result error;
    int64_t ns;    /* when it came there the last time */
    int users;     /* commands in streams */
    void *dropped; /* to be freed after the last one of them; NULL: it is still in use */
};

/* At the end of a stream that was made; INVALID_HANDLE: it was not.  Waits are for what was recorded
 * up to now, and a mark that never was is reached. */
cuda_result fake_queue_copy(cuda_stream stream, const struct cuda_copy_2d *rows);
cuda_result fake_queue_record(cuda_stream stream, struct fake_mark *mark);
cuda_result fake_queue_wait(cuda_stream stream, struct fake_mark *mark);

/* For the host. */
cuda_result fake_queue_synchronize(cuda_stream stream);
bool fake_mark_is_reached(const struct fake_mark *mark);
int64_t fake_mark_ns(const struct fake_mark *mark);
cuda_result fake_mark_await(const struct fake_mark *mark);

/* Free this memory, which the mark is in, when no stream knows it any more. */
void fake_mark_drop(struct fake_mark *mark, void *memory);

#endif
