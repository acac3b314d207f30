/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitioned communication (MPI 5.0, chapter 4).  Every partition of the sender is a message of
 * its own.  Psend_init and Precv_init meet by one small message, which is matched like any other
 * and so pairs them in the order of the calls; it carries what the receiver cannot know:
 *
 *     Psend_init --- hello: id, partitions, bytes of each ---> Precv_init
 *     Pready(i)  --- tag: id, step: STEP_PARTITION + i ------> posted by Start, once hello is here
 *
 * The numbers of partitions may differ: a partition of the receiver has arrived when the sender's
 * partitions that overlap it have.  One that does not begin and end with whole elements of the
 * receiver's datatype takes a detour through memory of ours.  A start costs the receiver one
 * posted receive for each of the sender's partitions.
 */
#include "src/request.h"

#include "runtime/fail.h"
#include "src/api/partitioned.h"
#include "src/context.h"
#include "src/facade.h"
#include "src/status.h"

#include <stdlib.h>

static const uint32_t STEP_PARTITION = 0x80000000; /* + the number of the partition */

struct hello {
    uint32_t id; /* unique among those of the sender */
    uint32_t partitions;
    uint64_t bytes; /* of one partition */
};

/* The hello on its way.  It may outlive the receiver's request, because it is matched even so. */
struct note {
    struct hello hello;
    struct comm *comm;
    struct partitioned *part; /* the receiver, NULL: nobody waits for it */
};

struct piece { /* one partition of the sender */
    struct partitioned *part;
    bool over;   /* sent from: handed over by MPI_Pready; received: here */
    char *loose; /* received into this first */
};

struct partitioned {
    struct request request;
    bool receives;
    int peer, tag, partitions;
    struct buffer data;   /* all partitions */
    struct note *note;    /* receiver: hello has not come yet */
    struct hello hello;   /* valid without note */
    struct piece *pieces; /* hello.partitions of them */
    size_t left;          /* pieces that are not complete */
};

static size_t part_bytes(const struct partitioned *part)
{
    return part->partitions ? buffer_bytes(&part->data) / (size_t)part->partitions : 0;
}

/* ---- pieces ---- */

static void piece_complete(struct partitioned *part)
{
    if (--part->left == 0)
        request_complete(&part->request);
}

/* Its pieces have tags of their own, of which the program knows nothing. */
static int truncated(const struct partitioned *part)
{
    return fail(MPI_ERR_TRUNCATE,
                "partitioned message from rank %d with tag %d is %zu bytes (%zu partitions of "
                "%zu), the receive buffer holds %zu; give MPI_Precv_init as many as "
                "MPI_Psend_init",
                part->peer, part->tag, (size_t)part->hello.partitions * part->hello.bytes,
                (size_t)part->hello.partitions, (size_t)part->hello.bytes,
                buffer_bytes(&part->data));
}

/* A message is through: one that was sent, or one that has arrived. */
static void piece_end(struct piece *piece, const struct request *request)
{
    const struct result *result = &request->result;
    struct partitioned *part = piece->part;
    if (result->error && !part->request.result.error) {
        fail_recall(request);
        int error = part->receives && result->error == MPI_ERR_TRUNCATE ? truncated(part)
                                                                        : result->error;
        part->request.result.error = fail_keep(part, error);
    }
    if (part->receives) {
        part->request.result.bytes += result->bytes;
        piece->over = true;
    }
    if (piece->loose) {
        size_t skip = (size_t)(piece - part->pieces) * part->hello.bytes;
        buffer_unpack(&part->data, skip, piece->loose, result->bytes);
        free(piece->loose);
        piece->loose = NULL;
    }
    piece_complete(part);
}

static void piece_done(struct request *request)
{
    piece_end(request->owner, request);
}

/* Nobody but us knows the request, so it goes when it is done. */
static void piece_follow(struct piece *piece, struct request *request)
{
    if (request->done) {
        piece_end(piece, request);
        request->ops->release(request);
        return;
    }
    request->owner = piece;
    request->on_done = piece_done;
    request->orphan = true;
}

static struct envelope piece_envelope(const struct partitioned *part, size_t i)
{
    return (struct envelope){ .peer = part->peer,
                              .tag = (int)part->hello.id,
                              .step = STEP_PARTITION + (uint32_t)i };
}

/* Bytes [skip, skip + bytes) of the data as a buffer; false when they break an element. */
static bool data_cut(const struct buffer *data, size_t skip, size_t bytes, struct buffer *cut)
{
    const struct layout *layout = data->layout;
    char *solid = buffer_solid(data);
    if (solid || bytes == 0) {
        *cut = (struct buffer){ buffer_at(solid, solid ? (ptrdiff_t)skip : 0), bytes,
                                &layout_bytes, data->where };
        return true;
    }
    if (skip % layout->size || bytes % layout->size)
        return false;
    ptrdiff_t offset = (ptrdiff_t)(skip / layout->size) * layout->extent;
    *cut = (struct buffer){ buffer_at(data->base, offset), bytes / layout->size, layout,
                            data->where };
    return true;
}

