/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives that are put into streams (mpix.h): what can be wrong is found now, by the checks of
 * the blocking ones; then a task describes the buffers, and a function of one line how to start the
 * nonblocking one on them when the stream has come to it (src/task.c).
 */
#include "src/api/collective.h"
#include "src/api/stream.h"
#include "src/asked.h"
#include "src/fuse.h"
#include "src/task.h"

#include "runtime/fail.h"

#include <stdlib.h>

/* ---- collectives that move data ---- */

/* A collective that was found right. */
static int coll_enqueue(int rc, struct asked *asked, const struct task *task)
{
    free(asked->memory);
    return rc ? rc : task_enqueue(task, NULL);
}

static int barrier_begin(struct task *t, struct request **request)
{
    return xmpi_ibarrier(t->comm, request);
}

static int bcast_begin(struct task *t, struct request **request)
{
    return xmpi_ibcast(t->recv.at, (int64_t)t->recv.count, t->recv.type, t->peer, t->comm,
                       request);
}

static int allgather_begin(struct task *t, struct request **request)
{
    int64_t each = (int64_t)t->recv.count / comm_size(t->comm);
    return xmpi_iallgather(t->send.at, (int64_t)t->send.count, t->send.type, t->recv.at, each,
                           t->recv.type, t->comm, request);
}

static int alltoall_begin(struct task *t, struct request **request)
{
    int n = comm_size(t->comm);
    return xmpi_ialltoall(t->send.at, (int64_t)t->send.count / n, t->send.type, t->recv.at,
                          (int64_t)t->recv.count / n, t->recv.type, t->comm, request);
}

int xmpix_barrier_enqueue(comm_t comm)
{
    struct task task = { .function = "MPIX_Barrier_enqueue",
                         .start = barrier_begin,
                         .comm = comm };
    return task_enqueue(&task, NULL);
}

int xmpix_bcast_enqueue(inout_t buffer, count_t count, committed_t datatype, root_t root,
                        comm_t comm)
{
    struct asked asked;
    int rc = asked_bcast(&asked, comm, side(buffer, count, datatype), root);
    struct task task = {
        .function = "MPIX_Bcast_enqueue", .start = bcast_begin, .comm = comm, .peer = root
    };
    task.recv = stage_out(buffer, count, datatype);
    task.recv.in = root == comm_rank(comm);
    task.recv.out = !task.recv.in;
    return coll_enqueue(rc, &asked, &task);
}

/* With MPI_IN_PLACE what is received is sent, too. */
static void stages_of_blocks(struct task *task, const struct side *send,
                             const struct side *recv, int64_t blocks_sent)
{
    bool in_place = send->buf == MPI_IN_PLACE;
    task->send = stage_in(send->buf, in_place ? 0 : send->count * blocks_sent,
                          in_place ? NULL : send->type);
    task->recv = stage_out(recv->buf, recv->count * comm_size(task->comm), recv->type);
    task->recv.in = in_place;
}

int xmpix_allgather_enqueue(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm)
{
    struct asked asked;
    struct task task = { .function = "MPIX_Allgather_enqueue",
                         .start = allgather_begin,
                         .comm = comm };
    stages_of_blocks(&task, side(sendbuf, sendcount, sendtype),
                     side(recvbuf, recvcount, recvtype), 1);
    int rc = asked_allgather(&asked, comm, side(sendbuf, sendcount, sendtype),
                             side(recvbuf, recvcount, recvtype));
    return coll_enqueue(rc, &asked, &task);
}

int xmpix_alltoall_enqueue(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                           out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm)
{
    struct asked asked;
    struct task task = { .function = "MPIX_Alltoall_enqueue",
                         .start = alltoall_begin,
                         .comm = comm };
    stages_of_blocks(&task, side(sendbuf, sendcount, sendtype),
                     side(recvbuf, recvcount, recvtype), comm_size(comm));
    int rc = asked_alltoall(&asked, comm, side(sendbuf, sendcount, sendtype),
                            side(recvbuf, recvcount, recvtype));
    return coll_enqueue(rc, &asked, &task);
}

/* ---- reductions ---- */

/* `operand` elements are contributed, `result` come out. */
static void stages_of_fold(struct task *task, const void *sendbuf, const void *recvbuf,
                           int64_t operand, int64_t result)
{
    struct type *type = task->recv.type;
    bool in_place = sendbuf == MPI_IN_PLACE;
    task->send = stage_in(sendbuf, in_place ? 0 : operand, in_place ? NULL : type);
    task->recv = stage_out(recvbuf, in_place ? operand : result, type);
    task->recv.in = in_place;
    task->recv.result = (size_t)result;
}

