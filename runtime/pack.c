/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Moving bytes between memory seen through a layout and flat memory, in both directions, for
 * any range of the packed form.
 *
 *     packed   |--- run 0 ---|------ run 1 ------|-- run 2 --|
 *     range              skip ^------- bytes -------^
 *                             part | whole pieces | part
 *
 * The run that holds `skip` is found by binary search, the piece by a division; at most two
 * pieces are cut, the whole ones between them go through one loop.  Everything bottoms out in
 * strided_copy, whose loops know the usual piece lengths at compile time.  Nested layouts
 * recurse; elements made of single pieces are moved one run at a time over a block of elements
 * that stays in the first cache.
 *
 * Moves between two layouts bounce through a small block on the stack.
 */
#include "runtime/layout.h"
#include "runtime/layout_inside.h"

#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

enum {
    PACK_BLOCK_BYTES = 8192, /* elements moved together */
    PACK_BOUNCE_BYTES = 4096
};

/* Where pieces lie: the first one and the distance to the next. */
struct side {
    char *at;
    ptrdiff_t step;
};

/* ---- pieces ---- */

#define INLINE static inline __attribute__((always_inline))

/* Four at a time, addressed from one base: a pointer that moves on with every piece would allow
 * one piece per cycle at most. */
INLINE void fixed_loop(struct side to, struct side from, size_t length, size_t count)
{
    char *restrict t = to.at;
    const char *restrict f = from.at;
    for (; count >= 4; count -= 4, t += 4 * to.step, f += 4 * from.step) {
        memcpy(t, f, length);
        memcpy(t + to.step, f + from.step, length);
        memcpy(t + 2 * to.step, f + 2 * from.step, length);
        memcpy(t + 3 * to.step, f + 3 * from.step, length);
    }
    for (; count > 0; count--, t += to.step, f += from.step)
        memcpy(t, f, length);
}

/* `length` is a constant; so is, in most uses, one of the steps. */
INLINE void fixed_copy(struct side to, struct side from, size_t length, size_t count)
{
    if (to.step == (ptrdiff_t)length)
        fixed_loop((struct side){ to.at, (ptrdiff_t)length }, from, length, count);
    else if (from.step == (ptrdiff_t)length)
        fixed_loop(to, (struct side){ from.at, (ptrdiff_t)length }, length, count);
    else
        fixed_loop(to, from, length, count);
}

/* Copy `count` pieces of `length` bytes. */
static void strided_copy(struct side to, struct side from, size_t length, size_t count)
{
    switch (length) {
#define LENGTH(n)                                                                              \
    case n:                                                                                    \
        fixed_copy(to, from, n, count);                                                        \
        break
        LENGTH(1);
        LENGTH(2);
        LENGTH(4);
        LENGTH(8);
        LENGTH(12);
        LENGTH(16);
        LENGTH(24);
        LENGTH(32);
#undef LENGTH
    default:
        for (; count > 0; count--, to.at += to.step, from.at += from.step)
            memcpy(to.at, from.at, length);
    }
}

/* Copy `count` pieces between memory and the packed form. */
INLINE void strided_move(struct side mem, struct side flat, size_t length, size_t count,
                         bool pack)
{
    strided_copy(pack ? flat : mem, pack ? mem : flat, length, count);
}

/* ---- whole elements ---- */

static void elements_move(const struct layout *l, struct side mem, char *flat, size_t count,
                          bool pack);

/* The first `count` pieces of a run; `mem` is the origin of the first one. */
static void pieces_move(const struct run *run, char *mem, char *flat, size_t count, bool pack)
{
    struct side pieces = { mem, run->stride };
    if (run->inner)
        elements_move(run->inner, pieces, flat, count, pack);
    else
        strided_move(pieces, (struct side){ flat, (ptrdiff_t)run->length }, run->length, count,
                     pack);
}

/* One run of `count` elements, `mem` being their origins and `flat` their packed forms. */
static void run_move(const struct run *run, struct side mem, struct side flat, size_t count,
                     bool pack)
{
    mem.at = buffer_at(mem.at, run->offset);
    flat.at += run->packed;
    if (run->count == 1 && !run->inner) {
        strided_move(mem, flat, run->length, count, pack);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        pieces_move(run, mem.at, flat.at, run->count, pack);
        mem.at = buffer_at(mem.at, mem.step);
        flat.at += flat.step;
    }
}

static void elements_move(const struct layout *l, struct side mem, char *flat, size_t count,
                          bool pack)
{
    size_t block = PACK_BLOCK_BYTES / l->size ? PACK_BLOCK_BYTES / l->size : 1;
    while (count > 0) {
        size_t n = count < block ? count : block;
        for (size_t i = 0; i < l->nruns; i++)
            run_move(&l->runs[i], mem, (struct side){ flat, (ptrdiff_t)l->size }, n, pack);
        mem.at = buffer_at(mem.at, (ptrdiff_t)n * mem.step);
        flat += n * l->size;
        count -= n;
    }
}

