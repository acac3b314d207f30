/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing, unpacking and copying of random ranges of random datatypes, byte by byte against the
 * type map; here and on a device, of which the driver is a pretended one (test/device).
 */
#include "runtime/copy.h"
#include "runtime/gpu.h"
#include "test/device/fake.h"

#include "typemap.h"

/* A buffer of `count` elements in its own memory, with the address of each packed byte. */
struct sample {
    struct twin type;
    struct buffer buffer;
    size_t bytes, span;
    char *storage;
    size_t *where; /* packed byte -> index in storage */
    bool overlaps; /* some byte of memory appears twice */
};

static void sample_locate(struct sample *s, ptrdiff_t low)
{
    bool *seen = calloc(s->span + 1, 1);
    size_t at = 0;
    for (size_t k = 0; k < s->buffer.count; k++)
        for (size_t i = 0; i < s->type.map.n; i++) {
            const struct entry *e = &s->type.map.entries[i];
            ptrdiff_t origin = (ptrdiff_t)k * map_extent(&s->type.map) + e->at - low;
            for (size_t j = 0; j < e->size; j++, at++) {
                s->where[at] = (size_t)origin + j;
                s->overlaps |= seen[s->where[at]];
                seen[s->where[at]] = true;
            }
        }
    ck_assert_uint_eq(at, s->bytes);
    free(seen);
}

static struct sample sample_random(int depth)
{
    struct sample s = { .type = twin_random(depth) };
    size_t count = (size_t)chance(0, 5);
    s.bytes = count * map_bytes(&s.type.map);
    ptrdiff_t low;
    s.span = layout_span(s.type.layout, count, &low);
    s.storage = malloc(s.span + 1);
    s.where = malloc((s.bytes + 1) * sizeof *s.where);
    s.buffer = (struct buffer){ buffer_at(s.storage, -low), count, s.type.layout, HERE };
    sample_locate(&s, low);
    return s;
}

static void sample_drop(struct sample *s)
{
    twin_drop(&s->type);
    free(s->storage);
    free(s->where);
}

static void fill_randomly(char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (char)chance(-128, 127);
}

/* A range [skip, skip + bytes) inside the packed form, often all of it. */
static void chance_range(size_t all, size_t *skip, size_t *bytes)
{
    *skip = chance(0, 2) ? (size_t)chance(0, (ptrdiff_t)all) : 0;
    *bytes = chance(0, 2) ? (size_t)chance(0, (ptrdiff_t)(all - *skip)) : all - *skip;
}

static void check_pack(const struct sample *s)
{
    size_t skip, bytes;
    chance_range(s->bytes, &skip, &bytes);
    char *flat = malloc(bytes + 2);
    memset(flat, 0x5a, bytes + 2);
    buffer_pack(&s->buffer, skip, flat + 1, bytes);
    for (size_t i = 0; i < bytes; i++)
        ck_assert_int_eq(flat[1 + i], s->storage[s->where[skip + i]]);
    ck_assert_int_eq(flat[0], 0x5a);
    ck_assert_int_eq(flat[bytes + 1], 0x5a);
    free(flat);
}

static void check_unpack(const struct sample *s)
{
    size_t skip, bytes;
    chance_range(s->bytes, &skip, &bytes);
    char *flat = malloc(bytes + 1), *expected = malloc(s->span + 1);
    fill_randomly(flat, bytes);
    memcpy(expected, s->storage, s->span);
    for (size_t i = 0; i < bytes; i++)
        expected[s->where[skip + i]] = flat[i];
    buffer_unpack(&s->buffer, skip, flat, bytes);
    ck_assert_int_eq(memcmp(expected, s->storage, s->span), 0);
    free(flat);
    free(expected);
}

static void check_copy(const struct sample *to, const struct sample *from)
{
    size_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;
    char *expected = malloc(to->span + 1);
    memcpy(expected, to->storage, to->span);
    for (size_t i = 0; i < bytes; i++)
        expected[to->where[i]] = from->storage[from->where[i]];
    buffer_copy(&to->buffer, &from->buffer);
    ck_assert_int_eq(memcmp(expected, to->storage, to->span), 0);
    free(expected);
}

static void check_flat(const struct sample *s)
{
    char *flat = buffer_flat(&s->buffer);
    if (flat)
        for (size_t i = 0; i < s->bytes; i++)
            ck_assert_ptr_eq(flat + i, s->storage + s->where[i]);
}

/* The same data, where no processor can touch them. */
static void sample_send_away(struct sample *s)
{
    s->buffer.base = buffer_at(s->buffer.base, (ptrdiff_t)FAKE_DEVICE);
    s->buffer.where = AWAY;
}

