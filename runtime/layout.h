/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A datatype as memory.  A layout describes where the bytes of one element lie: a list of runs,
 * each `count` pieces of `length` bytes, `stride` apart.  Neighbouring pieces and equal strides
 * are merged when a layout is made, so a vector of doubles is one run and a dense struct is one
 * piece.  Many pieces without a rule are a list of places instead (layout_list.c).  A piece is plain memory or, where repetition does not collapse, an element of an
 * inner layout: memory grows with the description of a type, never with its counts.
 *
 *     vector of doubles       run { length 8, count n, stride s }
 *     array of { int, double} run { length 12, count n, stride 16 } -> inner: {0,4} {8,8}
 *
 * The packed form of a buffer is the bytes of all runs in type map order, element after
 * element; any byte range of it can be packed or unpacked on its own, which is what pipelines
 * and truncation need.
 */
#ifndef XMPI_LAYOUT_H
#define XMPI_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The machine types that reductions know. */
enum basic {
    BASIC_NONE, /* empty, or a mixture */
    BASIC_INT8,
    BASIC_INT16,
    BASIC_INT32,
    BASIC_INT64,
    BASIC_UINT8,
    BASIC_UINT16,
    BASIC_UINT32,
    BASIC_UINT64,
    BASIC_INT128,
    BASIC_FLOAT16, /* IEEE binary16 */
    BASIC_BFLOAT16,
    BASIC_FLOAT,
    BASIC_DOUBLE,
    BASIC_LONG_DOUBLE,
    BASIC_FLOAT128, /* IEEE binary128 */
    BASIC_FLOAT16_COMPLEX,
    BASIC_FLOAT_COMPLEX,
    BASIC_DOUBLE_COMPLEX,
    BASIC_LONG_DOUBLE_COMPLEX,
    BASIC_FLOAT128_COMPLEX,
    BASIC_BOOL, /* C and C++ bool */
    BASIC_LOGICAL8,
    BASIC_LOGICAL16,
    BASIC_LOGICAL32,
    BASIC_LOGICAL64,
    BASIC_LOGICAL128, /* Fortran, by bits */
    BASIC_BYTE,       /* MPI_BYTE: bit operations */
    BASIC_CHAR,       /* text of Fortran: no operations */
    BASIC_WCHAR,
    BASIC_PACKED,
    BASIC_FLOAT_INT,
    BASIC_DOUBLE_INT,
    BASIC_LONG_INT,
    BASIC_2INT,
    BASIC_SHORT_INT,
    BASIC_LONG_DOUBLE_INT,
    BASIC_2FLOAT,
    BASIC_2DOUBLE,
    BASIC_INT32_INT64, /* pairs without a name in the standard */
    BASIC_INT64_INT64,
    BASIC_FLOAT_INT64,
    BASIC_DOUBLE_INT64,
    BASIC_LONG_DOUBLE_INT64, /* from BASIC_FLOAT_INT on: MINLOC, MAXLOC */
    BASIC_COUNT
};

struct run {
    ptrdiff_t offset; /* of the first piece, from the element's origin */
    size_t length;    /* bytes of data in a piece */
    size_t count;     /* pieces */
    ptrdiff_t stride; /* bytes between the origins of pieces; any value when count is 1 */
    size_t packed;    /* bytes of the element packed before this run */
    const struct layout *inner; /* NULL: a piece is `length` bytes in a row; otherwise it is one
                                 * element of this layout, and length is its size */
};

/* Where bytes in a row begin; many of them without a rule are a list, see layout_list.c. */
struct spot {
    ptrdiff_t offset; /* from the element's origin */
    size_t packed;    /* bytes of the element packed before */
};

struct spot_list {
    int32_t refs;
    size_t length; /* bytes in every spot; 0: they differ */
    size_t n;
    struct spot at[]; /* n, and the end */
};

