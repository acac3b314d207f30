/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A send and a receive in one call (MPI 5.0, 3.10): posted receive first, so that two processes
 * may exchange whatever the length of the messages.  The forms with one buffer send from a packed
 * copy.  The nonblocking forms are a request over two others; its result is the receive's.
 */
#include "pml/pml.h"

#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "src/api/p2p.h"
#include "src/comm.h"
#include "src/request.h"
#include "src/status.h"
#include "src/type.h"

#include <stdlib.h>

struct exchange {
    struct buffer out, in;
    struct envelope to, from;
};

/* ---- blocking ---- */

static int exchange_run(struct comm *comm, const struct exchange *x, MPI_Status *status)
{
    struct request *receive = NULL;
    struct result result = result_proc_null;
    int rc = MPI_SUCCESS;
    if (x->from.peer != MPI_PROC_NULL)
        rc = pml_irecv(&comm->p2p, &x->in, &x->from, &receive);
    if (rc)
        return rc;
    if (x->to.peer != MPI_PROC_NULL)
        rc = pml_send(&comm->p2p, &x->out, &x->to, SEND_STANDARD);
    if (receive) {
        if (rc && receive->ops->cancel)
            receive->ops->cancel(receive);
        int received = request_wait(receive, &result);
        rc = rc ? rc : received;
    }
    status_write(status, &result);
    return rc;
}

int xmpi_sendrecv(data_t sendbuf, count_t sendcount, committed_t sendtype, dest_t dest,
                  tag_t sendtag, room_t recvbuf, count_t recvcount, committed_t recvtype,
                  source_t source, anytag_t recvtag, comm_t comm, status_t status)
{
    struct exchange x; /* filled member by member: gcc clears an initialised one before */
    x.out = buffer_user(sendbuf, sendcount, sendtype->layout);
    x.in = buffer_user(recvbuf, recvcount, recvtype->layout);
    x.to = (struct envelope){ .peer = dest, .tag = sendtag };
    x.from = (struct envelope){ .peer = source, .tag = recvtag };
    return exchange_run(comm, &x, status);
}

/* Let x->out be a packed copy of x->in, in memory that the caller frees. */
static int exchange_copy(struct exchange *x, void **copy)
{
    size_t bytes = buffer_bytes(&x->in);
    *copy = malloc(bytes ? bytes : 1);
    if (!*copy)
        return fail(MPI_ERR_NO_MEM, "no memory left for a copy of %zu bytes", bytes);
    buffer_pack(&x->in, 0, *copy, bytes);
    x->out = (struct buffer){ *copy, bytes, &layout_bytes, HERE };
    int rc = x->in.where == AWAY ? gpu_check() : MPI_SUCCESS;
    if (rc)
        free(*copy);
    return rc;
}

int xmpi_sendrecv_replace(room_t buf, count_t count, committed_t datatype, dest_t dest,
                          tag_t sendtag, source_t source, anytag_t recvtag, comm_t comm,
                          status_t status)
{
    struct exchange x = { .in = buffer_user(buf, count, datatype->layout),
                          .to = { .peer = dest, .tag = sendtag },
                          .from = { .peer = source, .tag = recvtag } };
    void *copy;
    int rc = exchange_copy(&x, &copy);
    if (rc)
        return rc;
    rc = exchange_run(comm, &x, status);
    free(copy);
    return rc;
}

/* ---- nonblocking ---- */

struct joint { /* complete when both parts are */
    struct request request;
    int left; /* parts not complete */
    void *copy;
};

static void joint_release(struct request *request)
{
    object_delete(request);
}

static const struct request_ops joint_ops = { .name = "send-receive",
                                              .release = joint_release };

static void joint_part_over(struct joint *joint)
{
    if (--joint->left > 0)
        return;
    free(joint->copy);
    joint->copy = NULL;
    request_complete(&joint->request);
}

/* The first error counts, and its text. */
static void joint_error(struct joint *joint, int error)
{
    if (error && !joint->request.result.error)
        joint->request.result.error = fail_keep(joint, error);
}

