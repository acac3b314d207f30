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
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700
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

#endif