static int piece_receive(struct partitioned *part, size_t i)
{
    struct piece *piece = &part->pieces[i];
    size_t room = buffer_bytes(&part->data), skip = i * part->hello.bytes;
    room -= skip < room ? skip : room;
    size_t bytes = part->hello.bytes < room ? part->hello.bytes : room;
    struct buffer to;
    if (!data_cut(&part->data, skip, bytes, &to)) {
        piece->loose = malloc(bytes);
        if (!piece->loose)
            return fail(MPI_ERR_NO_MEM, "no memory left to receive a partition of %zu bytes",
                        bytes);
        to = (struct buffer){ piece->loose, bytes, &layout_bytes, HERE };
    }
    struct comm *comm = part->request.comm;
    struct envelope from = piece_envelope(part, i);
    struct request *request;
    int rc = pml_irecv(&comm->p2p, &to, &from, &request);
    if (rc) {
        free(piece->loose);
        piece->loose = NULL;
        return rc;
    }
    piece_follow(piece, request);
    return MPI_SUCCESS;
}

/* What cannot be posted counts as over, so that the request ends, with an error.  A piece more
 * keeps it from ending before the last one is posted. */
static void pieces_receive(struct partitioned *part)
{
    part->left = part->hello.partitions + (size_t)1;
    for (size_t i = 0; i < part->hello.partitions; i++) {
        int rc = piece_receive(part, i);
        if (!rc)
            continue;
        part->request.result.error = fail_keep(part, rc);
        part->left--;
    }
    piece_complete(part);
}

static int pieces_new(struct partitioned *part)
{
    size_t n = part->hello.partitions;
    part->pieces = calloc(n ? n : 1, sizeof *part->pieces);
    if (!part->pieces)
        return fail(MPI_ERR_NO_MEM, "no memory left for %zu partitions", n);
    for (size_t i = 0; i < n; i++)
        part->pieces[i].part = part;
    return MPI_SUCCESS;
}

/* ---- hello ---- */

/* The receiver learns whom it deals with; a start may be waiting for that. */
static void part_meet(struct partitioned *part, const struct hello *hello)
{
    part->note = NULL;
    part->hello = *hello;
    int rc = pieces_new(part);
    if (!part->request.active)
        return;
    if (!rc) {
        pieces_receive(part);
        return;
    }
    part->request.result.error = fail_keep(part, rc);
    request_complete(&part->request);
}

static void note_end(struct note *note)
{
    if (note->part)
        part_meet(note->part, &note->hello);
    comm_release(note->comm);
    free(note);
}

static void note_done(struct request *request)
{
    note_end(request->owner);
}

static int note_pass(struct partitioned *part, struct comm *comm)
{
    struct note *note = malloc(sizeof *note);
    if (!note)
        return fail(MPI_ERR_NO_MEM, "no memory left for a partitioned operation");
    *note = (struct note){ part->hello, comm, part->receives ? part : NULL };
    struct buffer data = { &note->hello, sizeof note->hello, &layout_bytes, HERE };
    struct envelope envelope = { .peer = part->peer,
                                 .tag = part->tag,
                                 .step = STEP_PARTITIONED };
    struct request *request;
    int rc = part->receives ? pml_irecv(&comm->p2p, &data, &envelope, &request)
                            : pml_isend(&comm->p2p, &data, &envelope, SEND_STANDARD, &request);
    if (rc) {
        free(note);
        return rc;
    }
    object_hold(comm);
    if (request->done) {
        request->ops->release(request);
        note_end(note);
        return MPI_SUCCESS;
    }
    part->note = note->part ? note : NULL;
    request->owner = note;
    request->on_done = note_done;
    request->orphan = true;
    return MPI_SUCCESS;
}

/* ---- the request ---- */

static int part_start(struct request *request)
{
    struct partitioned *part = (struct partitioned *)request;
    bool nobody = part->peer == MPI_PROC_NULL;
    request->result =
        nobody ? result_proc_null : (struct result){ .source = part->peer, .tag = part->tag };
    if (nobody || (!part->receives && part->partitions == 0)) {
        request_complete(request);
        return MPI_SUCCESS;
    }
    if (part->note)
        return MPI_SUCCESS;
    if (!part->pieces)
        return fail(MPI_ERR_NO_MEM, "no memory left for %u partitions", part->hello.partitions);
    for (size_t i = 0; i < part->hello.partitions; i++)
        part->pieces[i].over = false;
    part->left = part->hello.partitions;
    if (part->receives)
        pieces_receive(part);
    else
        request->result.bytes = buffer_bytes(&part->data);
    return MPI_SUCCESS;
}

