/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending.  Which way a message goes:
 *
 *     <= XMPI_EAGER    EAGER: handed to the link whole, piece by piece (MORE) if the link likes
 *                      small pieces; done when the last byte is with the link, or, for a
 *                      synchronous send, when the ACK is here as well
 *     longer           RTS with the first piece; when the CTS is here, the rest as DATA
 *     > 8 KiB, plain   RTS with the address, if the receiver advises it; it reads (pull.c)
 *     on a device      RTS with a name of the memory, on the same node; it reads (device.c)
 *
 * What the link has no room for waits in the peer's queue, and later messages behind it, so
 * order holds; progress tries again.  Nothing here blocks but pml_send itself, at its end.
 *
 * A short contiguous message to a peer with an empty queue never becomes a request: pml_send
 * and pml_isend give it to the link and are done.
 */
#include "pml/send.h"

#include "mpi.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/trip.h"
#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/param.h"

#include <string.h>

enum { PIECES_PER_ROUND = 16 };

/* ---- packets ---- */

void send_forget(struct send *send)
{
    if (send->offer)
        send->peer->link->retract(send->offer);
    send->offer = NULL;
    if (__builtin_expect(send->stage != NULL, 0))
        send_unstage(send);
    if (send->name) {
        request_unname(send->name);
        send->name = 0;
        send->peer->unanswered--;
    }
}

void send_unspend(const struct send *send)
{
    if (!send->begun && send->first.kind == WIRE_EAGER && send->peer->window)
        send->peer->spent -= message_cost(send->first.total);
}

void send_done(struct send *send)
{
    send_forget(send);
    if (send->plain)
        trip_sent(send->first.total);
    if (__builtin_expect(send->data.where == AWAY, 0))
        request_check_moves(&send->request);
    request_complete(&send->request);
}

/* Give the link a piece of a message, and tell trip.c what a long one costs. */
static long send_put(struct send *send, size_t bytes)
{
    struct peer *peer = send->peer;
    if (__builtin_expect(send->data.where == AWAY, 0))
        return send_put_away(send, bytes);
    if (!send->plain)
        return peer->link->put(peer, &send->header, &send->data, send->offset, bytes);
    uint64_t began = cpu_ticks();
    long put = peer->link->put(peer, &send->header, &send->data, send->offset, bytes);
    if (put > 0)
        trip_out((size_t)put, cpu_ticks() - began);
    return put;
}

/* The first packet of a message that the receiver will read. */
static bool send_address(struct send *send)
{
    const struct link *link = send->peer->link;
    uint64_t address = (uintptr_t)send->plain;
    struct buffer data = { &address, sizeof address, &layout_bytes, HERE };
    if (send->offer)
        data = (struct buffer){ send->offer->card, send->offer->bytes, &layout_bytes, HERE };
    send->begun = link->put(send->peer, &send->header, &data, 0, data.count) >= 0;
    return send->begun;
}

bool send_push(struct send *send)
{
    size_t total = send->first.total;
    if (send->first.flags & WIRE_ADDRESS)
        return send_address(send);
    if (send->first.flags & WIRE_DEVICE)
        return send_share(send);
    while (!send->begun || send->offset < total) {
        long put = send_put(send, total - send->offset);
        if (put < 0)
            return false;
        send->begun = true;
        send->offset += (size_t)put;
        if (send->first.kind == WIRE_RTS)
            return true;
        send->header.kind = WIRE_MORE;
    }
    return true;
}

void send_pushed(struct send *send)
{
    if (send->first.kind == WIRE_EAGER && (!(send->first.flags & WIRE_SYNC) || send->acked))
        send_done(send);
}

bool send_stream(struct send *send, int *pieces)
{
    for (int i = 0; i < PIECES_PER_ROUND && send->offset < send->granted; i++) {
        send->header.total = send->offset;
        long put = send_put(send, send->granted - send->offset);
        if (put < 0)
            return false;
        send->offset += (size_t)put;
        ++*pieces;
    }
    return send->offset == send->granted;
}

