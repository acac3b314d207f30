/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A receive that blocks.  In the usual cases it needs no request: its message is here, all of it
 * (recv_here), or the next packet to come is all of it (recv_next).  Else it lies on the stack.
 */
#include "pml/recv.h"

#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/pull.h"

#include <string.h>

static inline void tell_result(struct result *result, int source, int tag, size_t bytes)
{
    pml_counters.received++;
    pml_counters.bytes_received += bytes;
    if (result)
        *result = (struct result){ .source = source, .tag = tag, .bytes = bytes };
}

/* The message that is here is plain and complete, and goes where it belongs in one piece. */
static inline bool recv_here(struct channel *channel, const struct buffer *data,
                             const struct envelope *from, struct match_arrived *found,
                             struct result *result)
{
    struct arrived *arrived = (struct arrived *)found;
    const struct wire *header = &arrived->header;
    size_t bytes = header->total;
    if (arrived->have != bytes || header->kind != WIRE_EAGER || header->flags != 0 ||
        trace_on || header->signature != from->signature ||
        !wire_fits(bytes, buffer_bytes(data), from->signature))
        return false;
    char *flat = short_place(data, bytes);
    if (!flat)
        return false;
    match_take(channel->match, found);
    if (bytes <= COPY_SHORT)
        copy_short(flat, arrived->data, bytes);
    else
        memcpy(flat, arrived->data, bytes);
    tell_result(result, (int)header->source, header->tag, bytes);
    arrived_free(arrived);
    return true;
}

/* The link to ask for the next message, and its sender (NULL: any of the link).  NULL: none can be
 * asked. */
static inline const struct link *next_link(struct channel *channel, int source,
                                           struct peer **peer)
{
    if (source < 0) {
        *peer = NULL;
        return link_of_next();
    }
    *peer = channel_peer_known(channel, source);
    return *peer && (*peer)->link->take ? (*peer)->link : NULL;
}

/* Nothing is here for us, and no receive that is posted may want the next message if it is ours: then it
 * needs neither a request nor the matcher.  From any source: the next one of any sender. */
static inline bool recv_next(struct channel *channel, const struct buffer *data,
                             const struct envelope *from, struct result *result)
{
    size_t room = buffer_bytes(data);
    char *flat = short_place(data, room);
    if (!flat || trace_on || troubles > 0 ||
        !match_lets_pass(channel->match, envelope_key(from)))
        return false;
    struct peer *peer;
    const struct link *link = next_link(channel, from->peer, &peer);
    if (!link || peers_have_work() || pulls_have_work())
        return false;
    uint32_t looks = progress_looks(channel->pool->out > 0);
    if (looks == 0)
        return false;
    struct wire_short wanted = { .context = channel->context,
                                 .source = (uint32_t)from->peer,
                                 .tag = from->tag,
                                 .step = from->step,
                                 .signature = from->signature };
    long bytes = link->take(peer, &wanted, flat, room, looks);
    if (bytes < 0)
        return false;
    tell_result(result, (int)wanted.source, wanted.tag, (size_t)bytes);
    return true;
}

/* The request lies on the stack.  `found`: the message that is here for it, or NULL. */
static int recv_whole(struct channel *channel, const struct buffer *data,
                      const struct envelope *from, struct match_arrived *found,
                      struct sink *sink, struct result *result)
{
    struct recv recv;
    request_init(&recv.request, &recv_ops, channel->pool);
    recv_bind(&recv, channel, data, from);
    recv.sink = sink;
    recv_begin_with(&recv, found);
    request_await(&recv.request);
    if (recv.name)
        request_unname(recv.name);
    if (result)
        *result = recv.request.result;
    return request_failure(&recv.request);
}

int pml_recv(struct channel *channel, const struct buffer *data, const struct envelope *from,
             struct result *result)
{
    recv_record(channel, from, buffer_bytes(data));
    struct match_arrived *found = message_here(channel->match, envelope_key(from));
    if (found ? recv_here(channel, data, from, found, result)
              : recv_next(channel, data, from, result))
        return 0;
    return recv_whole(channel, data, from, found, NULL, result);
}

int pml_recv_into(struct channel *channel, const struct buffer *data,
                  const struct envelope *from, struct sink *sink)
{
    recv_record(channel, from, buffer_bytes(data));
    return recv_whole(channel, data, from, message_here(channel->match, envelope_key(from)),
                      sink, NULL);
}
