/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generalized requests (MPI 5.0, 13.2): operations of the program that are waited for like ours.
 * The program's three functions sit behind the same request_ops as a receive: query when the
 * status is asked for, cancel, and free when the request is released.  They are called without the
 * engine lock.
 */
#include "src/greq.h"

#include "runtime/fail.h"
#include "src/api/external.h"
#include "src/outside.h"
#include "src/request.h"
#include "src/status.h"

struct greq {
    struct request request;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
};

/* release returns nothing, but the free function's error is the waiting call's. */
static _Thread_local int free_error;

int greq_take_error(void)
{
    int error = free_error;
    free_error = MPI_SUCCESS;
    return error;
}

static int greq_query(struct request *request)
{
    struct greq *greq = (struct greq *)request;
    MPI_Status status = { .MPI_ERROR = MPI_SUCCESS };
    status_write(&status, &result_empty);
    struct outside outside = outside_begin();
    int rc = greq->query ? greq->query(greq->state, &status) : MPI_SUCCESS;
    outside_end(&outside);
    request->result = status_read(&status);
    request->result.error = MPI_SUCCESS; /* the function's value is what counts */
    return rc ? fail(rc, "the query function of the generalized request returned %d", rc) : 0;
}

static int greq_cancel(struct request *request)
{
    struct greq *greq = (struct greq *)request;
    int done = request->done;
    struct outside outside = outside_begin();
    int rc = greq->cancel ? greq->cancel(greq->state, done) : MPI_SUCCESS;
    outside_end(&outside);
    return rc ? fail(rc, "the cancel function of the generalized request returned %d", rc) : 0;
}

static void greq_release(struct request *request)
{
    struct greq *greq = (struct greq *)request;
    struct outside outside = outside_begin();
    int rc = greq->free ? greq->free(greq->state) : MPI_SUCCESS;
    outside_end(&outside);
    if (rc)
        free_error = fail(rc, "the free function of the generalized request returned %d", rc);
    object_delete(greq);
}

static const struct request_ops greq_ops = {
    .name = "generalized", .cancel = greq_cancel, .release = greq_release, .query = greq_query
};

int xmpi_grequest_start(MPI_Grequest_query_function *query_fn,
                        MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        request_out_t *request)
{
    struct greq *greq = object_new(OBJECT_REQUEST, sizeof *greq);
    if (!greq)
        return fail(MPI_ERR_NO_MEM, "no memory left for a generalized request");
    greq->request.ops = &greq_ops;
    greq->query = query_fn;
    greq->free = free_fn;
    greq->cancel = cancel_fn;
    greq->state = extra_state;
    *request = &greq->request;
    return MPI_SUCCESS;
}

int xmpi_grequest_complete(MPI_Request request)
{
    struct request *done;
    int rc = request_of(request, -1, &done);
    if (rc)
        return rc;
    if (!done || done->ops != &greq_ops)
        return fail(MPI_ERR_REQUEST, "argument request is no generalized request");
    if (done->done)
        return fail(MPI_ERR_REQUEST, "argument request is complete already");
    request_complete(done);
    return greq_take_error();
}
