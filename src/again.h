/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Barriers and allreduces of a communicator that come again and again with the same count, datatype
 * and operation, of which most programs' inner loops consist: what asking (src/asked.c) found out
 * the second time is kept, and from the third on only the buffers are looked at.
 *
 *     struct again *again = again_find(comm, AGAIN_ALLREDUCE, count, datatype, op);
 *     if (again && again_takes(again, sendbuf, recvbuf))
 *         return repeat_run(&again->repeat, &comm->team);
 *     ...ask and perform it...
 *     again_learn(...);
 *
 * Kept are predefined datatypes and operations only, which nobody frees.
 */
#ifndef XMPI_AGAIN_H
#define XMPI_AGAIN_H

#include "coll/repeat.h"
#include "src/asked.h"

enum again_kind { AGAIN_BARRIER, AGAIN_ALLREDUCE, AGAIN_KINDS };

struct again {
    const struct type *type;
    const struct op *op;
    int64_t count;
    enum { AGAIN_NEVER, AGAIN_ONCE, AGAIN_KEPT, AGAIN_REFUSED } state; /* of these arguments */
    struct repeat repeat;
};

/* What is kept of such a call and may be used; NULL: nothing. */
static inline struct again *again_find(const struct comm *comm, enum again_kind kind,
                                       int64_t count, const struct type *type,
                                       const struct op *op)
{
    struct again *again = comm->again ? &comm->again[kind] : NULL;
    bool same = again && again->state == AGAIN_KEPT && again->count == count &&
                again->type == type && again->op == op &&
                repeat_holds(&again->repeat, &comm->team);
    return same ? again : NULL;
}

/* Put these buffers into a kept call.  False: there is something to be said about them, by whoever
 * asks anew. */
static inline bool again_takes(struct again *again, const void *sendbuf, void *recvbuf)
{
    struct call *call = &again->repeat.call;
    if (!sendbuf || !recvbuf || sendbuf == recvbuf || recvbuf == MPI_IN_PLACE || gpu_possible)
        return false;
    call->in_place = sendbuf == MPI_IN_PLACE;
    call->send.base = (void *)sendbuf;
    call->recv.base = recvbuf;
    return true;
}

/* Such a call has been performed: keep it if it is the second one in a row. */
void again_learn(const struct asked *asked, enum again_kind kind, int64_t count,
                 const struct type *type, const struct op *op);

#endif
