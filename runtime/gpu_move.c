/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Moving bytes between memory of a device, seen through a layout, and flat memory of the host.  The
 * same walk as in pack.c, but each stretch is a copy of the driver, and all of them are waited for
 * once:
 *
 *     pieces at a regular distance    one copy of rows: vectors, columns of matrices
 *     many elements of few pieces     one copy of rows per piece: its place in each element
 *     anything else                   one copy per piece, or one kernel (gpu_pack.c)
 *
 * So vectors, vectors of vectors and structures cost about as much as flat data.  A copy per piece
 * takes some microseconds for each of them: where that is more than a few, a kernel moves all.
 *
 * Between two layouts that are not both in one piece the bytes bounce through the device, or, when
 * one side is not AWAY, through the host.
 */
#include "runtime/gpu.h"

#include "runtime/gpu_cuda.h"
#include "runtime/gpu_pack.h"
#include "runtime/gpu_reduce.h"
#include "runtime/gpu_turns.h"
#include "runtime/layout_inside.h"

#include <stdlib.h>

enum {
    GPU_BOUNCE_BYTES = 1 << 20,
    GPU_SMALL_BYTES = 4096,
    GPU_ROOM_BYTES = 4 << 20,
    GPU_PINNED_BYTES = 64 << 10,
    GPU_PASSED_BYTES = 32 << 10,
    GPU_PATIENCE = 256
};

/* ---- the walk ---- */

struct mover {
    char *flat; /* where the next packed byte is */
    bool pack;
};

static void bytes_start(struct mover *m, char *mem, size_t bytes)
{
    if (m->pack)
        gpu_start(m->flat, mem, bytes);
    else
        gpu_start(mem, m->flat, bytes);
    m->flat += bytes;
}

/* `count` pieces of a run, that lie `step` apart where they are packed. */
static void rows_between(const struct mover *m, char *flat, size_t step, char *mem,
                         const struct run *run, size_t count)
{
    struct gpu_rows rows = { .length = run->length, .count = count };
    rows.to = m->pack ? flat : mem;
    rows.to_step = m->pack ? (ptrdiff_t)step : run->stride;
    rows.from = m->pack ? mem : flat;
    rows.from_step = m->pack ? run->stride : (ptrdiff_t)step;
    gpu_start_rows(&rows);
}

static void rows_start(struct mover *m, char *mem, const struct run *run, size_t count)
{
    rows_between(m, m->flat, run->length, mem, run, count);
    m->flat += count * run->length;
}

static void element_range(struct mover *m, const struct layout *l, char *mem, size_t skip,
                          size_t bytes);

/* How many pieces an element has, and in how many copies it moves alone; 0: not known. */
static size_t element_pieces(const struct layout *l, size_t *copies)
{
    size_t pieces = 0;
    if (l->list)
        return *copies = l->list->n;
    *copies = l->nruns;
    for (size_t i = 0; i < l->nruns; i++) {
        if (l->runs[i].inner)
            return 0;
        pieces += l->runs[i].count;
    }
    return pieces;
}

/* One piece of each of `count` elements, `bytes` at `mem` in the first one. */
static void column_start(const struct mover *m, const struct run *run, char *mem, size_t packed,
                         size_t bytes, size_t count)
{
    struct run column = { .stride = run->stride, .length = bytes };
    rows_between(m, m->flat + packed, run->length, mem, &column, count);
}

static void columns_start(struct mover *m, const struct run *run, char *mem, size_t count)
{
    const struct layout *l = run->inner;
    for (size_t i = 0; l->list && i < l->list->n; i++) {
        const struct spot *spot = &l->list->at[i];
        column_start(m, run, buffer_at(mem, spot->offset), spot->packed,
                     spot[1].packed - spot->packed, count);
    }
    for (size_t i = 0; !l->list && i < l->nruns; i++) {
        const struct run *in = &l->runs[i];
        for (size_t k = 0; k < in->count; k++)
            column_start(m, run, buffer_at(mem, in->offset + (ptrdiff_t)k * in->stride),
                         in->packed + k * in->length, in->length, count);
    }
    m->flat += count * run->length;
}

/* The first `count` pieces of a run; `mem` is the origin of the first one. */
static void pieces_start(struct mover *m, const struct run *run, char *mem, size_t count)
{
    size_t copies, pieces = run->inner ? element_pieces(run->inner, &copies) : 0;
    if (!run->inner && count > 1) {
        rows_start(m, mem, run, count);
        return;
    }
    if (pieces > 0 && pieces < count * copies) {
        columns_start(m, run, mem, count);
        return;
    }
    for (size_t i = 0; i < count; i++, mem = buffer_at(mem, run->stride)) {
        if (run->inner)
            element_range(m, run->inner, mem, 0, run->length);
        else
            bytes_start(m, mem, run->length);
    }
}