struct layout {
    int32_t refs;
    enum basic basic;     /* what every element consists of, BASIC_NONE for mixtures */
    size_t size;          /* bytes of data in one element */
    ptrdiff_t lb, extent; /* extent = ub - lb: distance between elements */
    ptrdiff_t true_lb, true_extent;
    uint32_t align; /* strictest alignment of the basic items, a power of two */
    bool marked;    /* lb and ub were set by layout_resized here or in a component, and so
                         * decide alone about lb and ub of what is made of it: MPI 5.0, 5.1.6 */
    bool piece;     /* the data of one element are `size` bytes in a row at true_lb */
    bool dense;     /* piece and extent == size: n elements are n * size bytes at true_lb */
    bool solid;     /* dense, from 0 on, one basic again and again: elements in a row are
                         * nothing but their bytes in a row */
    size_t nitems;  /* basic items in one element, a pair (BASIC_DOUBLE_INT) counts one */
    size_t nparts;  /* the same, a pair counts two: what MPI_Get_elements counts */
    size_t nruns;
    struct run *runs; /* &only, behind the layout, or malloced */
    struct run only;
    struct spot_list *list;     /* where that is faster: a list instead of runs; else NULL */
    struct layout_items *items; /* the sequence of basics, compressed */
    struct gpu_form *form; /* the same for devices (gpu_form.c); NULL: no device needed it */
};

/* Of a layout that goes.  NULL is allowed. */
void gpu_form_drop(struct gpu_form *form);

/* ---- arrays of counts as the user gave them: int[] or MPI_Count[]/MPI_Aint[] ---- */
struct counts {
    const int *narrow;
    const int64_t *wide; /* used when not NULL */
};
static inline int64_t counts_at(struct counts c, int64_t i)
{
    return c.wide ? c.wide[i] : c.narrow[i];
}

/* ---- making ----
 * All return a layout with one reference, or NULL: memory is out (errno ENOMEM) or a size,
 * bound or displacement does not fit into 63 bits (errno EOVERFLOW).  The old layouts stay the
 * caller's.  Zero counts and lengths are welcome; what contributes no entry to the type map
 * contributes nothing.  lb, ub and extent follow MPI 5.0, 5.1.6: the outermost bytes, the
 * extent rounded up to a multiple of the strictest alignment, unless a component is `marked`.
 */

/* One item.  `extent` is sizeof the C type; for pairs `size` leaves out the padding:
 * BASIC_DOUBLE_INT is (12, 16), its value at 0 and its index at 8. */
struct layout *layout_basic(enum basic basic, size_t size, size_t extent);
struct layout *layout_contiguous(size_t count, const struct layout *old);
struct layout *layout_vector(size_t count, size_t block, ptrdiff_t stride_bytes,
                             const struct layout *old);
/* Blocks of elements: block i is as many elements as lengths[i] says, at places[i] times `unit`
 * bytes. */
struct block_list {
    size_t n;
    struct counts lengths; /* not negative; neither form given: `length` each */
    size_t length;
    struct counts places;
    ptrdiff_t unit;
};

static inline bool blocks_are_equal(const struct block_list *b)
{
    return !b->lengths.wide && !b->lengths.narrow;
}

static inline size_t blocks_length(const struct block_list *b, size_t i)
{
    return blocks_are_equal(b) ? b->length : (size_t)counts_at(b->lengths, (int64_t)i);
}

static inline ptrdiff_t blocks_place(const struct block_list *b, size_t i)
{
    return counts_at(b->places, (int64_t)i);
}

struct layout *layout_indexed(const struct layout *old, const struct block_list *blocks);
/* Block i consists of elements of old[i]. */
struct layout *layout_struct(const struct layout *const *old, const struct block_list *blocks);
/* The same from arrays of 64 bits: old[0] for all blocks when `same`, offsets in bytes. */
struct layout *layout_blocks(size_t n, const size_t *lengths, const ptrdiff_t *offsets,
                             const struct layout *const *old, bool same);
struct layout *layout_resized(const struct layout *old, ptrdiff_t lb, ptrdiff_t extent);
/* `count` elements in a row, the first at `offset`, with lower bound 0 and this extent: one
 * dimension of a subarray. */
struct layout *layout_slice(const struct layout *old, size_t count, ptrdiff_t offset,
                            ptrdiff_t extent);
static inline struct layout *layout_hold(struct layout *layout)
{
    layout->refs++;
    return layout;
}
void layout_free(struct layout *layout); /* the last reference has gone */
static inline void layout_drop(struct layout *layout)
{
    if (layout && __builtin_expect(--layout->refs <= 0, 0))
        layout_free(layout);
}

/* ---- asking ---- */

/* The lowest byte of data of count elements, from the origin, in *low; the bytes from there to
 * behind the highest one are returned.  Both 0 when there is no data. */