static void part_release(struct request *request)
{
    struct partitioned *part = (struct partitioned *)request;
    if (part->note)
        part->note->part = NULL;
    layout_drop((struct layout *)part->data.layout);
    free(part->pieces);
    object_delete(part);
}

/* The first partition that was not made ready; -1: none, or it is not ours to do so. */
static int first_unready(const struct partitioned *part)
{
    if (part->receives || !part->pieces)
        return -1;
    for (int i = 0; i < part->partitions; i++)
        if (!part->pieces[i].over)
            return i;
    return -1;
}

static void partitioned_tell(const struct request *request, struct record_wait *wait)
{
    const struct partitioned *part = (const struct partitioned *)request;
    const struct comm *comm = request->comm;
    struct parts parts = { .channel = &comm->p2p,
                           .come = part->receives,
                           .peer = part->peer,
                           .tag = part->tag,
                           .bytes = buffer_bytes(&part->data),
                           .unready = first_unready(part) };
    parts_tell(&parts, wait);
}

static const struct request_ops psend_ops = { .name = "partitioned send",
                                              .start = part_start,
                                              .tell = partitioned_tell,
                                              .release = part_release };
static const struct request_ops precv_ops = { .name = "partitioned receive",
                                              .start = part_start,
                                              .tell = partitioned_tell,
                                              .release = part_release };

bool request_is_partitioned(const struct request *request)
{
    return request->ops == &psend_ops || request->ops == &precv_ops;
}

/* A request like `model`, of which the buffer and its other side are known. */
static int part_new(const struct partitioned *model, struct comm *comm,
                    struct request **request)
{
    struct partitioned *part = object_new(OBJECT_REQUEST, sizeof *part);
    if (!part)
        return fail(MPI_ERR_NO_MEM, "no memory left for a partitioned operation");
    struct object object = part->request.object;
    *part = *model;
    part->request.object = object;
    part->request.ops = model->receives ? &precv_ops : &psend_ops;
    part->request.done = 1;
    part->request.persistent = true;
    part->request.result = result_empty;
    layout_hold((struct layout *)part->data.layout);
    int rc = MPI_SUCCESS;
    if (part->peer != MPI_PROC_NULL && !part->receives)
        rc = pieces_new(part);
    if (!rc && part->peer != MPI_PROC_NULL)
        rc = note_pass(part, comm);
    if (rc) {
        part_release(&part->request);
        return rc;
    }
    request_keep(&part->request, comm);
    *request = &part->request;
    return MPI_SUCCESS;
}

static int part_fill(struct partitioned *part, int partitions, int64_t count,
                     const struct type *type)
{
    int64_t elements, bytes;
    if (partitions > 0 && is_no_data(part->data.base, count, type))
        return fail_no_data("buf", part->data.base);
    if (__builtin_mul_overflow(count, (int64_t)partitions, &elements) ||
        __builtin_mul_overflow(elements, (int64_t)type->layout->size, &bytes))
        return fail(MPI_ERR_COUNT,
                    "%d partitions of %lld elements of %zu bytes do not fit into 63 bits",
                    partitions, (long long)count, type->layout->size);
    part->partitions = partitions;
    part->data.count = (size_t)elements;
    part->data.layout = type->layout;
    part->data.where = buffer_where(part->data.base, type->layout);
    return MPI_SUCCESS;
}

int xmpi_psend_init(in_t buf, length_t partitions, count_t count, committed_t datatype,
                    dest_t dest, tag_t tag, comm_t comm, info_t info, request_out_t *request)
{
    (void)info;
    static uint32_t ids;
    struct partitioned model = { .peer = dest, .tag = tag, .data.base = (void *)buf };
    int rc = part_fill(&model, partitions, count, datatype);
    if (rc)
        return rc;
    model.hello = (struct hello){ .id = ids++ & INT32_MAX,
                                  .partitions = (uint32_t)partitions,
                                  .bytes = part_bytes(&model) };
    return part_new(&model, comm, request);
}

int xmpi_precv_init(out_t buf, length_t partitions, count_t count, committed_t datatype,
                    dest_t dest, tag_t tag, comm_t comm, info_t info, request_out_t *request)
{
    (void)info;
    struct partitioned model = { .receives = true, .peer = dest, .tag = tag, .data.base = buf };
    int rc = part_fill(&model, partitions, count, datatype);
    return rc ? rc : part_new(&model, comm, request);
}

