/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations in streams that are waited for later: MPIX_Isend_enqueue and MPIX_Irecv_enqueue give
 * a request, which one of two ends
 *
 *     MPIX_Wait_enqueue    the stream waits, and brings data to the device itself
 *     MPI_Wait, MPI_Test   the host waits, and brings them there
 */
#include "runtime/fail.h"
#include "runtime/gpu_stream.h"
#include "src/api/stream.h"
#include "src/request.h"
#include "src/status.h"
#include "src/task.h"

struct enqueued {
    struct request request;
    struct task *task; /* NULL: over, and its data are where they belong */
    int error;         /* of bringing them there */
};

/* ---- for the host ---- */

static int enqueued_query(struct request *request)
{
    struct enqueued *enqueued = (struct enqueued *)request;
    if (enqueued->task)
        enqueued->error = task_collect(enqueued->task);
    enqueued->task = NULL;
    return enqueued->error;
}

static void enqueued_release(struct request *request)
{
    enqueued_query(request);
    object_delete(request);
}

static const struct request_ops enqueued_ops = { .name = "enqueued",
                                                 .release = enqueued_release,
                                                 .query = enqueued_query };

void enqueued_done(struct enqueued *enqueued, const struct result *result)
{
    enqueued->request.result = *result;
    request_complete(&enqueued->request);
}

int enqueue_later(const struct task *model, struct request **request)
{
    struct enqueued *new = object_new(OBJECT_REQUEST, sizeof *new);
    struct task task = *model;
    if (!new)
        return fail(MPI_ERR_NO_MEM, "no memory for a request");
    new->request.ops = &enqueued_ops;
    new->request.collective =
        true;           /* neither freed nor cancelled: its data have to get there */
    task.request = new; /* it may be over before the call is */
    int rc = task_enqueue(&task, &new->task);
    if (rc) {
        object_delete(new);
        return rc;
    }
    request_keep(&new->request, task.comm);
    *request = &new->request;
    return MPI_SUCCESS;
}

/* ---- for the stream ---- */

static int enqueued_check(MPI_Request handle, int index)
{
    struct request *request;
    int rc = request_of(handle, index, &request);
    if (!rc && request && request->ops != &enqueued_ops)
        rc =
            fail(MPI_ERR_REQUEST,
                 "request %d is that of a %s operation, not of one that was put into a stream: "
                 "MPI_Wait waits for it",
                 index < 0 ? 0 : index, request->ops->name);
    const struct task *task = rc || !request ? NULL : ((struct enqueued *)request)->task;
    if (task && gpu_stream_is_captured(task->stream->device))
        rc = fail(MPI_ERR_REQUEST,
                  "request %d was begun before its stream was captured into a graph, which may "
                  "run many times: wait for it before or after the capture",
                  index < 0 ? 0 : index);
    return rc;
}

/* It has ended: its error is that of this call, which lets the stream pass all the same. */
static int wait_for_ended(struct enqueued *enqueued, MPI_Status *status)
{
    struct result result = enqueued->request.result;
    status_write(status, &result);
    if (!result.error)
        return MPI_SUCCESS;
    if (status)
        status->MPI_ERROR = result.error;
    return fail_recall(enqueued) ? result.error : fail(result.error, "the operation failed");
}

static int wait_in_stream(MPI_Request *handle, MPI_Status *status)
{
    if (*handle == MPI_REQUEST_NULL) {
        status_write_empty(status);
        return MPI_SUCCESS;
    }
    struct enqueued *enqueued = (struct enqueued *)*handle;
    struct task *task = enqueued->task;
    int rc = task ? task_await(task) : MPI_SUCCESS;
    if (enqueued->request.done) {
        int error = wait_for_ended(enqueued, status);
        rc = rc ? rc : error;
    } else {
        task->status = status;
        task->request = NULL;
    }
    enqueued->task = NULL;
    request_discard(&enqueued->request);
    *handle = MPI_REQUEST_NULL;
    return rc;
}

int xmpix_wait_enqueue(request_t *request, status_t status)
{
    int rc = enqueued_check(*request, -1);
    return rc ? rc : wait_in_stream(request, status);
}

int xmpix_waitall_enqueue(n_t count, MPI_Request array_of_requests[],
                          MPI_Status *array_of_statuses)
{
    int rc = fail_null_array("array_of_requests", count, array_of_requests);
    for (int i = 0; !rc && i < count; i++)
        rc = enqueued_check(array_of_requests[i], i);
    for (int i = 0; !rc && i < count; i++)
        rc = wait_in_stream(&array_of_requests[i],
                            array_of_statuses ? &array_of_statuses[i] : MPI_STATUS_IGNORE);
    return rc;
}
