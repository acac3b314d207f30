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

struct layout_items *items_new(void)
{
    struct layout_items *items = calloc(1, sizeof *items);
    if (!items)
        return NULL;
    items->refs = 1;
    items->power = 1;
    return items;
}

void items_drop(struct layout_items *items)
{
    if (!items || --items->refs > 0)
        return;
    for (size_t i = 0; i < items->n; i++)
        items_drop(items->spans[i].inner);
    free(items->spans);
    free(items);
}

static bool spans_grow(struct layout_items *items)
{
    size_t room = items->room ? 2 * items->room : 2;
    struct item_span *spans = realloc(items->spans, room * sizeof *spans);
    if (!spans)
        return false;
    items->spans = spans;
    items->room = room;
    return true;
}

static bool span_continues(const struct item_span *last, const struct item_span *span)
{
    return last->inner == span->inner && last->basic == span->basic &&
           last->bytes == span->bytes;
}

/* Lengthen the last span or start a new one. */
static bool items_append_span(struct layout_items *items, struct item_span span,
                              struct digest one)
{
    struct item_span *last = items->n ? &items->spans[items->n - 1] : NULL;
    if (last && span_continues(last, &span)) {
        last->count += span.count;
    } else {
        if (items->n == items->room && !spans_grow(items))
            return false;
        span.bytes_before = items->bytes;
        span.parts_before = items->parts;
        items->spans[items->n++] = span;
        if (span.inner)
            span.inner->refs++;
    }
    struct digest all = digest_join((struct digest){ items->hash, items->power },
                                    digest_repeat(one, span.count));
    items->hash = all.hash;
    items->power = all.power;
    items->bytes += span.count * span.bytes;
    items->parts += span.count * span.parts;
    return true;
}

bool items_append(struct layout_items *items, enum basic basic, size_t bytes, size_t count)
{
    if (bytes == 0 || count == 0)
        return true;
    if (basic == BASIC_PACKED)
        items->wild = true;
    struct item_span span = { .count = count, .bytes = bytes, .parts = 1, .basic = basic };
    return items_append_span(items, span, digest_of_item(basic, bytes));
}

bool items_append_copies(struct layout_items *items, struct layout_items *old, size_t count)
{
    if (old->n == 0 || count == 0)
        return true;
    const struct item_span *only = old->spans;
    if (old->n == 1 && !only->inner)
        return items_append(items, only->basic, only->bytes, only->count * count);
    items->wild |= old->wild;
    struct item_span span = {
        .count = count, .bytes = old->bytes, .parts = old->parts, .inner = old
    };
    return items_append_span(items, span, (struct digest){ old->hash, old->power });
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

uint32_t items_signature(const struct layout_items *items, size_t count)
{
    if (items->wild || items->parts == 0 || count == 0)
        return 0;
    uint64_t hash = digest_repeat((struct digest){ items->hash, items->power }, count).hash;
    uint32_t signature = (uint32_t)((hash ^ hash >> 29) * ITEMS_BASE >> 32);
    return signature ? signature : 1;
}
