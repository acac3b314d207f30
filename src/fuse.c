/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups.  What may go into a bucket follows from what is the same on all ranks: the communicator, the
 * operation, the type, the bytes.  Every bucket carries a hash of all that its communicator has in the
 * group, which is compared like the rest of a collective's signature, so ranks that put different
 * things together hear of it from the first message.
 */
#include "src/fuse.h"

#include "runtime/fail.h"
#include "src/api/fusion.h"
#include "src/asked.h"
#include "src/bucket.h"

int fuse_groups;

static _Thread_local struct {
    int depth;
    int n;                 /* operations that were put off */
    struct bucket *newest; /* by next: older ones */
} group;

bool fuse_has_group(void)
{
    return group.depth > 0;
}

/* ---- what is put off ---- */

/* The newest one for such operations, if this one fits; else a new one. */
static struct bucket *bucket_for(const struct asked *asked, struct op *op,
                                 enum bucket_kind kind)
{
    struct bucket *bucket = group.newest;
    while (bucket && !bucket_suits(bucket, asked, kind))
        bucket = bucket->next;
    if (bucket && bucket_has_room(bucket, asked))
        return bucket;
    bucket = bucket_new(asked, op, kind);
    if (!bucket)
        return NULL;
    bucket->next = group.newest;
    group.newest = bucket;
    return bucket;
}

static int put_off(const struct asked *asked, struct op *op, enum bucket_kind kind,
                   struct request **request)
{
    struct bucket *bucket = bucket_for(asked, op, kind);
    int rc = bucket ? bucket_add(bucket, asked, request)
                    : fail(MPI_ERR_NO_MEM, "no memory for an operation of a group");
    group.n += rc == MPI_SUCCESS;
    if (bucket && bucket->n == 0) { /* no memory for its first one */
        group.newest = bucket->next;
        bucket_drop(bucket);
    }
    return rc;
}

int fuse_run(struct asked *asked, int rc)
{
    if (rc || !bucket_wants(asked, BUCKET_HOST))
        return asked_run(asked, rc);
    return put_off(asked, NULL, BUCKET_HOST, NULL);
}

int fuse_start(struct asked *asked, int rc, struct request **request)
{
    if (rc || !bucket_wants(asked, BUCKET_HOST))
        return asked_start(asked, rc, request);
    return put_off(asked, NULL, BUCKET_HOST, request);
}

bool fuse_enqueue(struct asked *asked, struct op *op, int *rc)
{
    if (*rc || !bucket_wants(asked, BUCKET_STREAM))
        return false;
    *rc = put_off(asked, op, BUCKET_STREAM, NULL);
    return true;
}

/* ---- the end of a group ---- */

static struct bucket *oldest_first(struct bucket *newest)
{
    struct bucket *first = NULL;
    while (newest) {
        struct bucket *older = newest->next;
        newest->next = first;
        first = newest;
        newest = older;
    }
    return first;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* What a communicator has in the group.  0: one operation, which any call of it may meet. */
static uint64_t shape_of(const struct bucket *buckets, const struct comm *comm)
{
    uint64_t hash = 1;
    int n = 0;
    for (const struct bucket *b = buckets; b; b = b->next) {
        if (b->comm != comm)
            continue;
        hash = mix(hash, (uint64_t)b->n << 8 | b->reduction.name);
        for (int i = 0; i < b->n; i++)
            hash = mix(hash, b->pieces[i].count * b->type->layout->size);
        n += b->n;
    }
    return n > 1 ? hash | (uint64_t)1 << 63 : 0;
}

static int buckets_perform(struct bucket *buckets)
{
    struct bucket *next;
    int first = MPI_SUCCESS;
    uint64_t shape = 0;
    for (struct bucket *b = buckets, *before = NULL; b; before = b, b = b->next) {
        if (!before || before->comm != b->comm)
            shape = shape_of(buckets, b->comm);
        bucket_begin(b, shape);
    }
    for (struct bucket *b = buckets; b; b = next) {
        next = b->next;
        int rc = bucket_end(b);
        if (rc && !first)
            first = fail_keep(&group, rc);
    }
    if (first)
        fail_recall(&group);
    return first;
}

int xmpix_group_start(void)
{
    if (group.depth++ == 0)
        fuse_groups++;
    return MPI_SUCCESS;
}

int xmpix_group_end(void)
{
    struct bucket *buckets = oldest_first(group.newest);
    if (group.depth == 0)
        return fail(MPI_ERR_OTHER,
                    "no group is open in this thread: MPIX_Group_start opens one");
    if (group.depth-- > 1) {
        group.newest = oldest_first(buckets);
        return MPI_SUCCESS;
    }
    fuse_groups--;
    group.newest = NULL;
    group.n = 0;
    return buckets_perform(buckets);
}

int fuse_check(void)
{
    if (fuse_groups == 0)
        return MPI_SUCCESS;
    if (group.depth == 0)
        return fail(MPI_ERR_OTHER, "another thread has a group open: MPIX_Group_start was "
                                   "called there without MPIX_Group_end");
    return fail(MPI_ERR_OTHER,
                "a group is open: MPIX_Group_start was called %d time%s more often than "
                "MPIX_Group_end, which would perform %d operation%s",
                group.depth, group.depth == 1 ? "" : "s", group.n, group.n == 1 ? "" : "s");
}
