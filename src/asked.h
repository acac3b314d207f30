/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective as the user asked for it: a struct call for coll, and the types and memory that
 * must live as long as it runs.  One function per collective fills it in; the blocking,
 * nonblocking and persistent entry points share them.
 *
 *     struct asked asked;
 *     int rc = asked_bcast(&asked, comm, side(buffer, count, datatype), root);
 *     return asked_run(&asked, rc);          or asked_start, asked_init
 */
#ifndef XMPI_ASKED_H
#define XMPI_ASKED_H

#include "src/comm.h"
#include "src/op.h"
#include "src/type.h"

struct asked {
    struct comm *comm;
    struct call call;
    struct type *types[2]; /* of send and receive side, NULL: none or not significant */
    void *memory;          /* alltoallw, neighbor_alltoallw: layouts and types of all blocks */
    struct type **block_types;
    int nblock_types;
};

/* One of the two buffers as the user described it. */
struct side {
    const void *buf;
    int64_t count;
    struct type *type; /* NULL: not significant on this rank */
    struct counts counts, displs;
    const MPI_Datatype *types; /* alltoallw */
    const char *argument;      /* of counts: "recvcounts" */
};

/* Made where they are used and passed on as they are: copying one that was just written takes
 * longer than all checks together, for the processor waits until its stores are over. */
#define side(buf_, count_, type_)                                                              \
    (&(struct side){ .buf = (buf_), .count = (count_), .type = (type_) })
#define side_blocks(buf_, counts_, displs_, argument_, each)                                   \
    (&(struct side){ .buf = (buf_),                                                            \
                     .counts = (counts_),                                                      \
                     .displs = (displs_),                                                      \
                     .argument = (argument_),                                                  \
                     each })
#define side_v(buf, counts, displs, type_, argument)                                           \
    side_blocks(buf, counts, displs, argument, .type = (type_))
#define side_w(buf, counts, displs, types_, argument)                                          \
    side_blocks(buf, counts, displs, argument, .types = (types_))
#define NO_COUNTS ((struct counts){ NULL, NULL })

int asked_barrier(struct asked *asked, struct comm *comm);
int asked_bcast(struct asked *asked, struct comm *comm, struct side *buffer, int root);

/* Also for gatherv, scatterv, allgatherv, alltoallv: those have a side with counts. */
int asked_gather(struct asked *asked, struct comm *comm, struct side *send, struct side *recv,
                 int root);
int asked_scatter(struct asked *asked, struct comm *comm, struct side *send, struct side *recv,
                  int root);
int asked_allgather(struct asked *asked, struct comm *comm, struct side *send,
                    struct side *recv);
int asked_alltoall(struct asked *asked, struct comm *comm, struct side *send,
                   struct side *recv);
int asked_alltoallw(struct asked *asked, struct comm *comm, struct side *send,
                    struct side *recv);

/* Between neighbours: COLL_NEIGHBOR_...; sides as the collective without neighbours has them. */
int asked_neighbor(struct asked *asked, enum collective what, struct comm *comm,
                   struct side *send, struct side *recv);

/* Reductions: count and type are the receive side's. */
int asked_reduce(struct asked *asked, struct comm *comm, const void *sendbuf, struct side *recv,
                 const struct op *op, int root);
int asked_fold(struct asked *asked, enum collective what, struct comm *comm,
               const void *sendbuf, struct side *recv,
               const struct op *op); /* all reductions without a root */

/* The three ways to perform it; `rc` is what filling it in returned. */
int asked_run(struct asked *asked, int rc);
int asked_start(struct asked *asked, int rc, struct request **request);
int asked_init(struct asked *asked, int rc, struct request **request);

#endif
