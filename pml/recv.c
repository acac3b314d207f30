/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receiving.  A receive first looks among the messages that are here; if none fits it is posted
 * and completed from inside progress, by the packets of the message that matches it:
 *
 *     EAGER          bytes to their place; done when all pieces (MORE) are here
 *     EAGER, sync    an ACK besides
 *     RTS            first piece to its place, CTS back, then DATA pieces to their places; or,
 *                    when it brought an address, see pull.c, or of a device's, device.c
 *
 * A message longer than the buffer is an error of the receive alone: what fits is kept, the rest
 * of an EAGER message is dropped, and the CTS asks for no more than fits.
 *
 * A blocking receive is the same with the request on the stack, if it needs one at all (recv_now.c).
 */
#include "pml/recv.h"

#include "mpi.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/pull.h"
#include "runtime/fail.h"

#include <string.h>

/* ---- bytes ---- */

static void recv_place(struct recv *recv, size_t offset, const char *payload, size_t bytes)
{
    char *flat = buffer_flat(&recv->data);
    if (flat && __builtin_expect(recv->sink != NULL, 0) &&
        recv_sinks(recv, offset, payload, bytes))
        return;
    if (flat)
        memcpy(flat + offset, payload, bytes);
    else if (__builtin_expect(recv->data.where == AWAY, 0))
        recv_place_away(recv, offset, payload, bytes);
    else
        buffer_unpack(&recv->data, offset, payload, bytes);
}

bool recv_piece(struct recv *recv, size_t offset, const char *payload, size_t bytes)
{
    if (offset >= recv->expected)
        return recv->received == recv->expected;
    if (bytes > recv->expected - offset)
        bytes = recv->expected - offset;
    uint64_t began = bytes > WAY_SHORT ? trip_now() : 0;
    recv_place(recv, offset, payload, bytes);
    if (bytes > WAY_SHORT && recv->data.where == HERE && !recv->sink)
        trip_in(bytes, began);
    recv->received += bytes;
    return recv->received == recv->expected;
}

void recv_done(struct recv *recv)
{
    if (recv->trip.measured)
        trip_end(&recv->trip);
    if (__builtin_expect(recv->data.where == AWAY, 0)) {
        recv_unstage(recv, true);
        request_check_moves(&recv->request);
    }
    request_complete(&recv->request);
}

/* ---- a match ---- */

static int recv_mismatch(const struct wire *header, const struct recv *recv)
{
    struct mismatch mismatch = { .context = header->context,
                                 .me = recv->channel ? recv->channel->rank : -1,
                                 .peer = (int)header->source,
                                 .my_signature = recv->signature,
                                 .their_signature = header->signature,
                                 .my_number = (uint32_t)recv->key.tag,
                                 .their_number = (uint32_t)header->tag };
    if (pml_judge)
        return pml_judge->fail(&mismatch);
    return fail(MPI_ERR_OTHER, "rank %u sends a message that says %08x where %08x belongs",
                header->source, header->signature, recv->signature);
}

static void recv_compare(struct recv *recv, const struct wire *header)
{
    size_t capacity = buffer_bytes(&recv->data);
    recv->request.result.source = (int)header->source;
    recv->request.result.tag = header->tag;
    recv->expected = header->total;
    recv->received = 0;
    if (__builtin_expect(!wire_fits(header->total, capacity, recv->signature), 0)) {
        recv->expected = header->total < capacity ? header->total : capacity;
        int error = recv_misfit(recv, header);
        recv->request.result.error = error ? fail_keep(recv, error) : 0;
    }
    recv->request.result.bytes = recv->expected;
    if (__builtin_expect(recv->signature != header->signature, 0) && recv->signature &&
        header->signature) {
        int error = recv_mismatch(header, recv);
        if (error)
            recv->request.result.error = fail_keep(recv, error);
    }
    pml_counters.received++;
    pml_counters.bytes_received += recv->expected;
}

void recv_clear_to_send(struct recv *recv, struct peer *peer, uint32_t sender)
{
    recv->name = 0;
    if (recv->received < recv->expected)
        recv->name = request_name(recv);
    struct wire answer = {
        .kind = WIRE_CTS, .request = sender, .peer_request = recv->name, .total = recv->expected
    };
    if (recv->received < recv->expected && recv->name == 0) {
        answer.total = recv->expected = recv->received;
        recv->request.result.bytes = recv->received;
        recv->request.result.error = fail_keep(
            recv, fail(MPI_ERR_NO_MEM, "too many large messages are being received at once"));
    }
    control_send(peer, &answer, NULL);
}

