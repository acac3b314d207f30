/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Comm_idup: the ticket travels while the program goes on (MPI 5.0, 7.4.2).
 *
 * The new communicator's object is made at once, so that its handle can be given out, and gets
 * what is copied from the old one.  Its channels are opened when the ticket is here: by the
 * request's on_done.  Until then the program may not use it; that it sets an error handler, as some
 * do, is borne.
 *
 *     intracommunicator     a nonblocking broadcast of the ticket
 *     intercommunicator     its first process sends the ticket to every other one: broadcasts
 *                           there reach one group only
 */
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/attr.h"
#include "src/context.h"
#include "src/errhan.h"
#include "src/request.h"

#include <stdlib.h>

struct idup {
    int refs;                /* the opening, and sends that still need the ticket */
    struct comm *old, *made; /* made: NULL where a copy function refused */
    struct ticket ticket;
    uint32_t number; /* of the collective that brings it */
};

static void idup_drop(struct idup *idup)
{
    if (--idup->refs == 0)
        free(idup);
}

/* The ticket is here, or will not come (`rc`). */
static int idup_open(struct idup *idup, int rc)
{
    struct comm *old = idup->old, *made = idup->made;
    if (!rc && made)
        rc = making_check(&old->team);
    if (!rc && made)
        rc = comm_open(made, &idup->ticket, old->group, old->remote, old);
    if (!rc && made)
        making_done(&made->team, &old->team, idup->number);
    if (rc == MPI_ERR_NO_MEM)
        making_failed(&old->team, idup->number);
    if (rc && made)
        made->freed = true; /* a handle to nothing */
    comm_release(old);
    idup_drop(idup);
    return rc;
}

static void idup_done(struct request *request)
{
    struct idup *idup = request->owner;
    request->on_done = NULL;
    request->owner = NULL;
    int rc = idup_open(idup, request->result.error);
    if (rc && !request->result.error)
        request->result.error = fail_keep(request, rc);
}

/* Open when the request is done, which may be now. */
static void idup_when_done(struct request *request, struct idup *idup)
{
    request->owner = idup;
    if (request->done)
        idup_done(request);
    else
        request->on_done = idup_done;
}

static struct buffer ticket_buffer(struct idup *idup)
{
    return (struct buffer){ &idup->ticket, sizeof idup->ticket, &layout_bytes, HERE };
}

/* ---- how the ticket travels ---- */

static int idup_intra(struct idup *idup, uint16_t serves, struct request **request)
{
    struct team *team = &idup->old->team;
    struct call call = {
        .what = COLL_BCAST,
        .serves = serves,
        .recv = { .base = &idup->ticket,
                  .layout = &layout_bytes,
                  .count = sizeof idup->ticket },
    };
    if (team->channel.rank == 0)
        ticket_draw(&idup->ticket, team->channel.size, team->channel.peers);
    int rc = coll_start(team, &call, request);
    idup->number = team->calls;
    if (!rc)
        idup_when_done(*request, idup);
    return rc;
}

static void ticket_sent(struct request *request)
{
    idup_drop(request->owner);
}

static int ticket_send(struct idup *idup, int peer)
{
    struct buffer data = ticket_buffer(idup);
    struct envelope to = { .peer = peer, .step = STEP_DUP };
    struct request *request;
    int rc = pml_isend(&idup->old->team.channel, &data, &to, SEND_STANDARD, &request);
    if (rc)
        return rc;
    if (request->done) {
        request->ops->release(request);
        return MPI_SUCCESS;
    }
    idup->refs++;
    request->owner = idup;
    request->on_done = ticket_sent;
    request->orphan = true;
    return MPI_SUCCESS;
}

static int idup_inter(struct idup *idup, struct request **request)
{
    struct channel *channel = &idup->old->team.channel;
    struct buffer data = ticket_buffer(idup);
    struct envelope from = { .peer = 0, .step = STEP_DUP, .group = channel->peers };
    struct result nothing = { 0 };
    int rc = MPI_SUCCESS;
    if (channel->rank > 0) {
        rc = pml_irecv(channel, &data, &from, request);
    } else {
        ticket_draw(&idup->ticket, channel->size, NULL);
        for (int peer = 1; peer < channel->size && !rc; peer++)
            rc = ticket_send(idup, peer);
        if (!rc)
            rc = request_new_over(&nothing, NULL, false, request);
    }
    if (!rc)
        idup_when_done(*request, idup);
    return rc;
}

static int idup_begin(struct idup *idup, uint16_t serves, struct request **request)
{
    object_hold(idup->old);
    int rc = comm_is_inter(idup->old) ? idup_inter(idup, request)
                                      : idup_intra(idup, serves, request);
    if (rc) {
        comm_release(idup->old);
        idup_drop(idup);
    }
    return rc;
}

/* A copy function, or an order, was refused here.  The others get their communicators, as with MPI_Comm_dup, and the
 * old one is still of use: so the ticket passes, and as nobody will ask for the request it is waited for. */
static void idup_pass(struct idup *idup, uint16_t serves)
{
    struct request *request;
    idup->made = NULL;
    if (!idup_begin(idup, serves, &request))
        request_wait(request, NULL);
}

static int idup_make(struct comm *comm, const struct info *info, struct comm **newcomm,
                     struct request **request)
{
    uint16_t serves = served_now(); /* comm_dress calls the program, which may call us */
    struct comm *made = object_new(OBJECT_COMM, sizeof *made);
    struct idup *idup = made ? calloc(1, sizeof *idup) : NULL;
    int rc = MPI_SUCCESS;
    if (!idup) {
        rc = fail(MPI_ERR_NO_MEM, "no memory for a communicator");
        goto undo_objects;
    }
    *idup = (struct idup){ .refs = 1, .old = comm, .made = made };
    rc = comm_dress(made, comm, info);
    if (rc) {
        fail_keep(made, rc);
        idup_pass(idup, serves);
        fail_recall(made);
        goto undo_objects;
    }
    made->errhandler = errhandler_hold(comm->errhandler);
    rc = idup_begin(idup, serves, request);
    if (rc)
        goto undo_dress;
    request_keep(*request, comm);
    (*request)->collective = true;
    *newcomm = made;
    return MPI_SUCCESS;
undo_dress:
    errhandler_drop(made->errhandler);
    attributes_delete(ATTR_COMM, comm_handle(made), &made->attributes);
undo_objects:
    comm_undress(made);
    if (made)
        object_delete(made);
    return rc;
}

/* ---- the functions of the standard ---- */

static int comm_idup(struct comm *comm, const struct info *info, struct comm **newcomm,
                     struct request **request)
{
    uint32_t before = comm->team.calls;
    return making_over(&comm->team, before, idup_make(comm, info, newcomm, request));
}

int xmpi_comm_idup(comm_t comm, comm_out_t *newcomm, request_out_t *request)
{
    return comm_idup(comm, NULL, newcomm, request);
}

int xmpi_comm_idup_with_info(comm_t comm, info_t info, comm_out_t *newcomm,
                             request_out_t *request)
{
    return comm_idup(comm, info, newcomm, request);
}
