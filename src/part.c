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
 * partitions that overlap it have.  A start costs the receiver one posted receive for each of the sender's
 * partitions (part_messages.c).
 */
#include "src/part.h"

#include "runtime/fail.h"
#include "src/api/partitioned.h"
#include "src/facade.h"
#include "src/status.h"

#include <stdlib.h>

/* ---- the request ---- */

static int part_start(struct request *request)
{
    struct partitioned *part = (struct partitioned *)request;
    bool nobody = part->peer == MPI_PROC_NULL;
    request->result =
        nobody ? result_proc_null : (struct result){ .source = part->peer, .tag = part->tag };
    bool nothing = nobody || (!part->receives && part->partitions == 0);
    if (!nothing && part->lost.error)
        request->result = part->lost;
    if (nothing || part->lost.error) {
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

int xmpi_psend_init(in_t buf, length_t partitions, whole_count_t count, committed_t datatype,
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

int xmpi_precv_init(out_t buf, length_t partitions, whole_count_t count, committed_t datatype,
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
    bool again = part->pieces[i].over && !part->lost.error;
    int rc = again ? fail(MPI_ERR_ARG, "partition %d was made ready before", i)
                   : piece_send(part, (size_t)i);
    if (rc)
        leave_blame(part->request.comm);
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
