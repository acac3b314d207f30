/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors cut in slices, one per rank, each of which is worked on by that rank alone, in pieces, as far as
 * memory can be reached: what attach_fold.c and attach_scan.c share.
 */
#ifndef XMPI_ATTACH_SLICE_H
#define XMPI_ATTACH_SLICE_H

#include "coll/attach.h"

struct slice { /* elements */
    size_t first, count;
};

/* How much of a slice is done, in elements, as its rank says it in the end; or: it is spoilt. */
#define DONE_NEVER UINT64_MAX

/* Of a piece.  Spoilt: somebody's operands are overwritten, perhaps in part, and somebody else
 * lacks the result. */
enum outcome { GOOD, STOPPED, SPOILT };

/* Slices begin at multiples of so many elements, hence of cache lines. */
static inline size_t whole_units(size_t elements)
{
    enum { UNIT = 64 };
    return (elements + UNIT - 1) / UNIT * UNIT;
}

/* All alike, but for the last ones. */
static inline struct slice slice_alike(size_t n, int ranks, int rank)
{
    size_t per = whole_units((n + (size_t)ranks - 1) / (size_t)ranks);
    size_t first = per * (size_t)rank < n ? per * (size_t)rank : n;
    return (struct slice){ first, n - first < per ? n - first : per };
}

/* Of two ranks rank 0 takes so many eighths. */
static inline struct slice slice_of_two(size_t n, size_t eighths, int rank)
{
    size_t cut = whole_units(n / 8 * eighths);
    cut = cut < n ? cut : n;
    return rank == 0 ? (struct slice){ 0, cut } : (struct slice){ cut, n - cut };
}

/* So many bytes of another rank's operand, from this one on: where they lie, if `in_place` and they are mapped,
 * or in the landing.  NULL: they cannot be read. */
const char *attach_operand(const struct attached *a, int rank, size_t at, size_t bytes,
                           bool in_place, char *landing);

/* One try at a piece, the first member of all that the try knows. */
struct attempt {
    bool in_place; /* the others' vectors are looked at where they are, if they are mapped */
    bool good;     /* all could be read */
};

/* Try it in place, and if need be once more in copies.  False: something cannot be read. */
bool attempt_make(void (*try)(void *piece), struct attempt *piece);

/* What the slice of a rank lacks.  MPI_ERR_BUFFER where it is spoilt. */
int rest_add(struct rest *rest, struct slice slice, int rank, uint64_t done);

/* Can this rank take part, having room for the call? */
static inline enum openness openness_of(const struct call *call, bool has_room)
{
    return call->near ? ON_DEVICE : has_room ? OPEN : CLOSED;
}

#endif
