/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What happens when a packet arrives, and what happens to packets that must wait.
 *
 *     sender                          receiver
 *     EAGER [MORE ...]  ---------->   matched: into the buffer.  Not matched: kept (arrived.c)
 *     EAGER + sync      ---------->   matched, now or later
 *                       <----------   ACK
 *     RTS + first piece ---------->   matched, now or later
 *                       <----------   CTS: I take n bytes of it, call me by this name
 *     DATA ... DATA     ---------->   each to its place; done after n bytes
 *
 * (RTS + address, CTS + grant and WROTE: pull.c.)
 *
 * A link that has no room says so; then the packet waits with the peer, and the peer in a list
 * that every round of progress goes through:
 *
 *     busy -> peer -> peer -> ...     notes    CTS and ACK; they go first, answers free memory
 *                                     queue    messages in order, the first perhaps begun
 *                                     streams  DATA pieces of granted rendezvous
 *                                     writes   sends that write into the receiver's memory
 *
 * MORE pieces belong to the EAGER message the peer began last; the queue keeps other messages
 * from coming between, and the other kinds name the request they belong to.
 */
#include "pml/proto.h"

#include "mpi.h"
#include "pml/recv.h"
#include "pml/send.h"
#include "runtime/boot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pml_counters pml_counters;

struct note { /* a control packet that waits for room */
    struct note *next;
    struct wire header;
    struct wire_grant grant;
};

static struct peer *busy;

/* ---- arriving ---- */

/* A message that no receive waits for; `channel` may be NULL. */
static __attribute__((noinline)) void message_keep(struct channel *channel, struct peer *peer,
                                                   const struct wire *header,
                                                   const char *payload)
{
    if (message_is_dropped(channel, peer, header, payload)) {
        if (header->kind == WIRE_EAGER)
            peer_frees(peer, header->total);
        return;
    }
    struct arrived *arrived = arrived_new(peer, header, payload);
    if (header->kind == WIRE_EAGER && header->bytes < header->total)
        peer->in.arrived = arrived;
    if (channel) {
        match_store(channel->match, &arrived->match, wire_key(header));
        channel->unexpected++;
    } else {
        channel_keep_early(arrived);
    }
    arrived_tell(arrived);
}

/* A message's first packet. */
static inline void message_arrived(struct peer *peer, const struct wire *header,
                                   const char *payload)
{
    if (header->kind == WIRE_EAGER && header->bytes < header->total) {
        peer->in.recv = NULL;
        peer->in.arrived = NULL;
        peer->in.offset = header->bytes;
        peer->in.total = header->total;
    }
    struct channel *channel = channel_find(header->context);
    if (channel) {
        struct match_posted *posted = match_arrive(channel->match, wire_key(header));
        if (posted) {
            struct recv *recv = recv_of(posted);
            if (header->kind == WIRE_EAGER)
                peer_frees(peer, header->total);
            recv_accept(recv, peer, header, payload, header->bytes);
            return;
        }
    }
    message_keep(channel, peer, header, payload);
}

/* The next piece of the message that is coming in. */
static void more_arrived(struct peer *peer, size_t bytes, const char *payload)
{
    size_t offset = peer->in.offset;
    assert(bytes <= peer->in.total - offset);
    peer->in.offset += bytes;
    struct recv *recv = peer->in.recv;
    struct arrived *arrived = peer->in.arrived;
    if (recv && recv_piece(recv, offset, payload, bytes)) {
        peer->in.recv = NULL;
        recv_done(recv);
    } else if (arrived) {
        memcpy(arrived->data + offset, payload, bytes);
        arrived->have += bytes;
        pml_counters.unexpected_bytes += bytes;
    }
}

static void data_arrived(const struct wire *header, const char *payload)
{
    struct recv *recv = request_named(header->request);
    assert(recv);
    if (!recv_piece(recv, header->total, payload, header->bytes))
        return;
    request_unname(recv->name);
    recv->name = 0;
    recv_done(recv);
}

/* Somebody grants us what we have given up meanwhile (doom.c). */
static void withdrawn_granted(struct peer *peer, const struct wire *cts)
{
    struct wire answer = { .kind = WIRE_WITHDRAWN, .request = cts->peer_request };
    if (cts->peer_request)
        control_send(peer, &answer, NULL);
}

/* Whatever does not begin a message. */
static __attribute__((noinline)) void
other_arrived(struct peer *peer, const struct wire *header, const char *payload)
{
    struct send *send;
    switch (header->kind) {
    case WIRE_MORE:
        more_arrived(peer, header->bytes, payload);
        return;
    case WIRE_DATA:
        data_arrived(header, payload);
        return;
    case WIRE_CTS:
        send = request_named(header->request);
        if (send)
            send_granted(send, header, payload);
        else
            withdrawn_granted(peer, header);
        return;
    case WIRE_WITHDRAWN:
        recv_withdrawn(header->request);
        return;
    case WIRE_WROTE:
        recv_written(header->request, header->total);
        return;
    case WIRE_ACK:
        send = request_named(header->request);
        if (send)
            send_matched(send);
        return;
    case WIRE_CANCEL:
        cancel_arrived(peer, header);
        return;
    case WIRE_CANCELLED: /* it may have left MPI, and be back */
        send = request_named(header->request);
        if (send)
            send_cancelled(send);
        return;
    default:
        assert(!"a packet of unknown kind");
    }
}