static void check_random_ranges(int rounds, bool device)
{
    chance_seed();
    for (int round = 0; round < rounds; round++) {
        struct sample a = sample_random(round % 5), b = sample_random(round / 5 % 5);
        if (device && round % 3 != 1)
            sample_send_away(&a);
        if (device && round % 3 != 2)
            sample_send_away(&b);
        fill_randomly(a.storage, a.span);
        fill_randomly(b.storage, b.span);
        check_flat(&a);
        for (int i = 0; i < 4; i++) {
            check_pack(&a);
            if (!a.overlaps)
                check_unpack(&a);
        }
        if (!b.overlaps)
            check_copy(&b, &a);
        sample_drop(&a);
        sample_drop(&b);
    }
}

START_TEST(random_ranges_move_the_right_bytes)
{
    check_random_ranges(3000, false);
}
END_TEST

START_TEST(random_ranges_of_a_device)
{
    setenv("XMPI_LIBCUDA", FAKE_DRIVER, 1);
    ck_assert(gpu_is_here());
    check_random_ranges(2000, true);
    ck_assert_int_eq(gpu_check(), 0);
}
END_TEST

static void check_vector(size_t length, ptrdiff_t stride, size_t pieces)
{
    struct layout *l = layout_vector(pieces, length, stride, &layout_bytes);
    size_t span = (size_t)stride * pieces;
    char *memory = malloc(span), *again = calloc(span, 1), *flat = malloc(length * pieces);
    fill_randomly(memory, span);
    buffer_pack(&(struct buffer){ memory, 1, l, HERE }, 0, flat, length * pieces);
    buffer_unpack(&(struct buffer){ again, 1, l, HERE }, 0, flat, length * pieces);
    for (size_t i = 0; i < pieces; i++) {
        size_t at = i * (size_t)stride;
        ck_assert_int_eq(memcmp(flat + i * length, memory + at, length), 0);
        ck_assert_int_eq(memcmp(again + at, memory + at, length), 0);
        for (size_t j = length; j < (size_t)stride; j++)
            if (again[at + j])
                ck_abort_msg("byte %zu behind piece %zu was written", j, i);
    }
    free(memory);
    free(again);
    free(flat);
    layout_drop(l);
}

/* Every loop of copy.c, long enough for vectors, in both directions. */
START_TEST(every_piece_length_is_copied)
{
    for (size_t length = 1; length <= 150; length++)
        for (ptrdiff_t gap = 0; gap < 20; gap += 7)
            check_vector(length, (ptrdiff_t)length + gap, 300);
}
END_TEST

START_TEST(pieces_far_apart_are_copied)
{
    for (size_t length = 1; length <= 20; length++)
        check_vector(length, 1024 + 8 * (ptrdiff_t)length, 1501);
}
END_TEST

/* Hundreds of blocks at irregular places, of one length, of two, or of any; whole and in parts. */
static struct layout *list_random(ptrdiff_t *offsets, size_t *lengths, size_t n, int kind)
{
    const struct layout *const bytes[] = { &layout_bytes };
    ptrdiff_t next = chance(-3000, 0), unit = chance(1, 40);
    for (size_t i = 0; i < n; i++) {
        lengths[i] = (size_t)(kind == 0   ? unit
                              : kind == 1 ? unit * chance(1, 2)
                                          : chance(1, chance(0, 9) ? 20 : 200));
        offsets[i] = next;
        next += (ptrdiff_t)lengths[i] + (chance(0, 9) ? chance(0, 50) : 0);
    }
    return layout_blocks(n, lengths, offsets, bytes, true);
}

/* `want` is the packed form by the definition, of elements at offsets from base. */
static void check_list(const struct layout *l, const char *want, char *base, size_t count)
{
    struct buffer buffer = { base, count, l, HERE };
    size_t all = buffer_bytes(&buffer), skip, bytes;
    char *flat = malloc(all + 1);
    for (int i = 0; i < 20; i++) {
        chance_range(all, &skip, &bytes);
        flat[bytes] = 0x5a;
        buffer_pack(&buffer, skip, flat, bytes);
        ck_assert_int_eq(memcmp(flat, want + skip, bytes), 0);
        ck_assert_int_eq(flat[bytes], 0x5a);
        buffer_unpack(&buffer, skip, flat, bytes);
    }
    free(flat);
}

