/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is marked `recalled` in src/api: blocking collectives that come again and again (src/again.h), from the user's
 * arguments to the shared slots by one call.  Whoever calls with those of a call that is kept, as he named them, may:
 * handles are those of predefined objects, which mean the same until MPI_Finalize, so nothing is checked but the
 * buffers.  NULL: it is not the same, or not known; then the entry point does all it has to.
 */
#ifndef XMPI_SRC_RECALL_H
#define XMPI_SRC_RECALL_H

#include "src/again.h"
#include "src/fuse.h"
#include "src/handle.h"
#include "src/quick.h"

/* Perform it, to the end of this function. */
static inline int again_call(struct again *again)
{
    return quick_end(again_run(again, again->comm), again->comm);
}

/* What is kept of the last such call, whatever its sides were, but for the place. */
ENTRY_INLINE struct again *recall(MPI_Comm handle, struct again_where where)
{
    bool may = !threads_are_many() && quick_is_up();
    struct comm *comm = may ? handle_comm(handle) : NULL;
    struct again *again = comm ? comm->again[again_place(where)] : NULL;
    bool same = again && again->state == AGAIN_KEPT && again->key.what == where.what &&
                again->key.root == where.root && repeat_holds(&again->repeat, &comm->team);
    return same ? again : NULL;
}

/* Was side 0, which sends or is the only one, or side 1, which receives, the same? */
ENTRY_INLINE bool recalls_side(const struct again *again, int i, int64_t count,
                               MPI_Datatype datatype)
{
    return again->key.counts[i] == count && again->datatypes[i] == datatype;
}

ENTRY_INLINE struct again *xmpi_barrier_recalled(MPI_Comm comm)
{
    return recall(comm, (struct again_where){ COLL_BARRIER, 0, 0, MPI_DATATYPE_NULL,
                                              MPI_OP_NULL, false });
}

ENTRY_INLINE struct again *xmpi_bcast_recalled(void *buffer, int64_t count,
                                               MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct again *again = recall(
        comm, (struct again_where){ COLL_BCAST, count, root, datatype, MPI_OP_NULL, false });
    return again && recalls_side(again, 0, count, datatype) &&
                   again_takes_one(&again->repeat.call.recv, buffer)
               ? again
               : NULL;
}

/* A buffer as the user described it. */
struct recalled_side {
    const void *buf;
    int64_t count;
    MPI_Datatype datatype;
};

/* The root has a block of each rank, and the others one: of a gather they send it, of a scatter they receive it. */
ENTRY_INLINE struct again *recalled_rooted(MPI_Comm comm, enum collective what, int root,
                                           struct recalled_side one, struct recalled_side all)
{
    struct again *again = recall(
        comm, (struct again_where){ what, one.count, root, one.datatype, MPI_OP_NULL, false });
    bool scatters = what == COLL_SCATTER;
    if (!again || !recalls_side(again, scatters, one.count, one.datatype))
        return NULL;
    int me = comm_rank(again->comm);
    if (me == root && !recalls_side(again, !scatters, all.count, all.datatype))
        return NULL;
    struct call *call = &again->repeat.call;
    return again_takes_rooted(scatters ? &call->recv : &call->send, one.buf,
                              scatters ? &call->send : &call->recv, all.buf, me, root)
               ? again
               : NULL;
}

ENTRY_INLINE struct again *xmpi_gather_recalled(const void *sendbuf, int64_t sendcount,
                                                MPI_Datatype sendtype, void *recvbuf,
                                                int64_t recvcount, MPI_Datatype recvtype,
                                                int root, MPI_Comm comm)
{
    return recalled_rooted(comm, COLL_GATHER, root,
                           (struct recalled_side){ sendbuf, sendcount, sendtype },
                           (struct recalled_side){ recvbuf, recvcount, recvtype });
}

ENTRY_INLINE struct again *xmpi_scatter_recalled(const void *sendbuf, int64_t sendcount,
                                                 MPI_Datatype sendtype, void *recvbuf,
                                                 int64_t recvcount, MPI_Datatype recvtype,
                                                 int root, MPI_Comm comm)
{
    return recalled_rooted(comm, COLL_SCATTER, root,
                           (struct recalled_side){ recvbuf, recvcount, recvtype },
                           (struct recalled_side){ sendbuf, sendcount, sendtype });
}

