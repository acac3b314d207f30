/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for frames that go out.  Three sizes, from slabs that are registered as a whole where
 * the provider wants that, and never given back: what was under way at once will be again.  All
 * together they are bounded; each peer's share is bounded by the trunk.
 */
#include "pml/ofi/trunk.h"

#include "runtime/fail.h"
#include "runtime/log.h"

#include <stdlib.h>

enum { SIZES = 3, SLAB_BYTES = 256 << 10, ALL_BYTES = 64 << 20, ALIGN = 64 };
static const size_t payload_of[SIZES] = { 448, 8 << 10, FRAME_PAYLOAD };

struct slab {
    struct slab *next;
    struct fid_mr *mr;
};

static struct frame *unused[SIZES];
static struct slab *slabs;
static size_t all_bytes;

static size_t stride_of(int size)
{
    size_t bytes = sizeof(struct frame) + payload_of[size];
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static bool slab_new(int size)
{
    size_t stride = stride_of(size), head = ALIGN;
    size_t n = SLAB_BYTES / stride > 2 ? SLAB_BYTES / stride : 2;
    size_t bytes = head + n * stride;
    struct slab *slab = all_bytes + bytes <= ALL_BYTES ? aligned_alloc(ALIGN, bytes) : NULL;
    if (!slab)
        return false;
    if (nic_register(&nics[0], slab, bytes, FI_SEND, HERE, &slab->mr)) {
        log_at(1, "%s", fail_text());
        free(slab);
        return false;
    }
    all_bytes += bytes;
    slab->next = slabs;
    slabs = slab;
    for (size_t i = 0; i < n; i++) {
        struct frame *frame = (struct frame *)((char *)slab + head + i * stride);
        frame->slab = slab;
        frame->size = (uint8_t)size;
        frame->next = unused[size];
        unused[size] = frame;
    }
    return true;
}

struct frame *frame_new(size_t payload)
{
    int size = 0;
    while (payload > payload_of[size])
        size++;
    if (!unused[size] && !slab_new(size))
        return NULL;
    struct frame *frame = unused[size];
    unused[size] = frame->next;
    frame->op.kind = OP_SEND;
    frame->bytes = (uint32_t)(sizeof frame->head + payload);
    frame->posted = frame->finished = false;
    return frame;
}

void frame_free(struct frame *frame)
{
    frame->next = unused[frame->size];
    unused[frame->size] = frame;
}

void *frame_descriptor(const struct frame *frame)
{
    return frame->slab->mr ? fi_mr_desc(frame->slab->mr) : NULL;
}

void frames_close(void)
{
    while (slabs) {
        struct slab *gone = slabs;
        slabs = gone->next;
        if (gone->mr)
            fi_close(&gone->mr->fid);
        free(gone);
    }
    for (int size = 0; size < SIZES; size++)
        unused[size] = NULL;
    all_bytes = 0;
}
