/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests from the user's side: what they keep alive, how they end, and the calls that do not
 * wait: start, free, cancel.  Waiting is in src/wait.c.
 *
 *     made --- complete --- finished (Wait, Test)        on_done lets the datatypes of collectives
 *       \                                                go, finishing the communicator
 *        `---- freed ------ complete                     an orphan: on_done lets both go
 *
 * A persistent request keeps everything until it is freed.
 */
#include "src/request.h"

#include "pml/failure.h"
#include "runtime/fail.h"
#include "src/api/p2p.h"
#include "src/facade.h"
#include "src/greq.h"

#include <stdlib.h>

/* ---- what a request keeps ---- */

struct keep {
    void *memory;
    int n;
    struct type *types[];
};

static bool request_lets_go(const struct request *request)
{
    return !request->persistent || request->orphan;
}

static void comm_let_go(struct request *request)
{
    struct comm *comm = request->comm;
    request->comm = NULL;
    if (!comm)
        return;
    comm->orphans--;
    comm_release(comm);
}

/* on_done of orphans that keep no datatypes. */
static void orphan_done(struct request *request)
{
    comm_let_go(request);
}

void request_hoard_free(struct keep *keep)
{
    if (!keep)
        return;
    for (int i = 0; i < keep->n; i++)
        type_release(keep->types[i]);
    free(keep->memory);
    free(keep);
}

static void keep_done(struct request *request)
{
    if (!request_lets_go(request))
        return;
    request_hoard_free(request->owner);
    request->owner = NULL;
    if (request->orphan)
        comm_let_go(request);
}

/* A request that is done when we get it has no use for its datatypes any more; on_done would not
 * be called either. */
static bool request_is_over(const struct request *request)
{
    return request->done && !request->persistent;
}

int request_hoard(struct type *const *types, int n, void *memory, struct keep **keep)
{
    int derived = 0;
    for (int i = 0; i < n; i++)
        derived += types[i] && !types[i]->predefined;
    *keep = NULL;
    if (derived == 0 && !memory)
        return MPI_SUCCESS;
    *keep = malloc(sizeof **keep + (size_t)derived * sizeof *types);
    if (!*keep) {
        free(memory);
        return fail(MPI_ERR_NO_MEM, "no memory left for a nonblocking operation");
    }
    (*keep)->memory = memory;
    (*keep)->n = 0;
    for (int i = 0; i < n; i++)
        if (types[i] && !types[i]->predefined)
            (*keep)->types[(*keep)->n++] = type_hold(types[i]);
    return MPI_SUCCESS;
}

void request_keep_hoard(struct request *request, struct comm *comm, struct keep *keep)
{
    request_keep(request, comm);
    request->collective = true;
    if (!keep)
        return;
    if (request_is_over(request)) {
        request_hoard_free(keep);
        return;
    }
    request->owner = keep;
    request->on_done = keep_done;
}

void request_forget(struct request *request, const struct comm *comm)
{
    request_orphan(request, comm && comm->session);
}

/* ---- requests without an operation ---- */

static int over_start(struct request *request)
{
    request_complete(request);
    return MPI_SUCCESS;
}

static void over_release(struct request *request)
{
    object_delete(request);
}

static const struct request_ops over_ops = { .name = "MPI_PROC_NULL",
                                             .start = over_start,
                                             .release = over_release };

int request_new_over(const struct result *result, struct comm *comm, bool persistent,
                     struct request **request)
{
    struct request *new = object_new(OBJECT_REQUEST, sizeof *new);
    if (!new)
        return fail(MPI_ERR_NO_MEM, "no memory left for a request");
    new->ops = &over_ops;
    new->done = 1;
    new->persistent = persistent;
    new->result = *result;
    if (comm)
        request_keep(new, comm);
    *request = new;
    return MPI_SUCCESS;
}

/* ---- ending ---- */

int request_of_none(MPI_Request handle, int index, struct request **request)
{
    *request = NULL;
    if (handle == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (index < 0)
        return fail(MPI_ERR_REQUEST, "argument request: the handle %p is no request",
                    (void *)handle);
    return fail(MPI_ERR_REQUEST, "array_of_requests[%d]: the handle %p is no request", index,
                (void *)handle);
}

/* The text of an operation's failure, which may have happened in an earlier call. */
static int request_fail(const struct request *request)
{
    const struct result *result = &request->result;
    leave_blame(request->comm);
    if (result->lost || fail_recall(request))
        return request_failure(request);
    return fail(result->error, "the %s operation of the request failed", request->ops->name);
}

int request_look(struct request *request, struct result *result)
{
    int rc = request->ops->query ? request->ops->query(request) : MPI_SUCCESS;
    *result = request->result;
    if (!rc && result->error)
        rc = request_fail(request);
    return rc;
}

int request_report(struct request *request, struct result *result)
{
    if (!request->persistent)
        request->collective = false; /* it is over, and who has been told so may free it */
    return request_look(request, result);
}

void request_discard(struct request *request)
{
    struct comm *comm = request->comm;
    request->comm = NULL;
    request->orphan = true; /* lets the datatypes go */
    if (request->on_done)
        request->on_done(request);
    request->comm = comm;
    request_release(request);
}

int request_finish(struct request *request, MPI_Request *handle, struct result *result)
{
    int rc = request_look(request, result);
    if (request->persistent) {
        request->active = false;
        return rc;
    }
    request_release(request);
    *handle = MPI_REQUEST_NULL;
    int freed = greq_take_error();
    return rc ? rc : freed;
}

/* ---- bodies ---- */

static int request_start(MPI_Request handle, int index)
{
    struct request *request;
    int rc = request_of(handle, index, &request);
    if (rc)
        return rc;
    int at = index < 0 ? 0 : index;
    if (request && (!request->persistent || request->active))
        leave_blame(request->comm);
    if (!request)
        return fail(MPI_ERR_REQUEST, "request %d is MPI_REQUEST_NULL and cannot be started",
                    at);
    if (!request->persistent)
        return fail(MPI_ERR_REQUEST, "request %d is not persistent and cannot be started", at);
    if (request->active)
        return fail(MPI_ERR_REQUEST, "request %d is active: complete it before the next start",
                    at);
    request->active = true;
    request->done = 0;
    rc = request->ops->start(request);
    if (rc) {
        request->active = false;
        request->done = 1;
        leave_blame(request->comm);
    }
    return rc;
}

int xmpi_start(request_t *request)
{
    return request_start(*request, -1);
}

int xmpi_startall(n_t count, MPI_Request array_of_requests[])
{
    if (count > 0 && !array_of_requests)
        return fail(MPI_ERR_ARG, "argument array_of_requests is NULL, count is %d", count);
    for (int i = 0; i < count; i++) {
        int rc = request_start(array_of_requests[i], i);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

static int request_check_not_null(MPI_Request handle, struct request **request)
{
    int rc = request_of(handle, -1, request);
    if (!rc && !*request)
        rc = fail(MPI_ERR_REQUEST, "argument request is MPI_REQUEST_NULL");
    return rc;
}

/* Of collectives nobody may know the end but all together (MPI 5.0, 6.12 and 6.13).  An inactive
 * persistent one may be freed, and one that MPI_Request_get_status has called complete (3.7.6). */
static int fail_of_collective(const struct request *request, const char *what)
{
    leave_blame(request->comm);
    return fail(MPI_ERR_REQUEST,
                "argument request is that of %s operation, which cannot be %s: wait for it",
                request->ops->query   ? "an enqueued"
                : request->persistent ? "an active persistent collective"
                                      : "a nonblocking collective",
                what);
}

/* Nor can a partitioned one be given up half-way (4.2). */
static int fail_of_partitioned(const struct request *request)
{
    leave_blame(request->comm);
    return fail(MPI_ERR_REQUEST,
                "argument request is that of an active %s operation, which cannot be freed: "
                "wait for it",
                request->ops->name);
}

int xmpi_request_free(request_t *request)
{
    struct request *gone;
    int rc = request_check_not_null(*request, &gone);
    if (rc)
        return rc;
    if (gone->collective && request_is_live(gone))
        return fail_of_collective(gone, "freed");
    if (request_is_partitioned(gone) && request_is_live(gone))
        return fail_of_partitioned(gone);
    *request = MPI_REQUEST_NULL;
    if (gone->done) {
        request_discard(gone);
        return greq_take_error();
    }
    struct comm *comm = gone->comm;
    request_forget(gone, comm);
    if (!gone->on_done)
        gone->on_done = orphan_done;
    if (comm && (gone->on_done == orphan_done || gone->on_done == keep_done))
        comm->orphans++; /* until comm_let_go */
    return MPI_SUCCESS;
}

int xmpi_cancel(request_t *request)
{
    struct request *unwanted;
    int rc = request_check_not_null(*request, &unwanted);
    if (rc)
        return rc;
    bool live = request_is_live(unwanted);
    if (live && unwanted->collective)
        return fail_of_collective(unwanted, "cancelled");
    if (live && unwanted->ops->cancel)
        return unwanted->ops->cancel(unwanted);
    if (live && unwanted->done)
        return MPI_SUCCESS;
    leave_blame(unwanted->comm);
    if (!live)
        return fail(MPI_ERR_REQUEST,
                    "argument request is inactive: there is nothing to cancel");
    return fail(MPI_ERR_REQUEST,
                "argument request is that of a %s operation, which cannot be cancelled",
                unwanted->ops->name);
}