ENTRY_INLINE struct again *xmpi_allgather_recalled(const void *sendbuf, int64_t sendcount,
                                                   MPI_Datatype sendtype, void *recvbuf,
                                                   int64_t recvcount, MPI_Datatype recvtype,
                                                   MPI_Comm comm)
{
    struct again *again = recall(comm, (struct again_where){ COLL_ALLGATHER, sendcount, 0,
                                                             sendtype, MPI_OP_NULL, false });
    if (!again || !recalls_side(again, 0, sendcount, sendtype) ||
        !recalls_side(again, 1, recvcount, recvtype))
        return NULL;
    struct call *call = &again->repeat.call;
    return again_takes_blocks(&call->send, sendbuf, &call->recv, recvbuf,
                              comm_rank(again->comm))
               ? again
               : NULL;
}

ENTRY_INLINE struct again *xmpi_alltoall_recalled(const void *sendbuf, int64_t sendcount,
                                                  MPI_Datatype sendtype, void *recvbuf,
                                                  int64_t recvcount, MPI_Datatype recvtype,
                                                  MPI_Comm comm)
{
    struct again *again = recall(comm, (struct again_where){ COLL_ALLTOALL, sendcount, 0,
                                                             sendtype, MPI_OP_NULL, false });
    return again && recalls_side(again, 0, sendcount, sendtype) &&
                   recalls_side(again, 1, recvcount, recvtype) && sendbuf != MPI_IN_PLACE &&
                   again_takes_vectors(again, sendbuf, recvbuf)
               ? again
               : NULL;
}

/* A reduction of equal vectors. */
ENTRY_INLINE bool recalls_vector(const struct again *again, const void *sendbuf, int64_t count,
                                 MPI_Datatype datatype, MPI_Op op)
{
    return recalls_side(again, 0, count, datatype) && again->op == op &&
           again->key.in_place == (sendbuf == MPI_IN_PLACE);
}

ENTRY_INLINE struct again *xmpi_reduce_recalled(const void *sendbuf, void *recvbuf,
                                                int64_t count, MPI_Datatype datatype, MPI_Op op,
                                                int root, MPI_Comm comm)
{
    struct again *again = recall(comm, (struct again_where){ COLL_REDUCE, count, root, datatype,
                                                             op, sendbuf == MPI_IN_PLACE });
    if (!again || !recalls_vector(again, sendbuf, count, datatype, op))
        return NULL;
    bool is_end = root == comm_rank(again->comm);
    return (is_end ? again_takes_vectors(again, sendbuf, recvbuf)
                   : again_takes_one(&again->repeat.call.send, sendbuf))
               ? again
               : NULL;
}

/* Without a root. */
ENTRY_INLINE struct again_where vector_where(enum collective what, const void *sendbuf,
                                             int64_t count, MPI_Datatype datatype, MPI_Op op)
{
    return (struct again_where){ what, count, 0, datatype, op, sendbuf == MPI_IN_PLACE };
}

/* What was recalled, if the vectors are the same, too. */
ENTRY_INLINE struct again *recalled_vectors(struct again *again, const void *sendbuf,
                                            void *recvbuf, int64_t count, MPI_Datatype datatype,
                                            MPI_Op op)
{
    return again && recalls_vector(again, sendbuf, count, datatype, op) &&
                   again_takes_vectors(again, sendbuf, recvbuf)
               ? again
               : NULL;
}

ENTRY_INLINE struct again *xmpi_allreduce_recalled(const void *sendbuf, void *recvbuf,
                                                   int64_t count, MPI_Datatype datatype,
                                                   MPI_Op op, MPI_Comm comm)
{
    struct again *again =
        fuse_is_open()
            ? NULL
            : recall(comm, vector_where(COLL_ALLREDUCE, sendbuf, count, datatype, op));
    return recalled_vectors(again, sendbuf, recvbuf, count, datatype, op);
}

ENTRY_INLINE struct again *xmpi_reduce_scatter_block_recalled(const void *sendbuf,
                                                              void *recvbuf, int64_t count,
                                                              MPI_Datatype datatype, MPI_Op op,
                                                              MPI_Comm comm)
{
    return recalled_vectors(
        recall(comm, vector_where(COLL_REDUCE_SCATTER_BLOCK, sendbuf, count, datatype, op)),
        sendbuf, recvbuf, count, datatype, op);
}

ENTRY_INLINE struct again *xmpi_scan_recalled(const void *sendbuf, void *recvbuf, int64_t count,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return recalled_vectors(recall(comm, vector_where(COLL_SCAN, sendbuf, count, datatype, op)),
                            sendbuf, recvbuf, count, datatype, op);
}

ENTRY_INLINE struct again *xmpi_exscan_recalled(const void *sendbuf, void *recvbuf,
                                                int64_t count, MPI_Datatype datatype, MPI_Op op,
                                                MPI_Comm comm)
{
    return recalled_vectors(
        recall(comm, vector_where(COLL_EXSCAN, sendbuf, count, datatype, op)), sendbuf, recvbuf,
        count, datatype, op);
}

#endif
