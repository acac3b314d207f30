/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes and buffers for random programs whose ranks know what has to arrive.
 *
 * A message is a key and a number of units; unit i of it is what unit_of says, so whoever knows the key
 * knows all of it.  A layout is a datatype as units: where each lies, the first to be sent first.  A
 * buffer has an image: what all of its bytes must be, those in gaps and beside its ends too.
 */
#ifndef RANDOM_DATA_H
#define RANDOM_DATA_H

#include "chance.h"

static inline uint64_t key_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return mixed(mixed(mixed(mixed(a + 77) + b) + c) + d);
}

/* ---- datatypes ---- */

enum { BYTES, WORDS, LONGS, BASES };
enum { MOST_PARTS = 4, GRAIN = 12 /* units that are whole elements of every layout */ };
enum { DENSE, GAPS, BELOW, DOWN, TWICE, CROSSED, BACKWARDS, SPARSE, LAYOUTS };

static struct layout {
    const char *name;
    int units, at[MOST_PARTS], extent, low; /* in units; low is the lower bound */
    MPI_Datatype types[BASES];
} layouts[LAYOUTS] = {
    { "dense", 1, { 0 }, 1, 0, { 0 } },
    { "with gaps", 1, { 0 }, 3, 0, { 0 } },
    { "below", 1, { -1 }, 2, -1, { 0 } },
    { "downwards", 1, { 0 }, -2, 0, { 0 } },
    { "twice", 2, { 0, 1 }, 2, 0, { 0 } },
    { "crossed", 2, { 0, 5 }, 2, 0, { 0 } },
    { "backwards", 3, { 2, 0, -1 }, 4, -1, { 0 } },
    { "sparse", 4, { 0, 1, 3, 6 }, 8, 0, { 0 } },
};

static const int base_bytes[BASES] = { 1, 4, 8 };