size_t layout_span(const struct layout *layout, size_t count, ptrdiff_t *low);

/* How many basic items (pairs as two) the first `bytes` packed bytes of count elements hold;
 * -1 if they end inside an item or behind the last one. */
int64_t layout_items_in(const struct layout *layout, size_t count, size_t bytes);

/* The other way round: the packed bytes of the first `parts` basic items (pairs as two) of as
 * many elements as that takes; 0 for a layout without items. */
size_t layout_bytes_in(const struct layout *layout, size_t parts);

/* ---- buffers: memory seen through a layout ---- */

/* Memory that the processor may touch, or that of a device: see runtime/gpu.h. */
enum where { HERE, AWAY };

struct buffer {
    void *base; /* the address MPI was given; may be MPI_BOTTOM (NULL) with absolute layouts */
    size_t count;
    const struct layout *layout;
    enum where where;
};

/* False: there is no device, as far as we have looked. */
extern bool gpu_possible __attribute__((visibility("hidden")));

/* Where data of this layout lie whose origin is `base`, an address of the user's.  MPI_BOTTOM: AWAY
 * when any part of them is; what is AWAY may have parts that are here.  The layout may be NULL.  One
 * question to the driver where there is one. */
enum where gpu_where(const void *base, const struct layout *layout);

static inline enum where buffer_where(const void *base, const struct layout *layout)
{
    return __builtin_expect(gpu_possible, 0) ? gpu_where(base, layout) : HERE;
}

/* A buffer at an address of the user's. */
static inline struct buffer buffer_user(const void *base, int64_t count,
                                        const struct layout *layout)
{
    return (struct buffer){ (void *)base, (size_t)count, layout, buffer_where(base, layout) };
}

/* A copy, word by word: one by wider loads would wait for the words that were just stored. */
static inline void buffer_keep(struct buffer *to, const struct buffer *from)
{
    to->base = from->base;
    to->count = from->count;
    to->layout = from->layout;
    to->where = from->where;
}

static inline size_t buffer_bytes(const struct buffer *b)
{
    return b->count * b->layout->size;
}

/* The address `bytes` behind `base`, which may be MPI_BOTTOM. */
static inline char *buffer_at(const void *base, ptrdiff_t bytes)
{
    return (char *)((uintptr_t)base + (uintptr_t)bytes);
}

/* n steps.  Where nothing lies they may lead anywhere, so what is too far for a number is no fault. */
static inline ptrdiff_t steps(ptrdiff_t n, ptrdiff_t step)
{
    return (ptrdiff_t)((size_t)n * (size_t)step);
}

/* Where the bytes lie when they are one piece (dense, or one piece and count 1), NULL otherwise. */
static inline char *buffer_solid(const struct buffer *b)
{
    const struct layout *l = b->layout;
    return l->dense || (l->piece && b->count == 1) ? buffer_at(b->base, l->true_lb) : NULL;
}

/* The bytes themselves when they are one piece that the processor may touch, NULL otherwise. */
static inline char *buffer_flat(const struct buffer *b)
{
    return b->where == HERE ? buffer_solid(b) : NULL;
}

/* Copy packed bytes [skip, skip + bytes) of the buffer to or from `flat`, memory of the host.  The
 * range must lie inside buffer_bytes. */
void buffer_pack(const struct buffer *from, size_t skip, void *flat, size_t bytes);
void buffer_unpack(const struct buffer *to, size_t skip, const void *flat, size_t bytes);

/* Copy min(bytes of both) between two buffers whose signatures agree; regions may not
 * overlap. */
void buffer_copy(const struct buffer *to, const struct buffer *from);

/* One byte per element: for flat memory.  Needs no making; hold and drop are harmless. */
extern struct layout layout_bytes __attribute__((visibility("hidden")));

/* Copy up to COPY_SHORT bytes, where a call of memcpy would cost as much as everything else. */
enum { COPY_SHORT = 64 };
static inline void copy_short(char *to, const char *from, size_t bytes)
{
    if (bytes > 32) {
        memcpy(to, from, 32);
        memcpy(to + bytes - 32, from + bytes - 32, 32);
    } else if (bytes >= 16) {
        memcpy(to, from, 16);
        memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            to[i] = from[i];
    }
}

#endif