/* Bytes [skip, skip + bytes) of one piece. */
static void piece_range(struct mover *m, const struct run *run, char *mem, size_t skip,
                        size_t bytes)
{
    if (bytes == 0)
        return;
    if (run->inner)
        element_range(m, run->inner, mem, skip, bytes);
    else
        bytes_start(m, buffer_at(mem, (ptrdiff_t)skip), bytes);
}

/* Bytes [skip, skip + bytes) of one run; `mem` is the origin of the element. */
static void run_range(struct mover *m, const struct run *run, char *mem, size_t skip,
                      size_t bytes)
{
    size_t piece = skip / run->length, inside = skip % run->length;
    mem = buffer_at(mem, run->offset + (ptrdiff_t)piece * run->stride);
    if (inside > 0) {
        size_t n = run->length - inside < bytes ? run->length - inside : bytes;
        piece_range(m, run, mem, inside, n);
        mem = buffer_at(mem, run->stride);
        bytes -= n;
    }
    size_t whole = bytes / run->length;
    pieces_start(m, run, mem, whole);
    piece_range(m, run, buffer_at(mem, (ptrdiff_t)whole * run->stride), 0, bytes % run->length);
}

/* Bytes [skip, skip + bytes) of an element with a list. */
static void list_range(struct mover *m, const struct spot_list *list, char *mem, size_t skip,
                       size_t bytes)
{
    for (size_t i = spot_at(list, skip); bytes > 0; i++) {
        size_t inside = skip - list->at[i].packed, left = list->at[i + 1].packed - skip;
        size_t n = left < bytes ? left : bytes;
        bytes_start(m, buffer_at(mem, list->at[i].offset + (ptrdiff_t)inside), n);
        skip += n;
        bytes -= n;
    }
}

static void runs_range(struct mover *m, const struct layout *l, char *mem, size_t skip,
                       size_t bytes)
{
    for (const struct run *run = run_at(l, skip); bytes > 0; run++) {
        size_t inside = skip - run->packed, left = run->length * run->count - inside;
        size_t n = left < bytes ? left : bytes;
        run_range(m, run, mem, inside, n);
        skip += n;
        bytes -= n;
    }
}

static void element_range(struct mover *m, const struct layout *l, char *mem, size_t skip,
                          size_t bytes)
{
    if (l->list)
        list_range(m, l->list, mem, skip, bytes);
    else
        runs_range(m, l, mem, skip, bytes);
}

void gpu_move_start(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                    bool pack)
{
    struct mover m = { flat, pack };
    char *solid = buffer_solid(buffer);
    struct run all;
    if (solid) {
        bytes_start(&m, solid + skip, bytes);
    } else if (!gpu_pack_start(buffer, skip, flat, bytes, pack)) {
        all = run_of(buffer);
        run_range(&m, &all, buffer->base, skip, bytes);
    }
}

/* `flat` may be a device's. */
static void move_now(const struct buffer *buffer, size_t skip, char *flat, size_t bytes,
                     bool pack)
{
    if (gpu_pack_by_room(buffer, skip, flat, bytes, pack))
        return;
    gpu_move_start(buffer, skip, flat, bytes, pack);
    gpu_finish();
}

/* Pinned memory for a move that is short.  Copies from a device take 2 us less to there, and half the time if
 * they are longer; those to a device are as quick from anywhere while the driver passes the bytes with the
 * command. */
static char *bounce_take(const void *near, size_t bytes, bool serves)
{
    static unsigned patience; /* moves that go without, as there was nothing to be had */
    if (bytes > GPU_PINNED_BYTES || !serves)
        return NULL;
    if (patience > 0) {
        patience--;
        return NULL;
    }
    char *bounce = gpu_room_take_pinned(GPU_PINNED_BYTES, near);
    patience = bounce ? 0 : GPU_PATIENCE;
    return bounce;
}

/* Two rows are fetched from pinned memory by an engine that works for all at a time, where a command would bring
 * them; a last odd byte goes once more with the one before it. */
static void rows_bring(char *to, const char *pinned, size_t bytes)
{
    ptrdiff_t half = (ptrdiff_t)(bytes / 2);
    gpu_start_rows(&(struct gpu_rows){ to, pinned, half, half, (size_t)half, 2 });
    if (bytes % 2)
        gpu_start_rows(&(struct gpu_rows){ to + bytes - 2, pinned + bytes - 2, 1, 1, 1, 2 });
    gpu_finish();
}