/* ---- ranges ---- */

static void element_range(const struct layout *l, char *mem, size_t skip, char *flat,
                          size_t bytes, bool pack);

/* Bytes [skip, skip + bytes) of one piece. */
static void piece_range(const struct run *run, char *mem, size_t skip, char *flat, size_t bytes,
                        bool pack)
{
    if (run->inner)
        element_range(run->inner, mem, skip, flat, bytes, pack);
    else if (pack)
        memcpy(flat, mem + skip, bytes);
    else
        memcpy(mem + skip, flat, bytes);
}

/* Bytes [skip, skip + bytes) of one run; `mem` is the origin of the element. */
static void run_range(const struct run *run, char *mem, size_t skip, char *flat, size_t bytes,
                      bool pack)
{
    size_t piece = skip / run->length, inside = skip % run->length;
    mem = buffer_at(mem, run->offset + (ptrdiff_t)piece * run->stride);
    if (inside > 0) {
        size_t n = run->length - inside < bytes ? run->length - inside : bytes;
        piece_range(run, mem, inside, flat, n, pack);
        mem = buffer_at(mem, run->stride);
        flat += n;
        bytes -= n;
    }
    size_t whole = bytes / run->length, rest = bytes % run->length;
    if (whole > 0)
        pieces_move(run, mem, flat, whole, pack);
    if (rest > 0)
        piece_range(run, buffer_at(mem, (ptrdiff_t)whole * run->stride), 0,
                    flat + whole * run->length, rest, pack);
}

/* The run that holds packed byte `skip` of an element. */
static const struct run *run_seek(const struct layout *l, size_t skip)
{
    size_t low = 0, high = l->nruns;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (l->runs[middle].packed <= skip)
            low = middle;
        else
            high = middle;
    }
    return &l->runs[low];
}

static void element_range(const struct layout *l, char *mem, size_t skip, char *flat,
                          size_t bytes, bool pack)
{
    for (const struct run *run = run_seek(l, skip); bytes > 0; run++) {
        size_t inside = skip - run->packed;
        size_t left = run->length * run->count - inside;
        size_t n = left < bytes ? left : bytes;
        run_range(run, mem, inside, flat, n, pack);
        skip += n;
        flat += n;
        bytes -= n;
    }
}

/* A buffer is a run of elements; of plain pieces when its layout allows. */
static struct run buffer_run(const struct buffer *b)
{
    const struct layout *l = b->layout;
    struct run all;
    if (l->nruns == 1 && run_repeat(l->runs, b->count, l->extent, &all))
        return all;
    return (
        struct run){ .length = l->size, .count = b->count, .stride = l->extent, .inner = l };
}

static void buffer_move(const struct buffer *b, size_t skip, char *flat, size_t bytes,
                        bool pack)
{
    if (bytes == 0)
        return;
    struct run all = buffer_run(b);
    if (bytes == buffer_bytes(b)) /* skip is 0: no divisions */
        pieces_move(&all, buffer_at(b->base, all.offset), flat, all.count, pack);
    else
        run_range(&all, b->base, skip, flat, bytes, pack);
}

void buffer_pack(const struct buffer *from, size_t skip, void *flat, size_t bytes)
{
    buffer_move(from, skip, flat, bytes, true);
}

void buffer_unpack(const struct buffer *to, size_t skip, const void *flat, size_t bytes)
{
    buffer_move(to, skip, (char *)flat, bytes, false);
}

/* ---- between two layouts ---- */

/* As much of the stack block as keeps elements of `l` whole. */
static size_t bounce_bytes(const struct layout *l)
{
    return l->size < PACK_BOUNCE_BYTES ? PACK_BOUNCE_BYTES / l->size * l->size
                                       : PACK_BOUNCE_BYTES;
}

static void buffer_bounce(const struct buffer *to, const struct buffer *from, size_t bytes)
{
    char block[PACK_BOUNCE_BYTES] __attribute__((aligned(64)));
    size_t step = bounce_bytes(to->layout);
    for (size_t done = 0; done < bytes; done += step) {
        size_t n = bytes - done < step ? bytes - done : step;
        buffer_pack(from, done, block, n);
        buffer_unpack(to, done, block, n);
    }
}

void buffer_copy(const struct buffer *to, const struct buffer *from)
{
    size_t bytes = buffer_bytes(to), other = buffer_bytes(from);
    bytes = other < bytes ? other : bytes;
    if (bytes == 0)
        return;
    char *flat_to = buffer_flat(to), *flat_from = buffer_flat(from);
    if (flat_to && flat_from)
        memmove(flat_to, flat_from, bytes);
    else if (flat_to)
        buffer_pack(from, 0, flat_to, bytes);
    else if (flat_from)
        buffer_unpack(to, 0, flat_from, bytes);
    else
        buffer_bounce(to, from, bytes);
}
