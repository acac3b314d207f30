/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan meets a call: blocks become memory.
 */
#ifndef XMPI_BIND_H
#define XMPI_BIND_H

#include "coll/call.h"
#include "coll/plan.h"

struct team;

/* What in place means for a collective on a rank that says so.  Where blocks of the two buffers
 * do not coincide (alltoall, reduce_scatter) binding keeps one of them apart instead. */
static inline enum alias bind_alias(enum collective what, bool in_place)
{
    if (!in_place)
        return ALIAS_NONE;
    switch (what) {
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return ALIAS_SAME;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        return ALIAS_MINE;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        return ALIAS_INPUT;
    default:
        return ALIAS_NONE;
    }
}

/* Where boundary i of n falls when so many elements are cut: even to one element, equal on all ranks. */
static inline size_t bind_cut(size_t count, int n, int i)
{
    size_t parts = (size_t)n, at = (size_t)i;
    return count / parts * at + count % parts * at / parts;
}

enum cutting {
    CUT_NOTHING, /* the rank does not have this room */
    CUT_WHOLE,   /* one vector, cut evenly in elements; `copies` of it one after the other */
    CUT_EACH,    /* blocks of `count` elements, one after the other */
    CUT_LIST,    /* a count, a displacement, perhaps a layout per block */
};

/* A room as memory. */
struct area {
    enum cutting how;
    enum where where;
    void *base;
    const struct layout *layout;
    size_t count;     /* elements: of the vector (WHOLE), of a block before pieces (EACH) */
    int nblocks;      /* WHOLE: blocks in the vector, pieces counted; LIST: entries */
    int pieces;       /* EACH, LIST: blocks are cut in so many */
    ptrdiff_t copies; /* WHOLE: bytes from one copy to the next */
    struct counts counts, displs; /* LIST; displs in elements, or bytes with `layouts` */
    const struct layout *const *layouts;
};

struct bound {
    const struct plan *plan;
    const struct call *call;
    struct area room[ROOMS];
    int npeers;             /* blocks of a part: ranks, or ranks of the other group */
    char *scratch;          /* TMP */
    char *aside[ROOMS];     /* buffers kept apart, see bind.c */
    int64_t *listed[ROOMS]; /* computed counts and displacements */
    int64_t *sizes;         /* of the blocks of TMP, and where they begin; NULL: all alike */
    struct kept *kept;      /* layouts that were made (bind_span.c); NULL: they are not kept */
};

/* ---- reductions of data on a device (bind_stage.c) ----
 * Either the device folds, in a plan whose rooms are all its memory; or the call is changed into one on
 * copies in memory of the host. */
struct staging {
    struct staged {               /* one of the two parts */
        struct buffer user, here; /* user.layout NULL: nothing to do */
        char *memory, *pinned;    /* one of them */
    } send, recv;
    bool recv_is_input; /* in place, or left alone on some ranks */
    size_t result;      /* elements that are brought back */
};

/* Let the device fold, or the call work on copies; of what is here or only moved none is made.
 * `planned`: it will be performed by messages, or can be.  0 or MPI_ERR_NO_MEM. */
int staging_open(struct staging *staging, const struct team *team, struct call *call,
                 bool planned);
void staging_close(struct staging *staging);

/* Around each performance of the call; by bind_begin and bind_end where the call has a staging. */
void staging_in(const struct staging *staging);
void staging_out(const struct staging *staging);

/* to = a op b, by the device that has all three. */
void device_fold(const struct reduction *r, const struct buffer *to, const void *a,
                 const void *b);

/* Scratch where the call folds: the host, or its device.  NULL: there is none. */
void *call_scratch_take(const struct call *call, size_t bytes);
void call_scratch_give(const struct call *call, void *memory);

/* 0, or an error when data of the call lie on a device and copying some failed. */
int staging_check(const struct call *call);

/* ---- blocks as bytes (bind_bytes.c) ---- */

/* IN and OUT of a collective that moves blocks, from now on as bytes: those that are cut in pieces, whose
 * two ends may have different datatypes, and IN of an alltoall in place, which is a copy of what will be
 * replaced.  Blocks with gaps are packed apart.  0 or MPI_ERR_NO_MEM. */
int bytes_open(struct bound *bound);

/* Around each performance: what is packed apart is brought up to date. */
void bytes_in(const struct bound *bound);
void bytes_out(const struct bound *bound);

/* ---- binding ---- */

/* Bind; nothing is copied yet.  The call must outlive the binding.  On failure nothing is left
 * behind. */
int bind_open(struct bound *bound, const struct plan *plan, const struct call *call);
void bind_close(struct bound *bound);

/* From now on keep the layouts that are made, until bind_close, which forgets them.  0 or
 * MPI_ERR_NO_MEM. */
int bind_keep(struct bound *bound);
void bind_forget(struct bound *bound);

/* The sizes of the blocks of TMP, in bytes, where they differ (sized.c).  Once; later calls change
 * nothing.  0 or MPI_ERR_NO_MEM. */
int bind_sizes(struct bound *bound, const int64_t *sizes);

/* Before the first step and after the last: what is kept apart is brought up to date. */
void bind_begin(const struct bound *bound);
void bind_end(const struct bound *bound);

/* The memory of a span.  *made: a layout that had to be made for it, to be dropped by the
 * caller when the pml holds it, else NULL.  0 or MPI_ERR_NO_MEM. */
int bind_span(const struct bound *bound, struct span span, struct buffer *buffer,
              struct layout **made);

/* No message of the plan is longer than so many bytes. */
size_t bind_longest(const struct bound *bound);

#endif