static int reduce_begin(struct task *t, struct request **request)
{
    struct type *type = t->recv.type ? t->recv.type : t->send.type;
    int64_t count = (int64_t)(t->recv.type ? t->recv.count : t->send.count);
    return xmpi_ireduce(t->send.at, t->recv.at, count, type, t->op, t->peer, t->comm, request);
}

/* Not xmpi_iallreduce: whoever makes progress may have a group open, which is not for this. */
int allreduce_begin(struct task *t, struct request **request)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_ALLREDUCE, t->comm, t->send.at,
                        side(t->recv.at, (int64_t)t->recv.count, t->recv.type), t->op);
    asked.call.shape = t->shape;
    return asked_start(&asked, rc, request);
}

static int reduce_scatter_block_begin(struct task *t, struct request **request)
{
    return xmpi_ireduce_scatter_block(t->send.at, t->recv.at, (int64_t)t->recv.result,
                                      t->recv.type, t->op, t->comm, request);
}

static int reduce_scatter_begin(struct task *t, struct request **request)
{
    struct counts counts = { .wide = t->counts };
    return xmpi_ireduce_scatter(t->send.at, t->recv.at, counts, t->recv.type, t->op, t->comm,
                                request);
}

int xmpix_reduce_enqueue(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                         op_t op, root_t root, comm_t comm)
{
    struct asked asked;
    int rc = asked_reduce(&asked, comm, sendbuf, side(recvbuf, count, datatype), op, root);
    struct task task = { .function = "MPIX_Reduce_enqueue",
                         .start = reduce_begin,
                         .comm = comm,
                         .peer = root,
                         .op = op,
                         .recv = { .type = datatype } };
    stages_of_fold(&task, sendbuf, recvbuf, count, count);
    if (root != comm_rank(comm))
        task.recv = (struct stage){ .user = NULL };
    return coll_enqueue(rc, &asked, &task);
}

int xmpix_allreduce_enqueue(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                            op_t op, comm_t comm)
{
    struct asked asked;
    int rc =
        asked_fold(&asked, COLL_ALLREDUCE, comm, sendbuf, side(recvbuf, count, datatype), op);
    if (fuse_is_open() && !rc)
        rc = task_check(comm);
    if (fuse_is_open() && fuse_enqueue(&asked, op, &rc))
        return rc;
    struct task task = { .function = "MPIX_Allreduce_enqueue",
                         .start = allreduce_begin,
                         .comm = comm,
                         .op = op,
                         .recv = { .type = datatype } };
    stages_of_fold(&task, sendbuf, recvbuf, count, count);
    return coll_enqueue(rc, &asked, &task);
}

int xmpix_reduce_scatter_block_enqueue(in_t sendbuf, out_t recvbuf, count_t recvcount,
                                       committed_t datatype, op_t op, comm_t comm)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_REDUCE_SCATTER_BLOCK, comm, sendbuf,
                        side(recvbuf, recvcount, datatype), op);
    struct task task = { .function = "MPIX_Reduce_scatter_block_enqueue",
                         .start = reduce_scatter_block_begin,
                         .comm = comm,
                         .op = op,
                         .recv = { .type = datatype } };
    stages_of_fold(&task, sendbuf, recvbuf, recvcount * comm_size(comm), recvcount);
    return coll_enqueue(rc, &asked, &task);
}

/* The operation looks at the counts when it starts, and the program's may be gone then. */
static int64_t *counts_keep(struct counts counts, int n, int64_t *total)
{
    int64_t *kept = malloc((size_t)n * sizeof *kept);
    *total = 0;
    for (int i = 0; kept && i < n; i++)
        *total += kept[i] = counts_at(counts, i);
    return kept;
}

int xmpix_reduce_scatter_enqueue(in_t sendbuf, out_t recvbuf, counts_t recvcounts,
                                 committed_t datatype, op_t op, comm_t comm)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_REDUCE_SCATTER, comm, sendbuf,
                        side_v(recvbuf, recvcounts, NO_COUNTS, datatype, "recvcounts"), op);
    struct task task = { .function = "MPIX_Reduce_scatter_enqueue",
                         .start = reduce_scatter_begin,
                         .comm = comm,
                         .op = op,
                         .recv = { .type = datatype } };
    int64_t total;
    if (rc)
        return coll_enqueue(rc, &asked, &task);
    task.counts = counts_keep(recvcounts, comm_size(comm), &total);
    if (!task.counts)
        return coll_enqueue(fail(MPI_ERR_NO_MEM, "no memory for the counts"), &asked, &task);
    stages_of_fold(&task, sendbuf, recvbuf, total, task.counts[comm_rank(comm)]);
    return coll_enqueue(rc, &asked, &task);
}
