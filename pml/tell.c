/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a wait for messages waits for, in the words of the flight recorder (runtime/record.h): the
 * peer, the tag, the bytes.  A receive that nothing has matched also looks for a message that is
 * here and looks as if it was meant for it:
 *
 *     on the same channel, from the same process with another tag, or from another one
 *     from the same process, with the right tag, on another channel
 *
 * Called after a wait has stopped spinning, so nothing here is in a hurry.
 */
#include "pml/solo.h"
#include "pml/arrived.h"
#include "pml/proto.h"
#include "pml/recv.h"
#include "pml/send.h"
#include "runtime/record.h"
#include "runtime/trace.h"

static struct record_item *item_new(struct record_wait *wait, enum record_kind kind,
                                    const struct channel *channel)
{
    if (channel)
        return record_item_in(wait, kind, channel->context);
    struct record_item *item = record_item_new(wait);
    if (item)
        item->kind = kind;
    return item;
}

void request_tell(const void *what, struct record_wait *wait)
{
    const struct request *request = what;
    if (wait->nitems >= RECORD_ITEMS)
        wait->nitems++; /* there is no place for more about it */
    else if (request->ops->tell)
        request->ops->tell(request, wait);
    else
        item_new(wait, RECORD_OTHER, NULL);
}

/* ---- a message that looks as if it was meant ---- */

struct wanted {
    const struct channel *channel;
    int source, world, tag; /* as in a receive */
};

static void near_found(struct record_wait *wait, const struct channel *channel,
                       const struct arrived *arrived)
{
    struct record_near *near = &wait->near;
    near->found = wait->nitems; /* the item that was added last */
    near->source = (int)arrived->header.source;
    near->tag = arrived->header.tag;
    near->bytes = arrived->header.total;
    record_name_comm(channel->context, near->comm);
}

static bool is_near(const struct wanted *wanted, const struct channel *channel,
                    const struct arrived *arrived)
{
    if (arrived->header.step != 0)
        return false;
    bool source = wanted->source == PML_ANY_SOURCE || arrived->peer->world == wanted->world;
    bool tag = wanted->tag == PML_ANY_TAG || arrived->header.tag == wanted->tag;
    if (channel == wanted->channel)
        return source || tag;
    return source && tag;
}

/* Channels and messages that are looked at for one receive: it waits to be told, and others for it. */
enum { NEAR_LOOKS = 1000 };

static bool near_in(const struct wanted *wanted, struct channel *channel,
                    struct record_wait *wait, int *looks)
{
    for (struct match_arrived *m = match_oldest(channel->match); m && *looks > 0;
         m = match_next(channel->match, m), --*looks)
        if (is_near(wanted, channel, (struct arrived *)m)) {
            near_found(wait, channel, (struct arrived *)m);
            return true;
        }
    return false;
}

/* Messages of collectives have contexts and steps of their own and are nobody's mistake. */
static void near_find(const struct wanted *wanted, struct record_wait *wait)
{
    int looks = NEAR_LOOKS;
    if (channel_is_collective(wanted->channel) || wait->near.found ||
        near_in(wanted, (struct channel *)wanted->channel, wait, &looks))
        return;
    for (struct channel *c = channel_next(NULL); c && looks > 0; c = channel_next(c), looks--)
        if (c != wanted->channel && !channel_is_collective(c) &&
            near_in(wanted, c, wait, &looks))
            return;
}

/* ---- receives, probes, sends ---- */

static void tell_incoming(const struct wanted *wanted, struct record_item *item)
{
    item->peer = wanted->source;
    item->world = wanted->world;
    item->tag = wanted->tag;
}

static struct wanted wanted_of(const struct channel *channel, int source, int tag)
{
    int world = source < 0 ? -1 : ranks_world(channel->peers, source);
    return (struct wanted){ channel, source, world, tag };
}

void recv_tell(const struct request *request, struct record_wait *wait)
{
    const struct recv *recv = (const struct recv *)request;
    struct record_item *item = item_new(wait, RECORD_RECV, recv->channel);
    if (item)
        item->bytes = buffer_bytes(&recv->data);
    if (!recv->channel)
        return;
    bool matched = !recv->waiting;
    struct wanted wanted =
        wanted_of(recv->channel, matched ? request->result.source : recv->key.source,
                  matched ? request->result.tag : recv->key.tag);
    if (item)
        tell_incoming(&wanted, item);
    if (item && !matched && recv->key.step == 0)
        near_find(&wanted, wait);
}

void probe_tell(const void *what, struct record_wait *wait)
{
    const struct probe *probe = what;
    struct record_item *item = item_new(wait, RECORD_PROBE, probe->channel);
    struct wanted wanted = wanted_of(probe->channel, probe->source, probe->tag);
    if (!item)
        return;
    tell_incoming(&wanted, item);
    near_find(&wanted, wait);
}

void send_tell(const struct request *request, struct record_wait *wait)
{
    const struct send *send = (const struct send *)request;
    const struct channel *channel = channel_find(send->first.context);
    struct record_item *item = item_new(wait, RECORD_SEND, channel);
    if (!item)
        return;
    item->world = send->peer->world;
    item->peer = channel ? ranks_find(channel->peers, item->world) : -1;
    item->tag = send->first.tag;
    item->bytes = send->first.total;
}

/* ---- events ---- */

void recv_record(const struct channel *channel, const struct envelope *from, size_t bytes)
{
    if (!from->signature)
        record_event(channel->context, from->peer, from->tag, bytes);
}

static __attribute__((cold, noinline)) void send_trace(const struct channel *channel,
                                                       const struct envelope *to, size_t bytes)
{
    record_event(channel->context, to->peer, to->tag, bytes);
    trace_message(TRACE_SENT, channel->context, ranks_world(channel->peers, to->peer), to->tag,
                  bytes);
}

void send_record(const struct channel *channel, const struct envelope *to, size_t bytes)
{
    if (to->signature)
        return;
    if (__builtin_expect(trace_on, 0))
        send_trace(channel, to, bytes);
    else
        record_event(channel->context, to->peer, to->tag, bytes);
}

void started_record(const struct send *send)
{
    const struct wire *first = &send->first;
    if (__builtin_expect(trace_on, 0))
        trace_message(TRACE_SENT, first->context, send->peer->world, first->tag, first->total);
}

void match_record(const struct peer *peer, const struct wire *header)
{
    if (!header->signature)
        trace_message(TRACE_RECEIVED, header->context, peer->world, header->tag, header->total);
}

/* ---- events of engines that work apart ---- */

bool solo_is_told(void)
{
    return record_is_known(record_now.function);
}

void solo_record(const struct channel *channel, int peer, int tag, size_t bytes)
{
    record_event_solo(channel->engine, channel->context, peer, tag, bytes);
}

void solo_tell(int engine)
{
    record_bring(engine);
}

/* ---- the end: what this process still owes others ---- */

void flush_tell(const void *what, struct record_wait *wait)
{
    (void)what;
    for (struct peer *peer = peers_first(); peer; peer = peer->next) {
        if (!peer_owes(peer))
            continue;
        struct record_item *item = item_new(wait, RECORD_SEND, NULL);
        if (item)
            item->world = peer->world;
    }
}
