/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective as asked for: buffers, layouts, operation, root.  src fills it in; everything
 * below works from it.
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
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_KINDS
};

/* One of the two user buffers, as blocks (one per peer, or a single one). */
struct part {
    void *base;                  /* NULL when not significant on this rank */
    const struct layout *layout; /* of one element; NULL with `layouts` */
    size_t count;                /* elements per block when `counts` is not given */
    bool vector;                 /* counts (and displs, in elements) are given per block */
    struct counts counts, displs;
    const struct layout *const *layouts; /* alltoallw: one per block; displs are bytes */
};

struct call {
    enum collective what;
    struct part send, recv;
    struct reduction reduction; /* reductions only */
    int root;                   /* rooted ones: a rank; on intercommunicators also MPI_ROOT,
                                   MPI_PROC_NULL */
    bool in_place;              /* the standard's MPI_IN_PLACE on this rank */
};

#endif
