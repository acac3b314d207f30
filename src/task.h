/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An operation in a stream.  The call fills in a task; task_enqueue puts its two ends into the
 * stream; what is between them is done by whoever makes progress.
 *
 *     stream    copies in | begin |   waits for the word    | copies out | word = PASSED
 *     progress            due -> start -> ... done -> word = ENDED
 *     later calls                                              the task's memory is used again
 */
#ifndef XMPI_TASK_H
#define XMPI_TASK_H

#include "src/comm.h"

struct gpu_stream; /* runtime/gpu_stream.h */
struct bucket;
struct op;
struct type;
struct piece;    /* src/bucket.h */
struct block;    /* pinned memory */
struct enqueued; /* the request of MPIX_Isend_enqueue and MPIX_Irecv_enqueue */

/* One of the program's streams, and what of ours is in it. */
enum { STREAM_TEXT = 256 };
struct task;
struct mark;      /* src/mark.c */
struct gpu_epoch; /* runtime/gpu_moment.h */
struct stream {
    struct object object; /* OBJECT_STREAM; communicators and tasks hold it */
    bool is_device;       /* operations can be put into it */
    unsigned number;      /* from 0, for traces */
    struct gpu_stream *device;
    struct task *first, **last; /* what was put into it and may not be over, oldest first */
    unsigned folds;             /* of these, those whose device folds */
    struct mark *marks;         /* work of the program that was begun, the last one first */
    struct gpu_epoch *epoch; /* that its moments are counted from; NULL: there was none yet */
    int nmarks;              /* in a time line or not */
    int error;               /* of one that failed unheard; 0: none */
    char text[STREAM_TEXT];
};

/* 0, or once the error that nobody has heard of. */
int stream_check(struct stream *stream);

enum task_word { TASK_WAITS, TASK_ENDED, TASK_PASSED };

/* One of the buffers.  Of memory of a device a task has a copy in pinned memory, packed, and where
 * that is not how the data lie, another one in memory of the host as they lie:
 *
 *     device --- the stream ---> flat --- task_stage_spread ---> spread    the operation works on the last
 *     device <-- the stream ---- flat <-- task_stage_spread ---- spread
 *
 * A bucket has a copy of many buffers, those on the host among them.  Where the operation works on
 * memory of a device itself, `where` says HERE, and there are none. */
struct stage {
    const void *user;  /* may be MPI_IN_PLACE, or NULL where there is none */
    struct type *type; /* NULL: no buffer */
    size_t count;
    size_t result; /* elements that come out, the first ones */
    bool in, out;  /* read by the operation, written by it */
    enum where where;
    char *flat;                 /* the copy; NULL where the data are in memory of the host */
    char *spread;               /* the other one, to be freed; NULL: none */
    void *at;                   /* what the operation gets */
    const struct piece *pieces; /* of a bucket, in order, instead of `user`; NULL: it is none */
    int npieces;
};

static inline struct stage stage_in(const void *buf, int64_t count, struct type *type)
{
    return (struct stage){
        .user = buf, .count = (size_t)count, .result = (size_t)count, .type = type, .in = true
    };
}

static inline struct stage stage_out(const void *buf, int64_t count, struct type *type)
{
    struct stage stage = stage_in(buf, count, type);
    stage.in = false;
    stage.out = true;
    return stage;
}

typedef int task_starter(struct task *task, struct request **request);

struct task {
    struct task *next;     /* in its stream */
    struct task *due_next; /* in the list of those that may begin, or run */
    struct stream *stream;
    struct comm *comm;
    const char *function; /* "MPIX_Send_enqueue" */
    task_starter *start;  /* begins the operation, which may not be persistent */
    struct stage send, recv;
    struct op *op;         /* NULL: none */
    int peer, tag;         /* peer: the root, too */
    int64_t *counts;       /* of reduce_scatter */
    uint64_t shape;        /* of a bucket, see struct call */
    struct bucket *bucket; /* held as long as the task; NULL: none */
    MPI_Status *status;    /* NULL: not wanted */
    struct result result;
    struct block *block;
    struct request *running;
    struct enqueued *request; /* NULL: none, or it has been waited for */
    uint64_t begun;           /* clock_ns, when a trace is written */
    bool beside;              /* the stream goes on while it runs */
    bool folds;               /* counted in the stream's folds */
    bool over;
};

/* The engine looks for tasks from now on, until the library is closed. */
void tasks_open(void);

/* Give back what streams have passed. */
void tasks_reclaim(struct stream *stream);

/* Put an operation like `model` into the stream of its communicator.  The stream waits for its end,
 * or, when `later` is given, does not before task_await.  What the model refers to is held, and
 * its counts become the task's, in an error too.  MPI_ERR_COMM: there is no stream of a device. */
int task_enqueue(const struct task *model, struct task **later);
int task_await(struct task *task);

/* May operations be put into the stream of this communicator?  0, MPI_ERR_COMM, or once the error of
 * an earlier one that nobody has heard of. */
int task_check(const struct comm *comm);

/* The host has waited for it: bring its data to the device.  MPI error class. */
int task_collect(struct task *task);

/* ---- task_stage.c ---- */

/* Has it a copy?  Known after task_stage_locate. */
static inline bool task_stage_is_away(const struct stage *stage)
{
    return stage->where == AWAY;
}

void task_stage_locate(struct stage *stage);

/* What copying it may need of the device is brought there, by who may wait for it. */
void task_stage_prepare(const struct stage *stage);

/* Bytes of data; 0: no buffer. */
size_t task_stage_size(const struct stage *stage);

/* Bytes of pinned memory for the copy. */
size_t task_stage_bytes(const struct stage *stage);

/* The operation gets a copy, at *flat, which is moved behind it.  MPI_ERR_NO_MEM. */
int task_stage_open(struct stage *stage, char **flat);

/* Put the copies into the stream: of what is read (`in`), or of what was written. */
void task_stage_queue(const struct stage *stage, bool in);

/* Before and after the operation: what lies on the host, and the second copy. */
void task_stage_spread(const struct stage *stage, bool before);

/* ---- task_direct.c ---- */

/* Large buffers on a device need no copies, where the operation can work on them there.  To prepare
 * that may take the engine lock from this thread for a while. */
void task_spare_copies(struct task *task);

/* It is over, or never was. */
void task_folded(struct task *task);

/* ---- task_trace.c ---- */

/* While a trace is written: it begins, it is over. */
void task_trace_begin(struct task *task);
void task_trace_end(const struct task *task);

/* ---- mark.c ---- */

/* While a trace is written: the stream has this name (NULL: none); it is no more. */
void marks_name(const struct stream *stream, const char *name);
void marks_drop(struct stream *stream);

/* ---- enqueue.c ---- */

/* Starts an allreduce of what the task receives. */
int allreduce_begin(struct task *task, struct request **request);

/* ---- bucket_run.c ---- */

/* Until bucket_drop. */
void bucket_hold(struct bucket *bucket);
void bucket_drop(struct bucket *bucket);

/* ---- enqueue_request.c ---- */

/* The same with a request. */
int enqueue_later(const struct task *model, struct request **request);

/* Its task is over.  A failure's text is kept for it. */
void enqueued_done(struct enqueued *request, const struct result *result);

#endif
