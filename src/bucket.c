/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buckets while their group is open: what may go into one, and what is in it.
 */
#include "src/bucket.h"

#include "runtime/fail.h"
#include "runtime/param.h"
#include "src/asked.h"
#include "src/op.h"

#include <stdlib.h>

/* ---- which operations ---- */

bool bucket_wants(const struct asked *asked, enum bucket_kind kind)
{
    const struct call *call = &asked->call;
    size_t bytes = unit_bytes(&call->recv);
    const struct type *type = asked->types[1];
    return !comm_is_inter(asked->comm) && type && type->predefined && bytes > 0 &&
           bytes <= (size_t)param_number(GROUP_BUCKET) &&
           (kind == BUCKET_HOST || type->layout->solid);
}

/* Do both fold alike?  Types of different names may. */
static bool folds_alike(const struct reduction *a, const struct reduction *b)
{
    return a->kernel == b->kernel && a->name == b->name && a->user == b->user &&
           a->function == b->function && a->datatype == b->datatype &&
           a->commutes == b->commutes;
}

bool bucket_suits(const struct bucket *bucket, const struct asked *asked, enum bucket_kind kind)
{
    return bucket->kind == kind && bucket->comm == asked->comm &&
           folds_alike(&bucket->reduction, &asked->call.reduction);
}

bool bucket_has_room(const struct bucket *bucket, const struct asked *asked)
{
    return bucket->bytes + unit_bytes(&asked->call.recv) <= (size_t)param_number(GROUP_BUCKET);
}

/* ---- gathering ---- */

struct bucket *bucket_new(const struct asked *asked, struct op *op, enum bucket_kind kind)
{
    struct bucket *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    new->kind = kind;
    new->comm = asked->comm;
    new->type = asked->types[1];
    new->op = op;
    new->reduction = asked->call.reduction;
    new->users = 1;
    object_hold(new->comm);
    op_hold(op);
    return new;
}

static struct piece *piece_new(struct bucket *bucket)
{
    if (bucket->n == bucket->room) {
        int room = bucket->room ? 2 * bucket->room : 8;
        struct piece *more = realloc(bucket->pieces, (size_t)room * sizeof *more);
        if (!more)
            return NULL;
        bucket->pieces = more;
        bucket->room = room;
    }
    return &bucket->pieces[bucket->n];
}

int bucket_add(struct bucket *bucket, const struct asked *asked, struct request **request)
{
    const struct call *call = &asked->call;
    struct piece *new = piece_new(bucket);
    int rc = new ? MPI_SUCCESS : fail(MPI_ERR_NO_MEM, "no memory for an operation of a group");
    if (!rc && request)
        rc = bucket_request(bucket, request);
    if (rc)
        return rc;
    struct buffer to =
        buffer_user(call->recv.base, (int64_t)call->recv.count, call->recv.layout);
    *new = (struct piece){ .from = call->in_place ? MPI_IN_PLACE : call->send.base,
                           .to = to.base,
                           .count = to.count,
                           .to_where = to.where,
                           .request = request ? *request : NULL };
    if (!call->in_place)
        new->from_where = buffer_where(new->from, to.layout);
    bucket->n++;
    bucket->count += to.count;
    bucket->bytes += buffer_bytes(&to);
    bucket->blocks |= !request && bucket->kind == BUCKET_HOST;
    return MPI_SUCCESS;
}
