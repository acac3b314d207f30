/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective as asked for: buffers, layouts, operation, root.  src fills it in; everything
 * below works from it.  What the two parts mean, on an intracommunicator of p ranks (on an
 * intercommunicator p is the size of the other group):
 *
 *     what                  send                           recv
 *     bcast                 -                              the buffer, on every rank
 *     gather(v)             1 block                        root: p blocks (v: counts, displs)
 *     scatter(v)            root: p blocks (v: ...)        1 block
 *     allgather(v)          1 block                        p blocks (v: counts, displs)
 *     alltoall(v, w)        p blocks (v, w: ...)           p blocks (v, w: ...)
 *     reduce, allreduce,    count elements                 count elements (reduce: base on the
 *     scan, exscan                                         root only; count and layout always)
 *     reduce_scatter        base, layout                   counts (vector), base, layout
 *     reduce_scatter_block  base, layout                   count of one block, base, layout
 *
 *     neighbor_allgather(v) 1 block                        a block per source (v: ...)
 *     neighbor_alltoall     a block per destination        a block per source (v, w: ...)
 *     (v, w)                (v, w: ...)
 *
 * With in_place the part that the standard ignores is not looked at: `recv` on the root of
 * scatter(v), `send` everywhere else.
 */
#ifndef XMPI_CALL_H
#define XMPI_CALL_H

#include "runtime/layout.h"
#include "runtime/reduce.h"

enum collective {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_ALLTOALLW,
    COLL_NEIGHBOR_ALLGATHER,
    COLL_NEIGHBOR_ALLGATHERV,
    COLL_NEIGHBOR_ALLTOALL,
    COLL_NEIGHBOR_ALLTOALLV,
    COLL_NEIGHBOR_ALLTOALLW,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_KINDS
};

_Static_assert(COLL_KINDS <= 32, "words have a bit for each, is_rooted and struct tiny");

/* The form in which it is called. */
enum mode { BLOCKING, NONBLOCKING, PERSISTENT };

/* Along the edges of the team's neighbours only. */
static inline bool is_neighbourhood(enum collective what)
{
    return what >= COLL_NEIGHBOR_ALLGATHER && what <= COLL_NEIGHBOR_ALLTOALLW;
}

/* Do all ranks know alike how much data there is? */
static inline bool is_amount_known(enum collective what)
{
    return what != COLL_GATHERV && what != COLL_SCATTERV && what != COLL_ALLTOALLV &&
           what != COLL_ALLTOALLW && !is_neighbourhood(what);
}

/* Has each rank another amount for each of the others, which only these two know? */
static inline bool has_letters(enum collective what)
{
    return what == COLL_ALLTOALLV || what == COLL_ALLTOALLW;
}

/* Do all ranks know how much each of them gets, by a list of counts? */
static inline bool has_known_counts(enum collective what)
{
    return what == COLL_ALLGATHERV || what == COLL_REDUCE_SCATTER;
}

/* Blocks of scratch may be of any length, which ranks that pass them on do not know. */
static inline bool has_sized_scratch(enum collective what)
{
    return what == COLL_ALLGATHERV || (!is_amount_known(what) && !is_neighbourhood(what));
}

/* Has it a root? */
static inline bool is_rooted(enum collective what)
{
    const uint32_t rooted = 1u << COLL_BCAST | 1u << COLL_GATHER | 1u << COLL_GATHERV |
                            1u << COLL_SCATTER | 1u << COLL_SCATTERV | 1u << COLL_REDUCE;
    return rooted >> what & 1;
}

/* Has it an operation? */
static inline bool is_reduction(enum collective what)
{
    return what >= COLL_REDUCE;
}

static inline bool is_reduce_scatter(enum collective what)
{
    return what == COLL_REDUCE_SCATTER || what == COLL_REDUCE_SCATTER_BLOCK;
}

/* One of the two user buffers, as blocks (one per peer, or a single one). */
struct part {
    void *base;                  /* NULL when not significant on this rank */
    const struct layout *layout; /* of one element; NULL with `layouts` */
    size_t count;                /* elements per block when `counts` is not given */
    bool vector;                 /* counts (and displs, in elements) are given per block */
    enum where where;
    struct counts counts, displs;
    const struct layout *const *layouts; /* alltoallw: one per block; displs are bytes */
};

/* Block i of a part without counts. */
static inline struct buffer part_block(const struct part *part, int i)
{
    ptrdiff_t apart = steps((ptrdiff_t)part->count, part->layout->extent);
    return (struct buffer){ buffer_at(part->base, steps(i, apart)), part->count, part->layout,
                            part->where };
}

/* Block i of a part, which may have counts. */
static inline struct buffer block_of(const struct part *part, int i)
{
    if (__builtin_expect(!part->vector, 1))
        return part_block(part, i);
    const struct layout *layout = part->layouts ? part->layouts[i] : part->layout;
    ptrdiff_t at =
        steps((ptrdiff_t)counts_at(part->displs, i), part->layouts ? 1 : layout->extent);
    return (struct buffer){ buffer_at(part->base, at), (size_t)counts_at(part->counts, i),
                            layout, part->where };
}

/* Packed bytes of one block, or of the vector; 0 where there is no single layout. */
static inline size_t unit_bytes(const struct part *part)
{
    return part->layout ? part->count * part->layout->size : 0;
}

/* Packed bytes of the first n blocks of a part with counts, and of the longest of them; a number that says how
 * they are distributed, 0 where all have the same. */
struct listed {
    size_t all, longest;
    uint64_t digest;
};
static inline struct listed listed_bytes(const struct part *part, int n)
{
    struct listed bytes = { 0, 0, 0 };
    size_t first = n > 0 ? (size_t)counts_at(part->counts, 0) * part->layout->size : 0;
    for (int i = 0; i < n; i++) {
        size_t one = (size_t)counts_at(part->counts, i) * part->layout->size;
        bytes.all += one;
        bytes.longest = one > bytes.longest ? one : bytes.longest;
        bytes.digest += (uint64_t)(one - first) * (2 * (uint64_t)i + 1);
    }
    return bytes;
}

struct staging;

struct call {
    enum collective what;
    struct part send, recv;
    struct reduction reduction; /* reductions only */
    int root;                   /* rooted ones: a rank; on intercommunicators also MPI_ROOT,
                                   MPI_PROC_NULL */
    bool in_place;              /* the standard's MPI_IN_PLACE on this rank */
    uint16_t serves; /* a function of the standard it is part of (served_now); 0: none */
    uint64_t shape;  /* what the user put together in it, as a hash above 2^63, which all
                                   ranks compare; 0: one operation */
    const struct staging *staging; /* NULL, or of what the parts are copies (bind_stage.c) */
    const void *near;       /* NULL, or data of the device that folds them: reductions only */
    const char *why_staged; /* of a reduction of data on a device; NULL: it folds them */
};

/* Are any of its data on a device? */
static inline bool call_is_away(const struct call *call)
{
    return call->send.where == AWAY || call->recv.where == AWAY;
}

#endif
