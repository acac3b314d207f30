/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spans of blocks in bytes: where the block behind the last one begins, less where the first does.
 */
#include "tools/plan_bytes.h"

#include "coll/bind.h"

/* Where boundary i is of blocks that are all as long and cut in pieces. */
static size_t each_at(size_t block, int pieces, int i)
{
    return (size_t)(i / pieces) * block + bind_cut(block, pieces, i % pieces);
}

/* A vector cut for n ranks, and what is each one's again in pieces. */
static size_t share_at(size_t vector, int n, int pieces, int i)
{
    size_t at = bind_cut(vector, n, i / pieces);
    size_t share = bind_cut(vector, n, i / pieces + 1) - at;
    return at + bind_cut(share, pieces, i % pieces);
}

/* Between two groups IN is the vector, and TMP two of them and then the shares of the own group. */
static size_t reduce_scatter_at(const struct plan_bytes *b, int room, int i)
{
    const struct plan_key *key = &b->plan->key;
    bool second = key->split && key->me >= key->split;
    int n = !key->split ? key->size : second ? key->size - key->split : key->split;
    int me = second ? key->me - key->split : key->me;
    if (room == ROOM_OUT) {
        size_t share = bind_cut(b->bytes, n, me + 1) - bind_cut(b->bytes, n, me);
        return each_at(share, b->plan->nblocks[ROOM_OUT], i);
    }
    if (!key->split)
        return share_at(b->bytes, n, key->pieces, i);
    return i < 2 ? (size_t)i * b->bytes : 2 * b->bytes + bind_cut(b->bytes, n, i - 2);
}

static size_t block_at(const struct plan_bytes *b, int room, int i)
{
    const int *nblocks = b->plan->nblocks;
    if (b->numbers)
        return (size_t)i * sizeof(int64_t);
    if (b->what == COLL_BARRIER)
        return 0;
    if (is_reduce_scatter(b->what))
        return reduce_scatter_at(b, room, i);
    if (b->what == COLL_BCAST || is_reduction(b->what)) /* TMP holds copies of the vector */
        return each_at(b->bytes, nblocks[room == ROOM_TMP ? ROOM_IN : room], i);
    return each_at(b->bytes, b->plan->key.pieces, i);
}

size_t plan_bytes_of(const struct plan_bytes *bytes, struct span span)
{
    return block_at(bytes, span.room, span.first + span.n) -
           block_at(bytes, span.room, span.first);
}