bool send_write(struct send *send)
{
    struct peer *peer = send->peer;
    struct claimed piece;
    claim_word *word = &peer->link->words(peer, false)[send->grant.word];
    send->writing = claim_take(word, send->grant.generation, send->granted, true, &piece);
    if (!send->writing)
        return false;
    uint64_t began = cpu_ticks();
    size_t written = peer->link->write(peer, send->grant.address + piece.offset,
                                       send->plain + piece.offset, piece.bytes);
    trip_out(written, cpu_ticks() - began);
    send->writing = written == piece.bytes;
    pml_counters.bytes_written += written;
    struct wire news = { .kind = WIRE_WROTE,
                         .request = send->header.request,
                         .total = send->writing ? written : 0 };
    control_send(peer, &news, NULL);
    return send->writing;
}

static void send_stop_writing(struct send *send)
{
    if (!send->writing)
        return;
    send_remove(&send->peer->writes, send);
    send->writing = false;
}

void send_granted(struct send *send, const struct wire *cts, const char *payload)
{
    send_stop_writing(send);
    if (cts->total <= send->offset) {
        send_done(send);
        return;
    }
    if (cts->flags & WIRE_ADDRESS) {
        memcpy(&send->grant, payload, sizeof send->grant);
        send->granted = cts->total;
        send->header = (struct wire){ .request = cts->peer_request };
        send->writing = true;
        send_append(&send->peer->writes, send);
    } else {
        send->granted = cts->total;
        send->header = (struct wire){ .kind = WIRE_DATA, .request = cts->peer_request };
        send_append(&send->peer->streams, send);
    }
    peer_has_work(send->peer);
}

void send_matched(struct send *send)
{
    send->acked = true;
    if (send->begun && send->offset == send->first.total)
        send_done(send);
}

/* ---- beginning ---- */

static void header_fill(struct wire *header, const struct channel *channel,
                        const struct envelope *to, size_t total)
{
    header->kind = WIRE_EAGER;
    header->flags = 0;
    header->pad = 0;
    header->source = (uint32_t)channel->rank;
    header->context = channel->context;
    header->tag = to->tag;
    header->step = to->step;
    header->signature = to->signature;
    header->sequence = 0;
    header->bytes = 0;
    header->request = 0;
    header->total = total;
}

static int send_bind(struct send *send, struct channel *channel, const struct buffer *data,
                     const struct envelope *to, enum send_mode mode)
{
    int error = channel_peer(channel, to->peer, &send->peer);
    if (error)
        return error;
    size_t total = buffer_bytes(data);
    send->channel = channel;
    send->session = channel->session;
    buffer_keep(&send->data, data);
    header_fill(&send->first, channel, to, total);
    send->plain = NULL;
    send->offer = NULL;
    send->stage = NULL;
    if (total > WAY_SHORT && trip_offers(send->peer))
        send->plain = buffer_flat(data);
    if (mode == SEND_SYNCHRONOUS)
        send->first.flags = WIRE_SYNC;
    send->name = 0;
    send->group = to->group;
    return 0;
}

/* Over links that take their time the receiver reads what it must be asked for anyway. */
static void send_offer(struct send *send)
{
    send->first.flags &= (uint8_t)~WIRE_PLAIN;
    if (send->first.kind != WIRE_RTS)
        return;
    send->offer = send->peer->link->offer(send->peer, send->plain, send->first.total, HERE);
    if (send->offer)
        send->first.flags |= WIRE_ADDRESS;
}