/* ---- partitions ---- */

/* The request behind a handle, if it is one of this side. */
static int part_of(MPI_Request handle, bool receives, struct partitioned **part)
{
    struct request *request;
    int rc = request_of(handle, -1, &request);
    if (rc)
        return rc;
    if (!request || request->ops != (receives ? &precv_ops : &psend_ops))
        return fail(MPI_ERR_REQUEST, "argument request is not one of %s",
                    receives ? "MPI_Precv_init" : "MPI_Psend_init");
    *part = (struct partitioned *)request;
    return MPI_SUCCESS;
}

static int partition_check(const struct partitioned *part, int partition, const char *argument)
{
    if (partition >= 0 && partition < part->partitions)
        return MPI_SUCCESS;
    leave_blame(part->request.comm);
    return fail(MPI_ERR_ARG, "argument %s is %d, the request has %d partitions counted from 0",
                argument, partition, part->partitions);
}

static int part_find_sender(MPI_Request handle, struct partitioned **part)
{
    int rc = part_of(handle, false, part);
    if (rc || (*part)->request.active)
        return rc;
    leave_blame((*part)->request.comm);
    return fail(MPI_ERR_REQUEST, "argument request is inactive: start it first");
}

static int partition_send(struct partitioned *part, int i)
{
    if (part->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct piece *piece = &part->pieces[i];
    struct comm *comm = part->request.comm;
    int rc;
    if (piece->over) {
        rc = fail(MPI_ERR_ARG, "partition %d was made ready before", i);
    } else {
        size_t bytes = part->hello.bytes;
        struct buffer from = { NULL, 0, &layout_bytes, HERE };
        data_cut(&part->data, (size_t)i * bytes, bytes, &from); /* whole elements always */
        struct envelope to = piece_envelope(part, (size_t)i);
        struct request *request;
        rc = pml_isend(&comm->p2p, &from, &to, SEND_STANDARD, &request);
        if (!rc) {
            piece->over = true;
            piece_follow(piece, request);
        }
    }
    if (rc)
        leave_blame(comm);
    return rc;
}

int xmpi_pready(int partition, MPI_Request request)
{
    struct partitioned *part = NULL;
    int rc = part_find_sender(request, &part);
    if (!rc)
        rc = partition_check(part, partition, "partition");
    return rc ? rc : partition_send(part, partition);
}

int xmpi_pready_list(length_t length, const int array_of_partitions[], MPI_Request request)
{
    struct partitioned *part = NULL;
    int rc = part_find_sender(request, &part);
    if (!rc && length > 0 && !array_of_partitions)
        rc =
            fail(MPI_ERR_ARG, "argument array_of_partitions is NULL, but length is %d", length);
    for (int i = 0; i < length && !rc; i++)
        rc = partition_check(part, array_of_partitions[i], "an element of array_of_partitions");
    for (int i = 0; i < length && !rc; i++)
        rc = partition_send(part, array_of_partitions[i]);
    return rc;
}

int xmpi_pready_range(int partition_low, int partition_high, MPI_Request request)
{
    struct partitioned *part = NULL;
    int rc = part_find_sender(request, &part);
    if (!rc)
        rc = partition_check(part, partition_low, "partition_low");
    if (!rc)
        rc = partition_check(part, partition_high, "partition_high");
    for (int i = partition_low; i <= partition_high && !rc; i++)
        rc = partition_send(part, i);
    return rc;
}

/* Are the sender's partitions here that overlap this one of ours? */
static bool partition_is_here(const struct partitioned *part, int partition)
{
    if (part->request.done)
        return true;
    size_t mine = part_bytes(part), theirs = part->hello.bytes;
    if (part->note || mine == 0 || theirs == 0)
        return false;
    size_t first = (size_t)partition * mine / theirs;
    size_t behind = ((size_t)partition + 1) * mine;
    for (size_t i = first; i < part->hello.partitions && i * theirs < behind; i++)
        if (!part->pieces[i].over)
            return false;
    return behind <= theirs * part->hello.partitions;
}

/* A null request is as complete as an inactive one (MPI 5.0, 4.2.2). */
int xmpi_parrived(MPI_Request request, int partition, flag_t *flag)
{
    struct partitioned *part = NULL;
    if (request == MPI_REQUEST_NULL) {
        *flag = true;
        return MPI_SUCCESS;
    }
    int rc = part_of(request, true, &part);
    if (!rc)
        rc = partition_check(part, partition, "partition");
    if (rc)
        return rc;
    *flag = partition_is_here(part, partition);
    if (!*flag) {
        progress();
        *flag = partition_is_here(part, partition);
        if (!*flag)
            request_missed((const struct request *)request);
    }
    return MPI_SUCCESS;
}
