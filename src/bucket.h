/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A bucket: allreduces of a group (src/fuse.h) that are performed as one.
 *
 *     bucket_new, bucket_add ...   while the group is open: what is asked for, nothing is copied
 *     bucket_begin                 contributions side by side in memory of ours, one allreduce in place
 *     ... done                     results to where they belong, requests of the pieces complete
 *     bucket_end                   waits for it where a blocking call is among them
 *
 * A bucket of one piece works on the buffers of the program.  Costs two copies of what goes through a
 * bucket of several.
 */
#ifndef XMPI_BUCKET_H
#define XMPI_BUCKET_H

#include "mpi.h"
#include "runtime/reduce.h"

struct asked;
struct comm;
struct op;
struct request;
struct result;
struct type;

/* One operation in it. */
struct piece {
    const void *from; /* may be MPI_IN_PLACE */
    void *to;
    size_t count;
    enum where from_where, to_where;
    struct request *request; /* NULL: it has none, or it is gone */
};

/* What is read of it, or, not `in`, written. */
static inline struct buffer piece_buffer(const struct piece *piece, const struct layout *layout,
                                         bool in)
{
    bool apart = in && piece->from != MPI_IN_PLACE;
    return (struct buffer){ apart ? (void *)piece->from : piece->to, piece->count, layout,
                            apart ? piece->from_where : piece->to_where };
}

/* How the operations of a bucket are asked for. */
enum bucket_kind { BUCKET_HOST, BUCKET_STREAM };

struct bucket {
    struct bucket *next;
    enum bucket_kind kind;
    struct comm *comm;
    struct type *type;
    struct op *op;
    struct reduction reduction;
    struct piece *pieces;
    int n, room;
    size_t count, bytes; /* of all of them */
    bool blocks;         /* somebody waits in MPIX_Group_end */
    int error, users;    /* requests and tasks that refer to it, its allreduce, the group */
    char *memory;        /* the copy; NULL: none, or not any more */
    void *base;
    struct request *running;
};

/* ---- while the group is open ---- */

/* Is this operation to be put into a bucket? */
bool bucket_wants(const struct asked *asked, enum bucket_kind kind);

/* For operations like this one.  NULL: no memory. */
struct bucket *bucket_new(const struct asked *asked, struct op *op, enum bucket_kind kind);

/* Is it for such operations, and may this one go into it? */
bool bucket_suits(const struct bucket *bucket, const struct asked *asked,
                  enum bucket_kind kind);
bool bucket_has_room(const struct bucket *bucket, const struct asked *asked);

/* One more.  `request` NULL: it blocks, or belongs to a stream.  MPI_ERR_NO_MEM. */
int bucket_add(struct bucket *bucket, const struct asked *asked, struct request **request);

/* ---- requests of its pieces (bucket_request.c) ---- */

/* Of the piece that is added next.  MPI_ERR_NO_MEM. */
int bucket_request(struct bucket *bucket, struct request **request);

/* The operations begin; all are over. */
void bucket_requests_begin(struct bucket *bucket);
void bucket_requests_end(struct bucket *bucket, const struct result *result);

/* ---- when the group is closed (bucket_run.c) ---- */

/* Perform it; `shape` is what all ranks must have put together alike, 0: need not be compared.  What
 * goes wrong is told by bucket_end, or by the requests. */
void bucket_begin(struct bucket *bucket, uint64_t shape);

/* Until bucket_drop. */
void bucket_hold(struct bucket *bucket);
void bucket_drop(struct bucket *bucket);

/* The group is through with it.  MPI error class. */
int bucket_end(struct bucket *bucket);

#endif
