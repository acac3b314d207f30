/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for frames that go out, from slabs that are registered as a whole where the provider wants
 * that, and never given back: what was under way at once will be again.  All together they are bounded;
 * each peer's share is bounded by the trunk.
 *
 *     448 B   8 KiB   16 KiB   64 KiB      packets: one that is out of its size takes a larger one, or is
 *                                          sent in shorter pieces
 *     448 B                                spare ones, beyond the bound
 *     0                                    words without a number (acks), which never wait for packets
 *
 * Frames come back when they are acked, and who acks may be somebody who can send nothing to us.  So
 * words do not count, and a peer to whom nothing is under way may have a spare one:
 * whatever others do not read, there is always one packet for each peer that does.
 */
#include "pml/ofi/trunk.h"

#include "runtime/fail.h"
#include "runtime/log.h"

#include <stdlib.h>

enum { SIZES = 4, SPARE = SIZES, WORDS, CLASSES };
enum { SLAB_BYTES = 256 << 10, ALL_BYTES = 64 << 20, ALIGN = 64 };
static const size_t payload_of[CLASSES] = { 448,           8 << 10,       16 << 10,
                                            FRAME_PAYLOAD, [SPARE] = 448, [WORDS] = 0 };

struct slab {
    struct slab *next;
    struct fid_mr *mr;
};

static struct frame *unused[CLASSES];
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
    bool counts = size < SIZES;
    if (counts && all_bytes + bytes > ALL_BYTES)
        return false;
    struct slab *slab = aligned_alloc(ALIGN, bytes);
    if (!slab)
        return false;
    if (nic_register(&nics[0], slab, bytes, FI_SEND, HERE, &slab->mr)) {
        log_line("%s", fail_text());
        free(slab);
        return false;
    }
    all_bytes += counts ? bytes : 0;
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

static struct frame *frame_take(int size, size_t payload)
{
    struct frame *frame = unused[size];
    unused[size] = frame->next;
    frame->op.kind = OP_SEND;
    frame->bytes = (uint32_t)(sizeof frame->head + payload);
    frame->posted = frame->finished = false;
    return frame;
}

static int size_for(size_t payload)
{
    int size = 0;
    while (payload > payload_of[size])
        size++;
    return size;
}

struct frame *frame_new(size_t payload, bool only)
{
    int size = size_for(payload), larger = size;
    if (unused[size] || slab_new(size))
        return frame_take(size, payload);
    while (larger < SIZES && !unused[larger])
        larger++;
    if (larger < SIZES)
        return frame_take(larger, payload);
    if (size > 0 || !only)
        return NULL;
    return unused[SPARE] || slab_new(SPARE) ? frame_take(SPARE, payload) : NULL;
}

struct frame *frame_shorter(size_t *payload, bool only)
{
    struct frame *frame = NULL;
    for (int size = size_for(*payload) - 1; size >= 0 && !frame; size--) {
        frame = frame_new(payload_of[size], only);
        if (frame)
            *payload = payload_of[size];
    }
    return frame;
}

struct frame *frame_word(void)
{
    return unused[WORDS] || slab_new(WORDS) ? frame_take(WORDS, 0) : NULL;
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
    for (int size = 0; size < CLASSES; size++)
        unused[size] = NULL;
    all_bytes = 0;
}
