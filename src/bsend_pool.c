/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of buffered sends: blocks in an attached buffer.
 *
 *     attached buffer   | block | payload ......|  gap  | block | payload ....|   gap          |
 *
 * Blocks lie in a ring by address.  A new one goes into the first gap that is large enough, which
 * leaves the largest ones at the end; but of thousands not all are looked at one by one: behind the
 * first few the search goes on from the last block placed, once around.  Messages mostly leave in the
 * order in which they came, so the room there is the one used longest ago.  A block costs at most 128
 * bytes beyond its payload (MPI_BSEND_OVERHEAD allows 512).  With MPI_BUFFER_AUTOMATIC every block is
 * allocated and freed.
 */
#include "src/bsend_pool.h"

#include "pml/pml.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/record.h"

#include <stdlib.h>

enum { GRAIN = 64, FIRST_GAPS = 64 };

_Static_assert(sizeof(struct block) + 2 * GRAIN <= MPI_BSEND_OVERHEAD,
               "the overhead is enough");

/* ---- blocks ---- */

static struct block *block_insert(struct pool *pool, struct block *after, struct block *block,
                                  size_t bytes)
{
    *block = (struct block){ .prev = after,
                             .next = after->next,
                             .pool = pool,
                             .number = pool->next_number++,
                             .bytes = bytes };
    after->next->prev = block;
    after->next = block;
    pool->recent = block;
    pool->blocks++;
    return block;
}

/* The gap behind a block, or before the first one, behind the ring's own. */
static size_t gap_behind(const struct pool *pool, const struct block *block, char **start)
{
    char *end = block->next == &pool->ring ? pool->end : (char *)block->next;
    *start = block == &pool->ring ? pool->start : (char *)block + block->bytes;
    return (size_t)(end - *start);
}

/* Try `most` gaps from the one behind this block on. */
static struct block *block_fit_from(struct pool *pool, struct block *at, size_t most,
                                    size_t bytes)
{
    for (char *gap; most > 0; most--, at = at->next)
        if (gap_behind(pool, at, &gap) >= bytes) {
            pool->unused -= bytes;
            return block_insert(pool, at, (struct block *)gap, bytes);
        }
    return NULL;
}

static struct block *block_fit(struct pool *pool, size_t bytes)
{
    size_t gaps = pool->blocks + 1;
    if (bytes > pool->unused) /* a full buffer need not be searched */
        return NULL;
    struct block *block =
        block_fit_from(pool, &pool->ring, gaps < FIRST_GAPS ? gaps : FIRST_GAPS, bytes);
    return block || gaps <= FIRST_GAPS ? block
                                       : block_fit_from(pool, pool->recent, gaps, bytes);
}

struct block *block_new(struct pool *pool, size_t payload)
{
    size_t bytes = (sizeof(struct block) + payload + GRAIN - 1) / GRAIN * GRAIN;
    if (pool->automatic) {
        struct block *block = malloc(bytes);
        return block ? block_insert(pool, pool->ring.prev, block, bytes) : NULL;
    }
    struct block *block = block_fit(pool, bytes);
    while (!block && pml_take_all() > 0) /* what has left makes room */
        block = block_fit(pool, bytes);
    return block;
}

/* A message has left: nearer to their ends are those that wait for it, the marks set after it. */
static void marks_count(struct pool *pool, uint64_t number)
{
    struct mark **link = &pool->marks;
    while (*link && (*link)->end > number) {
        struct mark *mark = *link;
        if (--mark->older > 0) {
            link = &mark->next;
            continue;
        }
        *link = mark->next;
        if (mark->request)
            request_complete(mark->request);
    }
}

void block_free(struct block *block)
{
    struct pool *pool = block->pool;
    uint64_t number = block->number;
    block->prev->next = block->next;
    block->next->prev = block->prev;
    if (pool->recent == block)
        pool->recent = block->prev;
    pool->blocks--;
    if (pool->automatic)
        free(block);
    else
        pool->unused += block->bytes;
    marks_count(pool, number);
}

/* ---- pools ---- */

int pool_new(struct pool **made, void *buffer, int64_t size)
{
    bool automatic = buffer == MPI_BUFFER_AUTOMATIC;
    if (automatic)
        size = 0; /* it does not matter then (MPI 5.0, 3.6) */
    if (size < 0)
        return fail(MPI_ERR_ARG, "argument size is %lld; it must not be negative",
                    (long long)size);
    if (!buffer && size > 0)
        return fail(MPI_ERR_BUFFER, "argument buffer is NULL, but size is %lld",
                    (long long)size);
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return fail(MPI_ERR_NO_MEM, "no memory left to note a buffer");
    uintptr_t start = ((uintptr_t)buffer + GRAIN - 1) / GRAIN * GRAIN;
    uintptr_t end = ((uintptr_t)buffer + (uintptr_t)size) / GRAIN * GRAIN;
    pool->automatic = automatic;
    pool->user = buffer;
    pool->size = size;
    pool->start = (char *)start;
    pool->end = (char *)(end > start ? end : start);
    pool->unused = (size_t)(pool->end - pool->start);
    pool->ring.prev = pool->ring.next = pool->recent = &pool->ring;
    *made = pool;
    return MPI_SUCCESS;
}

void pool_mark(struct pool *pool, struct mark *mark, struct request *request)
{
    *mark =
        (struct mark){ .end = pool->next_number, .older = pool->blocks, .request = request };
    if (!mark->older)
        return;
    mark->next = pool->marks;
    pool->marks = mark;
}

/* For the flight recorder: the sends before this number. */
static void blocks_tell(const struct pool *pool, uint64_t end, struct record_wait *wait)
{
    for (const struct block *b = pool->ring.next; b != &pool->ring; b = b->next)
        if (b->number < end && b->request)
            request_tell(b->request, wait);
}

static void drain_tell(const void *what, struct record_wait *wait)
{
    blocks_tell(what, UINT64_MAX, wait);
}

void pool_drain(const struct pool *pool)
{
    struct wait wait = WAIT_FOR(drain_tell, pool);
    while (pool->blocks)
        wait_poll(&wait);
    wait_end(&wait);
}

/* The pool may be gone when the mark is over: another thread may detach the buffer meanwhile. */
struct flush {
    const struct pool *pool;
    struct mark mark;
};

static void flush_tell(const void *what, struct record_wait *wait)
{
    const struct flush *flush = what;
    if (flush->mark.older)
        blocks_tell(flush->pool, flush->mark.end, wait);
}

void pool_flush(struct pool *pool)
{
    struct flush flush = { .pool = pool };
    pool_mark(pool, &flush.mark, NULL);
    struct wait wait = WAIT_FOR(flush_tell, &flush);
    while (flush.mark.older)
        wait_poll(&wait);
    wait_end(&wait);
}