/* From pinned memory, `by_rows` where that can be. */
static void bring(const struct buffer *buffer, size_t skip, char *pinned, size_t bytes,
                  bool by_rows)
{
    char *solid = buffer_solid(buffer);
    if (by_rows && solid && bytes > 1)
        rows_bring(solid + skip, pinned, bytes);
    else
        move_now(buffer, skip, pinned, bytes, false);
}

/* What goes into a stream of the program comes from pinned memory, or goes there. */
void gpu_move(const struct buffer *buffer, size_t skip, char *flat, size_t bytes, bool pack)
{
    const char *near = buffer_at(buffer->base, buffer->layout->true_lb);
    bool passed =
        !pack && bytes < GPU_PASSED_BYTES; /* a command takes a turn of the device, 130 us */
    bool by_rows = passed && gpu_turns(near) > 1, queued = cuda_queue_is_open();
    char *bounce = bounce_take(near, bytes, !queued && (!passed || by_rows));
    if (pack && bounce) {
        move_now(buffer, skip, bounce, bytes, true);
        memcpy(flat, bounce, bytes);
    } else if (bounce) {
        memcpy(bounce, flat, bytes);
        bring(buffer, skip, bounce, bytes, by_rows);
    } else if (queued && by_rows) {
        bring(buffer, skip, flat, bytes, true);
    } else {
        move_now(buffer, skip, flat, bytes, pack);
    }
    gpu_room_give(bounce);
}

/* ---- between two buffers ---- */

static void bounce(const struct buffer *to, const struct buffer *from, size_t bytes,
                   char *block, size_t step)
{
    for (size_t done = 0; done < bytes; done += step) {
        size_t n = bytes - done < step ? bytes - done : step;
        buffer_pack(from, done, block, n);
        buffer_unpack(to, done, block, n);
    }
}

static void bounce_by_host(const struct buffer *to, const struct buffer *from, size_t bytes)
{
    char small[GPU_SMALL_BYTES];
    char *block = bytes > sizeof small ? malloc(GPU_BOUNCE_BYTES) : NULL;
    if (block)
        bounce(to, from, bytes, block, GPU_BOUNCE_BYTES);
    else
        bounce(to, from, bytes, small, sizeof small);
    free(block);
}

/* Both are AWAY.  False: the device has no room. */
static bool bounce_by_device(const struct buffer *to, const struct buffer *from, size_t bytes)
{
    size_t step = bytes < GPU_ROOM_BYTES ? bytes : GPU_ROOM_BYTES;
    char *room = gpu_room_take(step, buffer_at(from->base, from->layout->true_lb));
    for (size_t done = 0; room && done < bytes; done += step) {
        size_t n = bytes - done < step ? bytes - done : step;
        move_now(from, done, room, n, true);
        move_now(to, done, room, n, false);
    }
    gpu_room_give(room);
    return room;
}

void gpu_copy(const struct buffer *to, const struct buffer *from, size_t bytes)
{
    char *solid_to = buffer_solid(to), *solid_from = buffer_solid(from);
    if (solid_to && solid_from && to->where == AWAY && from->where == HERE &&
        bytes < GPU_PASSED_BYTES) {
        gpu_move(to, 0, solid_from, bytes, false);
    } else if (solid_to && solid_from) {
        gpu_start(solid_to, solid_from, bytes);
        gpu_finish();
    } else if (solid_to && from->where == AWAY) {
        move_now(from, 0, solid_to, bytes, true);
    } else if (solid_from && to->where == AWAY) {
        move_now(to, 0, solid_from, bytes, false);
    } else if (to->where == HERE || from->where == HERE || !bounce_by_device(to, from, bytes)) {
        bounce_by_host(to, from, bytes);
    }
}

/* ---- asking ---- */

/* Both ends of a run, as two pieces anywhere are one; all pieces of a list. */
static bool runs_are_away(const struct layout *l)
{
    for (size_t i = 0; i < l->nruns; i++) {
        const struct run *run = &l->runs[i];
        ptrdiff_t first = run->offset + (run->inner ? run->inner->true_lb : 0);
        ptrdiff_t last = first + (ptrdiff_t)(run->count - 1) * run->stride;
        if (gpu_holds(buffer_at(NULL, first)) || gpu_holds(buffer_at(NULL, last)))
            return true;
    }
    for (size_t i = 0; l->list && i < l->list->n; i++)
        if (gpu_holds(buffer_at(NULL, l->list->at[i].offset)))
            return true;
    return false;
}

enum where gpu_where(const void *base, const struct layout *layout)
{
    if (!gpu_is_here())
        return HERE;
    if (!base && layout)
        return runs_are_away(layout) ? AWAY : HERE;
    return gpu_holds(buffer_at(base, layout ? layout->true_lb : 0)) ? AWAY : HERE;
}
