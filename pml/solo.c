/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The short way of short messages through one engine, for threads that have it alone.  What belongs to an
 * engine, and is read and written here:
 *
 *     its channels     matching, counts, the references of their communicators
 *     its lanes        the rings to and from each peer of the node (link_shm), but not their chunks
 *     its pools        requests, records of unexpected messages
 *     struct engine    solo_engine.h
 *
 * Everything else is only looked at.  Whatever is not usual is left to one who has all: a packet that is
 * no short message stays where it is; a message for a receive that somebody else must end is put
 * aside together with it (solo_finish).
 */
#include "pml/solo.h"

#include "pml/recv.h"
#include "pml/solo_engine.h"

#include <string.h>

/* And it can be told of a message that begins. */
static inline bool solo_may_begin(void)
{
    return solo_may() && solo_is_told();
}

/* ---- arriving ---- */

static void recv_end(struct engine *engine, struct recv *recv, struct match_key key,
                     const char *payload, size_t bytes)
{
    if (bytes <= COPY_SHORT)
        copy_short(recv->data.base, payload, bytes);
    else
        memcpy(recv->data.base, payload, bytes);
    recv->request.result.source = key.source;
    recv->request.result.tag = key.tag;
    recv->request.result.bytes = bytes;
    engine->counters.received++;
    engine->counters.bytes_received += bytes;
    recv->request.done = 1;
    if (__builtin_expect(waits_asleep_in[engine - engines] > 0, 0))
        engine->wake = true;
}

/* Receives that were posted here, and fit. */
static bool recv_is_usual(const struct engine *engine, const struct recv *recv,
                          uint32_t signature, size_t bytes)
{
    return recv->data.layout == &engine->bytes && bytes <= recv->data.count &&
           recv->signature == signature && !recv->request.on_done && !recv->request.orphan;
}

static __attribute__((noinline)) void message_keep(struct engine *engine,
                                                   struct channel *channel, struct recv *recv,
                                                   struct peer *peer, const struct wire *header,
                                                   const char *payload)
{
    struct arrived *arrived = arrived_new_solo(&engine->unused, peer, header, payload);
    if (recv) {
        struct arrived **end = &engine->over;
        while (*end)
            end = &(*end)->next;
        arrived->recv = recv;
        *end = arrived;
        return;
    }
    engine->counters.unexpected++;
    engine->counters.unexpected_bytes += header->total;
    match_store(channel->match, &arrived->match, wire_key(header));
    channel->unexpected++;
    if (waits_asleep_in[engine - engines] > 0)
        engine->wake = true;
}

bool pml_arrived_solo(struct peer *peer, const struct wire_short *head, const char *payload,
                      size_t bytes)
{
    struct engine *engine = &engines[engine_mine];
    struct channel *channel = engine->found;
    /* The first messages of collectives have step 0, too: they are matched, and left to who ends receives. */
    if (head->step != 0)
        return false;
    if (!channel || channel->context != head->context) {
        channel = channel_look(head->context);
        if (!channel || channel->engine != engine_mine)
            return false;
        engine->found = channel;
    }
    if (__builtin_expect(channel->broken, 0))
        return false;
    struct match_key key = { (int32_t)head->source, head->tag, head->step };
    struct match_posted *posted = match_arrive(channel->match, key);
    struct recv *recv = posted ? recv_of(posted) : NULL;
    if (recv) {
        recv->waiting = false;
        recv->peer = peer;
        if (recv_is_usual(engine, recv, head->signature, bytes)) {
            recv_end(engine, recv, key, payload, bytes);
            return true;
        }
    }
    struct wire header = wire_of(head, bytes);
    message_keep(engine, channel, recv, peer, &header, payload);
    return true;
}

/* ---- sending ---- */

/* To oneself: at once, unless somebody has to be told, or an earlier message is still on its way. */
static bool send_to_oneself(struct engine *engine, struct peer *peer, struct channel *channel,
                            const struct envelope *to, const char *flat, size_t total)
{
    struct wire_short head = wire_head(channel, to);
    return waits_asleep_in[engine - engines] == 0 && link_self.drained(NULL) &&
           pml_arrived_solo(peer, &head, flat, total);
}

