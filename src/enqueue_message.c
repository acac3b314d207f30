/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages that are put into streams (mpix.h), as src/enqueue.c does it with collectives.
 */
#include "src/api/p2p.h"
#include "src/api/stream.h"
#include "src/task.h"

static int send_begin(struct task *t, struct request **request)
{
    return xmpi_isend(t->send.at, (int64_t)t->send.count, t->send.type, t->peer, t->tag,
                      t->comm, request);
}

static int recv_begin(struct task *t, struct request **request)
{
    return xmpi_irecv(t->recv.at, (int64_t)t->recv.count, t->recv.type, t->peer, t->tag,
                      t->comm, request);
}

static struct task send_task(const void *buf, int64_t count, struct type *type, int dest,
                             int tag, struct comm *comm)
{
    return (struct task){ .start = send_begin,
                          .send = stage_in(buf, count, type),
                          .peer = dest,
                          .tag = tag,
                          .comm = comm };
}

/* A shorter message leaves the rest of the buffer as it is, so that goes in and out as well. */
static struct task recv_task(void *buf, int64_t count, struct type *type, int source, int tag,
                             struct comm *comm)
{
    struct task task = { .start = recv_begin,
                         .recv = stage_out(buf, count, type),
                         .peer = source,
                         .tag = tag,
                         .comm = comm };
    task.recv.in = true;
    return task;
}

int xmpix_send_enqueue(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                       comm_t comm)
{
    struct task task = send_task(buf, count, datatype, dest, tag, comm);
    task.function = "MPIX_Send_enqueue";
    return task_enqueue(&task, NULL);
}

int xmpix_recv_enqueue(room_t buf, count_t count, committed_t datatype, source_t source,
                       anytag_t tag, comm_t comm, status_t status)
{
    struct task task = recv_task(buf, count, datatype, source, tag, comm);
    task.function = "MPIX_Recv_enqueue";
    task.status = status;
    return task_enqueue(&task, NULL);
}

int xmpix_isend_enqueue(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                        comm_t comm, request_out_t *request)
{
    struct task task = send_task(buf, count, datatype, dest, tag, comm);
    task.function = "MPIX_Isend_enqueue";
    return enqueue_later(&task, request);
}

int xmpix_irecv_enqueue(room_t buf, count_t count, committed_t datatype, source_t source,
                        anytag_t tag, comm_t comm, request_out_t *request)
{
    struct task task = recv_task(buf, count, datatype, source, tag, comm);
    task.function = "MPIX_Irecv_enqueue";
    return enqueue_later(&task, request);
}