START_TEST(irregular_lists_move_the_right_bytes)
{
    enum { BLOCKS = 400, ELEMENTS = 3 };
    ptrdiff_t offsets[BLOCKS];
    size_t lengths[BLOCKS], lists = 0;
    chance_seed();
    for (int round = 0; round < 150; round++) {
        size_t n = (size_t)chance(1, BLOCKS), at = 0;
        struct layout *made = list_random(offsets, lengths, n, round % 3), *l = made;
        if (round % 2)
            l = layout_resized(made, made->lb, made->extent + 16);
        size_t span = (size_t)l->extent * ELEMENTS;
        char *memory = malloc(span), *again = malloc(span), *want = malloc(l->size * ELEMENTS);
        fill_randomly(memory, span);
        for (size_t k = 0; k < ELEMENTS; k++)
            for (size_t i = 0; i < n; at += lengths[i], i++)
                memcpy(want + at, memory - l->lb + (ptrdiff_t)k * l->extent + offsets[i],
                       lengths[i]);
        memcpy(again, memory, span);
        check_list(l, want, memory - l->lb, ELEMENTS);
        ck_assert_int_eq(memcmp(again, memory, span), 0); /* unpacked what was there */
        buffer_unpack(&(struct buffer){ memory - l->lb, 1, l, HERE }, 0, want + l->size,
                      l->size);
        buffer_pack(&(struct buffer){ memory - l->lb, 1, l, HERE }, 0, want, l->size);
        ck_assert_int_eq(memcmp(want, want + l->size, l->size), 0);
        lists += l->list != NULL;
        if (l != made)
            layout_drop(made);
        layout_drop(l);
        free(memory);
        free(again);
        free(want);
    }
    ck_assert_uint_gt(lists, 100);
}
END_TEST

/* Absolute addresses in the type, MPI_BOTTOM as the buffer. */
START_TEST(bottom_works_with_absolute_layouts)
{
    int x = 17, y = 42, got[2] = { 0, 0 };
    struct layout *one = layout_basic(BASIC_INT32, 4, 4);
    const struct layout *const ints[] = { one };
    const ptrdiff_t offsets[] = { (ptrdiff_t)&y, (ptrdiff_t)&x };
    struct layout *l = layout_blocks(2, (size_t[]){ 1, 1 }, offsets, ints, true);
    buffer_pack(&(struct buffer){ NULL, 1, l, HERE }, 0, got, sizeof got);
    ck_assert_int_eq(got[0], 42);
    ck_assert_int_eq(got[1], 17);
    struct layout *single = layout_blocks(1, (size_t[]){ 1 }, offsets, ints, true);
    ck_assert_ptr_eq(buffer_flat(&(struct buffer){ NULL, 1, single, HERE }), &y);
    layout_drop(single);
    layout_drop(l);
    layout_drop(one);
}
END_TEST

/* Pipelines cut a buffer into chunks of any size. */
START_TEST(chunks_join_without_a_seam)
{
    chance_seed();
    for (int round = 0; round < 200; round++) {
        struct sample s = sample_random(3);
        fill_randomly(s.storage, s.span);
        char *whole = malloc(s.bytes + 1), *parts = malloc(s.bytes + 1);
        buffer_pack(&s.buffer, 0, whole, s.bytes);
        size_t chunk = (size_t)chance(1, 60);
        for (size_t at = 0; at < s.bytes; at += chunk) {
            size_t n = s.bytes - at < chunk ? s.bytes - at : chunk;
            buffer_pack(&s.buffer, at, parts + at, n);
        }
        ck_assert_int_eq(memcmp(whole, parts, s.bytes), 0);
        free(whole);
        free(parts);
        sample_drop(&s);
    }
}
END_TEST

START_TEST(streams_begin_and_end_anywhere)
{
    enum { ROOM = 512 };
    char from[ROOM], to[ROOM], want[ROOM];
    fill_randomly(from, ROOM);
    for (size_t skip = 0; skip < 65; skip++)
        for (size_t bytes = 0; bytes < 200; bytes += 1 + bytes % 7) {
            fill_randomly(to, ROOM);
            memcpy(want, to, ROOM);
            memcpy(want + skip, from + 3 * skip, bytes);
            copy_streamed(to + skip, from + 3 * skip, bytes);
            ck_assert_int_eq(memcmp(to, want, ROOM), 0);
        }
}
END_TEST

START_TEST(long_pieces_may_overlap)
{
    enum { ROOM = 1000, BYTES = 800 };
    char memory[ROOM], from[ROOM];
    for (int shift = -ROOM / 10; shift <= ROOM / 10; shift++) {
        fill_randomly(from, ROOM);
        memcpy(memory, from, ROOM);
        copy_limited(memory + 100 + shift, memory + 100, BYTES, 1);
        ck_assert_int_eq(memcmp(memory + 100 + shift, from + 100, BYTES), 0);
    }
}
END_TEST

UNIT_MAIN("pack", random_ranges_move_the_right_bytes, random_ranges_of_a_device,
          every_piece_length_is_copied, pieces_far_apart_are_copied,
          irregular_lists_move_the_right_bytes, bottom_works_with_absolute_layouts,
          chunks_join_without_a_seam, streams_begin_and_end_anywhere, long_pieces_may_overlap)