static void joint_error_of(struct joint *joint, const struct request *part)
{
    if (part->result.error)
        fail_recall(part);
    joint_error(joint, part->result.error);
}

static void joint_sent(struct request *part)
{
    struct joint *joint = part->owner;
    joint_error_of(joint, part);
    joint_part_over(joint);
}

static void joint_received(struct request *part)
{
    struct joint *joint = part->owner;
    joint_error_of(joint, part);
    int error = joint->request.result.error;
    joint->request.result = part->result;
    joint->request.result.error = error;
    joint_part_over(joint);
}

/* A part belongs to nobody but the joint request: it is an orphan with an on_done. */
static void joint_take(struct joint *joint, struct comm *comm, struct request *part,
                       void (*over)(struct request *part))
{
    part->owner = joint;
    if (part->done) {
        over(part);
        part->ops->release(part);
        return;
    }
    part->on_done = over;
    request_forget(part, comm);
}

/* `left` has one more than the parts while they are being started, so that a part that is over
 * at once does not end the whole.  A part that cannot be started fails the joint request. */
static int exchange_start(struct comm *comm, const struct exchange *x, void *copy,
                          struct joint **started)
{
    struct joint *joint = object_new(OBJECT_REQUEST, sizeof *joint);
    if (!joint) {
        free(copy);
        return fail(MPI_ERR_NO_MEM, "no memory left for a request");
    }
    joint->request.ops = &joint_ops;
    joint->request.result = result_proc_null;
    joint->copy = copy;
    joint->left = 3;
    struct request *receive = NULL, *send = NULL;
    if (x->from.peer != MPI_PROC_NULL)
        joint_error(joint, pml_irecv(&comm->p2p, &x->in, &x->from, &receive));
    if (x->to.peer != MPI_PROC_NULL)
        joint_error(joint, pml_isend(&comm->p2p, &x->out, &x->to, SEND_STANDARD, &send));
    if (receive && joint->request.result.error)
        receive->ops->cancel(receive); /* or we would wait for it */
    if (receive)
        joint_take(joint, comm, receive, joint_received);
    else
        joint->left--;
    if (send)
        joint_take(joint, comm, send, joint_sent);
    else
        joint->left--;
    request_keep(&joint->request, comm);
    joint_part_over(joint);
    *started = joint;
    return MPI_SUCCESS;
}

int xmpi_isendrecv(data_t sendbuf, count_t sendcount, committed_t sendtype, dest_t dest,
                   tag_t sendtag, room_t recvbuf, count_t recvcount, committed_t recvtype,
                   source_t source, anytag_t recvtag, comm_t comm, request_out_t *request)
{
    struct exchange x; /* filled member by member: gcc clears an initialised one before */
    x.out = buffer_user(sendbuf, sendcount, sendtype->layout);
    x.in = buffer_user(recvbuf, recvcount, recvtype->layout);
    x.to = (struct envelope){ .peer = dest, .tag = sendtag };
    x.from = (struct envelope){ .peer = source, .tag = recvtag };
    struct joint *joint;
    int rc = exchange_start(comm, &x, NULL, &joint);
    if (rc)
        return rc;
    *request = &joint->request;
    return MPI_SUCCESS;
}

int xmpi_isendrecv_replace(room_t buf, count_t count, committed_t datatype, dest_t dest,
                           tag_t sendtag, source_t source, anytag_t recvtag, comm_t comm,
                           request_out_t *request)
{
    struct exchange x = { .in = buffer_user(buf, count, datatype->layout),
                          .to = { .peer = dest, .tag = sendtag },
                          .from = { .peer = source, .tag = recvtag } };
    void *copy;
    int rc = exchange_copy(&x, &copy);
    if (rc)
        return rc;
    struct joint *joint;
    rc = exchange_start(comm, &x, copy, &joint);
    if (rc)
        return rc;
    *request = &joint->request;
    return MPI_SUCCESS;
}