/* With or without asking, with or without the address. */
static void send_choose(struct send *send)
{
    size_t total = send->first.total, eager = (size_t)param_number(EAGER);
    send->first.kind = total <= eager && peer_spends(send->peer, total) ? WIRE_EAGER : WIRE_RTS;
    if (__builtin_expect(send->first.step >= PML_WORDS, 0) && send->first.kind == WIRE_RTS) {
        peer_overspends(send->peer, total); /* few, short, and not kept */
        send->first.kind = WIRE_EAGER;
        return;
    }
    if (__builtin_expect(send->data.where == AWAY, 0)) {
        send_choose_away(send);
        return;
    }
    if (!send->plain)
        return;
    send->first.flags = (uint8_t)((send->first.flags | WIRE_PLAIN) & ~WIRE_ADDRESS);
    if (send->peer->link->offer) {
        send_offer(send);
        return;
    }
    if (!trip_asks(send->peer, total, channel_posted(send->channel) > 0) ||
        (total <= eager && (params[PARAM_ID_EAGER].is_set || !send->peer->link->advised)))
        return;
    send->first.kind = WIRE_RTS;
    send->first.flags |= WIRE_ADDRESS;
    if (send->peer->link->share)
        send->peer->link->share(send->plain, total);
}

static int send_begin(struct send *send)
{
    struct peer *peer = send->peer;
    size_t total = send->first.total;
    if (__builtin_expect(failures > 0, 0)) {
        int world = send_doomed(send);
        if (world >= 0)
            return failure_fail(world);
    }
    send_choose(send);
    send->request.result.bytes = total;
    send->offset = send->granted = 0;
    send->begun = send->acked = send->cancelling = send->writing = false;
    send->header = send->first;
    if (send->first.kind == WIRE_RTS || send->first.flags & WIRE_SYNC) {
        send->name = send->header.request = request_name(send);
        if (send->name == 0) {
            send_unspend(send);
            send_forget(send);
            return fail(MPI_ERR_NO_MEM, "too many large or synchronous sends at once");
        }
        peer->unanswered++;
    }
    pml_counters.sent++;
    pml_counters.bytes_sent += total;
    if (!peer->queue.first && send_push(send)) {
        send_pushed(send);
        return 0;
    }
    send_append(&peer->queue, send);
    peer_has_work(peer);
    return 0;
}

/* ---- the short path ---- */

/* In one packet, and past the header, if the link has a way for that. */
static inline bool send_at_once(struct peer *peer, const struct channel *channel,
                                const struct buffer *data, const struct envelope *to,
                                size_t total)
{
    const struct link *link = peer->link;
    if (total >= link->slot_room)
        return false;
    const char *flat = total == 0 ? "" : buffer_flat(data);
    return flat && link->put_short(peer, channel, to, flat, total);
}

static __attribute__((noinline)) bool send_packet(struct peer *peer,
                                                  const struct channel *channel,
                                                  const struct buffer *data,
                                                  const struct envelope *to, size_t total)
{
    if (total > peer->link->short_bytes || data->where != HERE || !peer_spends(peer, total))
        return false;
    struct wire header;
    header_fill(&header, channel, to, total);
    header.bytes = (uint32_t)total; /* all or nothing */
    if (peer->link->put(peer, &header, data, 0, total) >= 0)
        return true;
    peer->spent -= peer->window ? message_cost(total) : 0;
    return false;
}

/* Give a short message to the link at once.  False: it takes the long way. */
static inline bool send_short(struct peer *peer, struct channel *channel,
                              const struct buffer *data, const struct envelope *to,
                              size_t total)
{
    if (peer->queue.first || (!send_at_once(peer, channel, data, to, total) &&
                              !send_packet(peer, channel, data, to, total)))
        return false;
    pml_counters.sent++;
    pml_counters.bytes_sent += total;
    return true;
}

/* It may be short enough, which depends on the link. */
static inline bool may_be_short(size_t total, enum send_mode mode)
{
    return mode != SEND_SYNCHRONOUS && total <= (size_t)param_number(EAGER);
}

size_t send_eager(void)
{
    return (size_t)param_number(EAGER);
}

/* ---- requests ---- */

