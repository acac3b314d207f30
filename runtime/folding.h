/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Folding a known number of vectors at one place, one after the other, in order: to = v1 op v2 op v3.
 *
 * 16-bit floating-point numbers are summed and multiplied in float and rounded once, at the end;
 * so is the quotient of a mean.  That needs twice the room of a vector besides.
 *
 *     struct folding f = folding_begin(&call->reduction, vectors, to, count);
 *     f.floats = room;
 *     folding_add(&f, vector);  ...as many as were announced
 *     folding_end(&f);
 */
#ifndef XMPI_FOLDING_H
#define XMPI_FOLDING_H

#include "runtime/reduce.h"

struct folding {
    const struct reduction *r; /* of a kernel, with a dense layout, or pairs with padding */
    void *to;                  /* may be the first or the second vector */
    float *floats;             /* for count elements; not used unless is_float */
    const void *first;
    size_t count, items; /* elements of the layout; of the kernel */
    int all, n;          /* vectors; so far */
    bool is_float;       /* of two numbers the sum is rounded once anyway */
};

static inline struct folding folding_begin(const struct reduction *r, int vectors, void *to,
                                           size_t count)
{
    return (struct folding){ .r = r,
                             .to = to,
                             .count = count,
                             .items = count * r->layout->nitems,
                             .all = vectors,
                             .is_float = r->in_float && vectors + r->mean > 2 };
}

/* The third and further vectors, and the last act of a mean, in float: folding.c. */
void folding_add_float(struct folding *f, const void *vector);
void folding_divide_float(const struct folding *f);

static inline void folding_add(struct folding *f, const void *vector)
{
    if (f->n++ == 0)
        f->first = vector;
    else if (__builtin_expect(f->is_float, 0))
        folding_add_float(f, vector);
    else
        f->r->kernel(f->to, f->n == 2 ? f->first : f->to, vector, f->items);
}

/* A vector, of which the padding between pairs stays as it is; of no items there may be no
   memory at either end. */
static inline void folding_copy(const struct reduction *r, void *to, const void *from,
                                size_t count)
{
    if (count == 0)
        return;
    if (r->layout->dense)
        memmove(to, from, count * r->layout->size);
    else
        buffer_copy(&(struct buffer){ to, count, r->layout, HERE },
                    &(struct buffer){ (void *)from, count, r->layout, HERE });
}

static inline void folding_end(const struct folding *f)
{
    if (f->n == 1 && f->to != f->first)
        folding_copy(f->r, f->to, f->first, f->count);
    if (!f->r->mean || f->n < 2)
        return;
    if (f->is_float)
        folding_divide_float(f);
    else
        reduce_divide(f->r, f->to, f->count, f->n);
}

#endif
