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
 * the loops of copy.c.  Nested layouts recurse; elements made of several runs are moved one run
 * at a time over a block of elements that stays in the first cache, irregular ones piece by
 * piece.
 *
 * Moves between two layouts bounce through a small block on the stack.  Memory of a device is
 * moved by gpu_move.c.
 */
#include "runtime/layout.h"
#include "runtime/copy.h"
#include "runtime/gpu.h"
#include "runtime/layout_inside.h"

#include <string.h>

enum {
    PACK_BLOCK_BYTES = 8192, /* elements moved together */
    PACK_BOUNCE_BYTES = 4096
};

#define INLINE static inline __attribute__((always_inline))

/* ---- whole elements ---- */

static void elements_move(const struct layout *l, struct side mem, char *flat, size_t count,
                          bool pack);

/* `count` rows of the pieces of a run that is plain: `mem` and `flat` say where rows lie. */
static void rows_move(const struct run *run, struct side mem, struct side flat, size_t count,
                      bool pack)
{
    struct side pieces = { mem.at, run->stride }, row = { flat.at, (ptrdiff_t)run->length };
    if (run->count == 1)
        copy_pieces(pack ? flat : mem, pack ? mem : flat, run->length, count);
    else if (pack)
        copy_rows(row, pieces, run->length, run->count,
                  (struct rows){ count, flat.step, mem.step });
    else
        copy_rows(pieces, row, run->length, run->count,
                  (struct rows){ count, mem.step, flat.step });
}

/* The first `count` pieces of a run; `mem` is the origin of the first one. */
static void pieces_move(const struct run *run, char *mem, char *flat, size_t count, bool pack)
{
    struct side pieces = { mem, run->stride }, row = { flat, (ptrdiff_t)run->length };
    if (run->inner)
        elements_move(run->inner, pieces, flat, count, pack);
    else
        copy_pieces(pack ? row : pieces, pack ? pieces : row, run->length, count);
}

/* One run of `count` elements, `mem` being their origins and `flat` their packed forms. */
static void run_move(const struct run *run, struct side mem, struct side flat, size_t count,
                     bool pack)
{
    mem.at = buffer_at(mem.at, run->offset);
    flat.at += run->packed;
    if (!run->inner) {
        rows_move(run, mem, flat, count, pack);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        pieces_move(run, mem.at, flat.at, run->count, pack);
        mem.at = buffer_at(mem.at, mem.step);
        flat.at += flat.step;
    }
}

static void lists_move(const struct layout *l, struct side mem, char *flat, size_t count,
                       bool pack)
{
    for (size_t i = 0; i < count; i++, flat += l->size) {
        copy_list(l->list, 0, l->list->n, mem.at, flat, pack);
        mem.at = buffer_at(mem.at, mem.step);
    }
}

/* One element of several runs, most of them a single piece. */
static void single_move(const struct layout *l, struct side mem, char *flat, bool pack)
{
    struct side row = { flat, (ptrdiff_t)l->size };
    for (size_t i = 0; i < l->nruns; i++) {
        const struct run *run = &l->runs[i];
        char *at = buffer_at(mem.at, run->offset), *to = flat + run->packed;
        if (run->inner || run->count > 1)
            run_move(run, mem, row, 1, pack);
        else if (run->length <= COPY_SHORT)
            copy_short(pack ? to : at, pack ? at : to, run->length);
        else
            memcpy(pack ? to : at, pack ? at : to, run->length);
    }
}

/* Run by run over a block of elements that stays in the first cache. */
static void blocks_move(const struct layout *l, struct side mem, char *flat, size_t count,
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

static void elements_move(const struct layout *l, struct side mem, char *flat, size_t count,
                          bool pack)
{
    if (l->nruns == 1)
        run_move(l->runs, mem, (struct side){ flat, (ptrdiff_t)l->size }, count, pack);
    else if (l->list)
        lists_move(l, mem, flat, count, pack);
    else if (count == 1)
        single_move(l, mem, flat, pack);
    else
        blocks_move(l, mem, flat, count, pack);
}

/* ---- ranges ---- */

static void element_range(const struct layout *l, char *mem, size_t skip, char *flat,
                          size_t bytes, bool pack);

INLINE void bytes_move(char *mem, char *flat, size_t bytes, bool pack)
{
    memcpy(pack ? flat : mem, pack ? mem : flat, bytes);
}

/* Bytes [skip, skip + bytes) of one piece. */
static void piece_range(const struct run *run, char *mem, size_t skip, char *flat, size_t bytes,
                        bool pack)
{
    if (run->inner)
        element_range(run->inner, mem, skip, flat, bytes, pack);
    else
        bytes_move(buffer_at(mem, (ptrdiff_t)skip), flat, bytes, pack);
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

const struct run *run_at(const struct layout *l, size_t skip)
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

size_t spot_at(const struct spot_list *list, size_t skip)
{
    if (list->length)
        return skip / list->length;
    size_t low = 0, high = list->n + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (list->at[middle].packed <= skip)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Bytes [skip, skip + bytes) of an element with a list: the end of a piece, whole pieces, the
 * beginning of one. */
static void list_range(const struct spot_list *list, char *mem, size_t skip, char *flat,
                       size_t bytes, bool pack)
{
    size_t end = skip + bytes, first = spot_at(list, skip), last = spot_at(list, end);
    const struct spot *piece = &list->at[first];
    if (skip > piece->packed) {
        size_t inside = skip - piece->packed, left = piece[1].packed - skip;
        size_t n = left < bytes ? left : bytes;
        bytes_move(buffer_at(mem, piece->offset + (ptrdiff_t)inside), flat, n, pack);
        flat += n;
        skip += n;
        first++;
    }
    if (first > last)
        return;
    copy_list(list, first, last, mem, flat, pack);
    size_t rest = end - list->at[last].packed;
    if (rest > 0)
        bytes_move(buffer_at(mem, list->at[last].offset), flat + (list->at[last].packed - skip),
                   rest, pack);
}

static void runs_range(const struct layout *l, char *mem, size_t skip, char *flat, size_t bytes,
                       bool pack)
{
    for (const struct run *run = run_at(l, skip); bytes > 0; run++) {
        size_t inside = skip - run->packed;
        size_t left = run->length * run->count - inside;
        size_t n = left < bytes ? left : bytes;
        run_range(run, mem, inside, flat, n, pack);
        skip += n;
        flat += n;
        bytes -= n;
    }
}

static void element_range(const struct layout *l, char *mem, size_t skip, char *flat,
                          size_t bytes, bool pack)
{
    if (l->list)
        list_range(l->list, mem, skip, flat, bytes, pack);
    else
        runs_range(l, mem, skip, flat, bytes, pack);
}

struct run run_of(const struct buffer *b)
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
    if (__builtin_expect(b->where == AWAY, 0)) {
        gpu_move(b, skip, flat, bytes, pack);
        return;
    }
    char *solid = buffer_flat(b);
    if (solid) {
        bytes_move(solid + skip, flat, bytes, pack);
        return;
    }
    struct run all = run_of(b);
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
    if (__builtin_expect(to->where == AWAY || from->where == AWAY, 0)) {
        gpu_copy(to, from, bytes);
        return;
    }
    char *flat_to = buffer_flat(to), *flat_from = buffer_flat(from);
    if (flat_to && flat_from)
        copy_whole(flat_to, flat_from, bytes);
    else if (flat_to)
        buffer_pack(from, 0, flat_to, bytes);
    else if (flat_from)
        buffer_unpack(to, 0, flat_from, bytes);
    else
        buffer_bounce(to, from, bytes);
}
