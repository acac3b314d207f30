/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buckets whose group is closed: many small vectors as one.  A bucket lives until the group and the
 * requests of its pieces are through with it; its allreduce ends in whatever call makes progress.
 */
#include "src/bucket.h"

#include "coll/scratch.h"
#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "src/facade.h"
#include "src/op.h"
#include "src/task.h"

#include <stdlib.h>

void bucket_hold(struct bucket *bucket)
{
    bucket->users++;
}

void bucket_drop(struct bucket *bucket)
{
    if (--bucket->users > 0)
        return;
    if (bucket->running)
        bucket->running->ops->release(bucket->running);
    scratch_give(bucket->memory);
    free(bucket->pieces);
    op_release(bucket->op);
    comm_release(bucket->comm);
    free(bucket);
}

/* ---- performing ---- */

/* All pieces into the copy, or out of it.  Copies of a device are begun together. */
static void pieces_move(const struct bucket *bucket, bool in)
{
    const struct layout *layout = bucket->reduction.layout;
    char *at = bucket->base;
    bool away = false;
    for (int i = 0; i < bucket->n; i++) {
        struct buffer user = piece_buffer(&bucket->pieces[i], layout, in);
        struct buffer here = { at, user.count, layout, HERE };
        at += (ptrdiff_t)user.count * layout->extent;
        away |= user.where == AWAY;
        if (user.where == AWAY && layout->solid)
            gpu_move_start(&user, 0, here.base, buffer_bytes(&user), in);
        else
            buffer_copy(in ? &here : &user, in ? &user : &here);
    }
    if (away)
        gpu_finish();
}

static bool is_away(const struct bucket *bucket)
{
    bool away = false;
    for (int i = 0; i < bucket->n; i++)
        away |= bucket->pieces[i].from_where == AWAY || bucket->pieces[i].to_where == AWAY;
    return away;
}

/* Its allreduce is over, or never began. */
static void bucket_over(struct bucket *bucket, struct result result)
{
    if (!result.error && bucket->memory)
        pieces_move(bucket, false);
    if (!result.error && is_away(bucket))
        result.error = gpu_check();
    scratch_give(bucket->memory);
    bucket->memory = NULL;
    bucket->error = result.error;
    if (result.error && bucket->blocks && !result.lost)
        fail_keep(bucket, result.error);
    bucket_requests_end(bucket, &result);
}

/* The text of a failure is found again for all who ask. */
static void allreduce_over(struct bucket *bucket, const struct request *request)
{
    if (request->result.error && !request->result.lost && !fail_recall(request))
        fail(request->result.error, "an allreduce of %d operations of a group failed",
             bucket->n);
    bucket_over(bucket, request->result);
}

static void allreduce_done(struct request *request)
{
    struct bucket *bucket = request->owner;
    allreduce_over(bucket, request);
    bucket_drop(bucket);
}

static struct call one_call(const struct bucket *bucket)
{
    const struct piece *piece = bucket->pieces;
    const struct layout *layout = bucket->reduction.layout;
    struct call call = { .what = COLL_ALLREDUCE, .reduction = bucket->reduction };
    call.recv = (struct part){
        .base = piece->to, .layout = layout, .count = piece->count, .where = piece->to_where
    };
    call.in_place = piece->from == MPI_IN_PLACE;
    if (call.in_place)
        return call;
    call.send = call.recv;
    call.send.base = (void *)piece->from;
    call.send.where = piece->from_where;
    return call;
}

static int copy_open(struct bucket *bucket, struct call *call)
{
    const struct layout *layout = bucket->reduction.layout;
    int rc = scratch_typed(&bucket->memory, &bucket->base, layout, bucket->count);
    if (rc)
        return rc;
    *call = (struct call){ .what = COLL_ALLREDUCE,
                           .reduction = bucket->reduction,
                           .in_place = true };
    call->recv =
        (struct part){ .base = bucket->base, .layout = layout, .count = bucket->count };
    pieces_move(bucket, true);
    return is_away(bucket) ? gpu_check() : MPI_SUCCESS;
}

static int host_begin(struct bucket *bucket, uint64_t shape)
{
    struct call call = one_call(bucket);
    int rc = bucket->n > 1 ? copy_open(bucket, &call) : MPI_SUCCESS;
    call.shape = shape;
    if (!rc)
        rc = coll_start(&bucket->comm->team, &call, &bucket->running);
    if (rc)
        return rc;
    if (bucket->running->done) {
        allreduce_over(bucket, bucket->running);
        return MPI_SUCCESS;
    }
    bucket_hold(bucket);
    bucket->running->owner = bucket;
    bucket->running->on_done = allreduce_done;
    return MPI_SUCCESS;
}

/* The stream copies to and from what lies on the device, whoever performs the operation the rest. */
static int stream_begin(struct bucket *bucket, uint64_t shape)
{
    struct task task = { .function = "MPIX_Group_end",
                         .start = allreduce_begin,
                         .comm = bucket->comm,
                         .op = bucket->op,
                         .shape = shape,
                         .bucket = bucket };
    task.send = stage_in(MPI_IN_PLACE, 0, NULL);
    task.recv = stage_out(NULL, (int64_t)bucket->count, bucket->type);
    task.recv.in = true;
    task.recv.pieces = bucket->pieces;
    task.recv.npieces = bucket->n;
    return task_enqueue(&task, NULL);
}

void bucket_begin(struct bucket *bucket, uint64_t shape)
{
    if (bucket->kind == BUCKET_STREAM) {
        bucket->error = stream_begin(bucket, shape);
        if (bucket->error)
            fail_keep(bucket, bucket->error);
        return;
    }
    bucket_requests_begin(bucket);
    int rc = host_begin(bucket, shape);
    if (rc)
        bucket_over(bucket, (struct result){ .error = rc });
}

/* ---- the end ---- */

int bucket_end(struct bucket *bucket)
{
    struct result result = { .lost = 0 };
    if (bucket->blocks && bucket->running) {
        request_wait(bucket->running, &result);
        bucket->running = NULL;
    }
    int rc = bucket->kind == BUCKET_STREAM || bucket->blocks ? bucket->error : MPI_SUCCESS;
    if (rc)
        leave_blame(bucket->comm);
    if (rc && !result.lost && !fail_recall(bucket)) /* a loss has been told by request_wait */
        rc = fail(rc, "an allreduce of %d operations of a group failed", bucket->n);
    bucket_drop(bucket);
    return rc;
}
