/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The messages of partitioned operations: the hello, and the partitions of the sender.  One of these that
 * does not begin and end with whole elements of the receiver's datatype takes a detour through memory of ours.
 */
#include "src/part.h"

#include "mpix.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "src/context.h"

#include <stdlib.h>

static const uint32_t STEP_PARTITION = 0x80000000; /* + the number of the partition */

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

int piece_send(struct partitioned *part, size_t i)
{
    size_t bytes = part->hello.bytes;
    struct buffer from = { NULL, 0, &layout_bytes, HERE };
    data_cut(&part->data, i * bytes, bytes, &from); /* whole elements always */
    struct comm *comm = part->request.comm;
    struct envelope to = piece_envelope(part, i);
    struct request *request;
    int rc = pml_isend(&comm->p2p, &from, &to, SEND_STANDARD, &request);
    if (rc == MPIX_ERR_PROC_FAILED) { /* the others cannot be sent either */
        struct result lost = failure_result(ranks_world(comm->p2p.peers, part->peer));
        part_give_up(part, &lost);
    }
    if (rc)
        return rc;
    part->pieces[i].over = true;
    piece_follow(&part->pieces[i], request);
    return MPI_SUCCESS;
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

/* A piece more keeps the request from ending before the last one is posted. */
void pieces_receive(struct partitioned *part)
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

int pieces_new(struct partitioned *part)
{
    size_t n = part->hello.partitions;
    part->pieces = calloc(n ? n : 1, sizeof *part->pieces);
    if (!part->pieces)
        return fail(MPI_ERR_NO_MEM, "no memory left for %zu partitions", n);
    for (size_t i = 0; i < n; i++)
        part->pieces[i].part = part;
    return MPI_SUCCESS;
}

/* Pieces that are under way end by themselves. */
void part_give_up(struct partitioned *part, const struct result *how)
{
    part->lost = *how;
    if (!part->request.active || part->request.done)
        return;
    if (!part->request.result.error)
        part->request.result = *how;
    part->left++;
    for (size_t i = 0; part->pieces && i < part->hello.partitions; i++)
        if (!part->pieces[i].over) {
            part->pieces[i].over = true;
            part->left--;
        }
    piece_complete(part);
}

/* ---- hello ---- */

/* The receiver learns whom it deals with; a start may be waiting for that. */
static void part_meet(struct partitioned *part, const struct hello *hello,
                      const struct request *request)
{
    part->note = NULL;
    if (request->result.error) { /* there is no hello, and there will be none */
        part_give_up(part, &request->result);
        return;
    }
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

static void note_end(struct note *note, const struct request *request)
{
    if (note->part)
        part_meet(note->part, &note->hello, request);
    comm_release(note->comm);
    free(note);
}

static void note_done(struct request *request)
{
    note_end(request->owner, request);
}

int note_pass(struct partitioned *part, struct comm *comm)
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
        note_end(note, request);
        request->ops->release(request);
        return MPI_SUCCESS;
    }
    part->note = note->part ? note : NULL;
    request->owner = note;
    request->on_done = note_done;
    request->orphan = true;
    return MPI_SUCCESS;
}