/* Where the bytes of a short message go that is all here, in the usual case: a buffer of one piece that
 * has room for them.  NULL: it is another case. */
static inline char *usual_place(const struct recv *recv, const struct peer *peer,
                                uint32_t signature, size_t bytes)
{
    return bytes <= COPY_SHORT && recv->signature == signature && !peer->lost &&
                   wire_fits(bytes, buffer_bytes(&recv->data), signature) && !trace_on
               ? short_place(&recv->data, bytes)
               : NULL;
}

/* Somebody else wants to know that it is over.  Apart, so that the usual case saves no registers. */
static __attribute__((noinline)) bool accept_and_tell(struct recv *recv)
{
    request_complete(&recv->request);
    return true;
}

/* The same as accept_any, for the usual case.  True. */
static inline bool accept_usual(struct recv *recv, char *flat, struct match_key key,
                                const char *payload, size_t bytes)
{
    copy_short(flat, payload, bytes);
    recv->request.result.source = key.source;
    recv->request.result.tag = key.tag;
    recv->request.result.bytes = bytes;
    pml_counters.received++;
    pml_counters.bytes_received += bytes;
    if (__builtin_expect(recv->request.on_done || recv->request.orphan || waits_asleep > 0, 0))
        return accept_and_tell(recv);
    recv->request.done = 1;
    return true;
}

/* In all other cases. */
static __attribute__((noinline)) void accept_any(struct recv *recv, struct peer *peer,
                                                 const struct wire *header, const char *payload,
                                                 size_t have)
{
    if (__builtin_expect(peer->lost, 0) && have < header->total) {
        recv_doom(recv, peer->world); /* the rest will not come */
        failure_complete(&recv->request);
        return;
    }
    recv_compare(recv, header);
    if (__builtin_expect(trace_on, 0))
        match_record(peer, header);
    if (header->flags & (WIRE_PLAIN | WIRE_ADDRESS))
        trip_begin(&recv->trip, peer, header,
                   buffer_flat(&recv->data) || recv_fetches_away(recv),
                   recv->expected == header->total);
    if (__builtin_expect(header->flags & WIRE_DEVICE, 0)) {
        if (recv->expected > 0 && device_begin(recv, peer, header->request, payload))
            return;
        have = 0;
    }
    if (header->flags & WIRE_ADDRESS) {
        if (recv->trip.way != WAY_COPY && recv->expected > 0) {
            pull_begin(recv, peer, header->request, payload);
            return;
        }
        have = 0;
    }
    bool last = recv_piece(recv, 0, payload, have);
    if (header->kind == WIRE_RTS) {
        recv_clear_to_send(recv, peer, header->request);
        last = recv->received == recv->expected;
    } else if (have < header->total && !last) {
        peer->in.recv = recv;
    }
    if (header->flags & WIRE_SYNC && header->kind == WIRE_EAGER) {
        struct wire answer = { .kind = WIRE_ACK, .request = header->request };
        control_send(peer, &answer, NULL);
    }
    if (last)
        recv_done(recv);
}

void recv_accept(struct recv *recv, struct peer *peer, const struct wire *header,
                 const char *payload, size_t have)
{
    recv->waiting = false;
    recv->peer = peer;
    char *flat = have == header->total && header->kind == WIRE_EAGER && header->flags == 0
                     ? usual_place(recv, peer, header->signature, have)
                     : NULL;
    if (__builtin_expect(flat != NULL, 1))
        accept_usual(recv, flat, wire_key(header), payload, have);
    else
        accept_any(recv, peer, header, payload, have);
}

bool pml_arrived_short(struct peer *peer, const struct wire_short *head, const char *payload,
                       size_t bytes)
{
    struct channel *channel = channel_found;
    if (!channel || channel->context != head->context)
        return false;
    struct match_key key = { (int32_t)head->source, head->tag, head->step };
    struct match_posted *posted = match_row_accepts(channel->match, key);
    if (!posted)
        return false;
    struct recv *recv = recv_of(posted);
    char *flat = usual_place(recv, peer, head->signature, bytes);
    if (!flat)
        return false;
    match_row_goes(channel->match, posted);
    recv->waiting = false;
    recv->peer = peer;
    return accept_usual(recv, flat, key, payload, bytes);
}

