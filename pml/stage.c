/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stage has two halves, pieces of pinned memory of XMPI_CUDA_BLOCK bytes.  The device copies into
 * or out of one, while the processor and the link are busy with the other:
 *
 *     sender     device --> half 0        half 0 -> chunks or frames of the link
 *                device --> half 1        (half 1 was begun when half 0 was)
 *     receiver   packets -> half 0
 *                packets -> half 1        half 0 --> device
 *
 * Whoever needs a half waits for its copy, which was begun a whole piece earlier.
 *
 * All stages together take at most XMPI_CUDA_POOL bytes; those that are not in use are kept, and
 * messages that find none copy each packet by itself, which needs no memory.  A driver that had none
 * to pin takes long to say so, and is not asked again by the next 256 messages.
 */
#include "pml/stage.h"

#include "pml/device.h"
#include "runtime/gpu.h"
#include "runtime/gpu_share.h"
#include "runtime/param.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_BLOCK = 4096, PATIENCE = 256 };

struct half {
    size_t offset, bytes; /* of the message, that lie in it */
    struct gpu_mark mark; /* of the copy out of it or into it */
    char *memory;
};

struct stage {
    struct stage *next; /* of those that are not in use */
    struct half half[2];
    unsigned turn; /* the half that is being emptied or filled */
    struct buffer data;
    size_t total; /* bytes of the message */
};

static struct stage *unused;
static size_t block; /* bytes of a half, while there are any */
static size_t pinned;
static unsigned patience; /* messages that go without, as the driver had no memory to pin */

static struct stage *stage_new(const void *near)
{
    long long wanted = param_number(CUDA_BLOCK);
    long long pool = param_number(CUDA_POOL);
    wanted = wanted < pool / 2 ? wanted : pool / 2;
    if (pinned == 0)
        block = wanted < LEAST_BLOCK ? LEAST_BLOCK : (size_t)wanted;
    if (pinned + 2 * block > (size_t)pool)
        return NULL;
    if (!gpu_may_stall())
        return NULL;
    if (patience > 0) {
        patience--;
        return NULL;
    }
    struct stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return NULL;
    char *memory = gpu_pin(2 * block, near);
    if (!memory) {
        patience = PATIENCE;
        free(stage);
        return NULL;
    }
    stage->half[0].memory = memory;
    stage->half[1].memory = memory + block;
    pinned += 2 * block;
    return stage;
}

struct stage *stage_open(const struct buffer *data, size_t bytes)
{
    struct stage *stage = unused;
    if (stage)
        unused = stage->next;
    else
        stage = stage_new(buffer_at(data->base, data->layout->true_lb));
    if (!stage)
        return NULL;
    stage->data = *data;
    stage->total = bytes;
    stage->turn = 0;
    for (int i = 0; i < 2; i++)
        stage->half[i].offset = stage->half[i].bytes = 0;
    return stage;
}

void stage_close(struct stage *stage)
{
    for (int i = 0; i < 2; i++)
        gpu_mark_await(&stage->half[i].mark);
    stage->next = unused;
    unused = stage;
}

void device_prepare(const void *near)
{
    struct stage *stage = unused ? NULL : stage_new(near);
    if (stage)
        stage_close(stage);
    gpu_map_wanted();
}

void stages_close(void)
{
    while (unused) {
        struct stage *gone = unused;
        unused = gone->next;
        gpu_unpin(gone->half[0].memory);
        pinned -= 2 * block;
        free(gone);
    }
}

/* ---- out ---- */

static bool half_has(const struct half *half, size_t offset)
{
    return offset >= half->offset && offset - half->offset < half->bytes;
}

static void half_fetch(struct stage *stage, struct half *half, size_t offset)
{
    size_t left = stage->total - offset;
    gpu_mark_await(&half->mark);
    half->offset = offset;
    half->bytes = left < block ? left : block;
    if (half->bytes == 0)
        return;
    gpu_move_start(&stage->data, offset, half->memory, half->bytes, true);
    gpu_mark_set(&half->mark);
}

struct buffer stage_out(struct stage *stage, size_t offset)
{
    struct half *now = &stage->half[stage->turn];
    if (!half_has(now, offset)) {
        stage->turn ^= 1;
        struct half *before = now;
        now = &stage->half[stage->turn];
        if (!half_has(now, offset))
            half_fetch(stage, now, offset);
        half_fetch(stage, before, now->offset + now->bytes);
    }
    gpu_mark_await(&now->mark);
    size_t inside = offset - now->offset;
    return (struct buffer){ now->memory + inside, now->bytes - inside, &layout_bytes, HERE };
}

/* ---- in ---- */

static void half_send_off(struct stage *stage)
{
    struct half *half = &stage->half[stage->turn];
    if (half->bytes == 0)
        return;
    gpu_move_start(&stage->data, half->offset, half->memory, half->bytes, false);
    gpu_mark_set(&half->mark);
    half->bytes = 0;
    stage->turn ^= 1;
}

void stage_in(struct stage *stage, size_t offset, const char *payload, size_t bytes)
{
    while (bytes > 0) {
        struct half *half = &stage->half[stage->turn];
        if (half->bytes == block || (half->bytes > 0 && half->offset + half->bytes != offset)) {
            half_send_off(stage);
            continue;
        }
        if (half->bytes == 0) {
            gpu_mark_await(&half->mark);
            half->offset = offset;
        }
        size_t room = block - half->bytes, n = bytes < room ? bytes : room;
        memcpy(half->memory + half->bytes, payload, n);
        half->bytes += n;
        offset += n;
        payload += n;
        bytes -= n;
    }
}

void stage_flush(struct stage *stage)
{
    half_send_off(stage);
    for (int i = 0; i < 2; i++)
        gpu_mark_await(&stage->half[i].mark);
}