void pml_arrived(struct peer *peer, const struct wire *header, const char *payload)
{
    if (__builtin_expect(peer->lost, 0))
        return;
    if (header->kind == WIRE_EAGER || header->kind == WIRE_RTS)
        message_arrived(peer, header, payload);
    else
        other_arrived(peer, header, payload);
}

/* ---- waiting for room ---- */

void peer_has_work(struct peer *peer)
{
    if (peer->busy)
        return;
    peer->busy = true;
    peer->next_busy = busy;
    busy = peer;
    progress_nudge();
}

/* Control packets are short enough to be put whole or not at all. */
static bool control_put(struct peer *peer, const struct wire *header,
                        const struct wire_grant *grant)
{
    struct buffer data = { (void *)grant, sizeof *grant, &layout_bytes, HERE };
    size_t bytes = header->flags & WIRE_ADDRESS ? sizeof *grant : 0;
    return peer->link->put(peer, header, &data, 0, bytes) >= 0;
}

void control_send(struct peer *peer, const struct wire *header, const struct wire_grant *grant)
{
    if (peer->lost)
        return;
    if (!peer->notes && control_put(peer, header, grant))
        return;
    struct note *note = malloc(sizeof *note);
    if (!note)
        boot_abort(MPI_ERR_NO_MEM, "no memory for an answer to a message");
    *note = (struct note){ .header = *header };
    if (grant)
        note->grant = *grant;
    if (peer->notes)
        peer->notes_last->next = note;
    else
        peer->notes = note;
    peer->notes_last = note;
    peer_has_work(peer);
}

void control_recall(struct peer *peer, uint8_t kind, uint32_t request)
{
    struct note *before = NULL, *at = peer->notes;
    for (; at && (at->header.kind != kind || at->header.request != request); at = at->next)
        before = at;
    if (!at)
        return;
    *(before ? &before->next : &peer->notes) = at->next;
    if (peer->notes_last == at)
        peer->notes_last = before;
    free(at);
}

static int notes_flush(struct peer *peer)
{
    int sent = 0;
    while (peer->notes) {
        struct note *note = peer->notes;
        if (!control_put(peer, &note->header, &note->grant))
            break;
        peer->notes = note->next;
        free(note);
        sent++;
    }
    return sent;
}

/* Links never call back, so a list does not change while its head is being pushed; completing
 * does call back, and may send more, so the head has left the list by then. */
static struct send *list_first_out(struct send_list *list)
{
    struct send *send = list->first;
    list->first = send->next;
    return send;
}

static int queue_flush(struct peer *peer)
{
    int sent = 0;
    while (peer->queue.first) {
        size_t before = peer->queue.first->offset;
        bool all = send_push(peer->queue.first);
        sent += peer->queue.first->offset != before || all;
        if (!all)
            break;
        send_pushed(list_first_out(&peer->queue));
    }
    return sent;
}

static int streams_flush(struct peer *peer)
{
    int sent = 0;
    while (peer->streams.first) {
        if (!send_stream(peer->streams.first, &sent))
            break;
        send_done(list_first_out(&peer->streams));
    }
    return sent;
}

static int writes_flush(struct peer *peer)
{
    if (!peer->writes.first)
        return 0;
    if (!send_write(peer->writes.first))
        list_first_out(&peer->writes);
    return 1;
}

static bool peer_waits(const struct peer *peer)
{
    return peer->notes || peer->queue.first || peer->streams.first || peer->writes.first;
}

bool peer_owes(const struct peer *peer)
{
    return peer_waits(peer) || peer->unanswered > 0;
}

bool peers_have_work(void)
{
    return busy != NULL;
}

int peers_flush(void)
{
    if (__builtin_expect(!busy, 1))
        return 0;
    int sent = 0;
    struct peer *peer = busy;
    busy = NULL;
    while (peer) {
        struct peer *next = peer->next_busy;
        peer->busy = false;
        sent += notes_flush(peer);
        if (!peer->notes)
            sent += writes_flush(peer) + queue_flush(peer) + streams_flush(peer);
        if (peer_waits(peer))
            peer_has_work(peer);
        peer = next;
    }
    return sent;
}

/* ---- the end ---- */

void peer_forget_notes(struct peer *peer)
{
    while (peer->notes) {
        struct note *gone = peer->notes;
        peer->notes = gone->next;
        free(gone);
    }
}

static void peer_forget(struct peer *peer)
{
    peer_forget_notes(peer);
    while (peer->queue.first)
        send_done(list_first_out(&peer->queue));
    while (peer->streams.first)
        send_done(list_first_out(&peer->streams));
    while (peer->writes.first)
        send_done(list_first_out(&peer->writes));
    peer->unanswered = 0;
}

void peers_forget(void)
{
    for (struct peer *peer = peers_first(); peer; peer = peer->next)
        peer_forget(peer);
}

bool peers_waiting(void)
{
    bool waiting = false;
    for (struct peer *peer = peers_first(); peer; peer = peer->next) {
        if (!peer_owes(peer))
            continue;
        if (peer->link->gone(peer))
            peer_forget(peer);
        else
            waiting = true;
    }
    return waiting;
}
