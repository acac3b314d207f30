/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the bytes of a layout are: the sequence of its basic items in type map order, compressed
 * into spans.  A span repeats one item, or an inner sequence, `count` times, so a million times
 * { int, double } costs two sequences.  Pairs of the LOC operations are entered as their two
 * parts, which is how MPI_Get_elements counts them.
 */
#include "runtime/layout_inside.h"

#include <stdlib.h>
#include <string.h>

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

bool items_append(struct layout_items *items, enum basic basic, size_t bytes)
{
    if (bytes == 0)
        return true;
    return items_extend(items, 1, basic, bytes, 1, NULL);
}

bool items_append_copies(struct layout_items *items, struct layout_items *old, size_t count)
{
    if (old->n == 0 || count == 0)
        return true;
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
