/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the bytes of a layout are: the sequence of its basic items in type map order, compressed
 * into spans.  A span repeats one item, or an inner sequence, `count` times, so a million times
 * { int, double } costs two sequences.  Pairs of the LOC operations are entered as their two
 * parts, which is how MPI_Get_elements counts and type matching sees them.
 *
 * The signature is a polynomial over the items, modulo 2^64:
 *
 *     hash(x1 .. xn) = x1 P^(n-1) + ... + xn,  power = P^n
 *     hash(A B)      = hash(A) power(B) + hash(B)
 *
 * It depends on the flat sequence alone, and n copies take log n steps.
 */
#include "runtime/layout_inside.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t ITEMS_BASE = 0x9e3779b97f4a7c15u; /* P: odd, bits well mixed */

/* A sequence as its hash sees it. */
struct digest {
    uint64_t hash, power;
};

static struct digest digest_of_item(enum basic basic, size_t bytes)
{
    uint64_t x = ((uint64_t)basic << 32 | (bytes & 0xffffffffu)) + 1;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (struct digest){ x ^ x >> 31, ITEMS_BASE };
}

static struct digest digest_join(struct digest a, struct digest b)
{
    return (struct digest){ a.hash * b.power + b.hash, a.power * b.power };
}

static struct digest digest_repeat(struct digest one, size_t count)
{
    struct digest all = { 0, 1 };
    for (; count; count >>= 1) {
        if (count & 1)
            all = digest_join(all, one);
        one = digest_join(one, one);
    }
    return all;
}

struct layout_items *items_new(size_t room)
{
    const size_t each = sizeof(struct item_span),
                 most = (SIZE_MAX - sizeof(struct layout_items));
    struct layout_items *items = NULL; /* calloc has no cache in glibc */
    if (room <= most / each)
        items = malloc(sizeof *items + room * each);
    if (!items)
        return NULL;
    *items = (struct layout_items){ .refs = 1, .room = room };
    items->spans = items->first;
    return items;
}

void items_drop(struct layout_items *items)
{
    if (!items || --items->refs > 0)
        return;
    for (size_t i = 0; i < items->n; i++)
        items_drop(items->spans[i].inner);
    if (items->spans != items->first)
        free(items->spans);
    free(items);
}

static bool spans_grow(struct layout_items *items)
{
    size_t room = 4 * items->room;
    bool inside = items->spans == items->first;
    struct item_span *spans = realloc(inside ? NULL : items->spans, room * sizeof *spans);
    if (!spans)
        return false;
    if (inside)
        memcpy(spans, items->first, items->n * sizeof *spans);
    items->spans = spans;
    items->room = room;
    return true;
}

/* Lengthen the last span or start a new one: `count` items of `bytes` bytes, or inner
 * sequences of so many bytes and parts. */
static bool items_extend(struct layout_items *items, size_t count, enum basic basic,
                         size_t bytes, size_t parts, struct layout_items *inner)
{
    struct item_span *last = items->n > 0 ? &items->spans[items->n - 1] : NULL;
    if (last && last->inner == inner && last->basic == basic && last->bytes == bytes) {
        last->count += count;
    } else {
        if (items->n == items->room && !spans_grow(items))
            return false;
        items->spans[items->n++] = (struct item_span){ .bytes_before = items->bytes,
                                                       .parts_before = items->parts,
                                                       .count = count,
                                                       .bytes = bytes,
                                                       .parts = parts,
                                                       .basic = basic,
                                                       .inner = inner };
        if (inner)
            inner->refs++;
    }
    items->bytes += count * bytes;
    items->parts += count * parts;
    return true;
}

bool items_append(struct layout_items *items, enum basic basic, size_t bytes, size_t count)
{
    if (bytes == 0 || count == 0)
        return true;
    items->wild |= basic == BASIC_PACKED;
    return items_extend(items, count, basic, bytes, 1, NULL);
}

bool items_append_copies(struct layout_items *items, struct layout_items *old, size_t count)
{
    if (old->n == 0 || count == 0)
        return true;
    items->wild |= old->wild;
    const struct item_span *only = old->spans;
    if (items_are_alike(old))
        return items_extend(items, only->count * count, only->basic, only->bytes, 1, NULL);
    return items_extend(items, count, BASIC_NONE, old->bytes, old->parts, old);
}

struct layout_items *items_repeated(struct layout_items *old, size_t count)
{
    struct layout_items *items = items_new(1);
    if (items)
        items_append_copies(items, old, count); /* one span: there is room */
    return items;
}

/* The last span that starts at or before byte `bytes`. */
static const struct item_span *items_seek(const struct layout_items *items, size_t bytes)
{
    size_t low = 0, high = items->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (items->spans[middle].bytes_before <= bytes)
            low = middle;
        else
            high = middle;
    }
    return &items->spans[low];
}

int64_t items_within(const struct layout_items *items, size_t bytes)
{
    if (bytes == 0 || bytes > items->bytes)
        return bytes == 0 ? 0 : -1;
    const struct item_span *span = items_seek(items, bytes);
    size_t inside = bytes - span->bytes_before;
    int64_t parts = (int64_t)(span->parts_before + inside / span->bytes * span->parts);
    size_t rest = inside % span->bytes;
    if (rest == 0)
        return parts;
    int64_t more = span->inner ? items_within(span->inner, rest) : -1;
    return more < 0 ? -1 : parts + more;
}

/* The last span that starts at or before part `parts`. */
static const struct item_span *items_seek_part(const struct layout_items *items, size_t parts)
{
    size_t low = 0, high = items->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (items->spans[middle].parts_before <= parts)
            low = middle;
        else
            high = middle;
    }
    return &items->spans[low];
}

size_t items_bytes(const struct layout_items *items, size_t parts)
{
    if (parts == 0)
        return 0;
    const struct item_span *span = items_seek_part(items, parts);
    size_t inside = parts - span->parts_before, rest = inside % span->parts;
    size_t bytes = span->bytes_before + inside / span->parts * span->bytes;
    return rest ? bytes + items_bytes(span->inner, rest) : bytes;
}

/* Most datatypes are never asked, so a sequence is hashed when the first one asks; whoever comes
 * at the same time finds the same. */
static struct digest items_digest(struct layout_items *items)
{
    if (atomic_load_explicit(&items->hashed, memory_order_acquire))
        return (struct digest){ items->hash, items->power };
    struct digest all = { 0, 1 };
    for (size_t i = 0; i < items->n; i++) {
        const struct item_span *span = &items->spans[i];
        struct digest one =
            span->inner ? items_digest(span->inner) : digest_of_item(span->basic, span->bytes);
        all = digest_join(all, digest_repeat(one, span->count));
    }
    atomic_store_explicit(&items->hash, all.hash, memory_order_relaxed);
    atomic_store_explicit(&items->power, all.power, memory_order_relaxed);
    atomic_store_explicit(&items->hashed, true, memory_order_release);
    return all;
}

uint32_t items_signature(struct layout_items *items, size_t count)
{
    if (items->wild || items->parts == 0 || count == 0)
        return 0;
    uint64_t hash = digest_repeat(items_digest(items), count).hash;
    uint32_t signature = (uint32_t)((hash ^ hash >> 29) * ITEMS_BASE >> 32);
    return signature ? signature : 1;
}