static inline MPI_Datatype make_type(const struct layout *l, MPI_Datatype base, int bytes)
{
    MPI_Datatype parts, type;
    MPI_Aint at[MOST_PARTS];
    if (l == &layouts[DENSE])
        return base;
    for (int i = 0; i < l->units; i++)
        at[i] = l->at[i] * bytes;
    if (l == &layouts[TWICE])
        CHECK_OK(MPI_Type_contiguous(2, base, &parts));
    else if (l == &layouts[CROSSED])
        CHECK_OK(MPI_Type_vector(2, 1, 5, base, &parts));
    else
        CHECK_OK(MPI_Type_create_hindexed_block(l->units, 1, at, base, &parts));
    CHECK_OK(MPI_Type_create_resized(parts, l->low * bytes, l->extent * bytes, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_free(&parts));
    return type;
}

static inline void make_layouts(void)
{
    MPI_Datatype bases[BASES] = { MPI_CHAR, MPI_INT32_T, MPI_DOUBLE };
    for (int l = 0; l < LAYOUTS; l++)
        for (int b = 0; b < BASES; b++)
            layouts[l].types[b] = make_type(&layouts[l], bases[b], base_bytes[b]);
}

static inline void free_layouts(void)
{
    for (int l = DENSE + 1; l < LAYOUTS; l++)
        for (int b = 0; b < BASES; b++)
            CHECK_OK(MPI_Type_free(&layouts[l].types[b]));
}

/* One whose elements a message of so many units fills. */
static inline const struct layout *draw_layout(uint64_t *state, long units)
{
    return &layouts[units % GRAIN ? draw(state, TWICE) : draw(state, LAYOUTS)];
}

/* ---- buffers ---- */

enum { MARGIN = 40, BLANK = 0x5a, MOST_BLOCKS = 64 };

/* Some elements, from a place of a buffer on. */
struct block {
    const struct layout *layout;
    int base, elements;
    long at; /* of the first element, in bytes from where the buffer begins for MPI */
};

struct buffer {
    int n;
    struct block blocks[MOST_BLOCKS];
    char *memory, *image;
    void *start; /* what MPI is told */
    size_t bytes;
    long low; /* of the first byte of a block, from start */
};

static inline MPI_Datatype type_of(const struct block *b)
{
    return b->layout->types[b->base];
}

static inline long units_in(const struct block *b)
{
    return (long)b->elements * b->layout->units;
}

/* Where unit i is, from the start of the buffer. */
static inline long place(const struct block *b, long i)
{
    const struct layout *l = b->layout;
    return b->at + (i / l->units * l->extent + l->at[i % l->units]) * base_bytes[b->base];
}

/* The first byte of a block and the one behind it. */
static inline void span(const struct block *b, long *low, long *high)
{
    long ends[2] = { 0, b->elements - 1 };
    *low = *high = b->at;
    for (int e = 0; e < 2 && b->elements; e++)
        for (int p = 0; p < b->layout->units; p++) {
            long at = place(b, ends[e] * b->layout->units + p);
            *low = at < *low ? at : *low;
            *high = at + base_bytes[b->base] > *high ? at + base_bytes[b->base] : *high;
        }
}

/* Memory for the blocks, BLANK. */
static inline void buffer_open(struct buffer *b)
{
    long low = 0, high = 0, from, to;
    for (int i = 0; i < b->n; i++) {
        span(&b->blocks[i], &from, &to);
        low = from < low ? from : low;
        high = to > high ? to : high;
    }
    b->low = low;
    b->bytes = (size_t)(high - low) + 2 * MARGIN;
    b->memory = malloc(b->bytes);
    b->image = malloc(b->bytes);
    CHECK(b->memory && b->image);
    b->start = b->memory + MARGIN - low;
}

static inline void buffer_blank(struct buffer *b)
{
    memset(b->memory, BLANK, b->bytes);
    memset(b->image, BLANK, b->bytes);
}

static inline void buffer_close(struct buffer *b)
{
    free(b->memory);
    free(b->image);
    b->memory = b->image = NULL;
}

static inline uint64_t unit_of(uint64_t key, long i)
{
    return mixed(key + (uint64_t)i);
}

/* Units of a message into the image and, where it is input, the memory as well. */
static inline void buffer_put(struct buffer *b, int block, uint64_t key, long from, long to,
                              bool input)
{
    const struct block *k = &b->blocks[block];
    size_t bytes = (size_t)base_bytes[k->base];
    for (long i = from; i < to; i++) {
        uint64_t value = unit_of(key, i);
        long at = MARGIN - b->low + place(k, i);
        memcpy(b->image + at, &value, bytes);
        if (input)
            memcpy(b->memory + at, &value, bytes);
    }
}

/* These units are nobody's concern. */
static inline void buffer_accept(struct buffer *b, int block, long from, long to)
{
    const struct block *k = &b->blocks[block];
    for (long i = from; i < to; i++) {
        long at = MARGIN - b->low + place(k, i);
        memcpy(b->image + at, b->memory + at, (size_t)base_bytes[k->base]);
    }
}

/* Is every byte as it should be?  If not, what says which. */
static inline bool buffer_good(const struct buffer *b, char *what, size_t room)
{
    size_t at = 0;
    if (!memcmp(b->memory, b->image, b->bytes))
        return true;
    while (b->memory[at] == b->image[at])
        at++;
    snprintf(what, room, "byte %ld of its buffer is %02x, not %02x, outside of all units",
             (long)at - MARGIN + b->low, b->memory[at] & 0xff, b->image[at] & 0xff);
    for (int k = 0; k < b->n; k++)
        for (long i = 0; i < units_in(&b->blocks[k]); i++) {
            long from = MARGIN - b->low + place(&b->blocks[k], i);
            if ((long)at >= from && (long)at < from + base_bytes[b->blocks[k].base])
                snprintf(what, room, "unit %ld of block %d is wrong: byte %02x, not %02x", i, k,
                         b->memory[at] & 0xff, b->image[at] & 0xff);
        }
    return false;
}

#endif