bool pml_is_unwanted(const struct wire_short *head)
{
    const struct channel *channel = channel_look(head->context);
    struct match_key key = { (int32_t)head->source, head->tag, head->step };
    return channel && !channel->broken && match_none_accepts(channel->match, key);
}

/* ---- posting ---- */

/* Nothing will come for it: it is over. */
static __attribute__((noinline)) bool recv_is_hopeless(struct recv *recv)
{
    int world = recv_doomed(recv->channel, &recv->key, recv->group);
    if (world >= 0) {
        recv_doom(recv, world);
        failure_complete(&recv->request);
        return true;
    }
    if (!recv->channel->broken || recv->key.step >= PML_APART)
        return false;
    recv_break(recv);
    return true;
}

/* Nothing is here for it. */
static inline void recv_post(struct recv *recv)
{
    if (__builtin_expect(troubles > 0, 0) && recv_is_hopeless(recv))
        return;
    recv->waiting = true;
    match_post(recv->channel->match, &recv->posted, recv->key);
}

static __attribute__((noinline)) void recv_take(struct recv *recv, struct match_arrived *found)
{
    struct arrived *arrived = (struct arrived *)found;
    match_take(recv->channel->match, found);
    recv_accept(recv, arrived->peer, &arrived->header, arrived->data, arrived->have);
    arrived_free(arrived);
}

void recv_begin_with(struct recv *recv, struct match_arrived *found)
{
    if (found)
        recv_take(recv, found);
    else
        recv_post(recv);
}

static inline void recv_begin(struct recv *recv)
{
    recv_begin_with(recv, message_here(recv->channel->match, recv->key));
}

static int recv_start(struct request *request)
{
    struct recv *recv = (struct recv *)request;
    request->done = 0;
    request->active = true;
    request->result = (struct result){ 0 };
    recv_begin(recv);
    return 0;
}

static int recv_cancel(struct request *request)
{
    struct recv *recv = (struct recv *)request;
    if (request->done || !recv->waiting)
        return 0;
    match_unpost(recv->channel->match, &recv->posted);
    recv->waiting = false;
    request->result =
        (struct result){ .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .cancelled = true };
    request_complete(request);
    return 0;
}

void recv_abandon(struct match_posted *posted, bool silently)
{
    struct request *request = &recv_of(posted)->request;
    if (silently)
        request->on_done = NULL;
    recv_cancel(request);
}

static void recv_release(struct request *request)
{
    struct recv *recv = (struct recv *)request;
    if (recv->name)
        request_unname(recv->name);
    layout_drop((struct layout *)recv->data.layout);
    request_free(request);
}

const struct request_ops recv_ops = {
    .name = "receive",
    .start = recv_start,
    .cancel = recv_cancel,
    .release = recv_release,
    .tell = recv_tell,
    .in_engine = true,
};

bool request_is_recv(const struct request *request)
{
    return request->ops == &recv_ops;
}

static inline __attribute__((always_inline)) struct recv *recv_new(struct request_pool *pool,
                                                                   const struct buffer *data)
{
    struct recv *recv = (struct recv *)request_new(&recv_ops, pool);
    if (recv)
        layout_hold((struct layout *)data->layout);
    return recv;
}

static int recv_no_memory(void)
{
    return fail(MPI_ERR_NO_MEM, "no memory for one more receive request");
}

int pml_irecv(struct channel *channel, const struct buffer *data, const struct envelope *from,
              struct request **request)
{
    struct recv *recv = recv_new(channel->pool, data);
    if (!recv)
        return recv_no_memory();
    recv_bind(recv, channel, data, from);
    *request = &recv->request;
    recv_begin(recv);
    recv_record(channel, from, buffer_bytes(data));
    return 0;
}

int pml_recv_init(struct channel *channel, const struct buffer *data,
                  const struct envelope *from, struct request **request)
{
    struct recv *recv = recv_new(channel->pool, data);
    if (!recv)
        return recv_no_memory();
    recv_bind(recv, channel, data, from);
    recv->request.persistent = true;
    recv->request.done = 1;
    *request = &recv->request;
    return 0;
}

int recv_arrived(struct arrived *arrived, struct request_pool *pool, const struct buffer *data,
                 struct request **request)
{
    struct recv *recv = recv_new(pool, data);
    if (!recv)
        return recv_no_memory();
    struct envelope from = { .peer = 0 };
    recv_bind(recv, NULL, data, &from);
    *request = &recv->request;
    recv_accept(recv, arrived->peer, &arrived->header, arrived->data, arrived->have);
    arrived_free(arrived);
    return 0;
}