bool solo_send(struct channel *channel, const struct buffer *data, const struct envelope *to)
{
    struct engine *engine = &engines[channel->engine];
    size_t total = buffer_bytes(data);
    if (!solo_may_begin() || data->where != HERE || total > link_shm.solo_bytes ||
        total > engine->eager)
        return false;
    const char *flat = total == 0 ? "" : buffer_flat(data);
    struct peer *peer = channel_peer_known(channel, to->peer);
    if (!flat || !peer || peer->queue.first)
        return false;
    if (peer->link->put_solo ? !peer->link->put_solo(peer, channel, to, flat, total)
                             : peer->link != &link_self ||
                                   !send_to_oneself(engine, peer, channel, to, flat, total))
        return false;
    engine->counters.sent++;
    engine->counters.bytes_sent += total;
    solo_record(channel, to->peer, to->tag, total);
    if (__builtin_expect(engine->over != NULL, 0)) {
        engine_join();
        progress_round();
    }
    return true;
}

bool solo_isend(struct channel *channel, const struct buffer *data, const struct envelope *to,
                struct request **request)
{
    if (!channel->pool->done)
        return false;
    *request = request_new_done(channel->pool);
    if (solo_send(channel, data, to))
        return true;
    (*request)->ops->release(*request);
    return false;
}

/* ---- receiving ---- */

/* Done, or posted. */
static bool recv_begin(struct engine *engine, struct recv *recv)
{
    if (__builtin_expect(recv->channel->broken, 0))
        return false;
    struct match *match = recv->channel->match;
    struct match_arrived *found =
        match_has_arrived(match) ? match_find(match, recv->key) : NULL;
    if (!found) {
        recv->waiting = true;
        match_post(match, &recv->posted, recv->key);
        return true;
    }
    struct arrived *arrived = (struct arrived *)found;
    const struct wire *header = &arrived->header;
    if (header->kind != WIRE_EAGER || header->flags != 0 || arrived->have != header->total ||
        !recv_is_usual(engine, recv, header->signature, header->total) ||
        arrived->home != &engine->unused)
        return false;
    match_take(match, found);
    recv->waiting = false;
    recv->peer = arrived->peer;
    recv_end(engine, recv, wire_key(header), arrived->data, header->total);
    arrived_free_solo(arrived);
    return true;
}

/* As bytes in a row, if that is what they are. */
static bool plain_of(struct engine *engine, const struct buffer *data, struct buffer *plain)
{
    size_t bytes = buffer_bytes(data);
    char *flat = data->where == HERE ? buffer_flat(data) : NULL;
    *plain = (struct buffer){ flat, bytes, &engine->bytes, HERE };
    return flat || (bytes == 0 && data->where == HERE);
}

bool solo_irecv(struct channel *channel, const struct buffer *data, const struct envelope *from,
                struct request **request)
{
    struct engine *engine = &engines[channel->engine];
    struct buffer plain;
    if (!channel->pool->requests || !solo_may_begin() || !plain_of(engine, data, &plain))
        return false;
    struct recv *recv = (struct recv *)request_new(&recv_ops, channel->pool);
    recv_bind(recv, channel, &plain, from);
    if (!recv_begin(engine, recv)) {
        request_free(&recv->request);
        return false;
    }
    layout_hold(&engine->bytes);
    *request = &recv->request;
    solo_record(channel, from->peer, from->tag, plain.count);
    return true;
}

bool solo_recv(struct channel *channel, const struct buffer *data, const struct envelope *from,
               struct result *result, int *error)
{
    struct engine *engine = &engines[channel->engine];
    struct buffer plain;
    struct recv recv;
    if (!solo_may_begin() || !plain_of(engine, data, &plain))
        return false;
    request_init(&recv.request, &recv_ops, channel->pool);
    recv_bind(&recv, channel, &plain, from);
    if (!recv_begin(engine, &recv))
        return false;
    solo_record(channel, from->peer, from->tag, plain.count);
    solo_await(&recv.request);
    if (recv.name || recv.request.result.error)
        engine_join();
    if (recv.name)
        request_unname(recv.name);
    *result = recv.request.result;
    *error = request_failure(&recv.request);
    return true;
}

/* ---- ending ---- */

bool solo_ends(const struct request *request)
{
    if (request->result.error || request->orphan || request->on_done)
        return false;
    if (request->ops == &request_done_ops)
        return true;
    const struct recv *recv = (const struct recv *)request;
    return recv->data.layout == &engines[engine_mine].bytes && recv->name == 0;
}
