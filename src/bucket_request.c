/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests of nonblocking operations of a group.  They are made before their operation begins, so until
 * MPIX_Group_end they look complete: a wait for one, which could never end, ends with an error.
 */
#include "src/bucket.h"

#include "runtime/fail.h"
#include "src/facade.h"
#include "src/request.h"

struct fused {
    struct request request;
    struct bucket *bucket;
    int piece;
};

static void fused_release(struct request *request)
{
    struct fused *fused = (struct fused *)request;
    fused->bucket->pieces[fused->piece].request = NULL;
    bucket_drop(fused->bucket);
    object_delete(fused);
}

static void fused_tell(const struct request *request, struct record_wait *wait)
{
    const struct fused *fused = (const struct fused *)request;
    if (fused->bucket->running)
        request_tell(fused->bucket->running, wait);
}

static const struct request_ops fused_ops = { .name = "allreduce of a group",
                                              .release = fused_release,
                                              .tell = fused_tell };

/* While the group is open they look complete, so that a wait ends, and ends with this. */
static int early_query(struct request *request)
{
    leave_blame(request->comm);
    return fail(MPI_ERR_REQUEST, "the request is that of an allreduce in a group that is open: "
                                 "it begins at MPIX_Group_end and can be waited for then");
}

static const struct request_ops early_ops = { .name = "allreduce of an open group",
                                              .release = fused_release,
                                              .query = early_query };

int bucket_request(struct bucket *bucket, struct request **request)
{
    struct fused *new = object_new(OBJECT_REQUEST, sizeof *new);
    if (!new)
        return fail(MPI_ERR_NO_MEM, "no memory for a request");
    new->request.ops = &early_ops;
    new->request.done = 1;
    new->request.collective = true;
    new->bucket = bucket;
    new->piece = bucket->n;
    bucket_hold(bucket);
    request_keep(&new->request, bucket->comm);
    *request = &new->request;
    return MPI_SUCCESS;
}

void bucket_requests_begin(struct bucket *bucket)
{
    for (int i = 0; i < bucket->n; i++) {
        struct request *request = bucket->pieces[i].request;
        if (!request)
            continue;
        request->ops = &fused_ops;
        request->done = 0;
    }
}

void bucket_requests_end(struct bucket *bucket, const struct result *result)
{
    for (int i = 0; i < bucket->n; i++) {
        struct request *request = bucket->pieces[i].request;
        if (!request)
            continue;
        request->result = *result;
        if (result->error)
            fail_keep(request, result->error);
        request_complete(request);
    }
}