/* Short, and with the link already, as pml_isend would do it. */
static inline bool send_starts_short(const struct send *send)
{
    const struct wire *first = &send->first;
    struct envelope to = { .tag = first->tag,
                           .step = first->step,
                           .signature = first->signature };
    return failures == 0 && !(first->flags & WIRE_SYNC) &&
           may_be_short(first->total, SEND_STANDARD) &&
           send_short(send->peer, send->channel, &send->data, &to, first->total);
}

static int send_start(struct request *request)
{
    struct send *send = (struct send *)request;
    request->done = 0;
    request->active = true;
    request->result = (struct result){ .bytes = send->first.total };
    int error = 0;
    if (send_starts_short(send))
        request_complete(request);
    else
        error = send_begin(send);
    if (!error)
        started_record(send);
    return error;
}

static void send_release(struct request *request)
{
    layout_drop((struct layout *)((struct send *)request)->data.layout);
    request_free(request);
}

static const struct request_ops send_ops = {
    .name = "send",
    .start = send_start,
    .cancel = send_cancel,
    .release = send_release,
    .tell = send_tell,
};

bool request_is_send(const struct request *request)
{
    return request->ops == &send_ops;
}

static int send_new(struct send **send, struct channel *channel, const struct buffer *data)
{
    *send = (struct send *)request_new(&send_ops, channel->pool);
    if (!*send)
        return fail(MPI_ERR_NO_MEM, "no memory for one more send request");
    layout_hold((struct layout *)data->layout);
    return 0;
}

static int isend_long(struct channel *channel, const struct buffer *data,
                      const struct envelope *to, enum send_mode mode, struct request **request)
{
    struct send *send;
    int error = send_new(&send, channel, data);
    if (error)
        return error;
    error = send_bind(send, channel, data, to, mode);
    if (!error)
        error = send_begin(send);
    if (error)
        send_release(&send->request);
    else
        *request = &send->request;
    send_record(channel, to, buffer_bytes(data));
    return error;
}

int pml_send_ahead(struct channel *channel, const struct buffer *data,
                   const struct envelope *to, enum send_mode mode, struct request **request)
{
    size_t total = buffer_bytes(data);
    struct peer *peer;
    int error = channel_peer(channel, to->peer, &peer);
    *request = NULL;
    if (error)
        return error;
    if (!may_be_short(total, mode) || !send_short(peer, channel, data, to, total))
        return isend_long(channel, data, to, mode, request);
    send_record(channel, to, total);
    return 0;
}

int pml_isend(struct channel *channel, const struct buffer *data, const struct envelope *to,
              enum send_mode mode, struct request **request)
{
    if (!request_is_kept_done(channel->pool))
        return fail(MPI_ERR_NO_MEM, "no memory for one more send request");
    int error = pml_send_ahead(channel, data, to, mode, request);
    if (!error && !*request)
        *request = request_new_done(channel->pool);
    return error;
}

int pml_send(struct channel *channel, const struct buffer *data, const struct envelope *to,
             enum send_mode mode)
{
    size_t total = buffer_bytes(data);
    struct send send;
    int error = channel_peer(channel, to->peer, &send.peer);
    if (error)
        return error;
    if (may_be_short(total, mode) && send_short(send.peer, channel, data, to, total)) {
        send_record(channel, to, total);
        return 0;
    }
    request_init(&send.request, &send_ops, channel->pool);
    error = send_bind(&send, channel, data, to, mode);
    if (!error)
        error = send_begin(&send);
    if (error)
        return error;
    send_record(channel, to, total);
    request_await(&send.request);
    return request_failure(&send.request);
}

int pml_send_init(struct channel *channel, const struct buffer *data, const struct envelope *to,
                  enum send_mode mode, struct request **request)
{
    struct send *send;
    int error = send_new(&send, channel, data);
    if (error)
        return error;
    error = send_bind(send, channel, data, to, mode);
    if (error) {
        send_release(&send->request);
        return error;
    }
    send->request.persistent = true;
    send->request.done = 1;
    *request = &send->request;
    return 0;
}
