/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for the time of one collective, used again by the next one.
 *
 * A vector of a mebibyte that is allocated and freed in every call goes back to the system every
 * time, and comes back as 256 pages to be zeroed and mapped: a reduction of two ranks then took
 * three times as long.  So blocks of KEEP_FROM bytes and more are kept, up to KEPT of them and
 * KEPT_BYTES in all; the one that was given back longest ago goes first.
 *
 *     block     capacity ... (64 bytes) | memory
 */
#include "coll/scratch.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/gpu_reduce.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, KEPT = 8, KEEP_FROM = 32 << 10, KEPT_BYTES = 32 << 20 };

struct header {
    size_t capacity;
};

static struct {
    struct header *block[KEPT]; /* oldest first */
    int n;
    size_t bytes;
} kept;

static struct header *kept_remove(int i)
{
    struct header *block = kept.block[i];
    kept.n--;
    kept.bytes -= block->capacity;
    memmove(&kept.block[i], &kept.block[i + 1], (size_t)(kept.n - i) * sizeof(kept.block[0]));
    return block;
}

/* The smallest that is large enough, of equal ones the newest, which may still be in the cache;
 * -1 = none. */
static int kept_find(size_t bytes)
{
    int best = -1;
    for (int i = 0; i < kept.n; i++)
        if (kept.block[i]->capacity >= bytes &&
            (best < 0 || kept.block[i]->capacity <= kept.block[best]->capacity))
            best = i;
    return best;
}

static void kept_drop(void)
{
    while (kept.n > 0)
        free(kept_remove(0));
}

static struct header *block_new(size_t capacity)
{
    return capacity < KEEP_FROM ? malloc(LINE + capacity)
                                : aligned_alloc(LINE, LINE + capacity);
}

void *scratch_take(size_t bytes)
{
    int i = bytes >= KEEP_FROM ? kept_find(bytes) : -1;
    if (i >= 0)
        return (char *)kept_remove(i) + LINE;
    if (bytes > SIZE_MAX - 2 * LINE)
        return NULL;
    size_t capacity = (bytes + LINE - 1) / LINE * LINE;
    struct header *block = block_new(capacity);
    if (!block && kept.n > 0) { /* what is kept may be in the way */
        kept_drop();
        block = block_new(capacity);
    }
    if (!block)
        return NULL;
    block->capacity = capacity;
    return (char *)block + LINE;
}

void scratch_give(void *memory)
{
    struct header *block = memory ? (struct header *)((char *)memory - LINE) : NULL;
    if (!block || block->capacity < KEEP_FROM || block->capacity > KEPT_BYTES) {
        free(block);
        return;
    }
    while (kept.n == KEPT || kept.bytes > KEPT_BYTES - block->capacity)
        free(kept_remove(0));
    kept.block[kept.n++] = block;
    kept.bytes += block->capacity;
}

int scratch_fail(size_t bytes)
{
    return fail(MPI_ERR_NO_MEM, "no memory for %zu bytes of scratch of a collective", bytes);
}

int scratch_typed(char **memory, void **base, const struct layout *layout, size_t count)
{
    ptrdiff_t low;
    size_t bytes = layout_span(layout, count, &low);
    *memory = scratch_take(bytes);
    if (!*memory)
        return scratch_fail(bytes);
    *base = buffer_at(*memory, -low);
    return 0;
}

void scratch_clear(void)
{
    kept_drop();
    gpu_rooms_close();
}
